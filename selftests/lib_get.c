// SPDX-License-Identifier: GPL-2.0
/*
 * pld.tensor.get, and what put has in common with it: chunks and the pipeline.
 * Rank 0 gets from every rank and puts to every rank; what arrives is compared
 * with a model that was moved one element at a time.
 */
#include <stdlib.h>

#include "lib_golden.h"
#include "lib_test.h"

#define NRANKS 3
#define BYTES 2048
#define SEED_TENSOR 100

struct bench {
	pld_domain *domain;
	pld_window_buffer *buffer;
	pld_distributed_tensor bytes;
	pld_tile look;
	unsigned char memory[BYTES];
	unsigned char model[BYTES];
	unsigned char windows[NRANKS][BYTES];
};

static int fill(pld_domain *domain, void *buffer)
{
	pld_distributed_tensor bytes;

	PLD_TRY(pld_window(buffer, PLD_SHAPE(BYTES), PLD_UINT8, &bytes));
	golden_fill(bytes.data, BYTES, (unsigned int)pld_rank(domain));
	return 0;
}

static int setup(struct bench *b, pld_domain *domain, pld_window_buffer *buffer)
{
	b->domain = domain;
	b->buffer = buffer;
	golden_fill(b->memory, BYTES, SEED_TENSOR);
	golden_fill(b->model, BYTES, SEED_TENSOR);
	for (int rank = 0; rank < NRANKS; rank++)
		golden_fill(b->windows[rank], BYTES, (unsigned int)rank);
	PLD_TRY(pld_window(buffer, PLD_SHAPE(BYTES), PLD_UINT8, &b->bytes));
	return pld_tile_alloc(&b->look, BYTES);
}

/* Every byte of every rank's window, and of the own memory. */
static int check_all(struct bench *b)
{
	for (int rank = 0; rank < NRANKS; rank++) {
		CHECK_EQ(0, pld_tile_remote_load(&b->bytes, rank, PLD_AT(0),
						 PLD_SHAPE(BYTES), &b->look));
		CHECK(!memcmp(b->windows[rank], b->look.data, BYTES));
	}
	CHECK(!memcmp(b->memory, b->model, BYTES));
	return 0;
}

struct region {
	pld_dims far;
	pld_dims far_offsets;
	pld_dims near;
	pld_dims near_offsets;
	pld_dims shape;
};

static const struct region regions[] = {
	{ PLD_SHAPE(97), PLD_AT(13), PLD_SHAPE(70), PLD_AT(3), PLD_SHAPE(67) },
	{ PLD_SHAPE(6, 11), PLD_AT(2, 4), PLD_SHAPE(5, 7), PLD_AT(1, 0),
	  PLD_SHAPE(4, 7) },
	{ PLD_SHAPE(9, 9), PLD_AT(0, 0), PLD_SHAPE(9, 9), PLD_AT(0, 0),
	  PLD_SHAPE(9, 9) },
	{ PLD_SHAPE(3, 4, 5), PLD_AT(0, 1, 2), PLD_SHAPE(4, 3, 3),
	  PLD_AT(1, 0, 0), PLD_SHAPE(3, 3, 3) },
	{ PLD_SHAPE(2, 3, 4, 5), PLD_AT(1, 0, 1, 1), PLD_SHAPE(1, 3, 4, 3),
	  PLD_AT(0, 0, 1, 0), PLD_SHAPE(1, 3, 3, 3) },
	{ PLD_SHAPE(3, 2, 3, 3, 4), PLD_AT(1, 0, 1, 1, 1),
	  PLD_SHAPE(2, 2, 2, 2, 4), PLD_AT(0, 0, 0, 0, 1),
	  PLD_SHAPE(2, 2, 2, 2, 3) },
};

