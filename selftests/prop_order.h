/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What is ordered with what: a vector clock per rank, and the accesses to
 * windows so far. Two accesses to one byte that are not ordered are a race,
 * unless both read, or both add to the same elements.
 */
#ifndef PLD_PROP_ORDER_H
#define PLD_PROP_ORDER_H

#include "prop_layout.h"

#define PROP_ACCESSES 1024
#define PROP_WORDS (PROP_WINDOWS_BYTES / 64)

enum prop_mode { PROP_READS, PROP_ADDS, PROP_WRITES };

struct prop_access {
	int by;
	int clock;
	int owner; /* of the memory */
	enum prop_mode mode;
	pld_dtype dtype; /* of an addition */
	int low, high; /* words */
	uint64_t bytes[PROP_WORDS];
};

struct prop_order {
	int nranks;
	/* clock[r][q]: the last of q's steps that r comes after */
	int clock[PROP_RANKS][PROP_RANKS];
	int naccesses;
	struct prop_access access[PROP_ACCESSES];
};

static inline void prop_order_init(struct prop_order *order, int nranks)
{
	order->nranks = nranks;
	order->naccesses = 0;
	memset(order->clock, 0, sizeof(order->clock));
}

/* The next access, which is not counted yet; spots are of owner's windows. */
static inline struct prop_access *prop_access(struct prop_order *order, int by,
					      int owner, enum prop_mode mode,
					      pld_dtype dtype,
					      const struct prop_spots *spots)
{
	struct prop_access *a = &order->access[order->naccesses];

	a->by = by;
	a->owner = owner;
	a->mode = mode;
	a->dtype = dtype;
	a->low = PROP_WORDS;
	a->high = 0;
	memset(a->bytes, 0, sizeof(a->bytes));
	for (int i = 0; i < spots->n; i++)
		for (int at = spots->at[i]; at < spots->at[i] + spots->size;
		     at++) {
			a->bytes[at / 64] |= UINT64_C(1) << at % 64;
			if (a->low > at / 64)
				a->low = at / 64;
			if (a->high < at / 64)
				a->high = at / 64;
		}
	return a;
}

static inline bool prop_races(const struct prop_access *a,
			      const struct prop_access *b)
{
	if (a->owner != b->owner ||
	    (a->mode == PROP_READS && b->mode == PROP_READS) ||
	    (a->mode == PROP_ADDS && b->mode == PROP_ADDS &&
	     a->dtype == b->dtype))
		return false;
	for (int i = a->low > b->low ? a->low : b->low;
	     i <= a->high && i <= b->high; i++)
		if (a->bytes[i] & b->bytes[i])
			return true;
	return false;
}

/* The rank whose earlier access races with this one, or -1. */
static inline int prop_conflict(const struct prop_order *order,
				const struct prop_access *a)
{
	for (int i = 0; i < order->naccesses; i++) {
		const struct prop_access *other = &order->access[i];

		if (other->by != a->by &&
		    other->clock > order->clock[a->by][other->by] &&
		    prop_races(a, other))
			return other->by;
	}
	return -1;
}

/* A step of this rank has been done. */
static inline int prop_tick(struct prop_order *order, int rank)
{
	return ++order->clock[rank][rank];
}

static inline bool prop_full(const struct prop_order *order, int more)
{
	return order->naccesses + more >= PROP_ACCESSES;
}

static inline void prop_keep(struct prop_order *order, struct prop_access *a)
{
	a->clock = prop_tick(order, a->by);
	order->naccesses++;
}

/* What later comes after all that earlier has done so far. */
static inline void prop_join(struct prop_order *order, int later, int earlier)
{
	for (int r = 0; r < order->nranks; r++)
		if (order->clock[later][r] < order->clock[earlier][r])
			order->clock[later][r] = order->clock[earlier][r];
}

/* All come after all: what was before cannot race with anything any more. */
static inline void prop_join_all(struct prop_order *order)
{
	for (int r = 0; r < order->nranks; r++)
		for (int q = 0; q < order->nranks; q++)
			order->clock[r][q] = order->clock[q][q];
	order->naccesses = 0;
}

#endif /* PLD_PROP_ORDER_H */
