/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A simulated card: a platform device "pld_sim.N" of its own, so that it has a
 * DMA mask and a place in sysfs, and an account of the window memory on it.
 *
 * The module's init creates all of them and its exit destroys them. Every open
 * file pins the module, so whoever has a file may use a device without a
 * reference.
 */
#ifndef PLD_SIM_DEVICE_H
#define PLD_SIM_DEVICE_H

#include <linux/atomic.h>
#include <linux/spinlock.h>
#include <linux/types.h>

struct device;
struct platform_device;

struct pld_device {
	struct platform_device *pdev;
	u64 memory_limit;	/* bytes, 0 for none; constant */
	spinlock_t lock;	/* protects memory_used; innermost */
	u64 memory_used;

	/* For sysfs alone. */
	atomic_t ranks;		/* joined ones */
	atomic_t windows;	/* whose memory is here */
	atomic_t waiters;	/* waits that sleep now */
	atomic64_t waits;	/* that came to the kernel, ever */
	atomic64_t rings;	/* for ranks that are here, ever */
};

int pld_devices_create(unsigned int count, u64 memory_limit);
void pld_devices_destroy(void);
unsigned int pld_devices_count(void);
u64 pld_devices_memory_limit(void);

struct pld_device *pld_device_find(u32 id);
u32 pld_device_id(const struct pld_device *device);
struct device *pld_device_dma(const struct pld_device *device);

int pld_device_charge(struct pld_device *device, u64 bytes);
void pld_device_uncharge(struct pld_device *device, u64 bytes);
u64 pld_device_available(struct pld_device *device);

#endif
