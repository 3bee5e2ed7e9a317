// SPDX-License-Identifier: GPL-2.0
/*
 * Mappings. A mapping of a window holds a reference of the window; one of the
 * status page or the doorbells lives on the domain, which the mapping's file
 * holds.
 *
 * All are VM_PFNMAP, which allows entries of a PMD's size, and are filled by
 * faults (fault.c). The price is that get_user_pages() refuses them, and with it
 * direct I/O, RDMA registration and process_vm_readv(). Imported memory is
 * mapped by its exporter, by itself: a mapping that covers more has holes there.
 *
 * A mapping may be split anywhere: the kernel drops a PMD that straddles the
 * cut, and the faults that follow fill in single pages. VM_DONTEXPAND and
 * VM_PFNMAP keep mremap() from growing one, VM_IO keeps MADV_DOFORK from
 * lifting VM_DONTCOPY.
 */
#include <linux/math64.h>
#include <linux/mm.h>
#include <linux/overflow.h>

#include "compat.h"
#include "domain.h"
#include "fault.h"
#include "import.h"
#include "mmap.h"
#include "window.h"

/* What kind of mapping one of a dma-buf is, its exporter decides. */
#define PLD_IMPORT_VM_FLAGS (VM_IO | VM_DONTCOPY | VM_DONTEXPAND | VM_DONTDUMP)
#define PLD_VM_FLAGS (PLD_IMPORT_VM_FLAGS | VM_PFNMAP)

static void window_vma_open(struct vm_area_struct *vma)
{
	pld_window_get(vma->vm_private_data);
}

static void window_vma_close(struct vm_area_struct *vma)
{
	pld_window_put(vma->vm_private_data);
}

/* Whose memory of the window, and which page of it, is at @pgoff. */
static struct pld_memory *find_memory(struct pld_window *window,
				      pgoff_t pgoff, unsigned long *index)
{
	unsigned long stride = PHYS_PFN(window->stride);
	unsigned long rank;

	pgoff -= PHYS_PFN(window->offset);
	rank = pgoff / stride;
	*index = pgoff % stride;
	return rank < window->nr_ranks ? &window->memory[rank] : NULL;
}

static vm_fault_t fill_page(struct vm_fault *vmf, struct pld_window *window)
{
	struct pld_memory *memory;
	unsigned long index;

	memory = find_memory(window, vmf->pgoff, &index);
	if (!memory)
		return VM_FAULT_SIGBUS;
	return pld_insert_page(vmf, memory, index);
}

static vm_fault_t fill_pmd(struct vm_fault *vmf, struct pld_window *window)
{
	struct pld_memory *memory;
	unsigned long index;
	pgoff_t pgoff;

	if (!pld_pmd_fits(vmf, &pgoff))
		return VM_FAULT_FALLBACK;
	memory = find_memory(window, pgoff, &index);
	return memory ? pld_insert_pmd(vmf, memory, index) : VM_FAULT_FALLBACK;
}

static vm_fault_t window_fault(struct vm_fault *vmf)
{
	struct pld_window *window = vmf->vma->vm_private_data;
	vm_fault_t ret = fill_pmd(vmf, window);

	return ret & VM_FAULT_FALLBACK ? fill_page(vmf, window) : ret;
}

static vm_fault_t window_huge_fault(struct vm_fault *vmf,
				    pld_huge_fault_size size)
{
	if (size != PLD_HUGE_FAULT_PMD)
		return VM_FAULT_FALLBACK;
	return fill_pmd(vmf, vmf->vma->vm_private_data);
}

static const struct vm_operations_struct window_vm_ops = {
	.open = window_vma_open,
	.close = window_vma_close,
	.fault = window_fault,
	.huge_fault = window_huge_fault,
};

/* The rank's imported memory that @offset lies in, and where in it. */
static struct pld_memory *find_imported(struct pld_window *window, u64 offset,
					u64 end, u64 *start)
{
	u64 rank = div64_u64(offset - window->offset, window->stride);
	u64 first = window->offset + rank * window->stride;

	*start = offset - first;
	if (!window->memory[rank].import || end > first + window->stride)
		return NULL;
	return &window->memory[rank];
}

