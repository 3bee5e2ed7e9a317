/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What can be measured. How an operation is called stands in calls.c, for those
 * of the ranks, and in host.c.
 */
#ifndef PLD_BENCH_OPERATION_H
#define PLD_BENCH_OPERATION_H

#include <stdbool.h>

/* In the order of the table. */
enum operation_id {
	OP_ALLGATHER_HAND,
	OP_ALLGATHER_BUILTIN,
	OP_ALLGATHER_REUSE,
	OP_BROADCAST,
	OP_REDUCE_SCATTER,
	OP_ALLREDUCE_MESH,
	OP_ALLREDUCE_TWO_PHASE,
	OP_ALLREDUCE_RING,
	OP_ALL_TO_ALL,
	OP_ALL_TO_ALL_V,
	OP_PUT,
	OP_GET,
	OP_PING_PONG,
	OP_BARRIER,
	OP_BLOCKED_WAIT,
	OP_WINDOW_ALLOC,
	OP_WINDOW_MAP,
	OP_DOMAIN_START,
	OPERATIONS,
};

/* What busbw is of algbw, as nccl-tests have it. */
enum bus {
	BUS_NONE, /* no bandwidth */
	BUS_ALGORITHM, /* the same */
	BUS_OTHERS, /* (n - 1) / n */
	BUS_TWICE, /* 2 (n - 1) / n */
};

/* Who takes part in the time of a call. */
enum timed {
	TIMED_ALL,
	TIMED_FIRST, /* rank 0, which does it to rank 1; the others wait */
	TIMED_PAIR, /* ranks 0 and 1 */
	TIMED_HOST, /* the process that launches the ranks */
};

struct operation {
	enum operation_id id;
	const char *name;
	/* what is measured, for a reader of the table */
	const char *what;
	/* has sizes; else one row */
	bool sized;
	/* size counts a slice of each rank; else one for all */
	bool sliced;
	/* its elements are reduced: see check.h */
	bool reduces;
	enum bus bus;
	enum timed timed;
};

extern const struct operation operations[OPERATIONS];

/* The operation of that name, or NULL. */
const struct operation *operation_find(const char *name);

#endif
