// SPDX-License-Identifier: GPL-2.0
/*
 * Parts of views, strides, tiles of which a part is valid, single elements, and
 * remote_store. Rank 0 works, on a window of int16 elements that count up from
 * 1000 times their rank.
 */
#include <stdlib.h>

#include "lib_test.h"

#define NRANKS 3
#define ROWS 6
#define COLS 10

struct rank {
	pld_distributed_tensor window;
	pld_distributed_tensor flat;
	pld_tile tile;
	pld_tile look;
};

static int16_t element(int rank, int row, int col)
{
	return (int16_t)(1000 * rank + row * COLS + col);
}

static int fill(pld_domain *domain, void *buffer)
{
	pld_distributed_tensor window;

	PLD_TRY(pld_window(buffer, PLD_SHAPE(ROWS, COLS), PLD_INT16, &window));
	for (int row = 0; row < ROWS; row++)
		for (int col = 0; col < COLS; col++)
			((int16_t *)window.data)[row * COLS + col] =
				element(pld_rank(domain), row, col);
	return 0;
}

static int setup(struct rank *r, pld_window_buffer *buffer)
{
	PLD_TRY(pld_window(buffer, PLD_SHAPE(ROWS, COLS), PLD_INT16, &r->window));
	PLD_TRY(pld_window(buffer, PLD_SHAPE(ROWS * COLS), PLD_INT16, &r->flat));
	PLD_TRY(pld_tile_alloc(&r->tile, 256));
	return pld_tile_alloc(&r->look, 256);
}

static void end(struct rank *r)
{
	pld_tile_free(&r->tile);
	pld_tile_free(&r->look);
}

/* A rank's whole window, as it is now. */
static int look_at(struct rank *r, int rank, int16_t got[ROWS][COLS])
{
	CHECK_EQ(0, pld_tile_remote_load(&r->flat, rank, PLD_AT(0),
					 PLD_SHAPE(ROWS * COLS), &r->look));
	memcpy(got, r->look.data, sizeof(int16_t) * ROWS * COLS);
	return 0;
}

static int check_window(struct rank *r, int rank, int16_t want[ROWS][COLS])
{
	int16_t got[ROWS][COLS];

	PLD_TRY(look_at(r, rank, got));
	for (int row = 0; row < ROWS; row++)
		for (int col = 0; col < COLS; col++)
			CHECK_EQ(want[row][col], got[row][col]);
	return 0;
}

static int slices(pld_domain *domain, void *buffer)
{
	pld_distributed_tensor part, inner;
	int16_t want[ROWS][COLS];
	struct rank r;

	if (pld_rank(domain))
		return 0;
	PLD_TRY(setup(&r, buffer));
	CHECK_EQ(0, pld_slice(&r.window, PLD_AT(1, 2), PLD_SHAPE(4, 7), &part));
	CHECK_EQ(PLD_DISTRIBUTED_TENSOR, part.kind);
	CHECK_EQ(0, pld_slice(&part, PLD_AT(2, 3), PLD_SHAPE(2, 3), &inner));
	for (int peer = 0; peer < NRANKS; peer++) {
		const int16_t *got = r.tile.data;

		CHECK_EQ(0, pld_tile_remote_load(&inner, peer, PLD_AT(0, 0),
						 PLD_SHAPE(2, 3), &r.tile));
		for (int i = 0; i < 6; i++)
			CHECK_EQ(element(peer, 3 + i / 3, 5 + i % 3), got[i]);
		/* Back, one row down, into the peer. */
		PLD_TRY(look_at(&r, peer, want));
		for (int i = 0; i < 6; i++)
			want[4 + i / 3][5 + i % 3] = got[i];
		CHECK_EQ(0, pld_slice(&r.window, PLD_AT(4, 5), PLD_SHAPE(2, 3),
				      &part));
		CHECK_EQ(0, pld_tile_remote_store(&r.tile, &part, peer,
						  PLD_AT(0, 0), PLD_NONE));
		PLD_TRY(check_window(&r, peer, want));
		CHECK_EQ(0, pld_slice(&r.window, PLD_AT(1, 2), PLD_SHAPE(4, 7),
				      &part));
	}
	/* A slice may be made in place, and ends where its view does. */
	CHECK_EQ(0, pld_slice(&part, PLD_AT(3, 6), PLD_SHAPE(1, 1), &part));
	CHECK_REFUSED(-ERANGE,
		      "pld_slice: offsets [0, 1] with shape [1, 1] lie outside view [1, 1]",
		      pld_slice(&part, PLD_AT(0, 1), PLD_SHAPE(1, 1), &part));
	CHECK_REFUSED(-EINVAL, "pld_slice: part must not be NULL",
		      pld_slice(&part, PLD_AT(0, 0), PLD_SHAPE(1, 1), NULL));
	CHECK_REFUSED(-EINVAL,
		      "pld_slice: view must be a Tensor, DistributedTensor or Tile, got NULL",
		      pld_slice(NULL, PLD_AT(0, 0), PLD_SHAPE(1, 1), &part));
	end(&r);
	return 0;
}

