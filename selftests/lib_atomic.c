// SPDX-License-Identifier: GPL-2.0
/*
 * Atomic addition into a peer's memory: all ranks add to the same elements of
 * rank 1 at once, a number and its negative in turn, and no addition may be
 * lost. Every sum on the way is a number that the dtype has, so the order does
 * not matter and the result is exact.
 */
#include <stdlib.h>

#include "lib_test.h"

#define NRANKS 4
/* Odd: the last one stays. */
#define ADDITIONS 2001
#define ADDITIONS_IN_A_GUEST 101
#define COUNT 33
#define OWNER 1

static const pld_dtype dtypes[] = {
	PLD_FP32, PLD_FP16, PLD_BF16, PLD_INT32, PLD_INT16, PLD_INT8,
};

/* The encoding of a whole number from -256 to 256, written out by hand. */
static uint64_t bits_of(int value, pld_dtype dtype)
{
	uint32_t magnitude = (uint32_t)abs(value), exponent = 0, bits;

	if (dtype == PLD_INT32 || dtype == PLD_INT16 || dtype == PLD_INT8)
		return (uint64_t)value;
	if (!value)
		return 0;
	while (magnitude >> (exponent + 1))
		exponent++;
	/* binary32: sign, 127 + exponent, fraction */
	bits = (uint32_t)(value < 0) << 31 | (127 + exponent) << 23 |
	       ((magnitude << (23 - exponent)) & 0x7fffff);
	if (dtype == PLD_FP32)
		return bits;
	if (dtype == PLD_BF16)
		return bits >> 16;
	return (bits >> 16 & 0x8000) | (15 + exponent) << 10 |
	       (bits >> 13 & 0x3ff);
}

/* Little-endian, as all that is tested on. */
static void put_number(void *to, int value, pld_dtype dtype)
{
	uint64_t bits = bits_of(value, dtype);

	memcpy(to, &bits, (size_t)pld_dtype_size(dtype));
}

/* What each rank adds to element i. */
static int part(int i)
{
	return i % 3 - 1;
}

static void fill(unsigned char *memory, int sign, pld_dtype dtype)
{
	for (int i = 0; i < COUNT; i++)
		put_number(memory + i * pld_dtype_size(dtype), sign * part(i),
			   dtype);
}

struct job {
	pld_window_buffer *data;
	pld_window_buffer *signal;
	pld_dtype dtype;
	int remote_store;
	int additions;
};

static int add_once(const struct job *job, const pld_tensor *x,
		    const pld_distributed_tensor *target, pld_tile *tile)
{
	/* Through a stage of a few elements, so that chunks mix as well. */
	pld_put_options options = { .stage = tile, .atomic = PLD_ADD };

	if (!job->remote_store) {
		CHECK_EQ(0, pld_tensor_put(target, OWNER, x, &options));
		return 0;
	}
	for (int at = 0; at < COUNT; at += 3) {
		CHECK_EQ(0, pld_load(x, PLD_AT(at), PLD_SHAPE(3), tile));
		CHECK_EQ(0, pld_tile_remote_store(tile, target, OWNER,
						  PLD_AT(at), PLD_ADD));
	}
	return 0;
}

static int look(const struct job *job, const pld_distributed_tensor *target)
{
	int size = pld_dtype_size(job->dtype);
	unsigned char got[8], want[8];

	for (int i = 0; i < COUNT; i++) {
		CHECK_EQ(0, pld_read(target, PLD_AT(i), got));
		put_number(want, NRANKS * part(i), job->dtype);
		CHECK(!memcmp(got, want, (size_t)size));
	}
	return 0;
}

