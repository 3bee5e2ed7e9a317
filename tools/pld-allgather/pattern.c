// SPDX-License-Identifier: GPL-2.0
/*
 * Patterns. Elements are made and compared as bits, so that a comparison is
 * exact for every dtype.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "pattern.h"

/* Finite values of each sign in the two 16-bit floating-point formats. */
#define FP16_FINITE 0x7c00
#define BF16_FINITE 0x7f80

static uint64_t sign_and_finite(uint64_t i, uint64_t finite)
{
	i %= 2 * finite;
	return i < finite ? i : 0x8000 | (i - finite);
}

static uint64_t fp32_bits(uint64_t i)
{
	/* Whole numbers up to 2^24 are exact. */
	float value = (float)(i % (1u << 24));
	uint32_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

static uint64_t fp64_bits(uint64_t i)
{
	double value = (double)(i % (UINT64_C(1) << 53));
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

static uint64_t element_bits(pld_dtype dtype, uint64_t i)
{
	switch (dtype) {
	case PLD_FP64:
		return fp64_bits(i);
	case PLD_FP32:
		return fp32_bits(i);
	case PLD_FP16:
		return sign_and_finite(i, FP16_FINITE);
	case PLD_BF16:
		return sign_and_finite(i, BF16_FINITE);
	default:
		return i;
	}
}

static void put_bits(void *at, int size, uint64_t bits)
{
	uint8_t b1 = (uint8_t)bits;
	uint16_t b2 = (uint16_t)bits;
	uint32_t b4 = (uint32_t)bits;

	switch (size) {
	case 1:
		memcpy(at, &b1, 1);
		break;
	case 2:
		memcpy(at, &b2, 2);
		break;
	case 4:
		memcpy(at, &b4, 4);
		break;
	default:
		memcpy(at, &bits, 8);
	}
}

void pattern_fill(void *data, pld_dtype dtype, uint64_t first, int64_t count)
{
	int size = pld_dtype_size(dtype);

	for (int64_t i = 0; i < count; i++)
		put_bits((char *)data + i * size, size,
			 element_bits(dtype, first + (uint64_t)i));
}

int64_t pattern_match(const void *data, pld_dtype dtype, uint64_t first,
		      int64_t count)
{
	int size = pld_dtype_size(dtype);
	char want[8];

	for (int64_t i = 0; i < count; i++) {
		put_bits(want, size, element_bits(dtype, first + (uint64_t)i));
		if (memcmp((const char *)data + i * size, want, (size_t)size))
			return i;
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
		return mantissa != 0.0 ? __builtin_nan("") :
					 sign * __builtin_inf();
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
