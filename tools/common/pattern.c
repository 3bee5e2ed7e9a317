// SPDX-License-Identifier: GPL-2.0
/*
 * Patterns. Elements are compared as bytes, which is exact for every dtype.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/pattern.h"
#include "common/program.h"

/* Finite values of each sign in the two 16-bit floating-point formats. */
#define FP16_FINITE 0x7c00
#define BF16_FINITE 0x7f80

/* Whole numbers up to these are exact in fp32 and fp64. */
#define FP32_WHOLE (UINT64_C(1) << 24)
#define FP64_WHOLE (UINT64_C(1) << 53)

/* Elements that are made and compared at a time; they stay in the cache. */
#define BLOCK 1024

static uint16_t sign_and_finite(uint64_t i, uint64_t finite)
{
	i %= 2 * finite;
	return (uint16_t)(i < finite ? i : 0x8000 | (i - finite));
}

/* One loop per type, so that the compiler can vectorize it. */
#define FILL(type, value)                                                  \
	do {                                                               \
		type *element = data;                                      \
                                                                           \
		for (uint64_t i = first; i < first + (uint64_t)count; i++) \
			*element++ = (type)(value);                        \
	} while (0)

/* After how many elements the pattern begins anew; 0: never. */
static uint64_t period_of(pld_dtype dtype)
{
	switch (dtype) {
	case PLD_FP64:
		return FP64_WHOLE;
	case PLD_FP32:
		return FP32_WHOLE;
	case PLD_FP16:
		return 2 * FP16_FINITE;
	case PLD_BF16:
		return 2 * BF16_FINITE;
	case PLD_INT32:
	case PLD_UINT32:
		return UINT64_C(1) << 32;
	case PLD_INT16:
	case PLD_UINT16:
		return 1 << 16;
	case PLD_INT8:
	case PLD_UINT8:
		return 1 << 8;
	default:
		return 0;
	}
}

/*
 * From 1 on: the first one differs from a window that nothing was written to.
 * Where there are too few values, each slice begins one further in the pattern
 * than the one before.
 */
uint64_t pattern_first(pld_dtype dtype, uint64_t slice, uint64_t slices,
		       uint64_t size)
{
	uint64_t period = period_of(dtype);

	if (period && size > period / slices)
		return 1 + slice % period;
	return 1 + slice * size;
}

void pattern_fill(void *data, pld_dtype dtype, uint64_t first, int64_t count)
{
	switch (dtype) {
	case PLD_FP64:
		FILL(double, i % FP64_WHOLE);
		return;
	case PLD_FP32:
		FILL(float, i % FP32_WHOLE);
		return;
	case PLD_FP16:
		FILL(uint16_t, sign_and_finite(i, FP16_FINITE));
		return;
	case PLD_BF16:
		FILL(uint16_t, sign_and_finite(i, BF16_FINITE));
		return;
	case PLD_INT64:
	case PLD_UINT64:
		FILL(uint64_t, i);
		return;
	case PLD_INT32:
	case PLD_UINT32:
		FILL(uint32_t, i);
		return;
	case PLD_INT16:
	case PLD_UINT16:
		FILL(uint16_t, i);
		return;
	case PLD_INT8:
	case PLD_UINT8:
		FILL(uint8_t, i);
		return;
	}
}

int64_t pattern_match(const void *data, pld_dtype dtype, uint64_t first,
		      int64_t count)
{
	int size = pld_dtype_size(dtype);
	const char *got = data;
	uint64_t want[BLOCK];

	for (int64_t at = 0; at < count; at += BLOCK) {
		int64_t here = count - at < BLOCK ? count - at : BLOCK;
		const char *element = (const char *)want;

		pattern_fill(want, dtype, first + (uint64_t)at, here);
		if (!memcmp(got + at * size, want, (size_t)(here * size)))
			continue;
		while (!memcmp(got + at * size, element, (size_t)size)) {
			element += size;
			at++;
		}
		return at;
	}
	return count;
}

static uint64_t get_bits(const void *at, int size)
{
	uint64_t bits = 0;

	/* The least significant byte comes first on all that we serve. */
	memcpy(&bits, at, (size_t)size);
	return bits;
}

static int64_t sign_extended(uint64_t bits, int size)
{
	int unused = 64 - 8 * size;

	return (int64_t)(bits << unused) >> unused;
}

/* The number that 16 bits stand for, exponent_bits of them an exponent. */
static double small_float(uint64_t bits, int exponent_bits)
{
	int mantissa_bits = 15 - exponent_bits;
	int bias = (1 << (exponent_bits - 1)) - 1;
	int exponent = (int)(bits >> mantissa_bits) & ((1 << exponent_bits) - 1);
	double mantissa = (double)(bits & ((1u << mantissa_bits) - 1)) /
			  (double)(1u << mantissa_bits);
	double sign = bits & 0x8000 ? -1.0 : 1.0;

	if (exponent == (1 << exponent_bits) - 1)
		return mantissa != 0.0 ? __builtin_nan("")
				       : sign * __builtin_inf();
	if (!exponent)
		return sign * __builtin_ldexp(mantissa, 1 - bias);
	return sign * __builtin_ldexp(1.0 + mantissa, exponent - bias);
}

const char *pattern_text(const void *element, pld_dtype dtype,
			 char text[PATTERN_TEXT_BYTES])
{
	int size = pld_dtype_size(dtype);
	uint64_t bits = get_bits(element, size);
	double value = 0;
	float single;

	switch (dtype) {
	case PLD_UINT64:
	case PLD_UINT32:
	case PLD_UINT16:
	case PLD_UINT8:
		snprintf(text, PATTERN_TEXT_BYTES, "%" PRIu64, bits);
		return text;
	case PLD_FP64:
		memcpy(&value, element, sizeof(value));
		break;
	case PLD_FP32:
		memcpy(&single, element, sizeof(single));
		value = single;
		break;
	case PLD_FP16:
		value = small_float(bits, 5);
		break;
	case PLD_BF16:
		value = small_float(bits, 8);
		break;
	default:
		snprintf(text, PATTERN_TEXT_BYTES, "%" PRId64,
			 sign_extended(bits, size));
		return text;
	}
	snprintf(text, PATTERN_TEXT_BYTES, "%.17g (0x%" PRIx64 ")", value, bits);
	return text;
}

void pattern_say_wrong(const char *where, pld_dtype dtype, uint64_t first,
		       int64_t index, const void *got)
{
	char got_text[PATTERN_TEXT_BYTES], want_text[PATTERN_TEXT_BYTES];
	char want[8];

	pattern_fill(want, dtype, first + (uint64_t)index, 1);
	complain("%s, element %lld: got %s, wanted %s", where, (long long)index,
		 pattern_text(got, dtype, got_text),
		 pattern_text(want, dtype, want_text));
}
