// SPDX-License-Identifier: GPL-2.0
/*
 * The module: parameters, loading and unloading. Open files, and so domains,
 * ranks, windows and waits, pin it, and so do fences: at unloading there is
 * nothing left but what is made here, and what a watch leaves to a worker.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/init.h>
#include <linux/module.h>
#include <linux/pld_sim.h>

#include "chardev.h"
#include "compat.h"
#include "debugfs.h"
#include "device.h"
#include "fence.h"
#include "watch.h"

static unsigned int devices = 8;
module_param(devices, uint, 0444);
MODULE_PARM_DESC(devices, "number of simulated devices, 1 to 256 (default 8)");

static unsigned int device_memory_mb;
module_param(device_memory_mb, uint, 0444);
MODULE_PARM_DESC(device_memory_mb,
		 "window memory of each device in MiB (default 0: no limit of its own)");

static unsigned int gid;
module_param(gid, uint, 0444);
MODULE_PARM_DESC(gid, "group of /dev/pld_sim, whose mode is 0660 (default 0)");

static int __init pld_sim_init(void)
{
	int ret;

	if (!devices || devices > PLD_SIM_MAX_RANKS) {
		pr_err("devices=%u is not in 1 to %u\n", devices,
		       PLD_SIM_MAX_RANKS);
		return -EINVAL;
	}
	ret = pld_devices_create(devices, (u64)device_memory_mb << 20);
	if (ret)
		return ret;
	pld_debugfs_create();
	/* Last: from here on there are users. */
	ret = pld_chardev_create(gid);
	if (ret)
		goto destroy_devices;
	return 0;

destroy_devices:
	pld_debugfs_destroy();
	pld_devices_destroy();
	return ret;
}

static void __exit pld_sim_exit(void)
{
	pld_chardev_destroy();
	pld_watches_flush();
	pld_fences_flush();
	pld_debugfs_destroy();
	pld_devices_destroy();
}

module_init(pld_sim_init);
module_exit(pld_sim_exit);

MODULE_DESCRIPTION("Simulated accelerator ranks with symmetric windows");
MODULE_VERSION(PLD_VERSION);
MODULE_LICENSE("GPL");
MODULE_IMPORT_NS(PLD_DMA_BUF_NAMESPACE);
