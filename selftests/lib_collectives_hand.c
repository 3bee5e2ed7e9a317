// SPDX-License-Identifier: GPL-2.0
/*
 * Collectives written by hand, of notify, wait, remote_load, put and tile
 * arithmetic, against the same model as the builtin ones. They pull, where the
 * builtins mostly push, so their barrier comes before the transfer.
 */
#include "lib_collective.h"

/* A kernel's things. What it computes goes to y, of no peer's concern. */
struct hand {
	const struct step *step;
	const struct world *world;
	int me;
	int nranks;
	pld_dtype dtype;
	/* what sums are made in */
	pld_dtype wide;
	pld_tensor x;
	pld_tensor y;
	pld_tile tile;
	pld_tile sum;
	/* [nranks, 1], of whose cells each barrier adds one */
	pld_distributed_tensor credits;
	int32_t barriers;
	/* calls so far that used the ring's and the two-phase's signals */
	int32_t steps;
};

static pld_window_buffer *credits_buffer, *rows_buffer;

typedef int operation(const pld_tile *a, const pld_tile *b, pld_tile *out);

static operation *const operations[] = { pld_add, pld_maximum, pld_minimum,
					 pld_mul };

static int barrier(struct hand *h)
{
	h->barriers++;
	for (int peer = 0; peer < h->nranks; peer++)
		if (peer != h->me)
			PLD_TRY(pld_system_notify(&h->credits, peer,
						  PLD_AT(h->me, 0), 1,
						  PLD_ATOMIC_ADD));
	for (int src = 0; src < h->nranks; src++)
		if (src != h->me)
			PLD_TRY(pld_system_wait(&h->credits, PLD_AT(src, 0),
						h->barriers, PLD_GE));
	return 0;
}

/* The window as rows of size elements. */
static int rows(const struct hand *h, int64_t count, int64_t size,
		pld_dtype dtype, pld_distributed_tensor *data)
{
	return pld_window(h->world->data[0], PLD_SHAPE(count, size), dtype,
			  data);
}

/* x, which is [count, size], into rows of the own window from row on. */
static int stage(struct hand *h, const pld_distributed_tensor *data, int64_t row)
{
	PLD_TRY(pld_load(&h->x, PLD_AT(0, 0), h->x.shape, &h->tile));
	return pld_store(&h->tile, PLD_AT(row, 0), data);
}

static int broadcast(struct hand *h)
{
	pld_dims whole = h->x.shape;
	pld_distributed_tensor data;

	PLD_TRY(rows(h, 1, h->step->n, h->dtype, &data));
	if (h->me == h->step->root)
		PLD_TRY(stage(h, &data, 0));
	PLD_TRY(barrier(h));
	PLD_TRY(pld_tile_remote_load(&data, h->step->root, PLD_AT(0, 0), whole,
				     &h->tile));
	return pld_store(&h->tile, PLD_AT(0, 0), &h->y);
}

static int allgather(struct hand *h)
{
	pld_distributed_tensor data;

	PLD_TRY(rows(h, h->nranks, h->step->n, h->dtype, &data));
	PLD_TRY(stage(h, &data, h->me));
	PLD_TRY(barrier(h));
	for (int peer = 0; peer < h->nranks; peer++) {
		PLD_TRY(pld_tile_remote_load(&data, peer, PLD_AT(peer, 0),
					     PLD_SHAPE(1, h->step->n), &h->tile));
		PLD_TRY(pld_store(&h->tile, PLD_AT(peer, 0), &h->y));
	}
	return 0;
}

/* The tile becomes the reduction of all ranks' elements there. */
static int reduce(struct hand *h, const pld_distributed_tensor *data,
		  pld_dims at, pld_dims shape)
{
	for (int peer = 0; peer < h->nranks; peer++) {
		PLD_TRY(pld_tile_remote_load(data, peer, at, shape, &h->tile));
		if (!peer) {
			PLD_TRY(pld_cast(&h->tile, h->wide, &h->sum));
			continue;
		}
		PLD_TRY(pld_cast(&h->tile, h->wide, &h->tile));
		PLD_TRY(operations[h->step->op](&h->sum, &h->tile, &h->sum));
	}
	return pld_cast(&h->sum, h->dtype, &h->tile);
}