/* One get and one put of the same region, with the same chunks. */
static int both_ways(struct bench *b, const struct region *r, pld_dtype dtype,
		     int peer, const pld_put_options *chunks)
{
	size_t size = (size_t)pld_dtype_size(dtype);
	pld_put_options options = *chunks;
	pld_distributed_tensor far;
	pld_tensor near;

	PLD_TRY(pld_window(b->buffer, r->far, dtype, &far));
	PLD_TRY(pld_tensor_init(&near, b->memory, r->near, dtype));
	options.shape = r->shape;
	options.dst_offsets = r->near_offsets;
	options.src_offsets = r->far_offsets;
	CHECK_EQ(0, pld_tensor_get(&near, peer, &far, &options));
	golden_copy(b->model, r->near, r->near_offsets, b->windows[peer],
		    r->far, r->far_offsets, r->shape, size);
	PLD_TRY(check_all(b));
	golden_fill(b->memory, BYTES, SEED_TENSOR + 1);
	golden_fill(b->model, BYTES, SEED_TENSOR + 1);
	options.dst_offsets = r->far_offsets;
	options.src_offsets = r->near_offsets;
	CHECK_EQ(0, pld_tensor_put(&far, peer, &near, &options));
	golden_copy(b->windows[peer], r->far, r->far_offsets, b->memory,
		    r->near, r->near_offsets, r->shape, size);
	return check_all(b);
}

static int all_ways(struct bench *b, const pld_put_options *chunks)
{
	static const pld_dtype dtypes[] = { PLD_UINT8, PLD_BF16, PLD_FP32,
					    PLD_INT64 };

	for (size_t d = 0; d < ARRAY_SIZE(dtypes); d++)
		for (size_t i = 0; i < ARRAY_SIZE(regions); i++)
			for (int peer = 0; peer < NRANKS; peer++)
				PLD_TRY(both_ways(b, &regions[i], dtypes[d],
						  peer, chunks));
	return 0;
}

static int chunks_that_fit(pld_domain *domain, void *buffer)
{
	static const size_t sizes[] = { 8, 24, 100, BYTES };
	struct bench b;

	if (pld_rank(domain))
		return 0;
	PLD_TRY(setup(&b, domain, buffer));
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		pld_put_options options = { 0 };
		pld_tile stage;

		PLD_TRY(pld_tile_alloc(&stage, sizes[i]));
		options.stage = &stage;
		PLD_TRY(all_ways(&b, &options));
		pld_tile_free(&stage);
	}
	pld_tile_free(&b.look);
	return 0;
}

/* Extents that divide the region, that do not, and that are larger. */
static int chunks_as_asked(pld_domain *domain, void *buffer)
{
	static const int64_t extents[][2] = {
		{ 1, 1 }, { 0, 2 }, { 1, 0 }, { 1, 3 }, { 1, 100 }
	};
	struct bench b;

	if (pld_rank(domain))
		return 0;
	PLD_TRY(setup(&b, domain, buffer));
	for (size_t i = 0; i < ARRAY_SIZE(extents); i++)
		for (int pipeline = 0; pipeline < 2; pipeline++) {
			pld_put_options options = {
				.chunk_rows = extents[i][0],
				.chunk_cols = extents[i][1],
				.pipeline = pipeline && extents[i][0] &&
					    extents[i][1],
			};

			PLD_TRY(all_ways(&b, &options));
		}
	pld_tile_free(&b.look);
	return 0;
}

/*
 * What passes through the stage tells how large chunks were: of 6 by 8 in
 * chunks of 4 by 5 the last one is 2 by 3, and lies in the stage's beginning;
 * the first one's rest lies behind it.
 */
static int chunk_is_a_box(pld_domain *domain, void *buffer)
{
	pld_put_options options = { .chunk_rows = 4, .chunk_cols = 5 };
	unsigned char wanted[40];
	pld_distributed_tensor far;
	pld_tile stage;
	struct bench b;
	pld_tensor near;

	if (pld_rank(domain))
		return 0;
	PLD_TRY(setup(&b, domain, buffer));
	PLD_TRY(pld_tile_alloc(&stage, 40));
	PLD_TRY(pld_window(buffer, PLD_SHAPE(6, 8), PLD_UINT8, &far));
	PLD_TRY(pld_tensor_init(&near, b.memory, PLD_SHAPE(6, 8), PLD_UINT8));
	options.stage = &stage;
	memset(stage.data, 0xee, 40);
	CHECK_EQ(0, pld_tensor_put(&far, 1, &near, &options));
	memset(wanted, 0xee, 40);
	/* Chunks in the order of addresses: (0,0) (0,5) (4,0) (4,5). */
	for (int i = 0; i < 20; i++)
		wanted[i] = b.memory[i / 5 * 8 + i % 5];
	for (int i = 0; i < 12; i++)
		wanted[i] = b.memory[i / 3 * 8 + 5 + i % 3];
	for (int i = 0; i < 10; i++)
		wanted[i] = b.memory[(4 + i / 5) * 8 + i % 5];
	for (int i = 0; i < 6; i++)
		wanted[i] = b.memory[(4 + i / 3) * 8 + 5 + i % 3];
	CHECK(!memcmp(wanted, stage.data, 40));
	/* Two chunks of 20 bytes: the second and fourth in the other half. */
	options.pipeline = 1;
	CHECK_EQ(0, pld_tensor_put(&far, 1, &near, &options));
	for (int i = 0; i < 12; i++)
		wanted[20 + i] = b.memory[i / 3 * 8 + 5 + i % 3];
	for (int i = 0; i < 6; i++)
		wanted[20 + i] = b.memory[(4 + i / 3) * 8 + 5 + i % 3];
	CHECK(!memcmp(wanted + 20, (char *)stage.data + 20, 12));
	pld_tile_free(&stage);
	pld_tile_free(&b.look);
	return 0;
}

