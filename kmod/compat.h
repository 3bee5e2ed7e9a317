/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What differs between the kernels that we serve, and nothing else. Decided by
 * trying, in probe.sh, which forms the kernel's own headers accept: versions
 * do not tell, because distributions backport.
 */
#ifndef PLD_SIM_COMPAT_H
#define PLD_SIM_COMPAT_H

#include <linux/dma-buf.h>
#include <linux/eventfd.h>
#include <linux/hrtimer.h>
#include <linux/mm.h>

#include "probes.h"

#ifdef PLD_HAVE_PFN_T
#include <linux/pfn_t.h>
#endif

struct device;

/* The device argument of device_type.devnode. */
#ifdef PLD_HAVE_CONST_DEVNODE
#define pld_devnode_device const struct device
#else
#define pld_devnode_device struct device
#endif

static inline void pld_vm_flags_change(struct vm_area_struct *vma,
				       unsigned long set, unsigned long clear)
{
#ifdef PLD_HAVE_VM_FLAGS_SET
	vm_flags_set(vma, set);
	vm_flags_clear(vma, clear);
#else
	vma->vm_flags |= set;
	vma->vm_flags &= ~clear;
#endif
}

#ifdef CONFIG_TRANSPARENT_HUGEPAGE
static inline vm_fault_t pld_insert_pfn_pmd(struct vm_fault *vmf,
					    unsigned long pfn, bool write)
{
#ifdef PLD_HAVE_PFN_T
	return vmf_insert_pfn_pmd(vmf, __pfn_to_pfn_t(pfn, PFN_DEV), write);
#else
	return vmf_insert_pfn_pmd(vmf, pfn, write);
#endif
}
#else
static inline vm_fault_t pld_insert_pfn_pmd(struct vm_fault *vmf,
					    unsigned long pfn, bool write)
{
	return VM_FAULT_FALLBACK;
}
#endif

static inline void pld_eventfd_signal(struct eventfd_ctx *eventfd)
{
#ifdef PLD_HAVE_EVENTFD_SIGNAL_COUNT
	eventfd_signal(eventfd, 1);
#else
	eventfd_signal(eventfd);
#endif
}

static inline void
pld_hrtimer_setup(struct hrtimer *timer,
		  enum hrtimer_restart (*function)(struct hrtimer *timer),
		  clockid_t clock, enum hrtimer_mode mode)
{
#ifdef PLD_HAVE_HRTIMER_SETUP
	hrtimer_setup(timer, function, clock, mode);
#else
	hrtimer_init(timer, clock, mode);
	timer->function = function;
#endif
}

/* The size argument of vm_operations_struct.huge_fault, and its PMD value. */
#ifdef PLD_HAVE_PAGE_ENTRY_SIZE
#define pld_huge_fault_size enum page_entry_size
#define PLD_HUGE_FAULT_PMD PE_SIZE_PMD
#else
#define pld_huge_fault_size unsigned int
#define PLD_HUGE_FAULT_PMD (PMD_SHIFT - PAGE_SHIFT)
#endif

/* For callers without the dma-buf's reservation lock. */
static inline int pld_dma_buf_vmap(struct dma_buf *dmabuf,
				   struct iosys_map *map)
{
#ifdef PLD_HAVE_DMA_BUF_VMAP_UNLOCKED
	return dma_buf_vmap_unlocked(dmabuf, map);
#else
	return dma_buf_vmap(dmabuf, map);
#endif
}

static inline void pld_dma_buf_vunmap(struct dma_buf *dmabuf,
				      struct iosys_map *map)
{
#ifdef PLD_HAVE_DMA_BUF_VMAP_UNLOCKED
	dma_buf_vunmap_unlocked(dmabuf, map);
#else
	dma_buf_vunmap(dmabuf, map);
#endif
}

/* The argument of MODULE_IMPORT_NS(). */
#ifdef PLD_HAVE_NAMESPACE_TOKEN
#define PLD_DMA_BUF_NAMESPACE DMA_BUF
#else
#define PLD_DMA_BUF_NAMESPACE "DMA_BUF"
#endif

#endif
