/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Mistakes to learn from: an allgather with one of them, so that one sees what
 * it looks like.
 */
#ifndef PLD_ALLGATHER_FAULT_H
#define PLD_ALLGATHER_FAULT_H

#include <pld.h>

struct moment;

enum fault {
	FAULT_NONE,
	FAULT_WRONG_SLOT,
	FAULT_OWN_WINDOW,
	FAULT_NO_BARRIER,
	FAULT_STAGE_OFFSET,
	FAULT_TILE_SOURCE,
	FAULT_WINDOW_SOURCE,
	FAULT_DEAD_RANK,
	FAULT_MISSING_NOTIFY,
	FAULTS,
};

/* The fault of that name, or -1. */
int fault_parse(const char *name);
const char *fault_name(enum fault fault);
/* What is wrong, and what is to be seen; one line each. */
const char *fault_mistake(enum fault fault);
const char *fault_symptom(enum fault fault);
/* Is it one of the builtin's callers, rather than of the hand-written kernel? */
int fault_is_builtin(enum fault fault);

/*
 * The kernels of kernels.h with that mistake. moment arranges who is late, for as
 * long as timeout_ns.
 */
int faulty_hand(enum fault fault, const pld_tensor *x, const pld_tensor *y,
		const pld_distributed_tensor *data,
		const pld_distributed_tensor *signal, struct moment *moment,
		int64_t timeout_ns, pld_tile *tile);
int faulty_builtin(enum fault fault, const pld_tensor *x,
		   const pld_distributed_tensor *source,
		   const pld_distributed_tensor *data,
		   const pld_distributed_tensor *signal, pld_tile *tile);

#endif
