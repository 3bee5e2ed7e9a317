// SPDX-License-Identifier: GPL-2.0
/*
 * pl.add, pl.mul, pl.maximum, pl.minimum and pl.cast: all dtypes against
 * numbers computed one by one, special values, tiles in place, refusals. No
 * ranks are needed.
 */
#include <stdlib.h>

#include "lib_numbers.h"
#include "lib_test.h"

#define MOST 1000
#define BYTES (MOST * 8)

static const int64_t sizes[] = { 1, 255, 256, 257, MOST };

typedef int operation(const pld_tile *a, const pld_tile *b, pld_tile *out);

/* In the order of pld_reduce_op. */
static operation *const operations[] = { pld_add, pld_maximum, pld_minimum,
					 pld_mul };

static void fill(struct __test_metadata *_metadata, pld_tile *tile,
		 pld_dims shape, pld_dtype dtype, const void *elements)
{
	pld_tensor tensor;

	ASSERT_EQ(0, pld_tensor_init(&tensor, (void *)elements, shape, dtype));
	ASSERT_EQ(0, pld_load(&tensor, PLD_AT(0, 0), shape, tile));
}

FIXTURE(arithmetic)
{
	pld_tile a, b, out;
	unsigned char x[BYTES], y[BYTES], want[BYTES];
};

FIXTURE_SETUP(arithmetic)
{
	ASSERT_EQ(0, pld_tile_alloc(&self->a, BYTES));
	ASSERT_EQ(0, pld_tile_alloc(&self->b, BYTES));
	ASSERT_EQ(0, pld_tile_alloc(&self->out, BYTES));
}

FIXTURE_TEARDOWN(arithmetic)
{
	pld_tile_free(&self->a);
	pld_tile_free(&self->b);
	pld_tile_free(&self->out);
}

static void make(struct __test_metadata *_metadata,
		 FIXTURE_DATA(arithmetic) * self, pld_dtype dtype, int64_t n)
{
	random_elements(dtype, self->x, n, 1);
	random_elements(dtype, self->y, n, 2);
	fill(_metadata, &self->a, PLD_SHAPE(1, n), dtype, self->x);
	fill(_metadata, &self->b, PLD_SHAPE(1, n), dtype, self->y);
}

static void want(FIXTURE_DATA(arithmetic) * self, pld_dtype dtype,
		 pld_reduce_op op, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		put_number(dtype, self->want, i,
			   combine(dtype, op, number_at(dtype, self->x, i),
				   number_at(dtype, self->y, i)));
}

/* Into a third tile, into a and into b. */
static void check(struct __test_metadata *_metadata,
		  FIXTURE_DATA(arithmetic) * self, pld_dtype dtype,
		  pld_reduce_op op, int64_t n)
{
	pld_tile *outs[] = { &self->out, &self->a, &self->b };
	size_t bytes = (size_t)(n * pld_dtype_size(dtype));

	for (size_t i = 0; i < ARRAY_SIZE(outs); i++) {
		make(_metadata, self, dtype, n);
		want(self, dtype, op, n);
		ASSERT_EQ(0, operations[op](&self->a, &self->b, outs[i]));
		EXPECT_EQ(0, memcmp(self->want, outs[i]->data, bytes))
		{
			TH_LOG("%s, op %d, %lld elements into tile %zu",
			       pld_dtype_name(dtype), op, (long long)n, i);
		}
		EXPECT_EQ(dtype, outs[i]->dtype);
		EXPECT_EQ(2, outs[i]->shape.ndim);
		EXPECT_EQ(n, outs[i]->shape.n[1]);
	}
}

TEST_F(arithmetic, every_operation_of_every_dtype)
{
	for (int dtype = 0; dtype <= LAST_DTYPE; dtype++)
		for (int op = PLD_SUM; op <= PLD_PROD; op++)
			for (size_t i = 0; i < ARRAY_SIZE(sizes); i++)
				check(_metadata, self, (pld_dtype)dtype,
				      (pld_reduce_op)op, sizes[i]);
}

