// SPDX-License-Identifier: GPL-2.0
/*
 * The allgathers: both of PyPTO's, line by line, and the one by hand as it is fastest.
 */
#include <stdbool.h>

#include "common/allgather.h"

/*
 * Up to so much the own slice is loaded while the credits are on their way, since it is
 * there already; a longer one last, when what the peers loaded before has left their
 * caches again (doc/performance.md).
 */
#define SHORT_BYTES (16 << 10)

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

/* A credit for every peer: this rank's slice is staged. */
static int notify_peers(const pld_distributed_tensor *signal, int my_rank,
			int nranks)
{
	pld_dims my_cell = PLD_AT(my_rank, 0);

	for (int peer = 0; peer < nranks; peer++)
		if (peer != my_rank)
			PLD_TRY(pld_system_notify(signal, peer, my_cell, 1,
						  PLD_ATOMIC_ADD));
	return 0;
}

/* Every peer's slice is staged. */
static int wait_for_peers(const pld_distributed_tensor *signal, int my_rank,
			  int nranks, int round)
{
	for (int src = 0; src < nranks; src++)
		if (src != my_rank)
			PLD_TRY(pld_system_wait(signal, PLD_AT(src, 0), round,
						PLD_GE));
	return 0;
}

int allgather_hand(const pld_tensor *x, const pld_tensor *y,
		   const pld_distributed_tensor *data,
		   const pld_distributed_tensor *signal, pld_tile *tile,
		   int round)
{
	int64_t piece = (int64_t)tile->bytes / pld_dtype_size(x->dtype);
	int my_rank, nranks;
	pld_domain *ctx;

	PLD_TRY(pld_get_comm_ctx(data, &ctx));
	my_rank = pld_rank(ctx);
	nranks = pld_nranks(ctx);

	PLD_TRY(stage(x, data, my_rank, tile, piece));
	PLD_TRY(notify_peers(signal, my_rank, nranks));
	PLD_TRY(wait_for_peers(signal, my_rank, nranks, round));
	/* From the next rank's slice on, the own one too. */
	for (int i = 1; i <= nranks; i++)
		PLD_TRY(pull(data, (my_rank + i) % nranks, y, tile, piece));
	return 0;
}

/* A slice straight to its place in y: the tile lies there. */
static int pull_direct(const pld_distributed_tensor *data, int peer,
		       const pld_tensor *y, int64_t bytes, pld_tile *tile)
{
	tile->data = (char *)y->data + peer * bytes;
	return pld_tile_remote_load(data, peer, PLD_AT(peer, 0), tile->shape,
				    tile);
}

/* One tile for all, which is moved, since a call of few bytes is made of such things. */
int allgather_hand_direct(const pld_tensor *x, const pld_tensor *y,
			  const pld_distributed_tensor *data,
			  const pld_distributed_tensor *signal, int round)
{
	int64_t bytes = x->shape.n[1] * pld_dtype_size(x->dtype);
	bool is_short = bytes <= SHORT_BYTES;
	int my_rank, nranks;
	pld_domain *ctx;
	pld_tile tile;

	PLD_TRY(pld_get_comm_ctx(data, &ctx));
	my_rank = pld_rank(ctx);
	nranks = pld_nranks(ctx);

	PLD_TRY(pld_tile_init(&tile, x->data, x->shape, x->dtype));
	PLD_TRY(pld_store(&tile, PLD_AT(my_rank, 0), data));
	PLD_TRY(notify_peers(signal, my_rank, nranks));
	if (is_short)
		PLD_TRY(pull_direct(data, my_rank, y, bytes, &tile));
	PLD_TRY(wait_for_peers(signal, my_rank, nranks, round));
	for (int i = 1; i < nranks; i++)
		PLD_TRY(pull_direct(data, (my_rank + i) % nranks, y, bytes,
				    &tile));
	return is_short ? 0 : pull_direct(data, my_rank, y, bytes, &tile);
}

int allgather_builtin(const pld_tensor *x, const pld_distributed_tensor *data,
		      const pld_distributed_tensor *signal)
{
	return pld_tensor_allgather(x, data, signal);
}
