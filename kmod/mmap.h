/* SPDX-License-Identifier: GPL-2.0 */
/* Mappings of a domain's status page, doorbells and windows. */
#ifndef PLD_SIM_MMAP_H
#define PLD_SIM_MMAP_H

struct pld_domain;
struct vm_area_struct;

int pld_mmap(struct pld_domain *domain, struct vm_area_struct *vma);

#endif
