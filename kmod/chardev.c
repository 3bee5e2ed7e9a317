// SPDX-License-Identifier: GPL-2.0
/*
 * The character device: its node and its file operations.
 */
#include <linux/bitops.h>
#include <linux/cdev.h>
#include <linux/device.h>
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/uidgid.h>

#include "chardev.h"
#include "compat.h"
#include "gfp.h"
#include "ioctl.h"
#include "mmap.h"
#include "rank.h"
#include "watch.h"

struct pld_chardev {
	struct device dev;
	struct cdev cdev;
	kgid_t gid;
};

static struct pld_chardev *pld_chardev;

/* False when the file is a rank file, or another join is under way. */
bool pld_file_begin_join(struct pld_file *pfile)
{
	if (test_and_set_bit_lock(0, &pfile->joining))
		return false;
	if (!pfile->member)
		return true;
	clear_bit_unlock(0, &pfile->joining);
	return false;
}

/* @member is NULL when the join failed. */
void pld_file_end_join(struct pld_file *pfile, struct pld_member *member)
{
	/* Pairs with file_member(). */
	smp_store_release(&pfile->member, member);
	clear_bit_unlock(0, &pfile->joining);
}

static struct pld_member *file_member(struct file *file)
{
	struct pld_file *pfile = file->private_data;

	/* Pairs with pld_file_end_join(). */
	return smp_load_acquire(&pfile->member);
}

static int chardev_open(struct inode *inode, struct file *file)
{
	struct pld_file *pfile;

	pfile = kzalloc(sizeof(*pfile), PLD_GFP);
	if (!pfile)
		return -ENOMEM;
	file->private_data = pfile;
	return nonseekable_open(inode, file);
}

/* Called at every close(), of whatever process. */
static int chardev_flush(struct file *file, fl_owner_t files)
{
	struct pld_member *member = file_member(file);

	if (member && member->files == files)
		pld_member_died(member);
	return 0;
}

static int chardev_release(struct inode *inode, struct file *file)
{
	struct pld_file *pfile = file->private_data;

	if (pfile->member)
		pld_member_destroy(pfile->member);
	kfree(pfile);
	return 0;
}

static long chardev_ioctl(struct file *file, unsigned int cmd,
			  unsigned long arg)
{
	struct pld_member *member = file_member(file);
	struct pld_call call = {
		.kind = member ? PLD_RANK_FILE : PLD_DEVICE_FILE,
		.file = file->private_data,
		.member = member,
		.domain = member ? member->domain : NULL,
	};

	return pld_ioctl(&call, cmd, arg);
}

static __poll_t chardev_poll(struct file *file, struct poll_table_struct *table)
{
	struct pld_member *member = file_member(file);

	/* Who polls too early would never be woken. */
	return member ? pld_member_poll(member, file, table) : EPOLLERR;
}

static int chardev_mmap(struct file *file, struct vm_area_struct *vma)
{
	struct pld_member *member = file_member(file);

	if (!member)
		return -ENOTCONN;
	if (!pld_member_is_current(member))
		return -EPERM;
	if (!pld_member_joined(member))
		return -ENOTCONN;
	return pld_mmap(member->domain, vma);
}

static const struct file_operations pld_chardev_fops = {
	.owner = THIS_MODULE,
	.open = chardev_open,
	.flush = chardev_flush,
	.release = chardev_release,
	.unlocked_ioctl = chardev_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.poll = chardev_poll,
	.mmap = chardev_mmap,
	.get_unmapped_area = thp_get_unmapped_area,
};

/* devtmpfs asks for the mode when it makes the node, not when it removes it. */
static char *chardev_devnode(pld_devnode_device *dev, umode_t *mode,
			     kuid_t *uid, kgid_t *gid)
{
	if (mode)
		*mode = 0660;
	if (gid)
		*gid = container_of(dev, struct pld_chardev, dev)->gid;
	return NULL;
}

static const struct device_type pld_chardev_type = {
	.name = "pld_sim",
	.devnode = chardev_devnode,
};

static struct class pld_class = {
	.name = "pld_sim",
};

static void release_chardev(struct device *dev)
{
	kfree(container_of(dev, struct pld_chardev, dev));
}

static struct pld_chardev *alloc_chardev(dev_t devt, kgid_t gid)
{
	struct pld_chardev *chardev;

	chardev = kzalloc(sizeof(*chardev), GFP_KERNEL);
	if (!chardev)
		return NULL;
	chardev->gid = gid;
	device_initialize(&chardev->dev);
	chardev->dev.class = &pld_class;
	chardev->dev.type = &pld_chardev_type;
	chardev->dev.devt = devt;
	chardev->dev.release = release_chardev;
	cdev_init(&chardev->cdev, &pld_chardev_fops);
	chardev->cdev.owner = THIS_MODULE;
	return chardev;
}

static int add_chardev(dev_t devt, kgid_t gid)
{
	struct pld_chardev *chardev;
	int ret;

	chardev = alloc_chardev(devt, gid);
	if (!chardev)
		return -ENOMEM;
	ret = dev_set_name(&chardev->dev, "pld_sim");
	if (!ret)
		ret = cdev_device_add(&chardev->cdev, &chardev->dev);
	if (ret) {
		put_device(&chardev->dev);
		return ret;
	}
	pld_chardev = chardev;
	return 0;
}

int pld_chardev_create(unsigned int gid)
{
	kgid_t kgid = make_kgid(&init_user_ns, gid);
	dev_t devt;
	int ret;

	if (!gid_valid(kgid))
		return -EINVAL;
	ret = class_register(&pld_class);
	if (ret)
		return ret;
	ret = alloc_chrdev_region(&devt, 0, 1, "pld_sim");
	if (ret)
		goto unregister_class;
	ret = add_chardev(devt, kgid);
	if (ret)
		goto unregister_region;
	return 0;

unregister_region:
	unregister_chrdev_region(devt, 1);
unregister_class:
	class_unregister(&pld_class);
	return ret;
}

void pld_chardev_destroy(void)
{
	dev_t devt = pld_chardev->dev.devt;

	cdev_device_del(&pld_chardev->cdev, &pld_chardev->dev);
	put_device(&pld_chardev->dev);
	unregister_chrdev_region(devt, 1);
	class_unregister(&pld_class);
}
