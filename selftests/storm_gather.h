/* SPDX-License-Identifier: GPL-2.0 */
/*
 * An allgather that is checked, for ranks that do nothing but that: four of
 * them, one window and one signal.
 */
#ifndef PLD_STORM_GATHER_H
#define PLD_STORM_GATHER_H

#include "lib_test.h"

#define GATHER_RANKS 4
#define GATHER_ROW 16

struct gather {
	pld_window_buffer *data;
	pld_window_buffer *signal;
};

static inline int32_t gather_element(int run, int src, int i)
{
	return run * 1009 + src * GATHER_ROW + i;
}

/* All rows are there; rank 0's has a word of its own in place of the first. */
static inline int gather_check(const int32_t *all, int run, int32_t *said)
{
	for (int src = 0; src < GATHER_RANKS; src++)
		for (int i = !src; i < GATHER_ROW; i++)
			CHECK_EQ(gather_element(run, src, i),
				 all[src * GATHER_ROW + i]);
	*said = all[0];
	return 0;
}

/*
 * Builtin, and a barrier, so that the target is free again. Word is rank 0's, and
 * *said what all have got of it.
 */
static inline int gather_word(pld_domain *domain, const struct gather *gather,
			      int run, bool check, int32_t word, int32_t *said)
{
	int32_t mine[GATHER_ROW];
	pld_distributed_tensor target, signal;
	int me = pld_rank(domain);
	pld_tensor x;

	for (int i = 0; i < GATHER_ROW; i++)
		mine[i] = gather_element(run, me, i);
	if (!me)
		mine[0] = word;
	PLD_TRY(pld_tensor_init(&x, mine, PLD_SHAPE(1, GATHER_ROW), PLD_INT32));
	PLD_TRY(pld_window(gather->data, PLD_SHAPE(GATHER_RANKS, GATHER_ROW),
			   PLD_INT32, &target));
	PLD_TRY(pld_window(gather->signal, PLD_SHAPE(GATHER_RANKS, 1),
			   PLD_INT32, &signal));
	PLD_TRY(pld_tensor_allgather(&x, &target, &signal));
	if (check)
		PLD_TRY(gather_check(target.data, run, said));
	return pld_tensor_barrier(&signal);
}

static inline int gather_once(pld_domain *domain, const struct gather *gather,
			      int run)
{
	int32_t said;

	PLD_TRY(gather_word(domain, gather, run, true, run, &said));
	CHECK_EQ(run, said);
	return 0;
}

/* At least bytes of window per rank. */
static inline int gather_alloc(pld_domain *domain, size_t bytes,
			       struct gather *gather)
{
	PLD_TRY(pld_alloc_window_buffer(domain, bytes, &gather->data));
	return pld_alloc_signal(domain, PLD_SHAPE(GATHER_RANKS, 1),
				&gather->signal);
}

#endif /* PLD_STORM_GATHER_H */