/* All pairs of special values of a short float. */
TEST_F(arithmetic, special_values_of_short_floats)
{
	static const pld_dtype dtypes[] = { PLD_FP16, PLD_BF16 };
	const int64_t n = 256;

	for (size_t i = 0; i < ARRAY_SIZE(dtypes); i++)
		for (int op = PLD_SUM; op <= PLD_PROD; op++) {
			for (unsigned int at = 0; at < n; at++) {
				struct format format = format_of(dtypes[i]);

				((uint16_t *)self->x)[at] =
					special_half(format, at % 16);
				((uint16_t *)self->y)[at] =
					special_half(format, at / 16);
			}
			fill(_metadata, &self->a, PLD_SHAPE(1, n), dtypes[i],
			     self->x);
			fill(_metadata, &self->b, PLD_SHAPE(1, n), dtypes[i],
			     self->y);
			want(self, dtypes[i], (pld_reduce_op)op, n);
			ASSERT_EQ(0, operations[op](&self->a, &self->b,
						    &self->out));
			EXPECT_EQ(0, memcmp(self->want, self->out.data,
					    (size_t)n * 2));
		}
}

/* In words: what the numbers of lib_numbers.h could have wrong as well. */
TEST_F(arithmetic, known_results)
{
	const float zeros[] = { -0.0f, 0.0f }, swapped[] = { 0.0f, -0.0f };
	const int8_t most[] = { INT8_MAX, INT8_MIN }, ones[] = { 1, -1 };
	const uint16_t big[] = { 0xffff, 0x7bff }, same[] = { 0xffff, 0x3c00 };
	const float *f = self->out.data;
	const int8_t *i = self->out.data;
	const uint16_t *h = self->out.data;

	fill(_metadata, &self->a, PLD_SHAPE(1, 2), PLD_FP32, zeros);
	fill(_metadata, &self->b, PLD_SHAPE(1, 2), PLD_FP32, swapped);
	ASSERT_EQ(0, pld_maximum(&self->a, &self->b, &self->out));
	EXPECT_TRUE(!signbit(f[0]) && !signbit(f[1]));
	ASSERT_EQ(0, pld_minimum(&self->a, &self->b, &self->out));
	EXPECT_TRUE(signbit(f[0]) && signbit(f[1]));
	fill(_metadata, &self->a, PLD_SHAPE(1, 2), PLD_INT8, most);
	fill(_metadata, &self->b, PLD_SHAPE(1, 2), PLD_INT8, ones);
	ASSERT_EQ(0, pld_add(&self->a, &self->b, &self->out));
	EXPECT_EQ(INT8_MIN, i[0]);
	EXPECT_EQ(INT8_MAX, i[1]);
	fill(_metadata, &self->a, PLD_SHAPE(1, 2), PLD_UINT16, big);
	fill(_metadata, &self->b, PLD_SHAPE(1, 2), PLD_UINT16, same);
	ASSERT_EQ(0, pld_mul(&self->a, &self->b, &self->out));
	EXPECT_EQ(1, h[0]);
	/* 65504 + 1 is 65504 in fp16; a NaN loses its payload. */
	fill(_metadata, &self->a, PLD_SHAPE(1, 2), PLD_FP16, big);
	fill(_metadata, &self->b, PLD_SHAPE(1, 2), PLD_FP16, same);
	ASSERT_EQ(0, pld_add(&self->a, &self->b, &self->out));
	EXPECT_EQ(0x7e00, h[0]);
	EXPECT_EQ(0x7bff, h[1]);
}

