// SPDX-License-Identifier: GPL-2.0
/*
 * pl.load, pl.store and pld.tile.remote_load: every element of regions of one
 * to five dimensions against a model that moves one element at a time, and
 * that a refused call changes nothing.
 *
 * Windows keep their bytes from one launch to the next, so ranks fill theirs
 * in one launch and read each other's in another.
 */
#include <limits.h>
#include <stdlib.h>

#include "lib_golden.h"
#include "lib_test.h"

#define NRANKS 3
#define LAST_DTYPE PLD_UINT8
/* Of the largest region below, at 8 bytes an element. */
#define BYTES 4096
#define SEED_TENSOR 100
#define SEED_TILE 200

static const struct region {
	pld_dims whole;
	pld_dims offsets;
	pld_dims shape;
} regions[] = {
	{ PLD_SHAPE(1), PLD_AT(0), PLD_SHAPE(1) },
	{ PLD_SHAPE(63), PLD_AT(0), PLD_SHAPE(63) },
	{ PLD_SHAPE(63), PLD_AT(62), PLD_SHAPE(1) },
	{ PLD_SHAPE(63), PLD_AT(5), PLD_SHAPE(31) },
	{ PLD_SHAPE(7, 9), PLD_AT(0, 0), PLD_SHAPE(7, 9) },
	{ PLD_SHAPE(7, 9), PLD_AT(2, 0), PLD_SHAPE(3, 9) },
	{ PLD_SHAPE(7, 9), PLD_AT(0, 8), PLD_SHAPE(7, 1) },
	{ PLD_SHAPE(7, 9), PLD_AT(3, 2), PLD_SHAPE(4, 5) },
	{ PLD_SHAPE(1, 64), PLD_AT(0, 16), PLD_SHAPE(1, 32) },
	{ PLD_SHAPE(3, 4, 5), PLD_AT(1, 1, 1), PLD_SHAPE(2, 2, 3) },
	{ PLD_SHAPE(3, 4, 5), PLD_AT(2, 0, 0), PLD_SHAPE(1, 4, 5) },
	{ PLD_SHAPE(2, 3, 4, 5), PLD_AT(0, 1, 0, 2), PLD_SHAPE(2, 2, 4, 2) },
	{ PLD_SHAPE(2, 1, 4, 5), PLD_AT(0, 0, 1, 0), PLD_SHAPE(2, 1, 2, 5) },
	{ PLD_SHAPE(3, 2, 3, 3, 4), PLD_AT(1, 0, 1, 1, 1),
	  PLD_SHAPE(2, 2, 2, 2, 3) },
	{ PLD_SHAPE(2, 2, 2, 2, 2), PLD_AT(0, 0, 0, 0, 0),
	  PLD_SHAPE(2, 2, 2, 2, 2) },
};

/* What every rank has, made anew in each. */
struct rank {
	pld_distributed_tensor window;
	pld_tensor tensor;
	unsigned char memory[BYTES];
	pld_tile tile;
};

static int view(struct rank *r, pld_window_buffer *buffer, pld_dims shape,
		pld_dtype dtype)
{
	PLD_TRY(pld_window(buffer, shape, dtype, &r->window));
	return pld_tensor_init(&r->tensor, r->memory, shape, dtype);
}

static int make_rank(struct rank *r, pld_window_buffer *buffer)
{
	golden_fill(r->memory, BYTES, SEED_TENSOR);
	PLD_TRY(view(r, buffer, PLD_SHAPE(4, 8), PLD_INT32));
	PLD_TRY(pld_tile_alloc(&r->tile, BYTES));
	golden_fill(r->tile.data, BYTES, SEED_TILE);
	return 0;
}

static int fill(pld_domain *domain, void *buffer)
{
	pld_distributed_tensor bytes;

	PLD_TRY(pld_window(buffer, PLD_SHAPE(BYTES), PLD_UINT8, &bytes));
	golden_fill(bytes.data, BYTES, (unsigned int)pld_rank(domain));
	return 0;
}