/* Columns as rows; one row again and again. */
static int strides(pld_domain *domain, void *buffer)
{
	pld_distributed_tensor view;
	const int16_t *got;
	struct rank r;

	if (pld_rank(domain))
		return 0;
	PLD_TRY(setup(&r, buffer));
	got = r.tile.data;
	view = r.window;
	view.shape = PLD_SHAPE(COLS, ROWS);
	CHECK_EQ(0, pld_set_strides(&view, PLD_AT(1, COLS)));
	CHECK_EQ(0, pld_tile_remote_load(&view, 2, PLD_AT(0, 0),
					 PLD_SHAPE(COLS, ROWS), &r.tile));
	for (int i = 0; i < ROWS * COLS; i++)
		CHECK_EQ(element(2, i % ROWS, i / ROWS), got[i]);
	CHECK_EQ(0, pld_set_strides(&view, PLD_AT(0, 1)));
	CHECK_EQ(0, pld_tile_remote_load(&view, 1, PLD_AT(0, 0),
					 PLD_SHAPE(COLS, ROWS), &r.tile));
	for (int i = 0; i < ROWS * COLS; i++)
		CHECK_EQ(element(1, 0, i % ROWS), got[i]);
	end(&r);
	return 0;
}

static int stride_refusals(pld_domain *domain, void *buffer)
{
	pld_distributed_tensor view;
	int16_t memory[10] = { 0 };
	pld_tensor x;
	struct rank r;

	if (pld_rank(domain))
		return 0;
	PLD_TRY(setup(&r, buffer));
	view = r.window;
	CHECK_REFUSED(-EFAULT,
		      "pld_set_strides: view has a shape that does not lie in its memory of 4096 bytes",
		      pld_set_strides(&view, PLD_AT(1000, 1)));
	CHECK_REFUSED(-EFAULT,
		      "pld_set_strides: view has a shape that does not lie in its memory of 4096 bytes",
		      pld_set_strides(&view, PLD_AT(INT64_MAX, 1)));
	CHECK_REFUSED(-EINVAL,
		      "pld_set_strides: strides are [-1, 1], wanted 0 or more",
		      pld_set_strides(&view, PLD_AT(-1, 1)));
	CHECK_REFUSED(-EINVAL,
		      "pld_set_strides: 1 strides for the 2 dimensions of view",
		      pld_set_strides(&view, PLD_AT(1)));
	CHECK(!memcmp(&view, &r.window, sizeof(view)));
	PLD_TRY(pld_tensor_init(&x, memory, PLD_SHAPE(10), PLD_INT16));
	CHECK_REFUSED(-EFAULT,
		      "pld_set_strides: view has a shape that does not lie in its memory of 20 bytes",
		      pld_set_strides(&x, PLD_AT(2)));
	x.shape = PLD_SHAPE(5);
	CHECK_EQ(0, pld_set_strides(&x, PLD_AT(2)));
	end(&r);
	return 0;
}