static int all_add(pld_domain *domain, void *arg)
{
	const struct job *job = arg;
	pld_distributed_tensor target, signal;
	int me = pld_rank(domain);
	unsigned char memory[COUNT * 4] = { 0 };
	pld_tensor x;
	pld_tile tile;

	PLD_TRY(pld_window(job->data, PLD_SHAPE(COUNT), job->dtype, &target));
	PLD_TRY(pld_window(job->signal, PLD_SHAPE(2), PLD_INT32, &signal));
	PLD_TRY(pld_tensor_init(&x, memory, PLD_SHAPE(COUNT), job->dtype));
	PLD_TRY(pld_tile_alloc(&tile, 12));
	/* All begin together. */
	for (int peer = 0; peer < NRANKS; peer++)
		CHECK_EQ(0, pld_system_notify(&signal, peer, PLD_AT(0), 1,
					      PLD_ATOMIC_ADD));
	CHECK_EQ(0, pld_system_wait(&signal, PLD_AT(0), NRANKS, PLD_GE));
	for (int i = 0; i < job->additions; i++) {
		fill(memory, i % 2 ? -1 : 1, job->dtype);
		PLD_TRY(add_once(job, &x, &target, &tile));
	}
	CHECK_EQ(0, pld_system_notify(&signal, OWNER, PLD_AT(1), 1,
				      PLD_ATOMIC_ADD));
	pld_tile_free(&tile);
	if (me != OWNER)
		return 0;
	CHECK_EQ(0, pld_system_wait(&signal, PLD_AT(1), NRANKS, PLD_GE));
	return look(job, &target);
}

/* Sums that the type does not have. */
static int rounding(pld_domain *domain, void *arg)
{
	/* before, added, after: to nearest, ties to even */
	static const uint16_t fp16[][3] = {
		{ 0x6800, 0x3c00, 0x6800 }, /* 2048 + 1 = 2049: tie, down */
		{ 0x6801, 0x3c00, 0x6802 }, /* 2050 + 1 = 2051: tie, up */
		{ 0x7bff, 0x7bff, 0x7c00 }, /* 65504 twice is infinite */
		{ 0x0001, 0x0001, 0x0002 }, /* the smallest subnormal twice */
		{ 0x3c00, 0xbc00, 0x0000 }, /* 1 - 1 */
	};
	static const uint16_t bf16[][3] = {
		{ 0x4380, 0x3f80, 0x4380 }, /* 256 + 1 = 257: tie, down */
		{ 0x4381, 0x3f80, 0x4382 }, /* 258 + 1 = 259: tie, up */
		{ 0x7f7f, 0x7f7f, 0x7f80 }, /* the largest twice */
	};
	const struct job *job = arg;
	pld_distributed_tensor target;
	uint16_t value;
	pld_tensor x;

	PLD_TRY(pld_window(job->data, PLD_SHAPE(1), job->dtype, &target));
	PLD_TRY(pld_tensor_init(&x, &value, PLD_SHAPE(1), job->dtype));
	if (pld_rank(domain))
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(fp16); i++) {
		const uint16_t *row = fp16[i];
		pld_put_options options = { .atomic = PLD_ADD };

		if (job->dtype == PLD_BF16 && i == ARRAY_SIZE(bf16))
			break;
		if (job->dtype == PLD_BF16)
			row = bf16[i];
		value = row[0];
		CHECK_EQ(0, pld_tensor_put(&target, 2, &x, NULL));
		value = row[1];
		CHECK_EQ(0, pld_tensor_put(&target, 2, &x, &options));
		CHECK_EQ(0, pld_tensor_get(&x, 2, &target, NULL));
		CHECK_EQ(row[2], value);
	}
	return 0;
}