static int reduce_scatter(struct hand *h)
{
	pld_dims row = PLD_SHAPE(1, h->step->n), mine = PLD_AT(h->me, 0);
	pld_distributed_tensor data;

	PLD_TRY(rows(h, h->nranks, h->step->n, h->dtype, &data));
	PLD_TRY(stage(h, &data, 0));
	PLD_TRY(barrier(h));
	/* The other rows stay as they are. */
	PLD_TRY(pld_load(&h->x, PLD_AT(0, 0), h->x.shape, &h->tile));
	PLD_TRY(pld_store(&h->tile, PLD_AT(0, 0), &h->y));
	PLD_TRY(reduce(h, &data, mine, row));
	return pld_store(&h->tile, mine, &h->y);
}

static int mesh(struct hand *h)
{
	pld_distributed_tensor data;

	PLD_TRY(rows(h, 1, h->step->n, h->dtype, &data));
	PLD_TRY(stage(h, &data, 0));
	PLD_TRY(barrier(h));
	PLD_TRY(reduce(h, &data, PLD_AT(0, 0), h->x.shape));
	return pld_store(&h->tile, PLD_AT(0, 0), &h->y);
}

/* Part part of the elements: its place and shape. */
static int64_t part_of(const struct hand *h, int part, pld_dims *at,
		       pld_dims *shape)
{
	int64_t from, end;

	part = (part + h->nranks) % h->nranks;
	from = part_start(h->step->n, h->nranks, part);
	end = part_start(h->step->n, h->nranks, part + 1);
	*at = PLD_AT(0, from);
	*shape = PLD_SHAPE(1, end - from);
	return end - from;
}

static int two_phase(struct hand *h)
{
	pld_distributed_tensor data;
	pld_dims at, shape;

	PLD_TRY(rows(h, 1, h->step->n, h->dtype, &data));
	PLD_TRY(stage(h, &data, 0));
	PLD_TRY(barrier(h));
	if (part_of(h, h->me, &at, &shape)) {
		PLD_TRY(reduce(h, &data, at, shape));
		PLD_TRY(pld_store(&h->tile, at, &data));
	}
	PLD_TRY(barrier(h));
	for (int peer = 0; peer < h->nranks; peer++)
		if (part_of(h, peer, &at, &shape)) {
			PLD_TRY(pld_tile_remote_load(&data, peer, at, shape,
						     &h->tile));
			PLD_TRY(pld_store(&h->tile, at, &h->y));
		}
	return 0;
}

/* One step of a ring, in which a part comes from the left neighbour. */
static int ring_step(struct hand *h, const pld_distributed_tensor *data,
		     const pld_distributed_tensor *signal, int step, int part,
		     int add)
{
	int left = (h->me + h->nranks - 1) % h->nranks;
	int right = (h->me + 1) % h->nranks;
	pld_dims at, shape;

	PLD_TRY(pld_system_notify(signal, right, PLD_AT(step, h->me), 1,
				  PLD_ATOMIC_ADD));
	PLD_TRY(pld_system_wait(signal, PLD_AT(step, left), h->steps, PLD_GE));
	if (!part_of(h, part, &at, &shape))
		return 0;
	PLD_TRY(pld_tile_remote_load(data, left, at, shape, &h->sum));
	if (add) {
		PLD_TRY(pld_load(data, at, shape, &h->tile));
		PLD_TRY(operations[h->step->op](&h->sum, &h->tile, &h->sum));
	}
	return pld_store(&h->sum, at, data);
}

