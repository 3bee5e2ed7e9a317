/* SPDX-License-Identifier: GPL-2.0 */
/*
 * An import: a dma-buf that is one rank's memory of a window, attached to and
 * mapped for the rank's device. It belongs to its struct pld_memory, holds the
 * dma-buf, and so what exported it.
 *
 * What it holds was there before it, and can hold nothing that comes later: so
 * a domain that imports its own windows makes no circle of references.
 *
 * Nothing here looks at the pages of the table: they are the exporter's. The
 * kernel's own view is made when it is first wanted.
 */
#ifndef PLD_SIM_IMPORT_H
#define PLD_SIM_IMPORT_H

#include <linux/iosys-map.h>
#include <linux/mutex.h>
#include <linux/types.h>

struct device;
struct dma_buf;
struct dma_buf_attachment;
struct sg_table;
struct vm_area_struct;

struct pld_import {
	struct dma_buf *dmabuf;
	struct dma_buf_attachment *attachment;
	struct sg_table *sgt;
	struct mutex lock;		/* protects @view */
	struct iosys_map view;		/* not set: there is none yet */
};

struct pld_import *pld_import_create(int fd, struct device *dev, u64 size);
void pld_import_destroy(struct pld_import *import);

int pld_import_mmap(struct pld_import *import, struct vm_area_struct *vma,
		    unsigned long pgoff);
void *pld_import_address(struct pld_import *import, u64 offset);
int pld_import_zero(struct pld_import *import, u64 size);

#endif
