/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * A launch: the launcher on the host side (launch.c) and the rank's process
 * (rank.c).
 *
 * The two share no memory, which peers could write too. A rank tells the
 * launcher by a pipe that nobody else can write to; the launcher believes what
 * fits how the process ended.
 */
#ifndef PLD_LAUNCH_H
#define PLD_LAUNCH_H

#include "domain.h"

enum pld_record_kind {
	/* the kernel has returned */
	PLD_RECORD_RESULT = 1,
	/* pld_abort() was called */
	PLD_RECORD_ABORT = 2,
	/* the rank has broken a domain of several that break together */
	PLD_RECORD_BROKE = 3,
};

/* Small enough for a pipe to take it in one piece. */
struct pld_record {
	uint32_t kind;
	/* the kernel's result, 0 or a negative errno; the failure's code */
	int32_t code;
	/* why, and which rank of the launched domain is the cause */
	uint32_t reason;
	int32_t culprit;
	/* the failure was told to the rank, not found by it */
	uint32_t secondhand;
	char message[PLD_MESSAGE_BYTES];
};

/* Writes a record to the launcher. Async-signal-safe. */
void pld_tell_launcher(const pld_domain *domain,
		       const struct pld_record *record);

/* Makes this process the rank domain->rank, of the sub-domains too. */
int pld_rank_attach(pld_domain *domain);
/* The end of its work, with 0 or the negative errno that it failed with. */
void pld_rank_end(pld_domain *domain, int error);
void pld_rank_unmark(pld_domain *domain);

/* What a rank's process runs after the fork; ends the process. */
_Noreturn void pld_rank_main(pld_domain *domain, int rank, int parent,
			     pld_kernel *kernel, void *arg);

struct pld_watch;

/*
 * Forks the ranks, but those that are elsewhere, and has them watched. elsewhere
 * is NULL or has a flag for each rank.
 */
int pld_fork_ranks(struct pld_watch *watch, const bool *elsewhere,
		   pld_kernel *kernel, void *arg);

/* Are there more ranks than CPUs that this process, and so its ranks, may run on? */
bool pld_oversubscribed(int nranks);

/* One CPU set per rank, or none. */
struct pld_pinning;

/* NULL when there are more ranks than cores, or no topology is known. */
struct pld_pinning *pld_pinning_create(int nranks);
void pld_pinning_apply(const struct pld_pinning *pinning, int rank);
void pld_pinning_destroy(struct pld_pinning *pinning);

#endif