/* The tile holds that region of memory that golden_fill() made, no more. */
static int check_tile(const pld_tile *tile, const struct region *r,
		      pld_dtype dtype, unsigned int seed)
{
	size_t size = (size_t)pld_dtype_size(dtype);
	unsigned char from[BYTES], want[BYTES];

	golden_fill(from, BYTES, seed);
	golden_fill(want, BYTES, SEED_TILE);
	golden_copy(want, r->shape, golden_origin(r->shape), from, r->whole,
		    r->offsets, r->shape, size);
	CHECK_EQ(PLD_TILE, tile->kind);
	CHECK_EQ(dtype, tile->dtype);
	CHECK_EQ(r->shape.ndim, tile->shape.ndim);
	for (int i = 0; i < r->shape.ndim; i++)
		CHECK_EQ(r->shape.n[i], tile->shape.n[i]);
	CHECK(!memcmp(want, tile->data, BYTES));
	return 0;
}

/* Calls check for each region, of each dtype. */
static int for_all(struct rank *r, pld_window_buffer *buffer,
		   int (*check)(struct rank *r, const struct region *region,
				pld_dtype dtype))
{
	for (int dtype = 0; dtype <= LAST_DTYPE; dtype++)
		for (size_t i = 0; i < ARRAY_SIZE(regions); i++) {
			const struct region *region = &regions[i];
			int error;

			PLD_TRY(view(r, buffer, region->whole, (pld_dtype)dtype));
			golden_fill(r->tile.data, BYTES, SEED_TILE);
			error = check(r, region, (pld_dtype)dtype);
			if (error) {
				fprintf(stderr, "# in region %zu of %s\n", i,
					pld_dtype_name((pld_dtype)dtype));
				return error;
			}
		}
	return 0;
}

static int check_load(struct rank *r, const struct region *region,
		      pld_dtype dtype)
{
	CHECK_EQ(0,
		 pld_load(&r->tensor, region->offsets, region->shape, &r->tile));
	PLD_TRY(check_tile(&r->tile, region, dtype, SEED_TENSOR));
	golden_fill(r->tile.data, BYTES, SEED_TILE);
	CHECK_EQ(0,
		 pld_load(&r->window, region->offsets, region->shape, &r->tile));
	return check_tile(&r->tile, region, dtype, (unsigned int)lib_here);
}

static int loads(pld_domain *domain, void *buffer)
{
	struct rank r;

	PLD_TRY(make_rank(&r, buffer));
	PLD_TRY(for_all(&r, buffer, check_load));
	pld_tile_free(&r.tile);
	return 0;
}

static int check_remote_load(struct rank *r, const struct region *region,
			     pld_dtype dtype)
{
	for (int peer = 0; peer < NRANKS; peer++) {
		golden_fill(r->tile.data, BYTES, SEED_TILE);
		CHECK_EQ(0,
			 pld_tile_remote_load(&r->window, peer, region->offsets,
					      region->shape, &r->tile));
		PLD_TRY(check_tile(&r->tile, region, dtype, (unsigned int)peer));
	}
	return 0;
}

static int remote_loads(pld_domain *domain, void *buffer)
{
	struct rank r;

	PLD_TRY(make_rank(&r, buffer));
	PLD_TRY(for_all(&r, buffer, check_remote_load));
	pld_tile_free(&r.tile);
	return 0;
}

/* Stores a tile of known bytes; all of the target is as the model has it. */
static int store_into(struct rank *r, const pld_view *target,
		      const struct region *region, pld_dtype dtype)
{
	size_t size = (size_t)pld_dtype_size(dtype);
	unsigned char want[BYTES];
	pld_tensor source;

	golden_fill(want, BYTES, SEED_TENSOR);
	CHECK_EQ(0, pld_tensor_init(&source, want, region->shape, dtype));
	CHECK_EQ(0, pld_load(&source, golden_origin(region->shape),
			     region->shape, &r->tile));
	golden_fill(want, BYTES, SEED_TENSOR + 1);
	golden_fill(target->data, BYTES, SEED_TENSOR + 1);
	golden_copy(want, region->whole, region->offsets, r->tile.data,
		    region->shape, golden_origin(region->shape), region->shape,
		    size);
	CHECK_EQ(0, pld_store(&r->tile, region->offsets, target));
	CHECK(!memcmp(want, target->data, BYTES));
	CHECK_EQ((size_t)golden_count(region->shape) * size,
		 golden_differs(r->tile.data,
				(size_t)golden_count(region->shape) * size,
				SEED_TENSOR));
	return 0;
}

