/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Page faults in a memory of ours, whoever's mapping it is. Both inserts answer
 * as .fault and .huge_fault do.
 */
#ifndef PLD_SIM_FAULT_H
#define PLD_SIM_FAULT_H

#include <linux/mm_types.h>

struct pld_memory;
struct vm_fault;

bool pld_pmd_fits(struct vm_fault *vmf, pgoff_t *pgoff);
vm_fault_t pld_insert_page(struct vm_fault *vmf, struct pld_memory *memory,
			   unsigned long index);
vm_fault_t pld_insert_pmd(struct vm_fault *vmf, struct pld_memory *memory,
			  unsigned long index);

#endif