/* In a window of the wide type, which is rounded at the end. */
static int ring(struct hand *h)
{
	int last = h->nranks - 1;
	pld_distributed_tensor data, signal;

	h->steps++;
	PLD_TRY(rows(h, 1, h->step->n, h->wide, &data));
	PLD_TRY(pld_window(rows_buffer, ring_shape(h->nranks), PLD_INT32,
			   &signal));
	PLD_TRY(pld_load(&h->x, PLD_AT(0, 0), h->x.shape, &h->tile));
	PLD_TRY(pld_cast(&h->tile, h->wide, &h->tile));
	PLD_TRY(pld_store(&h->tile, PLD_AT(0, 0), &data));
	for (int step = 0; step < last; step++)
		PLD_TRY(ring_step(h, &data, &signal, step, h->me - 1 - step, 1));
	for (int step = 0; step < last; step++)
		PLD_TRY(ring_step(h, &data, &signal, last + step, h->me - step,
				  0));
	PLD_TRY(pld_load(&data, PLD_AT(0, 0), data.shape, &h->tile));
	PLD_TRY(pld_cast(&h->tile, h->dtype, &h->tile));
	return pld_store(&h->tile, PLD_AT(0, 0), &h->y);
}

static int all_to_all(struct hand *h)
{
	pld_distributed_tensor data;

	PLD_TRY(rows(h, h->nranks, h->step->n, h->dtype, &data));
	PLD_TRY(stage(h, &data, 0));
	PLD_TRY(barrier(h));
	for (int peer = 0; peer < h->nranks; peer++) {
		PLD_TRY(pld_tile_remote_load(&data, peer, PLD_AT(h->me, 0),
					     PLD_SHAPE(1, h->step->n), &h->tile));
		PLD_TRY(pld_store(&h->tile, PLD_AT(peer, 0), &h->y));
	}
	return 0;
}

static int all_to_all_v(struct hand *h)
{
	pld_distributed_tensor data;

	PLD_TRY(rows(h, h->nranks * MAX_ROWS, h->step->n, h->dtype, &data));
	for (int peer = 0; peer < h->nranks; peer++) {
		int32_t count = rows_sent(h->step, h->me, peer);
		pld_put_options part = {
			.dst_offsets = PLD_AT(h->me * MAX_ROWS, 0),
			.src_offsets = PLD_AT(peer * MAX_ROWS, 0),
			.shape = PLD_SHAPE(count, h->step->n),
		};

		if (count)
			PLD_TRY(pld_tensor_put(&data, peer, &h->x, &part));
	}
	PLD_TRY(barrier(h));
	for (int peer = 0; peer < h->nranks; peer++) {
		int32_t count = rows_sent(h->step, peer, h->me);
		pld_dims at = PLD_AT(peer * MAX_ROWS, 0);

		if (!count)
			continue;
		PLD_TRY(pld_load(&data, at, PLD_SHAPE(count, h->step->n),
				 &h->tile));
		PLD_TRY(pld_store(&h->tile, at, &h->y));
	}
	return 0;
}

static int (*const kernels[])(struct hand *h) = {
	[BARRIER] = barrier,
	[BROADCAST] = broadcast,
	[ALLGATHER] = allgather,
	[REDUCE_SCATTER] = reduce_scatter,
	[MESH] = mesh,
	[TWO_PHASE] = two_phase,
	[RING] = ring,
	[ALL_TO_ALL] = all_to_all,
	[ALL_TO_ALL_V] = all_to_all_v,
};

/* Rows of x and of y. */
static int64_t rows_of(const struct hand *h)
{
	switch (h->step->kind) {
	case REDUCE_SCATTER:
	case ALL_TO_ALL:
		return h->nranks;
	case ALL_TO_ALL_V:
		return h->nranks * MAX_ROWS;
	default:
		return 1;
	}
}