static int check_store(struct rank *r, const struct region *region,
		       pld_dtype dtype)
{
	PLD_TRY(store_into(r, &r->tensor, region, dtype));
	return store_into(r, &r->window, region, dtype);
}

static int stores(pld_domain *domain, void *buffer)
{
	struct rank r;

	PLD_TRY(make_rank(&r, buffer));
	PLD_TRY(for_all(&r, buffer, check_store));
	pld_tile_free(&r.tile);
	return 0;
}

/* A signal's cells are far apart, and adjacent in a tile. */
static int signal_cells(pld_domain *domain, void *buffer)
{
	static const int32_t fresh[] = { 70, 71, 72, 73 };
	pld_dims two = PLD_SHAPE(2, 2);
	pld_distributed_tensor signal;
	const int32_t *got;
	pld_tensor source;
	pld_tile tile;

	PLD_TRY(pld_window(buffer, PLD_SHAPE(3, 4), PLD_INT32, &signal));
	PLD_TRY(pld_tile_alloc(&tile, 12 * sizeof(int32_t)));
	got = tile.data;
	for (int i = 0; i < 12; i++)
		CHECK_EQ(0, pld_system_notify(&signal, pld_rank(domain),
					      PLD_AT(i / 4, i % 4), i, PLD_SET));
	CHECK_EQ(0, pld_load(&signal, PLD_AT(0, 0), PLD_SHAPE(3, 4), &tile));
	for (int i = 0; i < 12; i++)
		CHECK_EQ(i, got[i]);
	PLD_TRY(pld_tensor_init(&source, (void *)fresh, two, PLD_INT32));
	CHECK_EQ(0, pld_load(&source, PLD_AT(0, 0), two, &tile));
	CHECK_EQ(0, pld_store(&tile, PLD_AT(1, 1), &signal));
	for (int i = 0; i < 12; i++) {
		int row = i / 4 - 1, col = i % 4 - 1;
		int inside = row >= 0 && col >= 0 && col < 2;

		CHECK_EQ(0,
			 pld_system_wait_timeout(&signal, PLD_AT(i / 4, i % 4),
						 inside ? 70 + 2 * row + col : i,
						 PLD_EQ, 0));
	}
	pld_tile_free(&tile);
	return 0;
}

/* Nothing of the tile, the tensor and the window has changed. */
static int check_untouched(const struct rank *r)
{
	CHECK_EQ(BYTES, golden_differs(r->memory, BYTES, SEED_TENSOR));
	CHECK_EQ(BYTES,
		 golden_differs(r->window.data, BYTES, (unsigned int)lib_here));
	CHECK_EQ(BYTES, golden_differs(r->tile.data, BYTES, SEED_TILE));
	return 0;
}

#define OUTSIDE(op, at, of, what) \
	op ": offsets " at " with shape " of " lie outside " what " [4, 8]"

