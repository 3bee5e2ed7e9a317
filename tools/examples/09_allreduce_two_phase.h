/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The kernel of step 09, which step 11 runs again: each rank reduces its chunk,
 * then every rank gathers all chunks.
 */
#ifndef ALLREDUCE_TWO_PHASE_H
#define ALLREDUCE_TWO_PHASE_H

#include <pld.h>

/*
 * x, y, data and result are [1, SIZE], of which each rank has SIZE / nranks;
 * signal is [2, nranks], a row for each barrier.
 */
static inline int allreduce_two_phase(const pld_tensor *x, const pld_tensor *y,
				      const pld_distributed_tensor *data,
				      const pld_distributed_tensor *result,
				      const pld_distributed_tensor *signal,
				      pld_tile *acc, pld_tile *recv)
{
	int64_t size = x->shape.n[1], chunk;
	pld_domain *ctx;
	int my_rank, nranks;

	PLD_TRY(pld_get_comm_ctx(data, &ctx));
	my_rank = pld_rank(ctx);
	nranks = pld_nranks(ctx);
	chunk = size / nranks;

	/* Stage: the own slice into the own window. */
	PLD_TRY(pld_load(x, PLD_AT(0, 0), PLD_SHAPE(1, size), recv));
	PLD_TRY(pld_store(recv, PLD_AT(0, 0), data));

	/* Barrier, row 0: every slice is staged. */
	for (int peer = 0; peer < nranks; peer++)
		if (peer != my_rank)
			PLD_TRY(pld_system_notify(signal, peer,
						  PLD_AT(0, my_rank), 1,
						  PLD_ATOMIC_ADD));
	for (int src = 0; src < nranks; src++)
		if (src != my_rank)
			PLD_TRY(pld_system_wait(signal, PLD_AT(0, src), 1,
						PLD_GE));

	/* Reduce-scatter: the own chunk of every slice. */
	PLD_TRY(pld_load(data, PLD_AT(0, my_rank * chunk), PLD_SHAPE(1, chunk),
			 acc));
	for (int peer = 0; peer < nranks; peer++)
		if (peer != my_rank) {
			PLD_TRY(pld_tile_remote_load(data, peer,
						     PLD_AT(0, my_rank * chunk),
						     PLD_SHAPE(1, chunk), recv));
			PLD_TRY(pld_add(acc, recv, acc));
		}
	PLD_TRY(pld_store(acc, PLD_AT(0, my_rank * chunk), result));

	/* Barrier, row 1: every chunk is reduced. */
	for (int peer = 0; peer < nranks; peer++)
		if (peer != my_rank)
			PLD_TRY(pld_system_notify(signal, peer,
						  PLD_AT(1, my_rank), 1,
						  PLD_ATOMIC_ADD));
	for (int src = 0; src < nranks; src++)
		if (src != my_rank)
			PLD_TRY(pld_system_wait(signal, PLD_AT(1, src), 1,
						PLD_GE));

	/* Allgather: every rank's chunk. */
	for (int c = 0; c < nranks; c++) {
		PLD_TRY(pld_tile_remote_load(result, c, PLD_AT(0, c * chunk),
					     PLD_SHAPE(1, chunk), recv));
		PLD_TRY(pld_store(recv, PLD_AT(0, c * chunk), y));
	}
	return 0;
}

#endif
