/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The kernel of step 08, which step 11 runs again: every rank reads every
 * peer's slice and adds.
 */
#ifndef ALLREDUCE_MESH_H
#define ALLREDUCE_MESH_H

#include <pld.h>

/* x, y and data are [1, SIZE], signal [nranks, 1]; acc and recv hold SIZE. */
static inline int allreduce_mesh(const pld_tensor *x, const pld_tensor *y,
				 const pld_distributed_tensor *data,
				 const pld_distributed_tensor *signal,
				 pld_tile *acc, pld_tile *recv)
{
	int64_t size = x->shape.n[1];
	pld_domain *ctx;
	int my_rank, nranks;

	PLD_TRY(pld_get_comm_ctx(data, &ctx));
	my_rank = pld_rank(ctx);
	nranks = pld_nranks(ctx);

	/* Stage: the own slice into the own window. */
	PLD_TRY(pld_load(x, PLD_AT(0, 0), PLD_SHAPE(1, size), recv));
	PLD_TRY(pld_store(recv, PLD_AT(0, 0), data));

	/* Barrier: every slice is staged. */
	for (int peer = 0; peer < nranks; peer++)
		if (peer != my_rank)
			PLD_TRY(pld_system_notify(signal, peer,
						  PLD_AT(my_rank, 0), 1,
						  PLD_ATOMIC_ADD));
	for (int src = 0; src < nranks; src++)
		if (src != my_rank)
			PLD_TRY(pld_system_wait(signal, PLD_AT(src, 0), 1,
						PLD_GE));

	/* Accumulate: the own slice, and every peer's. */
	PLD_TRY(pld_load(data, PLD_AT(0, 0), PLD_SHAPE(1, size), acc));
	for (int peer = 0; peer < nranks; peer++)
		if (peer != my_rank) {
			PLD_TRY(pld_tile_remote_load(data, peer, PLD_AT(0, 0),
						     PLD_SHAPE(1, size), recv));
			PLD_TRY(pld_add(acc, recv, acc));
		}

	return pld_store(acc, PLD_AT(0, 0), y);
}

#endif