static int bounds(pld_domain *domain, void *buffer)
{
	struct rank r;
	pld_dims one = PLD_SHAPE(1, 1);

	PLD_TRY(make_rank(&r, buffer));
	CHECK_REFUSED(-ERANGE, OUTSIDE("pl.load", "[4, 0]", "[1, 1]", "tensor"),
		      pld_load(&r.tensor, PLD_AT(4, 0), one, &r.tile));
	CHECK_REFUSED(-ERANGE, OUTSIDE("pl.load", "[0, -1]", "[1, 1]", "tensor"),
		      pld_load(&r.window, PLD_AT(0, -1), one, &r.tile));
	CHECK_REFUSED(-ERANGE, OUTSIDE("pl.load", "[0, 1]", "[1, 8]", "tensor"),
		      pld_load(&r.window, PLD_AT(0, 1), PLD_SHAPE(1, 8),
			       &r.tile));
	CHECK_REFUSED(-ERANGE,
		      OUTSIDE("pl.load", "[9223372036854775807, 0]", "[2, 1]",
			      "tensor"),
		      pld_load(&r.tensor, PLD_AT(INT64_MAX, 0), PLD_SHAPE(2, 1),
			       &r.tile));
	CHECK_REFUSED(-ERANGE,
		      OUTSIDE("pl.load", "[0, 0]", "[1, 9223372036854775807]",
			      "tensor"),
		      pld_load(&r.tensor, PLD_AT(0, 0), PLD_SHAPE(1, INT64_MAX),
			       &r.tile));
	CHECK_REFUSED(-EINVAL,
		      "pl.load: shape is [0, 1], wanted every dimension positive",
		      pld_load(&r.tensor, PLD_AT(0, 0), PLD_SHAPE(0, 1),
			       &r.tile));
	CHECK_REFUSED(-EINVAL,
		      "pl.load: offsets [0] and shape [1, 1] must have the 2 dimensions of tensor [4, 8]",
		      pld_load(&r.tensor, PLD_AT(0), one, &r.tile));
	CHECK_REFUSED(-ERANGE,
		      OUTSIDE("pld.tile.remote_load", "[3, 7]", "[1, 2]",
			      "target"),
		      pld_tile_remote_load(&r.window, 1, PLD_AT(3, 7),
					   PLD_SHAPE(1, 2), &r.tile));
	CHECK_REFUSED(-EINVAL,
		      "pld.tile.remote_load: offsets [0, 0] and shape [1, 1, 1] must have the 2 dimensions of target [4, 8]",
		      pld_tile_remote_load(&r.window, 1, PLD_AT(0, 0),
					   PLD_SHAPE(1, 1, 1), &r.tile));
	PLD_TRY(check_untouched(&r));
	pld_tile_free(&r.tile);
	return 0;
}

static int peers(pld_domain *domain, void *buffer)
{
	static const struct {
		int peer;
		const char *message;
	} bad[] = {
		{ -1, "pld.tile.remote_load: peer is -1, wanted 0 to 2" },
		{ NRANKS, "pld.tile.remote_load: peer is 3, wanted 0 to 2" },
		{ INT_MAX,
		  "pld.tile.remote_load: peer is 2147483647, wanted 0 to 2" },
		{ INT_MIN,
		  "pld.tile.remote_load: peer is -2147483648, wanted 0 to 2" },
	};
	struct rank r;

	PLD_TRY(make_rank(&r, buffer));
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		CHECK_REFUSED(-ERANGE, bad[i].message,
			      pld_tile_remote_load(&r.window, bad[i].peer,
						   PLD_AT(0, 0),
						   PLD_SHAPE(1, 1), &r.tile));
	PLD_TRY(check_untouched(&r));
	pld_tile_free(&r.tile);
	return 0;
}

static int capacity(pld_domain *domain, void *buffer)
{
	pld_dims at = PLD_AT(0, 0), whole = PLD_SHAPE(4, 8);
	struct rank r;
	pld_tile small;

	PLD_TRY(make_rank(&r, buffer));
	PLD_TRY(pld_tile_alloc(&small, 127));
	CHECK_REFUSED(-ENOSPC, "pl.load: 128 bytes do not fit the tile of 127",
		      pld_load(&r.tensor, at, whole, &small));
	CHECK_REFUSED(-ENOSPC,
		      "pld.tile.remote_load: 128 bytes do not fit the tile of 127",
		      pld_tile_remote_load(&r.window, 1, at, whole, &small));
	CHECK_EQ(0, small.shape.ndim);
	CHECK_EQ(0, pld_load(&r.tensor, at, PLD_SHAPE(3, 8), &small));
	/* What it holds stays when the next load is refused. */
	CHECK_REFUSED(-ENOSPC, "pl.load: 128 bytes do not fit the tile of 127",
		      pld_load(&r.tensor, at, whole, &small));
	CHECK_EQ(3, small.shape.n[0]);
	CHECK_EQ(96, golden_differs(small.data, 96, SEED_TENSOR));
	pld_tile_free(&small);
	PLD_TRY(pld_tile_alloc(&small, 128));
	CHECK_EQ(0, pld_load(&r.tensor, at, whole, &small));
	pld_tile_free(&small);
	pld_tile_free(&r.tile);
	return 0;
}