/* Ties and values near the ends of every format, and random ones. */
static void make_numbers(pld_dtype dtype, void *array, int64_t n)
{
	static const int exponents[] = { -149, -134, -126, -25, -24, -15, -1,
					 0,    7,    8,	   15,	16,  31,  32,
					 53,   63,   64,   120, 127 };

	random_elements(dtype, array, n, 3);
	if (dtype != PLD_FP64 && dtype != PLD_FP32)
		return;
	for (int64_t i = 0; i < n / 2; i++) {
		uint64_t random = mixed((uint64_t)i);
		int bits = (int)(random % 25);
		double fraction = 1 + ldexp(random >> 40, -24);
		int exponent = exponents[(random >> 8) % ARRAY_SIZE(exponents)];

		/* Cut after some bits, with a half after them or not. */
		fraction = (uint64_t)ldexp(fraction, bits) +
			   (random >> 16 & 1 ? 0.5 : 0);
		fraction = ldexp(fraction, exponent - bits);
		put_number(dtype, array, i,
			   (struct number){ .f = random >> 17 & 1 ? -fraction
								  : fraction });
	}
}

static uint64_t clamp(pld_dtype dtype, double value)
{
	int bits = 8 * pld_dtype_size(dtype) - is_signed(dtype);
	double above = ldexp(1, bits);

	if (isnan(value))
		return 0;
	if (value >= above)
		return bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
	if (!is_signed(dtype))
		return value <= 0 ? 0 : (uint64_t)value;
	if (value <= -above)
		return -(UINT64_C(1) << bits);
	return (uint64_t)(int64_t)value;
}

/* A number that rounds to any short float as the integer would. */
static double rounds_alike(uint64_t magnitude)
{
	int shift = 0;

	for (; magnitude >> 53; shift++)
		magnitude = magnitude >> 1 | (magnitude & 1);
	return ldexp((double)magnitude, shift);
}

static void put_integer(pld_dtype to, void *array, int64_t i, uint64_t value,
			int negative)
{
	uint64_t magnitude = negative ? -value : value;
	double d = negative ? (double)(int64_t)value : (double)value;
	float f = negative ? (float)(int64_t)value : (float)value;
	double half = rounds_alike(magnitude);

	if (to == PLD_FP64)
		((double *)array)[i] = d;
	else if (to == PLD_FP32)
		((float *)array)[i] = f;
	else
		put_number(to, array, i,
			   (struct number){ .f = negative ? -half : half,
					    .i = value });
}

static void put_cast(pld_dtype from, pld_dtype to, void *array, int64_t i,
		     struct number x)
{
	if (!is_float(from)) {
		put_integer(to, array, i, x.i,
			    is_signed(from) && (int64_t)x.i < 0);
		return;
	}
	if (!is_float(to))
		x.i = clamp(to, x.f);
	put_number(to, array, i, x);
}

/* Of a NaN, only that it stays one. */
static int same(pld_dtype dtype, const void *a, const void *b, int64_t i)
{
	size_t size = (size_t)pld_dtype_size(dtype);

	if (is_float(dtype) && isnan(number_at(dtype, a, i).f))
		return isnan(number_at(dtype, b, i).f);
	return !memcmp((const char *)a + (size_t)i * size,
		       (const char *)b + (size_t)i * size, size);
}

static void check_cast(struct __test_metadata *_metadata,
		       FIXTURE_DATA(arithmetic) * self, pld_dtype from,
		       pld_dtype to, pld_tile *out)
{
	make_numbers(from, self->x, MOST);
	fill(_metadata, &self->a, PLD_SHAPE(1, MOST), from, self->x);
	ASSERT_EQ(0, pld_cast(&self->a, to, out));
	EXPECT_EQ(to, out->dtype);
	for (int64_t i = 0; i < MOST; i++) {
		put_cast(from, to, self->want, i, number_at(from, self->x, i));
		ASSERT_TRUE(same(to, self->want, out->data, i))
		{
			TH_LOG("%s to %s, element %lld", pld_dtype_name(from),
			       pld_dtype_name(to), (long long)i);
		}
	}
}