static int run_step(struct hand *h, const struct rank *rank,
		    const struct step *step)
{
	int64_t in, out;

	h->step = step;
	h->dtype = step->dtype;
	h->wide = is_float(step->dtype) && pld_dtype_size(step->dtype) == 2
			  ? PLD_FP32
			  : step->dtype;
	in = rows_of(h);
	out = step->kind == ALLGATHER ? h->nranks : in;
	random_elements(step->dtype, rank->mine, in * step->n,
			seed_of(step, rank->me));
	memset(rank->want, 0, window_bytes(rank->world));
	golden(rank, step);
	memset(rank->other, 0, window_bytes(rank->world));
	PLD_TRY(pld_tensor_init(&h->x, rank->mine, PLD_SHAPE(in, step->n),
				step->dtype));
	PLD_TRY(pld_tensor_init(&h->y, rank->other, PLD_SHAPE(out, step->n),
				step->dtype));
	PLD_TRY(kernels[step->kind](h));
	/* The next one stages into what peers may still read. */
	PLD_TRY(barrier(h));
	return differs(rank, step, rank->other);
}

static int by_hand(pld_domain *domain, void *arg)
{
	static const int64_t sizes[] = { 1, 5, 63, 64, 130 };
	const struct world *world = arg;
	struct hand h = { .world = world, .nranks = world->nranks };
	struct step step = { .seed = 40 };
	struct rank rank;

	PLD_TRY(make_rank(&rank, world));
	h.me = rank.me;
	PLD_TRY(pld_tile_alloc(&h.tile, window_bytes(world)));
	PLD_TRY(pld_tile_alloc(&h.sum, window_bytes(world)));
	PLD_TRY(pld_window(credits_buffer, PLD_SHAPE(h.nranks, 1), PLD_INT32,
			   &h.credits));
	for (int dtype = 0; dtype <= LAST_DTYPE; dtype++)
		for (int kind = 0; kind < NR_KINDS; kind++)
			for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
				step.seed++;
				if ((is_slow() || h.nranks > 16) &&
				    (dtype + kind) % 5 != (int)i)
					continue;
				step.kind = (enum kind)kind;
				step.dtype = (pld_dtype)dtype;
				step.op = (pld_reduce_op)(step.seed % 4);
				step.n = sizes[i];
				step.root =
					(int)(step.seed % (uint64_t)h.nranks);
				PLD_TRY(run_step(&h, &rank, &step));
			}
	pld_tile_free(&h.tile);
	pld_tile_free(&h.sum);
	free_rank(&rank);
	return 0;
}

FIXTURE(hand)
{
	struct world world;
};

FIXTURE_VARIANT(hand)
{
	int nranks;
};

FIXTURE_VARIANT_ADD(hand, 1){ .nranks = 1 };

FIXTURE_VARIANT_ADD(hand, 2){ .nranks = 2 };

FIXTURE_VARIANT_ADD(hand, 3){ .nranks = 3 };

FIXTURE_VARIANT_ADD(hand, 4){ .nranks = 4 };

FIXTURE_VARIANT_ADD(hand, 7){ .nranks = 7 };

FIXTURE_VARIANT_ADD(hand, 8){ .nranks = 8 };

FIXTURE_VARIANT_ADD(hand, 16){ .nranks = 16 };

FIXTURE_VARIANT_ADD(hand, 64){ .nranks = 64 };

FIXTURE_SETUP(hand)
{
	if (is_slow() && variant->nranks > 8)
		return; /* the test skips */
	/* One block of the ring, which this one has too. */
	self->world = (struct world){
		.nranks = variant->nranks,
		.most = 130 * MAX_ROWS,
		.tile_bytes = 65536,
	};
	ASSERT_EQ(0, make_world(&self->world));
	ASSERT_EQ(0, pld_alloc_signal(self->world.domain,
				      PLD_SHAPE(variant->nranks, 1),
				      &credits_buffer));
	ASSERT_EQ(0,
		  pld_alloc_signal(self->world.domain,
				   ring_shape(variant->nranks), &rows_buffer));
}

FIXTURE_TEARDOWN(hand)
{
	pld_domain_destroy(self->world.domain);
}

TEST_F_TIMEOUT(hand, written_collectives_agree_with_the_model, 120)
{
	if (!self->world.domain)
		SKIP(return, "fewer ranks where all is slow");
	RUN(self->world.domain, by_hand, &self->world);
}

LIB_TEST_MAIN