/* A transposed view of memory, and every second column of a window. */
static int strided(pld_domain *domain, void *buffer)
{
	pld_distributed_tensor far;
	struct bench b;
	pld_tensor near;

	if (pld_rank(domain))
		return 0;
	PLD_TRY(setup(&b, domain, buffer));
	PLD_TRY(pld_window(buffer, PLD_SHAPE(7, 22), PLD_INT16, &far));
	CHECK_EQ(0, pld_slice(&far, PLD_AT(0, 3), PLD_SHAPE(7, 9), &far));
	CHECK_EQ(0, pld_set_strides(&far, PLD_AT(22, 2)));
	PLD_TRY(pld_tensor_init(&near, b.memory, PLD_SHAPE(9, 7), PLD_INT16));
	near.shape = PLD_SHAPE(7, 9);
	CHECK_EQ(0, pld_set_strides(&near, PLD_AT(1, 7)));
	for (int peer = 0; peer < NRANKS; peer++) {
		CHECK_EQ(0, pld_tensor_get(&near, peer, &far, NULL));
		for (int i = 0; i < 7; i++)
			for (int j = 0; j < 9; j++)
				memcpy(b.model + 2 * (j * 7 + i),
				       b.windows[peer] + 2 * (i * 22 + 3 + 2 * j),
				       2);
		PLD_TRY(check_all(&b));
		golden_fill(b.memory, BYTES, SEED_TENSOR + 2);
		golden_fill(b.model, BYTES, SEED_TENSOR + 2);
		CHECK_EQ(0, pld_tensor_put(&far, peer, &near, NULL));
		for (int i = 0; i < 7; i++)
			for (int j = 0; j < 9; j++)
				memcpy(b.windows[peer] + 2 * (i * 22 + 3 + 2 * j),
				       b.model + 2 * (j * 7 + i), 2);
		PLD_TRY(check_all(&b));
	}
	pld_tile_free(&b.look);
	return 0;
}

/* Into a window, and from the own rank to the own rank. */
static int into_window(pld_domain *domain, void *buffer)
{
	pld_get_options options = {
		.dst_offsets = PLD_AT(4, 0),
		.src_offsets = PLD_AT(0, 0),
		.shape = PLD_SHAPE(4, 16),
	};
	pld_distributed_tensor view;
	struct bench b;

	if (pld_rank(domain))
		return 0;
	PLD_TRY(setup(&b, domain, buffer));
	PLD_TRY(pld_window(buffer, PLD_SHAPE(8, 16), PLD_INT16, &view));
	for (int peer = 0; peer < NRANKS; peer++) {
		CHECK_EQ(0, pld_tensor_get(&view, peer, &view, &options));
		memcpy(b.windows[0] + 128, b.windows[peer], 128);
		PLD_TRY(check_all(&b));
	}
	pld_tile_free(&b.look);
	return 0;
}

