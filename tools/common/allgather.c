// SPDX-License-Identifier: GPL-2.0
/*
 * The two allgathers, line by line as in PyPTO.
 */
#include "common/allgather.h"

static int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

int allgather_hand(const pld_tensor *x, const pld_tensor *y,
		   const pld_distributed_tensor *data,
		   const pld_distributed_tensor *signal, pld_tile *tile,
		   int round)
{
	int64_t size = x->shape.n[1];
	int64_t piece = (int64_t)tile->bytes / pld_dtype_size(x->dtype);
	pld_domain *ctx;
	int my_rank, nranks;

	PLD_TRY(pld_get_comm_ctx(data, &ctx));
	my_rank = pld_rank(ctx);
	nranks = pld_nranks(ctx);

	/* Stage: the own slice into the own window, piece by piece. */
	for (int64_t at = 0; at < size; at += piece) {
		pld_dims shape = PLD_SHAPE(1, least(piece, size - at));

		PLD_TRY(pld_load(x, PLD_AT(0, at), shape, tile));
		PLD_TRY(pld_store(tile, PLD_AT(my_rank, at), data));
	}

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

	/* Pull: every rank's slice from the next rank's on, the own one too. */
	for (int i = 1; i <= nranks; i++) {
		int peer = (my_rank + i) % nranks;

		for (int64_t at = 0; at < size; at += piece) {
			pld_dims shape = PLD_SHAPE(1, least(piece, size - at));

			PLD_TRY(pld_tile_remote_load(data, peer, PLD_AT(peer, at),
						     shape, tile));
			PLD_TRY(pld_store(tile, PLD_AT(0, peer * size + at), y));
		}
	}
	return 0;
}

int allgather_builtin(const pld_tensor *x, const pld_distributed_tensor *data,
		      const pld_distributed_tensor *signal)
{
	return pld_tensor_allgather(x, data, signal);
}
