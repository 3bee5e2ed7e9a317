// SPDX-License-Identifier: GPL-2.0
/*
 * Simulated cards. What one is, and its lock: device.h.
 */
#include <linux/device.h>
#include <linux/dma-mapping.h>
#include <linux/nospec.h>
#include <linux/platform_device.h>
#include <linux/slab.h>

#include "device.h"

static struct pld_device *pld_devices;
static unsigned int pld_nr_devices;

static ssize_t memory_used_show(struct device *dev,
				struct device_attribute *attr, char *buf)
{
	struct pld_device *device = dev_get_drvdata(dev);
	u64 used;

	spin_lock(&device->lock);
	used = device->memory_used;
	spin_unlock(&device->lock);
	return sysfs_emit(buf, "%llu\n", used);
}
static DEVICE_ATTR_RO(memory_used);

static ssize_t memory_limit_show(struct device *dev,
				 struct device_attribute *attr, char *buf)
{
	struct pld_device *device = dev_get_drvdata(dev);

	return sysfs_emit(buf, "%llu\n", device->memory_limit);
}
static DEVICE_ATTR_RO(memory_limit);

static ssize_t ranks_show(struct device *dev,
			  struct device_attribute *attr, char *buf)
{
	struct pld_device *device = dev_get_drvdata(dev);

	return sysfs_emit(buf, "%d\n", atomic_read(&device->ranks));
}
static DEVICE_ATTR_RO(ranks);

static ssize_t windows_show(struct device *dev,
			    struct device_attribute *attr, char *buf)
{
	struct pld_device *device = dev_get_drvdata(dev);

	return sysfs_emit(buf, "%d\n", atomic_read(&device->windows));
}
static DEVICE_ATTR_RO(windows);

/* From here on for root: the rhythm of somebody's program. */
static ssize_t waiters_show(struct device *dev,
			    struct device_attribute *attr, char *buf)
{
	struct pld_device *device = dev_get_drvdata(dev);

	return sysfs_emit(buf, "%d\n", atomic_read(&device->waiters));
}
static DEVICE_ATTR_ADMIN_RO(waiters);

static ssize_t waits_show(struct device *dev,
			  struct device_attribute *attr, char *buf)
{
	struct pld_device *device = dev_get_drvdata(dev);

	return sysfs_emit(buf, "%lld\n", atomic64_read(&device->waits));
}
static DEVICE_ATTR_ADMIN_RO(waits);

static ssize_t rings_show(struct device *dev,
			  struct device_attribute *attr, char *buf)
{
	struct pld_device *device = dev_get_drvdata(dev);

	return sysfs_emit(buf, "%lld\n", atomic64_read(&device->rings));
}
static DEVICE_ATTR_ADMIN_RO(rings);

static struct attribute *pld_device_attrs[] = {
	&dev_attr_memory_used.attr,
	&dev_attr_memory_limit.attr,
	&dev_attr_ranks.attr,
	&dev_attr_windows.attr,
	&dev_attr_waiters.attr,
	&dev_attr_waits.attr,
	&dev_attr_rings.attr,
	NULL,
};
ATTRIBUTE_GROUPS(pld_device);

static int pld_device_create(struct pld_device *device, u32 id, u64 limit)
{
	struct platform_device *pdev;
	int ret;

	pdev = platform_device_alloc("pld_sim", id);
	if (!pdev)
		return -ENOMEM;

	spin_lock_init(&device->lock);
	device->memory_limit = limit;
	pdev->dev.groups = pld_device_groups;
	platform_set_drvdata(pdev, device);

	ret = platform_device_add(pdev);
	/* Where there is no memory for its name, it is refused for having none. */
	if (ret && !dev_name(&pdev->dev))
		ret = -ENOMEM;
	if (ret)
		goto put_pdev;

	/* A platform device starts with 32 bits, too few for big windows. */
	ret = dma_set_mask_and_coherent(&pdev->dev, DMA_BIT_MASK(64));
	if (ret)
		goto del_pdev;
	dma_set_max_seg_size(&pdev->dev, UINT_MAX);

	device->pdev = pdev;
	return 0;

del_pdev:
	platform_device_del(pdev);
put_pdev:
	platform_device_put(pdev);
	return ret;
}

int pld_devices_create(unsigned int count, u64 memory_limit)
{
	int ret;

	pld_devices = kcalloc(count, sizeof(*pld_devices), GFP_KERNEL);
	if (!pld_devices)
		return -ENOMEM;

	while (pld_nr_devices < count) {
		ret = pld_device_create(&pld_devices[pld_nr_devices],
					pld_nr_devices, memory_limit);
		if (ret) {
			pld_devices_destroy();
			return ret;
		}
		pld_nr_devices++;
	}
	return 0;
}

void pld_devices_destroy(void)
{
	while (pld_nr_devices)
		platform_device_unregister(pld_devices[--pld_nr_devices].pdev);
	kfree(pld_devices);
	pld_devices = NULL;
}

unsigned int pld_devices_count(void)
{
	return pld_nr_devices;
}

/* All devices have the same one. */
u64 pld_devices_memory_limit(void)
{
	return pld_devices[0].memory_limit;
}

struct pld_device *pld_device_find(u32 id)
{
	if (id >= pld_nr_devices)
		return NULL;
	return &pld_devices[array_index_nospec(id, pld_nr_devices)];
}

u32 pld_device_id(const struct pld_device *device)
{
	return device->pdev->id;
}

struct device *pld_device_dma(const struct pld_device *device)
{
	return &device->pdev->dev;
}

int pld_device_charge(struct pld_device *device, u64 bytes)
{
	u64 limit = device->memory_limit ?: U64_MAX;
	int ret = 0;

	spin_lock(&device->lock);
	if (bytes > limit - device->memory_used)
		ret = -ENOMEM;
	else
		device->memory_used += bytes;
	spin_unlock(&device->lock);
	return ret;
}

void pld_device_uncharge(struct pld_device *device, u64 bytes)
{
	spin_lock(&device->lock);
	device->memory_used -= bytes;
	spin_unlock(&device->lock);
}

/* What a charge may ask for at this moment. */
u64 pld_device_available(struct pld_device *device)
{
	u64 limit = device->memory_limit ?: U64_MAX;
	u64 available;

	spin_lock(&device->lock);
	available = limit - device->memory_used;
	spin_unlock(&device->lock);
	return available;
}
