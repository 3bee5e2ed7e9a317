/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The kernel of step 10, which step 11 runs again: chunks go around the ring,
 * once to be summed up, once more to be copied.
 */
#ifndef ALLREDUCE_RING_H
#define ALLREDUCE_RING_H

#include <pld.h>

/*
 * x, y and scratch are [1, SIZE], nranks chunks; signal is
 * [2 * (nranks - 1), nranks], a row for each round. In round n a rank reads
 * from its left neighbour what that one has stored in the round before; each
 * tells its right neighbour that it has.
 */
static inline int allreduce_ring(const pld_tensor *x, const pld_tensor *y,
				 const pld_distributed_tensor *scratch,
				 const pld_distributed_tensor *signal,
				 pld_tile *acc, pld_tile *recv)
{
	int64_t size = x->shape.n[1], chunk;
	int my_rank, nranks, left, right, round = 0;
	pld_domain *ctx;

	PLD_TRY(pld_get_comm_ctx(scratch, &ctx));
	my_rank = pld_rank(ctx);
	nranks = pld_nranks(ctx);
	left = (my_rank + nranks - 1) % nranks;
	right = (my_rank + 1) % nranks;
	chunk = size / nranks;

	/* Stage: the own slice; round 0 may begin. */
	PLD_TRY(pld_load(x, PLD_AT(0, 0), PLD_SHAPE(1, size), recv));
	PLD_TRY(pld_store(recv, PLD_AT(0, 0), scratch));
	PLD_TRY(pld_system_notify(signal, right, PLD_AT(round, my_rank), 1,
				  PLD_ATOMIC_ADD));

	/* Reduce-scatter: add what comes from the left to the own chunk. */
	for (int step = 1; step < nranks; step++, round++) {
		int c = (left - step + nranks) % nranks;

		PLD_TRY(pld_system_wait(signal, PLD_AT(round, left), 1, PLD_GE));
		PLD_TRY(pld_tile_remote_load(scratch, left, PLD_AT(0, c * chunk),
					     PLD_SHAPE(1, chunk), recv));
		PLD_TRY(pld_load(scratch, PLD_AT(0, c * chunk),
				 PLD_SHAPE(1, chunk), acc));
		PLD_TRY(pld_add(acc, recv, acc));
		PLD_TRY(pld_store(acc, PLD_AT(0, c * chunk), scratch));
		PLD_TRY(pld_system_notify(signal, right,
					  PLD_AT(round + 1, my_rank), 1,
					  PLD_ATOMIC_ADD));
	}

	/* Allgather: copy what comes from the left, which is summed up. */
	for (int step = 1; step < nranks; step++, round++) {
		int c = (left - step + 1 + nranks) % nranks;

		PLD_TRY(pld_system_wait(signal, PLD_AT(round, left), 1, PLD_GE));
		PLD_TRY(pld_tile_remote_load(scratch, left, PLD_AT(0, c * chunk),
					     PLD_SHAPE(1, chunk), recv));
		PLD_TRY(pld_store(recv, PLD_AT(0, c * chunk), scratch));
		if (step < nranks - 1)
			PLD_TRY(pld_system_notify(signal, right,
						  PLD_AT(round + 1, my_rank), 1,
						  PLD_ATOMIC_ADD));
	}

	PLD_TRY(pld_load(scratch, PLD_AT(0, 0), PLD_SHAPE(1, size), recv));
	return pld_store(recv, PLD_AT(0, 0), y);
}

#endif
