// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * pld.tensor.allreduce, mode ring: a rank reads from its left neighbour and is
 * read by its right one, in 2 * (nranks - 1) steps with a row of the signal
 * each.
 *
 * The target is worked off in blocks whose nranks chunks fit the scratch.
 * Chunk c starts at rank c and goes to the right, each rank adding its own
 * elements, to be complete at rank c - 1 after nranks - 1 steps; in as many
 * more it goes round again, to be copied. At step s of the first round rank r
 * takes chunk r - 1 - s, and what it passes on lies in its own slot of that
 * chunk.
 *
 * Sums of fp16 and bf16 travel as floats, which need two slots' room: they go
 * in two halves through the one slot, and the right neighbour gives a credit
 * back when it has the first. Step 0 passes a rank's own elements, which are
 * not sums yet.
 *
 * No slot is written before the right neighbour is done with it: in the second
 * round, a chunk comes back only after it went past that neighbour. At the end
 * it gives a credit for having read all, so that the target is the caller's
 * again.
 */
#include "collectives/allreduce.h"
#include "collectives/barrier.h"
#include "collectives/reduce.h"
#include "domain.h"

enum side { LEFT, RIGHT };

struct ring {
	struct pld_pieces *pieces;
	const pld_distributed_tensor *signal;
	int nranks;
	int me;
	int neighbour[2];
	/* credits waited for, by side and row */
	int32_t taken[2][2 * PLD_MAX_RANKS];
};

/* Elements from from on. */
struct span {
	int64_t from;
	int64_t n;
};

static int give(const struct ring *ring, enum side to, int row)
{
	return pld_credit_give(ring->signal, ring->neighbour[to], row);
}

/* The next credit of a neighbour; of two ranks, both are the same one. */
static int take(struct ring *ring, enum side from, int row)
{
	int32_t *taken = &ring->taken[ring->nranks == 2 ? LEFT : from][row];

	++*taken;
	return pld_credit_wait(ring->pieces->op, ring->signal,
			       ring->neighbour[from], row, *taken);
}

static struct span chunk_of(const struct ring *ring, struct span block, int c)
{
	int64_t from;

	c = (c + ring->nranks) % ring->nranks;
	from = pld_part_start(block.n, ring->nranks, c);
	return (struct span){
		.from = block.from + from,
		.n = pld_part_start(block.n, ring->nranks, c + 1) - from,
	};
}

/* The tile becomes rank's elements of a chunk, which may have none. */
static int load(const struct ring *ring, int rank, struct span chunk)
{
	if (!chunk.n)
		return 0;
	return pld_tile_remote_load(&ring->pieces->table, rank,
				    PLD_AT(0, chunk.from),
				    PLD_SHAPE(1, chunk.n), &ring->pieces->tile);
}

/* Writes the tile, whose elements are in place, to the own slot of a chunk. */
static int store(const struct ring *ring, struct span chunk)
{
	pld_tile *tile = &ring->pieces->tile;

	if (!chunk.n)
		return 0;
	tile->dtype = ring->pieces->table.dtype;
	tile->shape = PLD_SHAPE(1, chunk.n);
	tile->valid_shape = tile->shape;
	tile->stride[0] = chunk.n;
	tile->stride[1] = 1;
	return pld_store(tile, PLD_AT(0, chunk.from), &ring->pieces->table);
}

/* Parts that a sum is sent in. */
static int parts_of_sum(const struct ring *ring)
{
	pld_dtype dtype = ring->pieces->table.dtype;

	return (int)pld_reduce_size(dtype) / pld_dtype_size(dtype);
}

static void sum_to_tile(const struct ring *ring, const void *sum, int part,
			int64_t n)
{
	const uint32_t *from = sum;
	uint16_t *half = ring->pieces->tile.data;

	if (parts_of_sum(ring) == 1)
		pld_reduce_result(ring->pieces->table.dtype, half, sum, n);
	else
		for (int64_t i = 0; i < n; i++)
			half[i] = (uint16_t)(from[i] >> 16 * part);
}

static void tile_to_sum(const struct ring *ring, void *sum, int part, int64_t n)
{
	const uint16_t *half = ring->pieces->tile.data;
	uint32_t *to = sum;

	if (parts_of_sum(ring) == 1)
		pld_reduce_first(ring->pieces->table.dtype, sum, half, n);
	else
		for (int64_t i = 0; i < n; i++)
			to[i] = (part ? to[i] : 0) | (uint32_t)half[i]
							     << 16 * part;
}

