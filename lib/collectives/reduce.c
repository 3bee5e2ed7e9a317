// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * The loops of a reduction, one per type and operation, and nothing in them that
 * keeps a compiler from making vectors of them.
 */
#include <string.h>

#include "collectives/reduce.h"
#include "half.h"

static inline uint64_t double_bits(double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

static inline double double_of_bits(uint64_t bits)
{
	double value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

/*
 * Equal values have equal bits but for the zeros, of which the bitwise and is
 * the greater one and the bitwise or the lesser.
 */
#define FLOATS(type, bits_of, of_bits, nan)                                     \
	static inline type type##_quiet(type value)                             \
	{                                                                       \
		return value == value ? value : (nan);                          \
	}                                                                       \
	static inline type type##_sum(type a, type b)                           \
	{                                                                       \
		return type##_quiet(a + b);                                     \
	}                                                                       \
	static inline type type##_prod(type a, type b)                          \
	{                                                                       \
		return type##_quiet(a * b);                                     \
	}                                                                       \
	static inline type type##_max(type a, type b)                           \
	{                                                                       \
		type equal = a == b ? of_bits(bits_of(a) & bits_of(b)) : (nan); \
                                                                                \
		return a > b ? a : a < b ? b : equal;                           \
	}                                                                       \
	static inline type type##_min(type a, type b)                           \
	{                                                                       \
		type equal = a == b ? of_bits(bits_of(a) | bits_of(b)) : (nan); \
                                                                                \
		return a < b ? a : a > b ? b : equal;                           \
	}

FLOATS(float, pld_float_bits, pld_float_of_bits, __builtin_nanf(""))
FLOATS(double, double_bits, double_of_bits, __builtin_nan(""))

/* Sums and products of signed integers have the bits of the unsigned ones. */
#define SUM(a, b) ((a) + (b))
/* Two uint16_t would be multiplied as int. */
#define PROD(a, b) (1u * (a) * (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define SAME(value) (value)

#define LOOP(name, acc_type, in_type, to_acc, combine)                \
	static void name(void *restrict acc, const void *restrict in, \
			 int64_t n)                                   \
	{                                                             \
		acc_type *a = acc;                                    \
		const in_type *b = in;                                \
                                                                      \
		for (int64_t i = 0; i < n; i++)                       \
			a[i] = (acc_type)combine(a[i], to_acc(b[i])); \
	}

#define FLOAT_LOOPS(name, acc_type, in_type, to_acc)                    \
	LOOP(name##_sum_all, acc_type, in_type, to_acc, acc_type##_sum) \
	LOOP(name##_max_all, acc_type, in_type, to_acc, acc_type##_max) \
	LOOP(name##_min_all, acc_type, in_type, to_acc, acc_type##_min) \
	LOOP(name##_prod_all, acc_type, in_type, to_acc, acc_type##_prod)

#define INTEGER_LOOPS(bits)                                           \
	LOOP(sum_##bits, uint##bits##_t, uint##bits##_t, SAME, SUM)   \
	LOOP(prod_##bits, uint##bits##_t, uint##bits##_t, SAME, PROD) \
	LOOP(max_u##bits, uint##bits##_t, uint##bits##_t, SAME, MAX)  \
	LOOP(min_u##bits, uint##bits##_t, uint##bits##_t, SAME, MIN)  \
	LOOP(max_s##bits, int##bits##_t, int##bits##_t, SAME, MAX)    \
	LOOP(min_s##bits, int##bits##_t, int##bits##_t, SAME, MIN)

FLOAT_LOOPS(fp64, double, double, SAME)
FLOAT_LOOPS(fp32, float, float, SAME)
FLOAT_LOOPS(fp16, float, uint16_t, pld_half_to_float)
FLOAT_LOOPS(bf16, float, uint16_t, pld_bfloat_to_float)
INTEGER_LOOPS(64)
INTEGER_LOOPS(32)
INTEGER_LOOPS(16)
INTEGER_LOOPS(8)

typedef void loop(void *restrict acc, const void *restrict in, int64_t n);

#define FLOAT_ROW(name)                                                         \
	{                                                                       \
		name##_sum_all, name##_max_all, name##_min_all, name##_prod_all \
	}
#define SIGNED_ROW(bits)                                          \
	{                                                         \
		sum_##bits, max_s##bits, min_s##bits, prod_##bits \
	}
#define UNSIGNED_ROW(bits)                                        \
	{                                                         \
		sum_##bits, max_u##bits, min_u##bits, prod_##bits \
	}

/* The columns are pld_reduce_op's. */
static loop *const loops[][4] = {
	[PLD_FP64] = FLOAT_ROW(fp64),	 [PLD_FP32] = FLOAT_ROW(fp32),
	[PLD_FP16] = FLOAT_ROW(fp16),	 [PLD_BF16] = FLOAT_ROW(bf16),
	[PLD_INT64] = SIGNED_ROW(64),	 [PLD_INT32] = SIGNED_ROW(32),
	[PLD_INT16] = SIGNED_ROW(16),	 [PLD_INT8] = SIGNED_ROW(8),
	[PLD_UINT64] = UNSIGNED_ROW(64), [PLD_UINT32] = UNSIGNED_ROW(32),
	[PLD_UINT16] = UNSIGNED_ROW(16), [PLD_UINT8] = UNSIGNED_ROW(8),
};

size_t pld_reduce_size(pld_dtype dtype)
{
	if (dtype == PLD_FP16 || dtype == PLD_BF16)
		return sizeof(float);
	return (size_t)pld_dtype_size(dtype);
}

void pld_reduce_first(pld_dtype dtype, void *acc, const void *in, int64_t n)
{
	const uint16_t *from = in;
	float *to = acc;

	if (dtype == PLD_FP16)
		for (int64_t i = 0; i < n; i++)
			to[i] = pld_half_to_float(from[i]);
	else if (dtype == PLD_BF16)
		for (int64_t i = 0; i < n; i++)
			to[i] = pld_bfloat_to_float(from[i]);
	else
		memcpy(acc, in, (size_t)n * pld_reduce_size(dtype));
}

void pld_reduce_next(pld_dtype dtype, pld_reduce_op op, void *acc,
		     const void *in, int64_t n)
{
	loops[dtype][op](acc, in, n);
}

void pld_reduce_result(pld_dtype dtype, void *out, const void *acc, int64_t n)
{
	const float *from = acc;
	uint16_t *to = out;

	if (dtype == PLD_FP16)
		for (int64_t i = 0; i < n; i++)
			to[i] = pld_float_to_half(from[i]);
	else if (dtype == PLD_BF16)
		for (int64_t i = 0; i < n; i++)
			to[i] = pld_float_to_bfloat(from[i]);
	else
		memcpy(out, acc, (size_t)n * pld_reduce_size(dtype));
}