TEST_F(arithmetic, cast_between_all_dtypes)
{
	for (int from = 0; from <= LAST_DTYPE; from++)
		for (int to = 0; to <= LAST_DTYPE; to++) {
			check_cast(_metadata, self, (pld_dtype)from,
				   (pld_dtype)to, &self->out);
			check_cast(_metadata, self, (pld_dtype)from,
				   (pld_dtype)to, &self->a);
		}
}

/* Every fp16 and bf16 there is, to fp32 and back. */
TEST_F(arithmetic, every_short_float_survives_a_cast)
{
	static const pld_dtype dtypes[] = { PLD_FP16, PLD_BF16 };
	uint16_t *bits = (void *)self->x;

	for (size_t d = 0; d < ARRAY_SIZE(dtypes); d++)
		for (unsigned int first = 0; first < 0x10000; first += 512) {
			for (unsigned int i = 0; i < 512; i++)
				bits[i] = (uint16_t)(first + i);
			fill(_metadata, &self->a, PLD_SHAPE(1, 512), dtypes[d],
			     bits);
			ASSERT_EQ(0, pld_cast(&self->a, PLD_FP32, &self->b));
			for (unsigned int i = 0; i < 512; i++) {
				double value = number_at(dtypes[d], bits, i).f;

				put_number(PLD_FP32, self->want, i,
					   (struct number){ .f = value });
				ASSERT_TRUE(same(PLD_FP32, self->want,
						 self->b.data, i));
			}
			ASSERT_EQ(0, pld_cast(&self->b, dtypes[d], &self->out));
			for (unsigned int i = 0; i < 512; i++)
				ASSERT_TRUE(same(dtypes[d], bits,
						 self->out.data, i));
		}
}

/* 2^53 + 1 and its like are no doubles, and must not be rounded twice. */
TEST_F(arithmetic, integers_are_rounded_once)
{
	const int64_t in[] = { (INT64_C(1) << 62) + (INT64_C(1) << 54) + 1,
			       -((INT64_C(1) << 62) + (INT64_C(1) << 54) + 1),
			       (INT64_C(1) << 62) + (INT64_C(1) << 54),
			       (INT64_C(1) << 62) + (INT64_C(1) << 38) + 1,
			       INT64_MAX,
			       INT64_MIN };
	const uint16_t *half = self->out.data;
	const float *f = self->out.data;

	fill(_metadata, &self->a, PLD_SHAPE(1, 6), PLD_INT64, in);
	ASSERT_EQ(0, pld_cast(&self->a, PLD_BF16, &self->out));
	EXPECT_EQ(0x5e81, half[0]);
	EXPECT_EQ(0xde81, half[1]);
	EXPECT_EQ(0x5e80, half[2]);
	EXPECT_EQ(0x5f00, half[4]);
	EXPECT_EQ(0xdf00, half[5]);
	ASSERT_EQ(0, pld_cast(&self->a, PLD_FP32, &self->out));
	EXPECT_EQ(0x1.000002p62f, f[3]);
}

/* At an edge, the rest of a tile is zero and stays out of stores. */
TEST_F(arithmetic, valid_shape_goes_along)
{
	const int32_t words[4] = { 1, 2, 3, 4 };
	const int64_t *sum;
	pld_tensor tensor;

	ASSERT_EQ(0, pld_tensor_init(&tensor, (void *)words, PLD_SHAPE(2, 2),
				     PLD_INT32));
	ASSERT_EQ(0, pld_load_valid(&tensor, PLD_AT(0, 0), PLD_SHAPE(2, 4),
				    PLD_SHAPE(2, 2), &self->a));
	ASSERT_EQ(0, pld_add(&self->a, &self->a, &self->b));
	EXPECT_EQ(2, self->b.valid_shape.n[1]);
	ASSERT_EQ(0, pld_cast(&self->b, PLD_INT64, &self->out));
	EXPECT_EQ(2, self->out.valid_shape.n[1]);
	sum = self->out.data;
	EXPECT_EQ(4, sum[1]);
	EXPECT_EQ(0, sum[2]);
	EXPECT_EQ(6, sum[4]);
	self->b.valid_shape = PLD_SHAPE(2, 3);
	EXPECT_REFUSED(-EINVAL,
		       "pl.add: valid_shape of b is [2, 3], wanted a's [2, 2]",
		       pld_add(&self->a, &self->b, &self->out));
	/* A tile that says nothing is valid as a whole. */
	self->a.valid_shape = (pld_dims){ 0 };
	self->b.valid_shape = PLD_SHAPE(2, 4);
	EXPECT_EQ(0, pld_add(&self->a, &self->b, &self->out));
	EXPECT_EQ(4, self->out.valid_shape.n[1]);
}