static int wrong_kinds(pld_domain *domain, void *buffer)
{
	pld_dims at = PLD_AT(0, 0), one = PLD_SHAPE(1, 1);
	struct rank r;
	pld_tile empty, bare;

	PLD_TRY(make_rank(&r, buffer));
	PLD_TRY(pld_tile_alloc(&empty, 64));
	CHECK_REFUSED(-EINVAL,
		      "pl.load: tensor must be a Tensor or DistributedTensor, got Tile",
		      pld_load(&r.tile, at, one, &r.tile));
	CHECK_REFUSED(-EINVAL,
		      "pl.load: tensor must be a Tensor or DistributedTensor, got NULL",
		      pld_load(NULL, at, one, &r.tile));
	CHECK_REFUSED(-EINVAL, "pl.load: tile must be a Tile, got Tensor",
		      pld_load(&r.window, at, one, &r.tensor));
	CHECK_REFUSED(-EINVAL,
		      "pl.load: tile must be a Tile, got DistributedTensor",
		      pld_load(&r.tensor, at, one, &r.window));
	CHECK_REFUSED(-EINVAL, "pl.load: tile must be a Tile, got NULL",
		      pld_load(&r.tensor, at, one, NULL));
	bare = r.tile;
	bare.data = NULL;
	CHECK_REFUSED(-EFAULT, "pl.load: tile has no memory",
		      pld_load(&r.tensor, at, one, &bare));
	CHECK_REFUSED(-EINVAL, "pl.store: tile must be a Tile, got Tensor",
		      pld_store(&r.tensor, at, &r.window));
	CHECK_REFUSED(-EINVAL, "pl.store: tile must be a Tile, got NULL",
		      pld_store(NULL, at, &r.window));
	CHECK_REFUSED(-EINVAL,
		      "pl.store: tile holds nothing: it has no valid dtype and shape",
		      pld_store(&empty, at, &r.tensor));
	CHECK_REFUSED(-EINVAL,
		      "pld.tile.remote_load: target must be a DistributedTensor, got Tensor",
		      pld_tile_remote_load(&r.tensor, 0, at, one, &r.tile));
	CHECK_REFUSED(-EINVAL,
		      "pld.tile.remote_load: target must be a DistributedTensor, got Tile",
		      pld_tile_remote_load(&r.tile, 0, at, one, &r.tile));
	CHECK_REFUSED(-EINVAL,
		      "pld.tile.remote_load: tile must be a Tile, got Tensor",
		      pld_tile_remote_load(&r.window, 0, at, one, &r.tensor));
	PLD_TRY(check_untouched(&r));
	pld_tile_free(&empty);
	pld_tile_free(&r.tile);
	return 0;
}

static int store_refusals(pld_domain *domain, void *buffer)
{
	pld_dims at = PLD_AT(0, 0);
	pld_distributed_tensor floats;
	struct rank r;

	PLD_TRY(make_rank(&r, buffer));
	PLD_TRY(pld_window(buffer, PLD_SHAPE(4, 8), PLD_FP32, &floats));
	PLD_TRY(pld_load(&r.tensor, at, PLD_SHAPE(2, 3), &r.tile));
	CHECK_REFUSED(-EINVAL,
		      "pl.store: dtype of tile is int32, wanted the tensor's fp32",
		      pld_store(&r.tile, at, &floats));
	CHECK_REFUSED(-EINVAL,
		      "pl.store: tensor must be a Tensor or DistributedTensor, got Tile",
		      pld_store(&r.tile, at, &r.tile));
	CHECK_REFUSED(-EINVAL,
		      "pl.store: tensor must be a Tensor or DistributedTensor, got NULL",
		      pld_store(&r.tile, at, NULL));
	CHECK_REFUSED(-ERANGE, OUTSIDE("pl.store", "[3, 0]", "[2, 3]", "tensor"),
		      pld_store(&r.tile, PLD_AT(3, 0), &r.window));
	CHECK_REFUSED(-ERANGE,
		      OUTSIDE("pl.store", "[0, -1]", "[2, 3]", "tensor"),
		      pld_store(&r.tile, PLD_AT(0, -1), &r.window));
	CHECK_REFUSED(-EINVAL,
		      "pl.store: offsets [0] and shape [2, 3] must have the 2 dimensions of tensor [4, 8]",
		      pld_store(&r.tile, PLD_AT(0), &r.window));
	golden_fill(r.tile.data, BYTES, SEED_TILE);
	PLD_TRY(check_untouched(&r));
	pld_tile_free(&r.tile);
	return 0;
}

