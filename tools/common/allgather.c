// SPDX-License-Identifier: GPL-2.0
/*
 * The two allgathers, line by line as in PyPTO.
 */
#include "common/allgather.h"

int allgather_hand(const pld_tensor *x, const pld_tensor *y,
		   const pld_distributed_tensor *data,
		   const pld_distributed_tensor *signal, pld_tile *tile,
		   int round)
{
	int64_t size = x->shape.n[1];
	pld_domain *ctx;
	int my_rank, nranks;

	PLD_TRY(pld_get_comm_ctx(data, &ctx));
	my_rank = pld_rank(ctx);
	nranks = pld_nranks(ctx);

	/* Stage: the own slice into the own window. */
	PLD_TRY(pld_load(x, PLD_AT(0, 0), PLD_SHAPE(1, size), tile));
	PLD_TRY(pld_store(tile, PLD_AT(my_rank, 0), data));

	/* Barrier: every slice is staged. */
	for (int peer = 0; peer < nranks; peer++)
		if (peer != my_rank)
			PLD_TRY(pld_system_notify(signal, peer,
						  PLD_AT(my_rank, 0), 1,
						  PLD_ATOMIC_ADD));
	for (int src = 0; src < nranks; src++)
		if (src != my_rank)
			PLD_TRY(pld_system_wait(signal, PLD_AT(src, 0), round,
						PLD_GE));

	/* Pull: every rank's slice, the own one too. */
	for (int peer = 0; peer < nranks; peer++) {
		PLD_TRY(pld_tile_remote_load(data, peer, PLD_AT(peer, 0),
					     PLD_SHAPE(1, size), tile));
		PLD_TRY(pld_store(tile, PLD_AT(0, peer * size), y));
	}
	return 0;
}

int allgather_builtin(const pld_tensor *x, const pld_distributed_tensor *data,
		      const pld_distributed_tensor *signal)
{
	return pld_tensor_allgather(x, data, signal);
}