static int check_valid_tile(const pld_tile *tile, int rank)
{
	const int16_t *got = tile->data;

	for (int row = 0; row < 3; row++)
		for (int col = 0; col < 4; col++)
			CHECK_EQ(row < 2 && col < 3
					 ? element(rank, 4 + row, 7 + col)
					 : 0,
				 got[row * 4 + col]);
	return 0;
}

/* A tile over the tensor's edge: 3 by 4, of which 2 by 3 are there. */
static int valid_shapes(pld_domain *domain, void *buffer)
{
	pld_dims at = PLD_AT(4, 7), shape = PLD_SHAPE(3, 4);
	pld_dims valid = PLD_SHAPE(2, 3);
	int16_t want[ROWS][COLS];
	struct rank r;

	if (pld_rank(domain))
		return 0;
	PLD_TRY(setup(&r, buffer));
	memset(r.tile.data, 0xee, 256);
	CHECK_EQ(0, pld_load_valid(&r.window, at, shape, valid, &r.tile));
	PLD_TRY(check_valid_tile(&r.tile, 0));
	memset(r.tile.data, 0xee, 256);
	CHECK_EQ(0, pld_tile_remote_load_valid(&r.window, 2, at, shape, valid,
					       &r.tile));
	PLD_TRY(check_valid_tile(&r.tile, 2));
	/* What is not valid is not stored: it would not even fit here. */
	PLD_TRY(look_at(&r, 0, want));
	for (int i = 0; i < 6; i++)
		want[4 + i / 3][7 + i % 3] = element(2, 4 + i / 3, 7 + i % 3);
	CHECK_EQ(0, pld_store(&r.tile, at, &r.window));
	PLD_TRY(check_window(&r, 0, want));
	PLD_TRY(look_at(&r, 1, want));
	for (int i = 0; i < 6; i++)
		want[4 + i / 3][7 + i % 3] = element(2, 4 + i / 3, 7 + i % 3);
	CHECK_EQ(0, pld_tile_remote_store(&r.tile, &r.window, 1, at, PLD_NONE));
	PLD_TRY(check_window(&r, 1, want));
	/* A load of the whole makes the whole valid again. */
	CHECK_EQ(0, pld_load(&r.window, PLD_AT(0, 0), PLD_SHAPE(2, 2), &r.tile));
	CHECK_EQ(0, pld_store(&r.tile, PLD_AT(2, 2), &r.window));
	CHECK_REFUSED(-ERANGE,
		      "pl.store: offsets [5, 0] with shape [2, 2] lie outside tensor [6, 10]",
		      pld_store(&r.tile, PLD_AT(5, 0), &r.window));
	end(&r);
	return 0;
}

static int valid_refusals(pld_domain *domain, void *buffer)
{
	static const struct {
		pld_dims valid;
		const char *text;
	} bad[] = {
		{ PLD_SHAPE(4, 1), "[4, 1]" }, { PLD_SHAPE(1, 5), "[1, 5]" },
		{ PLD_SHAPE(0, 1), "[0, 1]" }, { PLD_SHAPE(1, -1), "[1, -1]" },
		{ PLD_SHAPE(3), "[3]" },
	};
	char message[160];
	struct rank r;

	if (pld_rank(domain))
		return 0;
	PLD_TRY(setup(&r, buffer));
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		snprintf(message, sizeof(message),
			 "pl.load: valid_shape is %s, wanted 1 to shape's [3, 4]",
			 bad[i].text);
		CHECK_REFUSED(-EINVAL, message,
			      pld_load_valid(&r.window, PLD_AT(0, 0),
					     PLD_SHAPE(3, 4), bad[i].valid,
					     &r.tile));
		snprintf(message, sizeof(message),
			 "pld.tile.remote_load: valid_shape is %s, wanted 1 to shape's [3, 4]",
			 bad[i].text);
		CHECK_REFUSED(-EINVAL, message,
			      pld_tile_remote_load_valid(&r.window, 1,
							 PLD_AT(0, 0),
							 PLD_SHAPE(3, 4),
							 bad[i].valid, &r.tile));
	}
	CHECK_REFUSED(-ERANGE,
		      "pl.load: offsets [4, 8] with shape [2, 3] lie outside tensor [6, 10]",
		      pld_load_valid(&r.window, PLD_AT(4, 8), PLD_SHAPE(3, 4),
				     PLD_SHAPE(2, 3), &r.tile));
	end(&r);
	return 0;
}

