/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * A launch: the launcher on the host side (launch.c) and the rank's process
 * (rank.c), and the memory that the two share.
 */
#ifndef PLD_LAUNCH_H
#define PLD_LAUNCH_H

#include "domain.h"

/* Written by its rank, then read by the launcher when the rank has ended. */
struct pld_rank_slot {
	/* the kernel has returned, and the rest of this is filled in */
	uint32_t returned;
	int32_t error;
	/* the failure was told to the rank, not found by it */
	uint32_t secondhand;
	char message[PLD_MESSAGE_BYTES];
};

struct pld_launch {
	/* an eventfd that pld_abort() wakes the launcher with */
	int abort_event;
	/* 0, or rank + 1 in the upper half and the code in the lower */
	uint64_t abort;
	struct pld_rank_slot slots[];
};

/* What a rank's process runs after the fork; ends the process. */
_Noreturn void pld_rank_main(pld_domain *domain, int rank, int parent,
			     pld_kernel *kernel, void *arg);

/* One CPU set per rank, or none. */
struct pld_pinning;

/* NULL when there are more ranks than cores, or no topology is known. */
struct pld_pinning *pld_pinning_create(int nranks);
void pld_pinning_apply(const struct pld_pinning *pinning, int rank);
void pld_pinning_destroy(struct pld_pinning *pinning);

#endif