FIXTURE(tile)
{
	pld_domain *domain;
	pld_window_buffer *data;
};

FIXTURE_SETUP(tile)
{
	self->domain = make_domain(NRANKS);
	ASSERT_NE(NULL, self->domain);
	ASSERT_EQ(0, pld_alloc_window_buffer(self->domain, BYTES, &self->data));
	RUN(self->domain, fill, self->data);
}

FIXTURE_TEARDOWN(tile)
{
	pld_domain_destroy(self->domain);
}

TEST_F(tile, load_reads_the_region_and_nothing_else)
{
	RUN(self->domain, loads, self->data);
}

TEST_F(tile, store_writes_the_region_and_nothing_else)
{
	RUN(self->domain, stores, self->data);
}

TEST_F(tile, remote_load_reads_every_peer_and_itself)
{
	RUN(self->domain, remote_loads, self->data);
}

TEST_F(tile, cells_of_a_signal_are_dense_to_load_and_store)
{
	pld_window_buffer *signal;

	ASSERT_EQ(0, pld_alloc_signal(self->domain, PLD_SHAPE(3, 4), &signal));
	RUN(self->domain, signal_cells, signal);
}

TEST_F(tile, region_outside_the_tensor_is_refused)
{
	RUN(self->domain, bounds, self->data);
}

TEST_F(tile, peer_out_of_range_is_refused)
{
	RUN(self->domain, peers, self->data);
}

TEST_F(tile, region_larger_than_the_tile_is_refused)
{
	RUN(self->domain, capacity, self->data);
}

TEST_F(tile, wrong_kind_of_view_is_refused)
{
	RUN(self->domain, wrong_kinds, self->data);
}

TEST_F(tile, store_of_another_dtype_or_outside_is_refused)
{
	RUN(self->domain, store_refusals, self->data);
}

TEST(tile_of_nothing_is_refused)
{
	static const char message[] =
		"pld_tile_alloc: wanted a tile and at least 1 byte";
	pld_tile tile;

	EXPECT_REFUSED(-EINVAL, message, pld_tile_alloc(&tile, 0));
	EXPECT_REFUSED(-EINVAL, message, pld_tile_alloc(NULL, 1));
	pld_tile_free(NULL);
}

TEST(tile_over_nothing_is_refused)
{
	static const char message[] =
		"pld_tile_init: tile and data must not be NULL";
	int16_t numbers[6];
	pld_tile tile;

	EXPECT_REFUSED(-EINVAL, message,
		       pld_tile_init(NULL, numbers, PLD_SHAPE(6), PLD_INT16));
	EXPECT_REFUSED(-EINVAL, message,
		       pld_tile_init(&tile, NULL, PLD_SHAPE(6), PLD_INT16));
	EXPECT_REFUSED(-EINVAL,
		       "pld_tile_init: shape is [0], wanted every dimension positive",
		       pld_tile_init(&tile, numbers, PLD_SHAPE(0), PLD_INT16));
}