/* The mapping lets go of the rank's file and holds the dma-buf's. */
static int map_imported(struct pld_memory *memory, struct vm_area_struct *vma,
			u64 start)
{
	u64 size = pld_memory_size(memory);

	if (start >= size)
		return -ENOENT;
	if (vma->vm_end - vma->vm_start > size - start)
		return -ERANGE;
	pld_vm_flags_change(vma, PLD_IMPORT_VM_FLAGS, VM_MAYEXEC);
	return pld_import_mmap(memory->import, vma, PHYS_PFN(start));
}

static int map_window(struct pld_domain *domain, struct vm_area_struct *vma,
		      u64 offset, u64 end)
{
	struct pld_memory *imported;
	struct pld_window *window;
	u64 start;
	int ret;

	window = pld_window_find_offset(domain, offset);
	if (!window)
		return -ENOENT;
	if (end > pld_window_end(window)) {
		pld_window_put(window);
		return -ERANGE;
	}
	imported = find_imported(window, offset, end, &start);
	if (imported) {
		ret = map_imported(imported, vma, start);
		pld_window_put(window);
		return ret;
	}
	vma->vm_private_data = window;
	vma->vm_ops = &window_vm_ops;
	pld_vm_flags_change(vma, PLD_VM_FLAGS, VM_MAYEXEC);
	return 0;
}

static vm_fault_t control_fault(struct vm_fault *vmf)
{
	struct pld_domain *domain = vmf->vma->vm_private_data;
	pgoff_t first = PHYS_PFN(PLD_SIM_MMAP_DOORBELLS);
	void *page = domain->status;

	if (vmf->pgoff >= first)
		page = domain->ranks[vmf->pgoff - first].doorbell;
	return vmf_insert_pfn(vmf->vma, vmf->address,
			      PHYS_PFN(virt_to_phys(page)));
}

static const struct vm_operations_struct control_vm_ops = {
	.fault = control_fault,
};

static u64 doorbells_end(const struct pld_domain *domain)
{
	return PLD_SIM_MMAP_DOORBELLS +
	       domain->nr_ranks * PLD_SIM_DOORBELL_STRIDE;
}

static int map_control(struct pld_domain *domain, struct vm_area_struct *vma,
		       u64 offset, u64 end)
{
	u64 limit = PLD_SIM_MMAP_DOORBELLS;

	if (offset >= limit)
		limit = doorbells_end(domain);
	if (offset >= limit)
		return -ENOENT;
	if (end > limit)
		return -ERANGE;
	if (vma->vm_flags & VM_WRITE)
		return -EACCES;
	vma->vm_private_data = domain;
	vma->vm_ops = &control_vm_ops;
	pld_vm_flags_change(vma, PLD_VM_FLAGS, VM_MAYEXEC | VM_MAYWRITE);
	return 0;
}

int pld_mmap(struct pld_domain *domain, struct vm_area_struct *vma)
{
	u64 offset, end;

	/* The pages of the header's offsets are the pages of mappings. */
	BUILD_BUG_ON(PAGE_SIZE != PLD_SIM_DOORBELL_STRIDE);

	/* A private mapping would be one of copies. */
	if (!(vma->vm_flags & VM_MAYSHARE))
		return -EINVAL;
	if (vma->vm_flags & VM_EXEC)
		return -EACCES;
	if (vma->vm_pgoff >= PHYS_PFN(PLD_OFFSETS_END))
		return -ENOENT;
	offset = (u64)vma->vm_pgoff << PAGE_SHIFT;
	if (check_add_overflow(offset, (u64)(vma->vm_end - vma->vm_start),
			       &end))
		return -EOVERFLOW;

	if (offset < PLD_WINDOWS_START)
		return map_control(domain, vma, offset, end);
	return map_window(domain, vma, offset, end);
}