static int refusals(pld_domain *domain, void *arg)
{
	static const struct {
		pld_dtype dtype;
		const char *name;
	} others[] = { { PLD_FP64, "fp64" },	 { PLD_INT64, "int64" },
		       { PLD_UINT64, "uint64" }, { PLD_UINT32, "uint32" },
		       { PLD_UINT16, "uint16" }, { PLD_UINT8, "uint8" } };
	pld_put_options options = { .atomic = PLD_ADD };
	const struct job *job = arg;
	pld_distributed_tensor target;
	int64_t memory[2] = { 0 };
	char message[160];
	pld_tensor x;
	pld_tile tile;

	if (pld_rank(domain))
		return 0;
	PLD_TRY(pld_tile_alloc(&tile, 8));
	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		PLD_TRY(pld_window(job->data, PLD_SHAPE(1), others[i].dtype,
				   &target));
		PLD_TRY(pld_tensor_init(&x, memory, PLD_SHAPE(1),
					others[i].dtype));
		PLD_TRY(pld_load(&x, PLD_AT(0), PLD_SHAPE(1), &tile));
		snprintf(message, sizeof(message),
			 "pld.tensor.put: atomic Add is for fp32, fp16, bf16, int32, int16 and int8, got %s",
			 others[i].name);
		CHECK_REFUSED(-EINVAL, message,
			      pld_tensor_put(&target, 1, &x, &options));
		snprintf(message, sizeof(message),
			 "pld.tile.remote_store: atomic Add is for fp32, fp16, bf16, int32, int16 and int8, got %s",
			 others[i].name);
		CHECK_REFUSED(-EINVAL, message,
			      pld_tile_remote_store(&tile, &target, 1,
						    PLD_AT(0), PLD_ADD));
	}
	PLD_TRY(pld_window(job->data, PLD_SHAPE(1), PLD_FP32, &target));
	PLD_TRY(pld_tensor_init(&x, memory, PLD_SHAPE(1), PLD_FP32));
	options.atomic = (pld_atomic_type)2;
	CHECK_REFUSED(-EINVAL,
		      "pld.tensor.put: atomic is 2, wanted None (0) or Add (1)",
		      pld_tensor_put(&target, 1, &x, &options));
	options.atomic = PLD_ADD;
	target.data = (char *)target.data + 2;
	CHECK_REFUSED(-EFAULT,
		      "pld.tensor.put: for atomic Add, fp32 must be aligned to its elements",
		      pld_tensor_put(&target, 1, &x, &options));
	pld_tile_free(&tile);
	return 0;
}

FIXTURE(atomic)
{
	pld_domain *domain;
	struct job job;
};

FIXTURE_SETUP(atomic)
{
	self->domain = make_domain(NRANKS);
	ASSERT_NE(NULL, self->domain);
	self->job.additions = strcmp(pld_domain_platform(self->domain), "kmod")
				      ? ADDITIONS
				      : ADDITIONS_IN_A_GUEST;
	ASSERT_EQ(0, pld_alloc_signal(self->domain, PLD_SHAPE(2),
				      &self->job.signal));
}

FIXTURE_TEARDOWN(atomic)
{
	pld_domain_destroy(self->domain);
}

/* A fresh window for each, since windows keep their bytes. */
static int each_dtype(pld_domain *domain, struct job *job)
{
	for (size_t i = 0; i < ARRAY_SIZE(dtypes); i++) {
		int error;

		job->dtype = dtypes[i];
		PLD_TRY(pld_alloc_window_buffer(domain, COUNT * 4, &job->data));
		error = run_ranks(domain, all_add, job);
		pld_free_window_buffer(job->data);
		PLD_TRY(error);
	}
	return 0;
}

TEST_F(atomic, no_put_is_lost)
{
	ASSERT_EQ(0, each_dtype(self->domain, &self->job));
}

TEST_F(atomic, no_remote_store_is_lost)
{
	self->job.remote_store = 1;
	ASSERT_EQ(0, each_dtype(self->domain, &self->job));
}

TEST_F(atomic, half_precision_is_rounded_to_nearest_even)
{
	ASSERT_EQ(0, pld_alloc_window_buffer(self->domain, 8, &self->job.data));
	self->job.dtype = PLD_FP16;
	RUN(self->domain, rounding, &self->job);
	self->job.dtype = PLD_BF16;
	RUN(self->domain, rounding, &self->job);
}

TEST_F(atomic, other_types_and_unaligned_memory_are_refused)
{
	ASSERT_EQ(0, pld_alloc_window_buffer(self->domain, 16, &self->job.data));
	RUN(self->domain, refusals, &self->job);
}

LIB_TEST_MAIN
