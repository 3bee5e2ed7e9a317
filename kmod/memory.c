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
#include "gfp.h"
#include "import.h"
#include "memory.h"

static const unsigned int pld_orders[] = { PLD_PMD_ORDER, 4, 0 };

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

/* Segments of a table that is being filled, or only counted. */
struct segments {
	struct scatterlist *table;	/* NULL to count */
	struct scatterlist *sg;		/* the last one, NULL before the first */
	struct page *first;
	size_t length;
	size_t max;
	unsigned int nr;
};

static void begin_segment(struct segments *s, struct page *page)
{
	s->first = page;
	s->length = 0;
	s->nr++;
	if (s->table)
		s->sg = s->sg ? sg_next(s->sg) : s->table;
}

/* Neighbours in memory become one segment, as far as that may be long. */
static void add_run(struct segments *s, struct page *page, unsigned long nr)
{
	while (nr) {
		size_t room, take;

		if (!s->first || s->length == s->max ||
		    page_to_pfn(page) !=
			    page_to_pfn(s->first) + PHYS_PFN(s->length))
			begin_segment(s, page);
		room = s->max - s->length;
		take = min_t(size_t, room, (size_t)nr << PAGE_SHIFT);
		s->length += take;
		if (s->sg)
			sg_set_page(s->sg, s->first, s->length, 0);
		page += PHYS_PFN(take);
		nr -= PHYS_PFN(take);
	}
}

/* Only counts the segments when @table is NULL. */
static unsigned int make_segments(struct pld_memory *memory,
				  unsigned long index, unsigned long end,
				  size_t max, struct scatterlist *table)
{
	struct segments s = { .table = table, .max = max };

	while (index < end) {
		unsigned long start, nr;
		struct page *page = find_block(memory, index, &start);

		nr = min(start + compound_nr(page), end) - index;
		add_run(&s, page + (index - start), nr);
		index += nr;
		cond_resched();
	}
	return s.nr;
}

/*
 * A table of pages @first to @first + @nr, mapped for @dev with @attrs. It is the
 * caller's, who unmaps and frees it.
 */
int pld_memory_map(struct pld_memory *memory, unsigned long first,
		   unsigned long nr, struct device *dev,
		   enum dma_data_direction direction, unsigned long attrs,
		   struct sg_table *sgt)
{
	size_t max = min_t(size_t, dma_get_max_seg_size(dev) & PAGE_MASK,
			   PLD_SEGMENT_MAX);
	int ret;

	if (!max)
		return -EIO;
	ret = sg_alloc_table(sgt, make_segments(memory, first, first + nr, max,
						NULL), PLD_GFP);
	if (ret)
		return ret;
	make_segments(memory, first, first + nr, max, sgt->sgl);

	ret = dma_map_sgtable(dev, sgt, direction, attrs);
	if (ret)
		sg_free_table(sgt);
	return ret;
}

static void init_memory(struct pld_memory *memory, struct pld_device *device,
			unsigned long nr_pages)
{
	memory->device = device;
	memory->nr_pages = nr_pages;
	xa_init(&memory->blocks);
}

int pld_memory_alloc(struct pld_memory *memory, struct pld_device *device,
		     unsigned long nr_pages)
{
	int ret;

	init_memory(memory, device, nr_pages);
	ret = pld_device_charge(device, pld_memory_size(memory));
	if (ret)
		return ret;
	ret = alloc_blocks(memory);
	if (ret)
		goto free_blocks;
	ret = pld_memory_map(memory, 0, nr_pages, pld_device_dma(device),
			     DMA_BIDIRECTIONAL, 0, &memory->sgt);
	if (ret)
		goto free_blocks;
	atomic_inc(&device->windows);
	return 0;

free_blocks:
	free_blocks(memory);
	pld_device_uncharge(device, pld_memory_size(memory));
	return ret;
}

/* Nothing is charged: the memory is somebody else's. */
int pld_memory_import(struct pld_memory *memory, struct pld_device *device,
		      unsigned long nr_pages, int fd)
{
	init_memory(memory, device, nr_pages);
	memory->import = pld_import_create(fd, pld_device_dma(device),
					   pld_memory_size(memory));
	return PTR_ERR_OR_ZERO(memory->import);
}

void pld_memory_free(struct pld_memory *memory)
{
	if (memory->import) {
		pld_import_destroy(memory->import);
		return;
	}
	dma_unmap_sgtable(pld_device_dma(memory->device), &memory->sgt,
			  DMA_BIDIRECTIONAL, 0);
	sg_free_table(&memory->sgt);
	free_blocks(memory);
	atomic_dec(&memory->device->windows);
	pld_device_uncharge(memory->device, pld_memory_size(memory));
}

int pld_memory_zero(struct pld_memory *memory)
{
	unsigned long index, i;
	struct page *page;

	if (memory->import)
		return pld_import_zero(memory->import, pld_memory_size(memory));
	xa_for_each(&memory->blocks, index, page) {
		for (i = 0; i < compound_nr(page); i++)
			clear_highpage(page + i);
		cond_resched();
	}
	return 0;
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

/*
 * @offset must lie in the memory; good to the end of its page. May sleep.
 * Only of imported memory it can be an error.
 */
void *pld_memory_address(struct pld_memory *memory, u64 offset)
{
	unsigned long pfn;

	if (memory->import)
		return pld_import_address(memory->import, offset);
	pfn = pld_memory_pfn(memory, offset >> PAGE_SHIFT);
	return page_address(pfn_to_page(pfn)) + offset_in_page(offset);
}