static int remote_store_refusals(pld_domain *domain, void *buffer)
{
	pld_distributed_tensor wide;
	struct rank r;

	if (pld_rank(domain))
		return 0;
	PLD_TRY(setup(&r, buffer));
	CHECK_REFUSED(-EINVAL,
		      "pld.tile.remote_store: tile holds nothing: it has no valid dtype and shape",
		      pld_tile_remote_store(&r.tile, &r.window, 1, PLD_AT(0, 0),
					    PLD_NONE));
	PLD_TRY(pld_load(&r.window, PLD_AT(0, 0), PLD_SHAPE(2, 3), &r.tile));
	CHECK_REFUSED(-EINVAL,
		      "pld.tile.remote_store: target must be a DistributedTensor, got Tile",
		      pld_tile_remote_store(&r.tile, &r.tile, 1, PLD_AT(0, 0),
					    PLD_NONE));
	CHECK_REFUSED(-EINVAL,
		      "pld.tile.remote_store: tile must be a Tile, got NULL",
		      pld_tile_remote_store(NULL, &r.window, 1, PLD_AT(0, 0),
					    PLD_NONE));
	CHECK_REFUSED(-ERANGE, "pld.tile.remote_store: peer is 3, wanted 0 to 2",
		      pld_tile_remote_store(&r.tile, &r.window, 3, PLD_AT(0, 0),
					    PLD_NONE));
	CHECK_REFUSED(-ERANGE,
		      "pld.tile.remote_store: offsets [5, 0] with shape [2, 3] lie outside target [6, 10]",
		      pld_tile_remote_store(&r.tile, &r.window, 1, PLD_AT(5, 0),
					    PLD_NONE));
	PLD_TRY(pld_window(buffer, PLD_SHAPE(4, 4), PLD_INT32, &wide));
	CHECK_REFUSED(-EINVAL,
		      "pld.tile.remote_store: dtype of tile is int16, wanted the target's int32",
		      pld_tile_remote_store(&r.tile, &wide, 1, PLD_AT(0, 0),
					    PLD_NONE));
	r.tile.valid_shape = PLD_SHAPE(2, 4);
	CHECK_REFUSED(-EINVAL,
		      "pld.tile.remote_store: valid_shape is [2, 4], wanted 1 to shape's [2, 3]",
		      pld_tile_remote_store(&r.tile, &r.window, 1, PLD_AT(0, 0),
					    PLD_NONE));
	end(&r);
	return 0;
}