/* Step 0: the left neighbour's own elements become the sum. */
static int begin(struct ring *ring, struct span taken)
{
	struct pld_pieces *pieces = ring->pieces;

	PLD_TRY(give(ring, RIGHT, 0));
	PLD_TRY(take(ring, LEFT, 0));
	PLD_TRY(load(ring, ring->neighbour[LEFT], taken));
	pld_reduce_first(pieces->table.dtype, pieces->sum, pieces->tile.data,
			 taken.n);
	return 0;
}

/* Passes the last step's sum to the right, and takes one from the left. */
static int exchange(struct ring *ring, int step, struct span passed,
		    struct span taken)
{
	struct pld_pieces *pieces = ring->pieces;
	int parts = parts_of_sum(ring);
	void *sum = pieces->other_sum;

	for (int part = 0; part < parts; part++) {
		if (part)
			PLD_TRY(take(ring, RIGHT, step));
		sum_to_tile(ring, pieces->sum, part, passed.n);
		PLD_TRY(store(ring, passed));
		PLD_TRY(give(ring, RIGHT, step));
		PLD_TRY(take(ring, LEFT, step));
		PLD_TRY(load(ring, ring->neighbour[LEFT], taken));
		tile_to_sum(ring, sum, part, taken.n);
		if (part + 1 < parts)
			PLD_TRY(give(ring, LEFT, step));
	}
	pieces->other_sum = pieces->sum;
	pieces->sum = sum;
	return 0;
}

static int reduce_block(struct ring *ring, struct span block)
{
	struct pld_pieces *pieces = ring->pieces;
	struct span last = { 0 };

	for (int step = 0; step < ring->nranks - 1; step++) {
		struct span chunk = chunk_of(ring, block, ring->me - 1 - step);

		PLD_TRY(step ? exchange(ring, step, last, chunk)
			     : begin(ring, chunk));
		PLD_TRY(load(ring, ring->me, chunk));
		pld_reduce_next(pieces->table.dtype, pieces->reduce,
				pieces->sum, pieces->tile.data, chunk.n);
		last = chunk;
	}
	pld_reduce_result(pieces->table.dtype, pieces->tile.data, pieces->sum,
			  last.n);
	return store(ring, last);
}

static int gather_block(struct ring *ring, struct span block)
{
	for (int step = 0; step < ring->nranks - 1; step++) {
		struct span chunk = chunk_of(ring, block, ring->me - step);
		int row = ring->nranks - 1 + step;

		PLD_TRY(give(ring, RIGHT, row));
		PLD_TRY(take(ring, LEFT, row));
		PLD_TRY(load(ring, ring->neighbour[LEFT], chunk));
		PLD_TRY(store(ring, chunk));
	}
	return 0;
}

/* The right neighbour has read all that it wanted. */
static int finish(struct ring *ring)
{
	int row = 2 * (ring->nranks - 1) - 1;

	PLD_TRY(give(ring, LEFT, row));
	return take(ring, RIGHT, row);
}

static int epilogue(const struct ring *ring)
{
	for (int side = LEFT; side <= RIGHT; side++)
		for (int row = 0; row < 2 * (ring->nranks - 1); row++)
			if (ring->taken[side][row])
				PLD_TRY(pld_credit_clear(ring->signal,
							 ring->neighbour[side],
							 row,
							 ring->taken[side][row]));
	return 0;
}

int pld_allreduce_ring(struct pld_allreduce *call)
{
	struct ring ring = {
		.pieces = &call->pieces,
		.signal = call->signal,
		.nranks = call->nranks,
		.me = call->me,
		.neighbour = {
			[LEFT] = (call->me + call->nranks - 1) % call->nranks,
			[RIGHT] = (call->me + 1) % call->nranks,
		},
	};
	struct span block = { 0 };

	for (; block.from < call->n; block.from += block.n) {
		int64_t left = call->n - block.from;

		block.n = left / call->nranks < call->pieces.most
				  ? left
				  : call->pieces.most * call->nranks;
		PLD_TRY(reduce_block(&ring, block));
		PLD_TRY(gather_block(&ring, block));
	}
	PLD_TRY(finish(&ring));
	return epilogue(&ring);
}
