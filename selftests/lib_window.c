// SPDX-License-Identifier: GPL-2.0
/*
 * Window buffers and the views of them: sizes, zeros, the address layout that
 * all ranks share, what is refused, and that a child which a rank has forked
 * has none of it.
 */
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib_golden.h"
#include "lib_test.h"

#define NRANKS 3
#define LAST_DTYPE PLD_UINT8
#define MORE_THAN_THERE_IS ((size_t)1 << 45)

FIXTURE(window)
{
	pld_domain *domain;
};

FIXTURE_SETUP(window)
{
	self->domain = make_domain(NRANKS);
	ASSERT_NE(NULL, self->domain);
}

FIXTURE_TEARDOWN(window)
{
	pld_domain_destroy(self->domain);
}

/* ---- dtypes ---- */

TEST(dtypes_have_names_and_sizes)
{
	static const struct {
		pld_dtype dtype;
		const char *name;
		int size;
	} known[] = {
		{ PLD_FP64, "fp64", 8 },     { PLD_FP32, "fp32", 4 },
		{ PLD_FP16, "fp16", 2 },     { PLD_BF16, "bf16", 2 },
		{ PLD_INT64, "int64", 8 },   { PLD_INT32, "int32", 4 },
		{ PLD_INT16, "int16", 2 },   { PLD_INT8, "int8", 1 },
		{ PLD_UINT64, "uint64", 8 }, { PLD_UINT32, "uint32", 4 },
		{ PLD_UINT16, "uint16", 2 }, { PLD_UINT8, "uint8", 1 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
		EXPECT_EQ(known[i].size, pld_dtype_size(known[i].dtype));
		EXPECT_STREQ(known[i].name, pld_dtype_name(known[i].dtype));
		EXPECT_EQ((int)known[i].dtype, pld_dtype_parse(known[i].name));
	}
	EXPECT_REFUSED(-EINVAL, "dtype 12 is not one of the 12 known",
		       pld_dtype_size((pld_dtype)(LAST_DTYPE + 1)));
	EXPECT_REFUSED(-EINVAL, "dtype -1 is not one of the 12 known",
		       pld_dtype_size((pld_dtype)-1));
	EXPECT_EQ(NULL, pld_dtype_name((pld_dtype)(LAST_DTYPE + 1)));
	EXPECT_REFUSED(-EINVAL, "dtype 'FP32' is not known",
		       pld_dtype_parse("FP32"));
	EXPECT_REFUSED(-EINVAL, "dtype '' is not known", pld_dtype_parse(""));
	EXPECT_REFUSED(-EINVAL, "dtype '' is not known", pld_dtype_parse(NULL));
}

/* ---- allocation ---- */

TEST_F(window, sizes_that_make_no_sense_are_refused)
{
	pld_window_buffer *none = NULL;

	EXPECT_REFUSED(-EINVAL,
		       "pld.alloc_window_buffer: 0 bytes, wanted at least 1",
		       pld_alloc_window_buffer(self->domain, 0, &none));
	EXPECT_REFUSED(-EOVERFLOW,
		       "pld.alloc_window_buffer: 18446744073709551615 bytes on each of 3 ranks are more than addresses can count",
		       pld_alloc_window_buffer(self->domain, SIZE_MAX, &none));
	EXPECT_REFUSED(-EOVERFLOW,
		       "pld.alloc_window_buffer: 4611686018427387904 bytes on each of 3 ranks are more than addresses can count",
		       pld_alloc_window_buffer(self->domain, (size_t)1 << 62,
					       &none));
	EXPECT_REFUSED(-EINVAL,
		       "pld.alloc_window_buffer: domain and buffer must not be NULL",
		       pld_alloc_window_buffer(NULL, 1, &none));
	EXPECT_REFUSED(-EINVAL,
		       "pld.alloc_window_buffer: domain and buffer must not be NULL",
		       pld_alloc_window_buffer(self->domain, 1, NULL));
	EXPECT_EQ(NULL, none);
}

struct bad_shape {
	int error;
	pld_dims shape;
	pld_dtype dtype;
	const char *message;
};

TEST_F(window, shapes_that_make_no_sense_are_refused)
{
	static const struct bad_shape bad[] = {
		{ -EINVAL, PLD_SHAPE(0), PLD_INT8,
		  "pld.alloc_window_buffer: shape is [0], wanted every dimension positive" },
		{ -EINVAL, PLD_SHAPE(4, -1), PLD_INT8,
		  "pld.alloc_window_buffer: shape is [4, -1], wanted every dimension positive" },
		{ -EINVAL, PLD_SHAPE(-2, -2), PLD_INT8,
		  "pld.alloc_window_buffer: shape is [-2, -2], wanted every dimension positive" },
		{ -EINVAL,
		  { .ndim = 0 },
		  PLD_INT8,
		  "pld.alloc_window_buffer: shape has 0 dimensions, wanted 1 to 5" },
		{ -EINVAL,
		  { .ndim = 6 },
		  PLD_INT8,
		  "pld.alloc_window_buffer: shape has 6 dimensions, wanted 1 to 5" },
		{ -EINVAL,
		  { .ndim = -1 },
		  PLD_INT8,
		  "pld.alloc_window_buffer: shape has -1 dimensions, wanted 1 to 5" },
		{ -EINVAL, PLD_SHAPE(4), (pld_dtype)12,
		  "dtype 12 is not one of the 12 known" },
		{ -EOVERFLOW, PLD_SHAPE(INT64_MAX), PLD_INT16,
		  "pld.alloc_window_buffer: shape [9223372036854775807] of int16 has more bytes than can be counted" },
		{ -EOVERFLOW,
		  PLD_SHAPE(1 << 20, 1 << 20, 1 << 20, 1 << 20, 1 << 20),
		  PLD_UINT8,
		  "pld.alloc_window_buffer: shape [1048576, 1048576, 1048576, 1048576, 1048576] of uint8 has more bytes than can be counted" },
		{ -EOVERFLOW, PLD_SHAPE(INT64_MAX), PLD_INT8,
		  "pld.alloc_window_buffer: 9223372036854775807 bytes on each of 3 ranks are more than addresses can count" },
	};
	pld_window_buffer *none = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		EXPECT_REFUSED(bad[i].error, bad[i].message,
			       pld_alloc_window_buffer_shaped(self->domain,
							      bad[i].shape,
							      bad[i].dtype,
							      &none));
	EXPECT_EQ(NULL, none);
}

TEST_F(window, signals_that_make_no_sense_are_refused)
{
	pld_window_buffer *none = NULL;

	EXPECT_REFUSED(-EINVAL,
		       "pld_alloc_signal: shape is [3, 0], wanted every dimension positive",
		       pld_alloc_signal(self->domain, PLD_SHAPE(3, 0), &none));
	EXPECT_REFUSED(-EOVERFLOW,
		       "pld_alloc_signal: shape [4611686018427387904] of int32 has more bytes than can be counted",
		       pld_alloc_signal(self->domain,
					PLD_SHAPE(INT64_C(1) << 62), &none));
	EXPECT_REFUSED(-EOVERFLOW,
		       "pld_alloc_signal: 1152921504606846976 cells are more than addresses can count",
		       pld_alloc_signal(self->domain,
					PLD_SHAPE(INT64_C(1) << 60), &none));
	EXPECT_REFUSED(-EINVAL,
		       "pld.alloc_window_buffer: domain and buffer must not be NULL",
		       pld_alloc_signal(self->domain, PLD_SHAPE(1), NULL));
	EXPECT_EQ(NULL, none);
}

static int all_zero(pld_domain *domain, void *buffer)
{
	pld_distributed_tensor view;
	const int64_t *numbers;

	PLD_TRY(pld_window(buffer, PLD_SHAPE(512), PLD_INT64, &view));
	numbers = view.data;
	for (int i = 0; i < 512; i++)
		CHECK_EQ(0, numbers[i]);
	return 0;
}

TEST_F(window, more_than_there_is_names_asked_and_available)
{
	unsigned long long asked = 0, available = 0;
	pld_window_buffer *buffer = NULL;
	int ranks = 0;

	ASSERT_EQ(-ENOMEM, pld_alloc_window_buffer(self->domain,
						   MORE_THAN_THERE_IS, &buffer));
	EXPECT_EQ(NULL, buffer);
	EXPECT_EQ(3,
		  sscanf(pld_last_error(),
			 "pld.alloc_window_buffer: asked for %llu bytes on each of %d ranks, %llu bytes each",
			 &asked, &ranks, &available));
	EXPECT_EQ(MORE_THAN_THERE_IS, asked);
	EXPECT_EQ(NRANKS, ranks);
	EXPECT_LT(4096ULL, available);
	EXPECT_GT(MORE_THAN_THERE_IS, available);
	EXPECT_NE(NULL, strstr(pld_last_error(), " bytes each are available"));
	/* Nothing else is lost with it. */
	ASSERT_EQ(0, pld_alloc_window_buffer(self->domain, 4096, &buffer));
	RUN(self->domain, all_zero, buffer);
}

/* ---- the layout ---- */

static const size_t sizes[] = {
	1, 8, 4096, 4097, 3 << 20 | 5, (2 << 20) - 1, 2 << 20,
};

#define NSIZES ARRAY_SIZE(sizes)

struct layout {
	pld_window_buffer *windows[NSIZES];
	pld_window_buffer *signal;
	/* [NSIZES + 1, NRANKS] addresses */
	pld_window_buffer *addresses;
};

static int view_of(struct layout *l, size_t window, pld_distributed_tensor *view)
{
	if (window == NSIZES)
		return pld_window(l->signal, PLD_SHAPE(5), PLD_INT32, view);
	return pld_window(l->windows[window], PLD_SHAPE((int64_t)sizes[window]),
			  PLD_UINT8, view);
}

/* Zero at first; then marked, and its address told to all. */
static int publish(pld_domain *domain, void *arg)
{
	pld_distributed_tensor view, all;
	struct layout *l = arg;
	pld_tensor one;
	int64_t address;

	PLD_TRY(pld_window(l->addresses, PLD_SHAPE(NSIZES + 1, NRANKS),
			   PLD_INT64, &all));
	PLD_TRY(pld_tensor_init(&one, &address, PLD_SHAPE(1, 1), PLD_INT64));
	for (size_t i = 0; i <= NSIZES; i++) {
		pld_put_options options = {
			.dst_offsets = PLD_AT((int64_t)i, pld_rank(domain)),
			.src_offsets = PLD_AT(0, 0),
			.shape = PLD_SHAPE(1, 1),
		};
		unsigned char *bytes;

		PLD_TRY(view_of(l, i, &view));
		bytes = view.data;
		for (size_t at = 0; i < NSIZES && at < sizes[i]; at++)
			CHECK(!bytes[at]);
		bytes[0] = (unsigned char)(10 * i + (size_t)pld_rank(domain));
		address = (int64_t)(intptr_t)view.data;
		for (int peer = 0; peer < NRANKS; peer++)
			CHECK_EQ(0, pld_tensor_put(&all, peer, &one, &options));
	}
	return 0;
}

/* Ranks are the same distance apart, at the same addresses, in every process. */
static int check_layout(pld_domain *domain, void *arg)
{
	pld_distributed_tensor view, all;
	struct layout *l = arg;
	const int64_t *told;

	PLD_TRY(pld_window(l->addresses, PLD_SHAPE(NSIZES + 1, NRANKS),
			   PLD_INT64, &all));
	told = all.data;
	for (size_t i = 0; i < NSIZES; i++, told += NRANKS) {
		int64_t stride = told[1] - told[0], local;

		PLD_TRY(view_of(l, i, &view));
		local = (int64_t)(intptr_t)view.data;
		CHECK_EQ(told[pld_rank(domain)], local);
		CHECK(stride >= 4096 && stride >= (int64_t)sizes[i]);
		CHECK_EQ(0, stride % 4096);
		for (int peer = 0; peer < NRANKS; peer++) {
			int64_t there =
				local + (peer - pld_rank(domain)) * stride;
			const unsigned char *mark = (void *)(intptr_t)there;

			CHECK_EQ(told[peer], there);
			CHECK_EQ(10 * i + (size_t)peer, *mark);
		}
	}
	return 0;
}

TEST_F(window, has_one_address_layout_in_all_ranks)
{
	struct layout l;

	ASSERT_EQ(0, pld_alloc_signal(self->domain, PLD_SHAPE(5), &l.signal));
	for (size_t i = 0; i < NSIZES; i++)
		ASSERT_EQ(0, pld_alloc_window_buffer(self->domain, sizes[i],
						     &l.windows[i]));
	ASSERT_EQ(0,
		  pld_alloc_window_buffer_shaped(self->domain,
						 PLD_SHAPE(NSIZES + 1, NRANKS),
						 PLD_INT64, &l.addresses));
	RUN(self->domain, publish, &l);
	RUN(self->domain, check_layout, &l);
}

/* ---- views ---- */

static int check_fit(pld_domain *domain, void *buffer)
{
	static const int bytes[] = { 8, 4, 2, 2, 8, 4, 2, 1, 8, 4, 2, 1 };
	pld_distributed_tensor view = { .kind = 0 };

	for (int dtype = 0; dtype <= LAST_DTYPE; dtype++) {
		int64_t fits = 64 / bytes[dtype];
		char message[128];

		CHECK_EQ(0, pld_window(buffer, PLD_SHAPE(2, fits / 2),
				       (pld_dtype)dtype, &view));
		CHECK_EQ(PLD_DISTRIBUTED_TENSOR, view.kind);
		CHECK_EQ(dtype, view.dtype);
		CHECK_EQ(2, view.shape.ndim);
		CHECK_EQ(fits / 2, view.shape.n[1]);
		CHECK_EQ(fits / 2, view.stride[0]);
		CHECK_EQ(1, view.stride[1]);
		view.kind = 0;
		snprintf(message, sizeof(message),
			 "pld.window: shape [%d] of %s needs %d bytes, the buffer has 64",
			 (int)fits + 1, pld_dtype_name((pld_dtype)dtype),
			 64 + bytes[dtype]);
		CHECK_REFUSED(-EINVAL, message,
			      pld_window(buffer, PLD_SHAPE(fits + 1),
					 (pld_dtype)dtype, &view));
		CHECK_EQ(0, view.kind);
	}
	CHECK_REFUSED(-EINVAL, "dtype 12 is not one of the 12 known",
		      pld_window(buffer, PLD_SHAPE(1), (pld_dtype)12, &view));
	CHECK_REFUSED(-EINVAL,
		      "pld.window: shape is [2, 0], wanted every dimension positive",
		      pld_window(buffer, PLD_SHAPE(2, 0), PLD_INT8, &view));
	CHECK_REFUSED(-EOVERFLOW,
		      "pld.window: shape [9223372036854775807, 2] of int8 has more bytes than can be counted",
		      pld_window(buffer, PLD_SHAPE(INT64_MAX, 2), PLD_INT8,
				 &view));
	CHECK_REFUSED(-EINVAL, "pld.window: buffer and tensor must not be NULL",
		      pld_window(NULL, PLD_SHAPE(1), PLD_INT8, &view));
	CHECK_REFUSED(-EINVAL, "pld.window: buffer and tensor must not be NULL",
		      pld_window(buffer, PLD_SHAPE(1), PLD_INT8, NULL));
	return 0;
}

TEST_F(window, view_that_does_not_fit_is_refused)
{
	pld_window_buffer *buffer;

	ASSERT_EQ(0, pld_alloc_window_buffer(self->domain, 64, &buffer));
	RUN(self->domain, check_fit, buffer);
}

static int check_signal(pld_domain *domain, void *buffer)
{
	pld_distributed_tensor view;

	CHECK_EQ(0, pld_window(buffer, PLD_SHAPE(2, 3), PLD_INT32, &view));
	CHECK_EQ(128, view.stride[1] * 4);
	CHECK_EQ(3 * 128, view.stride[0] * 4);
	CHECK_EQ(0, (intptr_t)view.data % 128);
	CHECK_EQ(0, pld_window(buffer, PLD_SHAPE(6, 1), PLD_INT32, &view));
	CHECK_EQ(128, view.stride[0] * 4);
	CHECK_EQ(0, pld_window(buffer, PLD_SHAPE(5), PLD_INT32, &view));
	CHECK_REFUSED(-EINVAL,
		      "pld.window: shape [7] needs 7 cells, the signal has 6",
		      pld_window(buffer, PLD_SHAPE(7), PLD_INT32, &view));
	CHECK_REFUSED(-EINVAL,
		      "pld.window: dtype of a signal is uint32, wanted int32",
		      pld_window(buffer, PLD_SHAPE(6), PLD_UINT32, &view));
	CHECK_REFUSED(-EINVAL,
		      "pld.window: dtype of a signal is fp64, wanted int32",
		      pld_window(buffer, PLD_SHAPE(1), PLD_FP64, &view));
	return 0;
}

TEST_F(window, cells_of_a_signal_are_128_bytes_apart)
{
	pld_window_buffer *buffer;

	ASSERT_EQ(0, pld_alloc_signal(self->domain, PLD_SHAPE(2, 3), &buffer));
	RUN(self->domain, check_signal, buffer);
}

static int check_context(pld_domain *domain, void *buffer)
{
	pld_domain *found = NULL;
	int32_t number = 0;
	pld_distributed_tensor view;
	pld_tensor tensor;
	pld_tile tile;

	PLD_TRY(pld_window(buffer, PLD_SHAPE(1), PLD_INT32, &view));
	PLD_TRY(pld_tensor_init(&tensor, &number, PLD_SHAPE(1), PLD_INT32));
	PLD_TRY(pld_tile_alloc(&tile, 4));
	CHECK_REFUSED(-EINVAL,
		      "pld.get_comm_ctx: argument must be a DistributedTensor, got Tensor",
		      pld_get_comm_ctx(&tensor, &found));
	CHECK_REFUSED(-EINVAL,
		      "pld.get_comm_ctx: argument must be a DistributedTensor, got Tile",
		      pld_get_comm_ctx(&tile, &found));
	CHECK_REFUSED(-EINVAL,
		      "pld.get_comm_ctx: argument must be a DistributedTensor, got NULL",
		      pld_get_comm_ctx(NULL, &found));
	CHECK_REFUSED(-EINVAL, "pld.get_comm_ctx: domain must not be NULL",
		      pld_get_comm_ctx(&view, NULL));
	CHECK(!found);
	CHECK_EQ(0, pld_get_comm_ctx(&view, &found));
	CHECK(found == domain);
	CHECK_EQ(NRANKS, pld_nranks(found));
	pld_tile_free(&tile);
	return 0;
}

TEST_F(window, only_a_DistributedTensor_has_a_domain)
{
	pld_window_buffer *buffer;

	ASSERT_EQ(0, pld_alloc_window_buffer(self->domain, 64, &buffer));
	RUN(self->domain, check_context, buffer);
}

TEST(tensor_of_nothing_is_refused)
{
	pld_tensor tensor;
	int8_t byte = 0;

	EXPECT_REFUSED(-EINVAL,
		       "pld_tensor_init: tensor and data must not be NULL",
		       pld_tensor_init(NULL, &byte, PLD_SHAPE(1), PLD_INT8));
	EXPECT_REFUSED(-EINVAL,
		       "pld_tensor_init: tensor and data must not be NULL",
		       pld_tensor_init(&tensor, NULL, PLD_SHAPE(1), PLD_INT8));
	EXPECT_REFUSED(-EINVAL,
		       "pld_tensor_init: shape is [-1], wanted every dimension positive",
		       pld_tensor_init(&tensor, &byte, PLD_SHAPE(-1), PLD_INT8));
}

/* ---- views that no call has made ---- */

#define TAMPERED(error, message, member, value)                              \
	do {                                                                 \
		pld_view bad_ = good;                                        \
		bad_.member = value;                                         \
		CHECK_REFUSED(error, message,                                \
			      pld_load(&bad_, PLD_AT(0, 0), PLD_SHAPE(1, 1), \
				       &tile));                              \
	} while (0)

static int check_tampered(pld_domain *domain, void *buffer)
{
	static const char kind[] =
		"pl.load: tensor must be a Tensor or DistributedTensor, got no view";
	static const char nothing[] =
		"pl.load: tensor holds nothing: it has no valid dtype and shape";
	static const char outside[] =
		"pl.load: tensor points outside the own window of 64 bytes";
	static const char memory[] =
		"pl.load: tensor has a shape that does not lie in its memory of 64 bytes";
	pld_distributed_tensor good;
	pld_tile tile;

	PLD_TRY(pld_window(buffer, PLD_SHAPE(2, 8), PLD_INT32, &good));
	PLD_TRY(pld_tile_alloc(&tile, 64));
	golden_fill(tile.data, 64, 9);
	TAMPERED(-EINVAL, kind, kind, (pld_kind)0);
	TAMPERED(-EINVAL, kind, kind, (pld_kind)4);
	TAMPERED(-EINVAL, kind, kind, (pld_kind)33);
	TAMPERED(-EINVAL, kind, kind, (pld_kind)-1);
	TAMPERED(-EINVAL, nothing, dtype, (pld_dtype)12);
	TAMPERED(-EINVAL, nothing, dtype, (pld_dtype)-1);
	TAMPERED(-EINVAL, nothing, shape.ndim, 0);
	TAMPERED(-EINVAL, nothing, shape.ndim, PLD_MAX_DIMS + 1);
	TAMPERED(-EINVAL, nothing, shape.ndim, -1);
	TAMPERED(-EFAULT, memory, shape.n[0], 0);
	TAMPERED(-EFAULT, memory, shape.n[1], -8);
	TAMPERED(-EFAULT, memory, shape.n[0], 3);
	TAMPERED(-EFAULT, memory, shape.n[1], INT64_MAX);
	TAMPERED(-EFAULT, memory, stride[0], -8);
	TAMPERED(-EFAULT, memory, stride[0], 9);
	TAMPERED(-EFAULT, memory, stride[1], INT64_MAX);
	TAMPERED(-EFAULT, memory, dtype, PLD_FP64);
	TAMPERED(-EFAULT, memory, data, NULL);
	TAMPERED(-EFAULT, outside, data, (char *)good.data + 4);
	TAMPERED(-EFAULT, outside, data, (char *)good.data - 4);
	TAMPERED(-EFAULT, outside, data, (char *)good.data + 4096);
	TAMPERED(-EFAULT, outside, data, (void *)16);
	TAMPERED(-EFAULT, outside, data, (void *)-16);
	TAMPERED(-EFAULT, "pl.load: tensor has no window buffer", buffer, NULL);
	CHECK_EQ(64, golden_differs(tile.data, 64, 9));
	CHECK_EQ(0, pld_load(&good, PLD_AT(0, 0), PLD_SHAPE(1, 1), &tile));
	pld_tile_free(&tile);
	return 0;
}

TEST_F(window, tampered_view_is_refused)
{
	pld_window_buffer *buffer;

	ASSERT_EQ(0, pld_alloc_window_buffer(self->domain, 64, &buffer));
	RUN(self->domain, check_tampered, buffer);
}

/* ---- freeing ---- */

static int mark(pld_domain *domain, void *buffer)
{
	pld_distributed_tensor view;

	PLD_TRY(pld_window(buffer, PLD_SHAPE(4096), PLD_UINT8, &view));
	golden_fill(view.data, 4096, 40 + (unsigned int)pld_rank(domain));
	return 0;
}

static int marked(pld_domain *domain, void *buffer)
{
	pld_distributed_tensor view;

	PLD_TRY(pld_window(buffer, PLD_SHAPE(4096), PLD_UINT8, &view));
	CHECK_EQ(4096, golden_differs(view.data, 4096,
				      40 + (unsigned int)pld_rank(domain)));
	return 0;
}

TEST_F(window, can_be_freed_before_its_domain)
{
	pld_window_buffer *buffers[3], *fresh;

	for (int i = 0; i < 3; i++)
		ASSERT_EQ(0, pld_alloc_window_buffer(self->domain, 4096,
						     &buffers[i]));
	for (int i = 0; i < 3; i++)
		RUN(self->domain, mark, buffers[i]);
	pld_free_window_buffer(buffers[1]);
	RUN(self->domain, marked, buffers[0]);
	RUN(self->domain, marked, buffers[2]);
	/* In the place of the one that is gone, zeros again. */
	ASSERT_EQ(0, pld_alloc_window_buffer(self->domain, 4096, &fresh));
	RUN(self->domain, all_zero, fresh);
	pld_free_window_buffer(buffers[0]);
	pld_free_window_buffer(buffers[2]);
	RUN(self->domain, mark, fresh);
	RUN(self->domain, marked, fresh);
}

/* ---- a child of a rank ---- */

struct family {
	pld_window_buffer *data;
	pld_window_buffer *signal;
};

#define FORKED(op) \
	op ": this process was forked by rank 1 and is not a rank itself"

/* Every call of the rank side, in a child that a rank has forked. */
static int call_all(pld_domain *domain, pld_distributed_tensor *data,
		    pld_distributed_tensor *signal, pld_window_buffer *buffer)
{
	pld_dims at = PLD_AT(0), one = PLD_SHAPE(1);
	pld_distributed_tensor view;
	int32_t number = 1;
	pld_tensor tensor;
	pld_tile tile;

	PLD_TRY(pld_tensor_init(&tensor, &number, one, PLD_INT32));
	PLD_TRY(pld_tile_alloc(&tile, 64));
	PLD_TRY(pld_load(&tensor, at, one, &tile));
	CHECK_REFUSED(-EPERM, FORKED("pld.system.notify"),
		      pld_system_notify(signal, 0, at, 1, PLD_SET));
	CHECK_REFUSED(-EPERM, FORKED("pld.system.wait"),
		      pld_system_wait(signal, at, 0, PLD_EQ));
	CHECK_REFUSED(-EPERM, FORKED("pld.tensor.put"),
		      pld_tensor_put(data, 0, &tensor, NULL));
	CHECK_REFUSED(-EPERM, FORKED("pld.tile.remote_load"),
		      pld_tile_remote_load(data, 0, at, one, &tile));
	CHECK_REFUSED(-EPERM, FORKED("pl.load"), pld_load(data, at, one, &tile));
	CHECK_REFUSED(-EPERM, FORKED("pl.store"), pld_store(&tile, at, data));
	CHECK_REFUSED(-EPERM, FORKED("pld.window"),
		      pld_window(buffer, one, PLD_INT32, &view));
	CHECK_REFUSED(-EPERM, FORKED("pld_abort"), pld_abort(domain, 4));
	CHECK_REFUSED(-EPERM,
		      "pld_launch: only the host side can do this, not rank 1",
		      pld_launch(domain, check_context, NULL, NULL));
	pld_tile_free(&tile);
	return 0;
}

/* How a child ended that did this to the byte, as wait() tells it. */
static int status_of_touch(volatile unsigned char *byte)
{
	struct rlimit no_core = { 0 };
	int status = -1;
	pid_t pid = fork();

	if (!pid) {
		setrlimit(RLIMIT_CORE, &no_core);
		signal(SIGSEGV, SIG_DFL);
		*byte = 1;
		_exit(0);
	}
	return TEMP_FAILURE_RETRY(waitpid(pid, &status, 0)) == pid ? status : -1;
}

static int have_children(pld_domain *domain, void *arg)
{
	pld_distributed_tensor data, signal;
	struct family *f = arg;
	unsigned char *byte;
	int status;
	pid_t pid;

	PLD_TRY(pld_window(f->data, PLD_SHAPE(1), PLD_INT32, &data));
	PLD_TRY(pld_window(f->signal, PLD_SHAPE(2), PLD_INT32, &signal));
	if (pld_rank(domain) == 1) {
		byte = data.data;
		fflush(NULL);
		pid = fork();
		if (!pid)
			_exit(call_all(domain, &data, &signal, f->data) ? 1 : 0);
		CHECK_EQ(pid, TEMP_FAILURE_RETRY(waitpid(pid, &status, 0)));
		CHECK_EQ(0, status);
		status = status_of_touch(byte);
		CHECK(WIFSIGNALED(status));
		CHECK_EQ(SIGSEGV, WTERMSIG(status));
		/* The rank itself is as well as before. */
		CHECK_EQ(0, *byte);
		CHECK_EQ(0,
			 pld_system_notify(&signal, 0, PLD_AT(0), 1, PLD_SET));
		return pld_system_wait(&signal, PLD_AT(1), 2, PLD_EQ);
	}
	if (pld_rank(domain))
		return 0;
	CHECK_EQ(0, pld_system_wait(&signal, PLD_AT(0), 1, PLD_EQ));
	return pld_system_notify(&signal, 1, PLD_AT(1), 2, PLD_SET);
}

TEST_F(window, child_of_a_rank_has_neither_calls_nor_memory)
{
	struct family f;

	ASSERT_EQ(0, pld_alloc_window_buffer(self->domain, 4, &f.data));
	ASSERT_EQ(0, pld_alloc_signal(self->domain, PLD_SHAPE(2), &f.signal));
	RUN(self->domain, have_children, &f);
	RUN(self->domain, have_children, &f);
}

LIB_TEST_MAIN
