// SPDX-License-Identifier: GPL-2.0
/*
 * Filling the page tables of VM_PFNMAP mappings: 2 MiB at a time wherever the
 * memory and the address agree. (Kernels before 6.12 never call .huge_fault for
 * such mappings, but take a PMD that .fault inserts.)
 */
#include <linux/mm.h>

#include "compat.h"
#include "fault.h"
#include "memory.h"

/* SIGBUS when the memory has no such page. */
vm_fault_t pld_insert_page(struct vm_fault *vmf, struct pld_memory *memory,
			   unsigned long index)
{
	unsigned long pfn = pld_memory_pfn(memory, index);

	if (!pfn)
		return VM_FAULT_SIGBUS;
	return vmf_insert_pfn(vmf->vma, vmf->address, pfn);
}

/*
 * May a PMD be inserted here, and if so, at which page offset does it begin?
 * The page table entry is looked at without its lock. That is enough: what can
 * be inserted in one place is the same for all faults of one mapping, so that
 * nobody puts single pages there meanwhile.
 */
bool pld_pmd_fits(struct vm_fault *vmf, pgoff_t *pgoff)
{
	struct vm_area_struct *vma = vmf->vma;
	unsigned long start = vmf->address & PMD_MASK;

	if (start < vma->vm_start || vma->vm_end - start < PMD_SIZE)
		return false;
	if (!pmd_none(*vmf->pmd) && !pmd_trans_huge(*vmf->pmd))
		return false;
	*pgoff = vma->vm_pgoff + PHYS_PFN(start - vma->vm_start);
	return true;
}

/* @index is that of the PMD's first page. */
vm_fault_t pld_insert_pmd(struct vm_fault *vmf, struct pld_memory *memory,
			  unsigned long index)
{
	unsigned long pfn = pld_memory_pmd_pfn(memory, index);

	if (!pfn)
		return VM_FAULT_FALLBACK;
	return pld_insert_pfn_pmd(vmf, pfn, vmf->vma->vm_flags & VM_WRITE);
}
