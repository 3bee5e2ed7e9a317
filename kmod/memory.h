/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One rank's memory of one window: zeroed pages, mapped for DMA by the rank's
 * device. It belongs to its window, which makes it before anybody else can see
 * it and frees it when nobody can any more. In between nothing here changes,
 * so that no lock is needed; the bytes are the business of the ranks.
 *
 * Or it is a dma-buf's, which has been imported: then it has neither pages nor
 * a table here, and import.h says how it is reached.
 *
 * Pages come in blocks of one of a few orders. An order never grows from one
 * block to the next, so every block starts at a multiple of its own size, and
 * the block that holds a page is found by looking at those few multiples.
 * Blocks are compound pages and are freed by reference count, because
 * get_user_pages_fast() takes references on pages of PMD mappings.
 */
#ifndef PLD_SIM_MEMORY_H
#define PLD_SIM_MEMORY_H

#include <linux/dma-direction.h>
#include <linux/pgtable.h>
#include <linux/scatterlist.h>
#include <linux/types.h>
#include <linux/xarray.h>

struct device;
struct pld_device;
struct pld_import;

#define PLD_PMD_ORDER (PMD_SHIFT - PAGE_SHIFT)

struct pld_memory {
	struct pld_device *device;
	unsigned long nr_pages;
	struct xarray blocks;	/* first page of each, by its index */
	struct sg_table sgt;
	struct pld_import *import;	/* NULL for memory of its own */
};

static inline u64 pld_memory_size(const struct pld_memory *memory)
{
	return (u64)memory->nr_pages << PAGE_SHIFT;
}

int pld_memory_alloc(struct pld_memory *memory, struct pld_device *device,
		     unsigned long nr_pages);
int pld_memory_import(struct pld_memory *memory, struct pld_device *device,
		      unsigned long nr_pages, int fd);
void pld_memory_free(struct pld_memory *memory);
int pld_memory_zero(struct pld_memory *memory);

int pld_memory_map(struct pld_memory *memory, unsigned long first,
		   unsigned long nr, struct device *dev,
		   enum dma_data_direction direction, unsigned long attrs,
		   struct sg_table *sgt);

unsigned long pld_memory_pfn(struct pld_memory *memory, unsigned long index);
unsigned long pld_memory_pmd_pfn(struct pld_memory *memory,
				 unsigned long index);
void *pld_memory_address(struct pld_memory *memory, u64 offset);

#endif
