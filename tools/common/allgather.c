// SPDX-License-Identifier: GPL-2.0
/*
 * The two allgathers, line by line as in PyPTO.
 */
#include "common/allgather.h"

static int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* The own slice into the own window, through the tile in pieces of piece elements. */
static int stage(const pld_tensor *x, const pld_distributed_tensor *data,
		 int my_rank, pld_tile *tile, int64_t piece)
{
	int64_t size = x->shape.n[1];

	for (int64_t at = 0; at < size; at += piece) {
		pld_dims shape = PLD_SHAPE(1, least(piece, size - at));

		PLD_TRY(pld_load(x, PLD_AT(0, at), shape, tile));
		PLD_TRY(pld_store(tile, PLD_AT(my_rank, at), data));
	}
	return 0;
}

static int stage_direct(const pld_tensor *x, const pld_distributed_tensor *data,
			int my_rank)
{
	pld_tile tile;

	PLD_TRY(pld_tile_init(&tile, x->data, x->shape, x->dtype));
	return pld_store(&tile, PLD_AT(my_rank, 0), data);
}

/* A peer's slice into its place in y, through the tile in pieces. */
static int pull(const pld_distributed_tensor *data, int peer,
		const pld_tensor *y, pld_tile *tile, int64_t piece)
{
	int64_t size = data->shape.n[1];

	for (int64_t at = 0; at < size; at += piece) {
		pld_dims shape = PLD_SHAPE(1, least(piece, size - at));

		PLD_TRY(pld_tile_remote_load(data, peer, PLD_AT(peer, at),
					     shape, tile));
		PLD_TRY(pld_store(tile, PLD_AT(0, peer * size + at), y));
	}
	return 0;
}

/* Straight to its place in y, which is dense. */
static int pull_direct(const pld_distributed_tensor *data, int peer,
		       const pld_tensor *y)
{
	pld_dims shape = PLD_SHAPE(1, data->shape.n[1]);
	int64_t bytes = shape.n[1] * pld_dtype_size(y->dtype);
	pld_tile tile;

	PLD_TRY(pld_tile_init(&tile, (char *)y->data + peer * bytes, shape,
			      y->dtype));
	return pld_tile_remote_load(data, peer, PLD_AT(peer, 0), shape, &tile);
}

int allgather_hand(const pld_tensor *x, const pld_tensor *y,
		   const pld_distributed_tensor *data,
		   const pld_distributed_tensor *signal, pld_tile *tile,
		   int round)
{
	int64_t piece = 0;
	pld_dims my_cell;
	pld_domain *ctx;
	int my_rank, nranks;

	PLD_TRY(pld_get_comm_ctx(data, &ctx));
	my_rank = pld_rank(ctx);
	nranks = pld_nranks(ctx);
	my_cell = PLD_AT(my_rank, 0);

	if (tile)
		piece = (int64_t)tile->bytes / pld_dtype_size(x->dtype);
	PLD_TRY(tile ? stage(x, data, my_rank, tile, piece)
		     : stage_direct(x, data, my_rank));

	/* Barrier: every slice is staged. */
	for (int peer = 0; peer < nranks; peer++)
		if (peer != my_rank)
			PLD_TRY(pld_system_notify(signal, peer, my_cell, 1,
						  PLD_ATOMIC_ADD));
	for (int src = 0; src < nranks; src++)
		if (src != my_rank)
			PLD_TRY(pld_system_wait(signal, PLD_AT(src, 0), round,
						PLD_GE));

	/* Pull: every rank's slice from the next rank's on, the own one too. */
	for (int i = 1; i <= nranks; i++) {
		int peer = (my_rank + i) % nranks;

		PLD_TRY(tile ? pull(data, peer, y, tile, piece)
			     : pull_direct(data, peer, y));
	}
	return 0;
}

int allgather_builtin(const pld_tensor *x, const pld_distributed_tensor *data,
		      const pld_distributed_tensor *signal)
{
	return pld_tensor_allgather(x, data, signal);
}