TEST_F(arithmetic, refusals)
{
	const int32_t words[8] = { 1, 2, 3, 4, 5, 6, 7, 8 };
	pld_tile *a = &self->a, *b = &self->b, *out = &self->out, small, bad;
	pld_tensor tensor;

	ASSERT_EQ(0, pld_tensor_init(&tensor, (void *)words, PLD_SHAPE(2, 4),
				     PLD_INT32));
	ASSERT_EQ(0, pld_tile_alloc(&small, 31));
	fill(_metadata, a, PLD_SHAPE(2, 4), PLD_INT32, words);
	fill(_metadata, b, PLD_SHAPE(2, 4), PLD_INT32, words);
	EXPECT_REFUSED(-EINVAL, "pl.add: a must be a Tile, got NULL",
		       pld_add(NULL, b, out));
	EXPECT_REFUSED(-EINVAL, "pl.add: b must be a Tile, got NULL",
		       pld_add(a, NULL, out));
	EXPECT_REFUSED(-EINVAL, "pl.add: out must be a Tile, got NULL",
		       pld_add(a, b, NULL));
	EXPECT_REFUSED(-EINVAL, "pl.mul: a must be a Tile, got Tensor",
		       pld_mul(&tensor, b, out));
	EXPECT_REFUSED(-EINVAL, "pl.mul: out must be a Tile, got Tensor",
		       pld_mul(a, b, &tensor));
	EXPECT_REFUSED(-EINVAL,
		       "pl.mul: a holds nothing: it has no valid dtype and shape",
		       pld_mul(&small, b, out));
	EXPECT_REFUSED(-ENOSPC,
		       "pl.maximum: 32 bytes do not fit out, a tile of 31",
		       pld_maximum(a, b, &small));
	bad = *out;
	bad.data = NULL;
	EXPECT_REFUSED(-EFAULT, "pl.maximum: out has no memory",
		       pld_maximum(a, b, &bad));
	bad = *b;
	bad.dtype = PLD_FP32;
	EXPECT_REFUSED(-EINVAL,
		       "pl.minimum: dtype of b is fp32, wanted a's int32",
		       pld_minimum(a, &bad, out));
	bad = *b;
	bad.shape = PLD_SHAPE(1, 8);
	EXPECT_REFUSED(-EINVAL,
		       "pl.minimum: shape of b is [1, 8], wanted a's [2, 4]",
		       pld_minimum(a, &bad, out));
	bad = *b;
	bad.stride[0] = 5;
	EXPECT_REFUSED(-EINVAL, "pl.add: b must be dense",
		       pld_add(a, &bad, out));
	EXPECT_REFUSED(-EINVAL, "pl.cast: in must be a Tile, got Tensor",
		       pld_cast(&tensor, PLD_FP32, out));
	EXPECT_REFUSED(-EINVAL, "dtype 12 is not one of the 12 known",
		       pld_cast(a, (pld_dtype)12, out));
	EXPECT_REFUSED(-ENOSPC, "pl.cast: 64 bytes do not fit out, a tile of 31",
		       pld_cast(a, PLD_FP64, &small));
	EXPECT_EQ(0, memcmp(words, a->data, sizeof(words)));
	EXPECT_EQ(PLD_INT32, a->dtype);
	pld_tile_free(&small);
}

TEST_HARNESS_MAIN