/* Regions of unlike strides whose addresses interleave on the own rank. */
static int interleaved(pld_domain *domain, void *buffer)
{
	pld_distributed_tensor even, odd;
	struct bench b;

	if (pld_rank(domain))
		return 0;
	PLD_TRY(setup(&b, domain, buffer));
	PLD_TRY(pld_window(buffer, PLD_SHAPE(48), PLD_INT16, &even));
	CHECK_EQ(0, pld_slice(&even, PLD_AT(0), PLD_SHAPE(12), &even));
	odd = even;
	CHECK_EQ(0, pld_set_strides(&even, PLD_AT(4)));
	odd.data = (char *)odd.data + 2;
	CHECK_EQ(0, pld_set_strides(&odd, PLD_AT(2)));
	CHECK_EQ(0, pld_tensor_get(&odd, 0, &even, NULL));
	for (int i = 0; i < 12; i++)
		memcpy(b.windows[0] + 2 + 4 * i, b.windows[0] + 8 * i, 2);
	PLD_TRY(check_all(&b));
	odd.data = (char *)odd.data + 2;
	CHECK_REFUSED(-EINVAL, "pld.tensor.get: src and dst overlap",
		      pld_tensor_get(&odd, 0, &even, NULL));
	/* By one byte: the element's first, and its last. */
	odd.data = (char *)odd.data + 1;
	CHECK_REFUSED(-EINVAL, "pld.tensor.get: src and dst overlap",
		      pld_tensor_get(&odd, 0, &even, NULL));
	odd.data = (char *)odd.data - 2;
	CHECK_REFUSED(-EINVAL, "pld.tensor.get: src and dst overlap",
		      pld_tensor_get(&odd, 0, &even, NULL));
	PLD_TRY(check_all(&b));
	pld_tile_free(&b.look);
	return 0;
}

/*
 * On the own rank: a transposed view beside the columns that are copied to it,
 * and a source whose elements lie on each other.
 */
static int transposed_and_repeated(pld_domain *domain, void *buffer)
{
	pld_distributed_tensor table, columns, row;
	struct bench b;

	if (pld_rank(domain))
		return 0;
	PLD_TRY(setup(&b, domain, buffer));
	PLD_TRY(pld_window(buffer, PLD_SHAPE(8, 8), PLD_INT16, &table));
	CHECK_EQ(0, pld_slice(&table, PLD_AT(0, 4), PLD_SHAPE(4, 4), &columns));
	CHECK_EQ(0, pld_slice(&table, PLD_AT(0, 0), PLD_SHAPE(4, 4), &table));
	CHECK_EQ(0, pld_set_strides(&table, PLD_AT(1, 8)));
	CHECK_EQ(0, pld_tensor_put(&columns, 0, &table, NULL));
	for (int i = 0; i < 4; i++)
		for (int j = 0; j < 4; j++)
			memcpy(b.windows[0] + 16 * i + 8 + 2 * j,
			       b.windows[0] + 16 * j + 2 * i, 2);
	PLD_TRY(check_all(&b));
	/* Column 7 of all rows becomes element [1, 6], which lies between. */
	PLD_TRY(pld_window(buffer, PLD_SHAPE(8, 8), PLD_INT16, &table));
	CHECK_EQ(0, pld_slice(&table, PLD_AT(0, 7), PLD_SHAPE(8, 1), &columns));
	CHECK_EQ(0, pld_slice(&table, PLD_AT(1, 6), PLD_SHAPE(1, 1), &row));
	row.shape = PLD_SHAPE(8, 1);
	CHECK_EQ(0, pld_set_strides(&row, PLD_AT(0, 0)));
	CHECK_EQ(0, pld_tensor_put(&columns, 0, &row, NULL));
	for (int i = 0; i < 8; i++)
		memcpy(b.windows[0] + 16 * i + 14, b.windows[0] + 28, 2);
	PLD_TRY(check_all(&b));
	row.data = (char *)row.data + 2;
	CHECK_REFUSED(-EINVAL, "pld.tensor.put: src and dst overlap",
		      pld_tensor_put(&columns, 0, &row, NULL));
	PLD_TRY(check_all(&b));
	pld_tile_free(&b.look);
	return 0;
}