TEST(tile_over_misaligned_memory_is_refused)
{
	char text[PLD_MESSAGE_BYTES], *odd;
	double numbers[2];
	pld_tile tile;

	odd = (char *)numbers + 4;
	snprintf(text, sizeof(text),
		 "pld_tile_init: data is %p, wanted a multiple of fp64's 8 bytes",
		 (void *)odd);
	EXPECT_REFUSED(-EINVAL, text,
		       pld_tile_init(&tile, odd, PLD_SHAPE(1), PLD_FP64));
	EXPECT_EQ(0, pld_tile_init(&tile, odd, PLD_SHAPE(1), PLD_FP32));
}

TEST(part_of_a_tile_is_not_freed)
{
	int16_t numbers[] = { 1, 2 }, second = 0;
	pld_tensor tensor;
	pld_tile tile, part;

	ASSERT_EQ(0, pld_tensor_init(&tensor, numbers, PLD_SHAPE(2), PLD_INT16));
	ASSERT_EQ(0, pld_tile_alloc(&tile, sizeof(numbers)));
	ASSERT_EQ(0, pld_load(&tensor, PLD_AT(0), PLD_SHAPE(2), &tile));
	ASSERT_EQ(0, pld_slice(&tile, PLD_AT(0), PLD_SHAPE(1), &part));
	pld_tile_free(&part);
	/* The tile is there still, with its second element when it is cut. */
	ASSERT_EQ(0, pld_slice(&tile, PLD_AT(1), PLD_SHAPE(1), &tile));
	ASSERT_EQ(0, pld_tensor_init(&tensor, &second, PLD_SHAPE(1), PLD_INT16));
	EXPECT_EQ(0, pld_store(&tile, PLD_AT(0), &tensor));
	EXPECT_EQ(2, second);
	pld_tile_free(&tile);
}

TEST(tile_over_memory_of_the_callers)
{
	int16_t numbers[] = { 1, 2, 3, 4, 5, 6 }, into[6] = { 0 };
	pld_tensor tensor;
	pld_tile tile;

	ASSERT_EQ(0,
		  pld_tensor_init(&tensor, numbers, PLD_SHAPE(2, 3), PLD_INT16));
	/* It is filled: what it holds is stored as it is. */
	ASSERT_EQ(0, pld_tile_init(&tile, into, PLD_SHAPE(1, 2), PLD_INT16));
	into[0] = 7;
	into[1] = 8;
	EXPECT_EQ(0, pld_store(&tile, PLD_AT(1, 1), &tensor));
	EXPECT_EQ(4, numbers[3]);
	EXPECT_EQ(7, numbers[4]);
	EXPECT_EQ(8, numbers[5]);
	/* A load fills it, and no more than it has room for. */
	EXPECT_EQ(0, pld_load(&tensor, PLD_AT(0, 1), PLD_SHAPE(1, 2), &tile));
	EXPECT_EQ(2, into[0]);
	EXPECT_EQ(3, into[1]);
	EXPECT_REFUSED(-ENOSPC, "pl.load: 6 bytes do not fit the tile of 4",
		       pld_load(&tensor, PLD_AT(0, 0), PLD_SHAPE(1, 3), &tile));
	EXPECT_EQ(0, into[2]);
	/* Freeing it leaves the memory. */
	pld_tile_free(&tile);
	EXPECT_EQ(NULL, tile.data);
	EXPECT_EQ(3, into[1]);
}

TEST(tensors_need_no_domain)
{
	int16_t numbers[] = { 1, 2, 3, 4, 5, 6 };
	pld_tensor tensor;
	pld_tile tile;

	ASSERT_EQ(0,
		  pld_tensor_init(&tensor, numbers, PLD_SHAPE(2, 3), PLD_INT16));
	ASSERT_EQ(0, pld_tile_alloc(&tile, 4));
	EXPECT_EQ(0, pld_load(&tensor, PLD_AT(0, 1), PLD_SHAPE(2, 1), &tile));
	EXPECT_EQ(0, pld_store(&tile, PLD_AT(0, 0), &tensor));
	EXPECT_EQ(2, numbers[0]);
	EXPECT_EQ(5, numbers[3]);
	EXPECT_EQ(6, numbers[5]);
	pld_tile_free(&tile);
	EXPECT_EQ(NULL, tile.data);
}

LIB_TEST_MAIN
