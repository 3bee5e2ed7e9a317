/* SPDX-License-Identifier: GPL-2.0 */
/*
 * An export: a part of one rank's memory of a window as a dma-buf. It belongs
 * to its dma-buf, which ends it, and holds the window, so that the memory
 * outlives the window's domain; the dma-buf holds the module.
 *
 * Every mapping for a device has a table of its own. Any number of devices may
 * have it mapped, and any number of times.
 */
#ifndef PLD_SIM_EXPORT_H
#define PLD_SIM_EXPORT_H

#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/types.h>

struct pld_call;
struct pld_memory;
struct pld_window;

struct pld_export {
	struct list_head node;		/* of all, by pld_exports_lock */
	struct pld_window *window;	/* a reference */
	struct pld_memory *memory;	/* of that window */
	u32 domain;			/* for traces and debugfs only */
	u32 rank;
	unsigned long first;		/* page of the memory */
	unsigned long nr_pages;

	struct mutex lock;		/* protects what follows */
	struct list_head mappings;
	u32 nr_mappings;
	u32 nr_attachments;
};

extern struct mutex pld_exports_lock;
extern struct list_head pld_exports;

int pld_ioctl_window_export(struct pld_call *call);
void pld_finish_window_export(struct pld_call *call, bool copied);

#endif