static int wrong_arguments(pld_domain *domain, void *buffer)
{
	pld_get_options options = { 0 };
	pld_distributed_tensor far;
	pld_tile stage;
	struct bench b;
	pld_tensor near;

	if (pld_rank(domain))
		return 0;
	PLD_TRY(setup(&b, domain, buffer));
	PLD_TRY(pld_tile_alloc(&stage, 32));
	PLD_TRY(pld_window(buffer, PLD_SHAPE(4, 8), PLD_INT32, &far));
	PLD_TRY(pld_tensor_init(&near, b.memory, PLD_SHAPE(4, 8), PLD_INT32));
	CHECK_REFUSED(-EINVAL,
		      "pld.tensor.get: src must be a DistributedTensor, got Tensor",
		      pld_tensor_get(&near, 1, &near, NULL));
	CHECK_REFUSED(-EINVAL,
		      "pld.tensor.get: dst must be a Tensor or DistributedTensor, got Tile",
		      pld_tensor_get(&stage, 1, &far, NULL));
	CHECK_REFUSED(-ERANGE, "pld.tensor.get: peer is 3, wanted 0 to 2",
		      pld_tensor_get(&near, 3, &far, NULL));
	options.atomic = PLD_ADD;
	CHECK_REFUSED(-EINVAL,
		      "pld.tensor.get: atomic is for put, wanted None (0), got 1",
		      pld_tensor_get(&near, 1, &far, &options));
	options = (pld_get_options){ .pipeline = 1, .chunk_rows = 2 };
	CHECK_REFUSED(-EINVAL,
		      "pld.tensor.get: pipeline needs chunk_rows and chunk_cols above 0, got 2 and 0",
		      pld_tensor_get(&near, 1, &far, &options));
	options = (pld_get_options){ .chunk_rows = -1 };
	CHECK_REFUSED(-EINVAL,
		      "pld.tensor.get: chunk_rows is -1, wanted 0 or more",
		      pld_tensor_get(&near, 1, &far, &options));
	options = (pld_get_options){ .chunk_cols = INT64_MIN };
	CHECK_REFUSED(-EINVAL,
		      "pld.tensor.get: chunk_cols is -9223372036854775808, wanted 0 or more",
		      pld_tensor_get(&near, 1, &far, &options));
	options = (pld_get_options){ .stage = &stage, .chunk_rows = 2 };
	CHECK_REFUSED(-ENOSPC,
		      "pld.tensor.get: chunks [2, 8] of 64 bytes do not fit the stage of 32",
		      pld_tensor_get(&near, 1, &far, &options));
	options = (pld_get_options){
		.stage = &stage, .chunk_rows = 1, .chunk_cols = 5, .pipeline = 1
	};
	CHECK_REFUSED(-ENOSPC,
		      "pld.tensor.get: two chunks [1, 5] of 20 bytes do not fit the stage of 32",
		      pld_tensor_get(&near, 1, &far, &options));
	near.shape = PLD_SHAPE(32);
	far.shape = PLD_SHAPE(32);
	near.stride[0] = 1;
	far.stride[0] = 1;
	options = (pld_get_options){ .chunk_rows = 2 };
	CHECK_REFUSED(-EINVAL,
		      "pld.tensor.get: chunk_rows is 2, wanted 0 or 1 for one dimension",
		      pld_tensor_get(&near, 1, &far, &options));
	PLD_TRY(check_all(&b));
	pld_tile_free(&stage);
	pld_tile_free(&b.look);
	return 0;
}

FIXTURE(get)
{
	pld_domain *domain;
	pld_window_buffer *data;
};

FIXTURE_SETUP(get)
{
	self->domain = make_domain(NRANKS);
	ASSERT_NE(NULL, self->domain);
	ASSERT_EQ(0, pld_alloc_window_buffer(self->domain, BYTES, &self->data));
	RUN(self->domain, fill, self->data);
}

FIXTURE_TEARDOWN(get)
{
	pld_domain_destroy(self->domain);
}

TEST_F(get, regions_in_chunks_that_fit_the_stage)
{
	RUN(self->domain, chunks_that_fit, self->data);
}

TEST_F(get, regions_in_chunks_as_asked)
{
	RUN(self->domain, chunks_as_asked, self->data);
}

TEST_F(get, chunk_is_a_box_and_the_pipeline_has_two)
{
	RUN(self->domain, chunk_is_a_box, self->data);
}

TEST_F(get, views_with_strides)
{
	RUN(self->domain, strided, self->data);
}

TEST_F(get, into_the_own_window)
{
	RUN(self->domain, into_window, self->data);
}

TEST_F(get, interleaved_regions_do_not_overlap)
{
	RUN(self->domain, interleaved, self->data);
}

TEST_F(get, neither_do_transposed_and_repeated_ones)
{
	RUN(self->domain, transposed_and_repeated, self->data);
}

TEST_F(get, wrong_arguments_are_refused)
{
	RUN(self->domain, wrong_arguments, self->data);
}

LIB_TEST_MAIN
