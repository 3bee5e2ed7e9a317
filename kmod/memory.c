// SPDX-License-Identifier: GPL-2.0
/*
 * One rank's memory of one window. What it is and who owns it: memory.h.
 */
#include <linux/dma-mapping.h>
#include <linux/gfp.h>
#include <linux/highmem.h>
#include <linux/mm.h>
#include <linux/sched/signal.h>

#include "device.h"
#include "memory.h"

static const unsigned int pld_orders[] = { PLD_PMD_ORDER, 4, 0 };

/*
 * A window that is too big is its caller's mistake. Nobody else is to be
 * killed for it, which is what __GFP_RETRY_MAYFAIL says.
 */
#define PLD_GFP (GFP_KERNEL_ACCOUNT | __GFP_NOWARN | __GFP_RETRY_MAYFAIL)
#define PLD_GFP_PAGE (PLD_GFP | __GFP_ZERO)
/* Big blocks are a gain only where they are free for the taking. */
#define PLD_GFP_BLOCK ((GFP_KERNEL_ACCOUNT | __GFP_NOWARN | __GFP_NORETRY | \
			__GFP_ZERO | __GFP_COMP) & ~__GFP_RECLAIM)

/* A scatterlist entry's length is an unsigned int. */
#define PLD_SEGMENT_MAX SZ_2G

/* *@which is the entry of pld_orders to start with, and the one that worked. */
static struct page *alloc_block(unsigned long max_pages, unsigned int *which)
{
	struct page *page;

	for (; *which < ARRAY_SIZE(pld_orders); (*which)++) {
		unsigned int order = pld_orders[*which];

		if (max_pages < 1UL << order)
			continue;
		page = alloc_pages(order ? PLD_GFP_BLOCK : PLD_GFP_PAGE, order);
		if (page)
			return page;
	}
	return NULL;
}

static int alloc_blocks(struct pld_memory *memory)
{
	unsigned long index = 0;
	unsigned int which = 0;

	while (index < memory->nr_pages) {
		struct page *page;
		int ret;

		if (fatal_signal_pending(current))
			return -EINTR;
		page = alloc_block(memory->nr_pages - index, &which);
		if (!page)
			return -ENOMEM;
		ret = xa_err(xa_store(&memory->blocks, index, page, PLD_GFP));
		if (ret) {
			__free_pages(page, compound_order(page));
			return ret;
		}
		index += compound_nr(page);
		cond_resched();
	}
	return 0;
}

static void free_blocks(struct pld_memory *memory)
{
	unsigned long index;
	struct page *page;

	xa_for_each(&memory->blocks, index, page) {
		__free_pages(page, compound_order(page));
		cond_resched();
	}
	xa_destroy(&memory->blocks);
}

static bool extends_segment(struct page *first, size_t length,
			    struct page *page)
{
	return first && length + page_size(page) <= PLD_SEGMENT_MAX &&
	       page_to_pfn(page) == page_to_pfn(first) + PHYS_PFN(length);
}

/*
 * Neighbouring blocks that are also neighbours in memory become one segment.
 * Only counts the segments when @sg is NULL.
 */
static unsigned int make_segments(struct pld_memory *memory,
				  struct scatterlist *sg)
{
	struct page *first = NULL, *page;
	unsigned int nr_segments = 0;
	unsigned long index;
	size_t length = 0;

	xa_for_each(&memory->blocks, index, page) {
		if (!extends_segment(first, length, page)) {
			if (sg && first)
				sg = sg_next(sg);
			first = page;
			length = 0;
			nr_segments++;
		}
		length += page_size(page);
		if (sg)
			sg_set_page(sg, first, length, 0);
	}
	return nr_segments;
}

static int map_blocks(struct pld_memory *memory)
{
	int ret;

	ret = sg_alloc_table(&memory->sgt, make_segments(memory, NULL),
			     PLD_GFP);
	if (ret)
		return ret;
	make_segments(memory, memory->sgt.sgl);

	ret = dma_map_sgtable(pld_device_dma(memory->device), &memory->sgt,
			      DMA_BIDIRECTIONAL, 0);
	if (ret)
		sg_free_table(&memory->sgt);
	return ret;
}

int pld_memory_alloc(struct pld_memory *memory, struct pld_device *device,
		     unsigned long nr_pages)
{
	int ret;

	memory->device = device;
	memory->nr_pages = nr_pages;
	xa_init(&memory->blocks);

	ret = pld_device_charge(device, (u64)nr_pages << PAGE_SHIFT);
	if (ret)
		return ret;
	ret = alloc_blocks(memory);
	if (ret)
		goto free_blocks;
	ret = map_blocks(memory);
	if (ret)
		goto free_blocks;
	return 0;

free_blocks:
	free_blocks(memory);
	pld_device_uncharge(device, (u64)nr_pages << PAGE_SHIFT);
	return ret;
}

void pld_memory_free(struct pld_memory *memory)
{
	dma_unmap_sgtable(pld_device_dma(memory->device), &memory->sgt,
			  DMA_BIDIRECTIONAL, 0);
	sg_free_table(&memory->sgt);
	free_blocks(memory);
	pld_device_uncharge(memory->device,
			    (u64)memory->nr_pages << PAGE_SHIFT);
}

void pld_memory_zero(struct pld_memory *memory)
{
	unsigned long index, i;
	struct page *page;

	xa_for_each(&memory->blocks, index, page) {
		for (i = 0; i < compound_nr(page); i++)
			clear_highpage(page + i);
		cond_resched();
	}
}

/* The block that holds page @index, and in *@start the index of its first. */
static struct page *find_block(struct pld_memory *memory, unsigned long index,
			       unsigned long *start)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(pld_orders); i++) {
		struct page *page;

		*start = round_down(index, 1UL << pld_orders[i]);
		page = xa_load(&memory->blocks, *start);
		if (page && index - *start < compound_nr(page))
			return page;
	}
	return NULL;
}

/* 0 when the memory has no such page. */
unsigned long pld_memory_pfn(struct pld_memory *memory, unsigned long index)
{
	unsigned long start;
	struct page *page = find_block(memory, index, &start);

	return page ? page_to_pfn(page) + index - start : 0;
}

/* 0 unless one block of a PMD's size starts at @index. */
unsigned long pld_memory_pmd_pfn(struct pld_memory *memory,
				 unsigned long index)
{
	struct page *page = xa_load(&memory->blocks, index);

	if (!page || compound_order(page) != PLD_PMD_ORDER)
		return 0;
	return page_to_pfn(page);
}

/* @offset must lie in the memory; good to the end of its page. */
void *pld_memory_address(struct pld_memory *memory, u64 offset)
{
	unsigned long pfn = pld_memory_pfn(memory, offset >> PAGE_SHIFT);

	return page_address(pfn_to_page(pfn)) + offset_in_page(offset);
}