static int elements(pld_domain *domain, void *buffer)
{
	int16_t value = -7, memory[4] = { 1, 2, 3, 4 }, want[ROWS][COLS];
	pld_tensor x;
	struct rank r;

	if (pld_rank(domain))
		return 0;
	PLD_TRY(setup(&r, buffer));
	PLD_TRY(look_at(&r, 0, want));
	want[5][9] = -7;
	CHECK_EQ(0, pld_write(&r.window, PLD_AT(5, 9), &value));
	PLD_TRY(check_window(&r, 0, want));
	CHECK_EQ(0, pld_read(&r.window, PLD_AT(3, 4), &value));
	CHECK_EQ(want[3][4], value);
	PLD_TRY(pld_tensor_init(&x, memory, PLD_SHAPE(4), PLD_INT16));
	CHECK_EQ(0, pld_read(&x, PLD_AT(2), &value));
	CHECK_EQ(3, value);
	CHECK_REFUSED(-ERANGE,
		      "pl.read: offsets [6, 0] with shape [1, 1] lie outside tensor [6, 10]",
		      pld_read(&r.window, PLD_AT(6, 0), &value));
	CHECK_REFUSED(-ERANGE,
		      "pl.write: offsets [-1] with shape [1] lie outside tensor [4]",
		      pld_write(&x, PLD_AT(-1), &value));
	CHECK_REFUSED(-EINVAL, "pl.write: value must not be NULL",
		      pld_write(&x, PLD_AT(0), NULL));
	CHECK_REFUSED(-EINVAL,
		      "pl.read: tensor must be a Tensor or DistributedTensor, got Tile",
		      pld_read(&r.tile, PLD_AT(0), &value));
	end(&r);
	return 0;
}

/* Elements of every size, at addresses that suit them and that do not. */
static int element_sizes(pld_domain *domain, void *buffer)
{
	static const pld_dtype dtypes[] = { PLD_INT8, PLD_BF16, PLD_FP32,
					    PLD_FP64 };
	unsigned char memory[64], value[8];
	pld_tensor x;

	(void)buffer;
	if (pld_rank(domain))
		return 0;
	for (int i = 0; i < 64; i++)
		memory[i] = (unsigned char)(i * 7 + 1);
	for (size_t d = 0; d < ARRAY_SIZE(dtypes); d++)
		for (int shift = 0; shift < 2; shift++) {
			size_t size = (size_t)pld_dtype_size(dtypes[d]);

			PLD_TRY(pld_tensor_init(&x, memory + shift,
						PLD_SHAPE(4), dtypes[d]));
			memset(value, 0, 8);
			CHECK_EQ(0, pld_read(&x, PLD_AT(3), value));
			CHECK(!memcmp(value, memory + shift + 3 * size, size));
			CHECK_EQ(0, pld_write(&x, PLD_AT(1), value));
			CHECK(!memcmp(value, memory + shift + size, size));
		}
	return 0;
}

FIXTURE(view)
{
	pld_domain *domain;
	pld_window_buffer *data;
};

FIXTURE_SETUP(view)
{
	self->domain = make_domain(NRANKS);
	ASSERT_NE(NULL, self->domain);
	ASSERT_EQ(0, pld_alloc_window_buffer(self->domain, 4096, &self->data));
	RUN(self->domain, fill, self->data);
}

FIXTURE_TEARDOWN(view)
{
	pld_domain_destroy(self->domain);
}

TEST_F(view, slice_is_a_part_of_every_peers_memory)
{
	RUN(self->domain, slices, self->data);
}

TEST_F(view, strides_transpose_and_repeat)
{
	RUN(self->domain, strides, self->data);
}

TEST_F(view, strides_that_leave_the_memory_are_refused)
{
	RUN(self->domain, stride_refusals, self->data);
}

TEST_F(view, valid_part_is_loaded_and_stored_the_rest_is_zero)
{
	RUN(self->domain, valid_shapes, self->data);
}

TEST_F(view, valid_shape_beyond_shape_or_tensor_is_refused)
{
	RUN(self->domain, valid_refusals, self->data);
}

TEST_F(view, remote_store_of_what_does_not_fit_is_refused)
{
	RUN(self->domain, remote_store_refusals, self->data);
}

TEST_F(view, single_elements)
{
	RUN(self->domain, elements, self->data);
}

TEST_F(view, single_elements_of_every_size)
{
	RUN(self->domain, element_sizes, self->data);
}

LIB_TEST_MAIN
