/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * fp16 (IEEE 754 binary16) and bf16 (the upper half of binary32) as bits.
 *
 * To float is exact. From float rounds to nearest, ties to even, by integers
 * alone: neither the rounding mode nor a processor that flushes subnormals
 * changes a result. A NaN stays a NaN, and becomes a quiet one.
 */
#ifndef PLD_HALF_H
#define PLD_HALF_H

#include <stdint.h>
#include <string.h>

static inline uint32_t pld_float_bits(float value)
{
	uint32_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

static inline float pld_float_of_bits(uint32_t bits)
{
	float value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

static inline float pld_half_to_float(uint16_t half)
{
	uint32_t sign = (uint32_t)(half & 0x8000) << 16;
	uint32_t exponent = half >> 10 & 0x1f;
	uint32_t fraction = half & 0x3ff;
	/* Of a subnormal: fraction times 2^-24, which float has as a normal. */
	uint32_t small = pld_float_bits((float)fraction * 0x1p-24f);
	uint32_t bits = (exponent + 127 - 15) << 23 | fraction << 13;

	if (exponent == 0x1f)
		bits = 0x7f800000 | (fraction ? 0x400000 | fraction << 13 : 0);
	else if (!exponent)
		bits = small;
	return pld_float_of_bits(sign | bits);
}

/* value >> by, rounded; by is 1 to 31. */
static inline uint32_t pld_shift_rounded(uint32_t value, unsigned int by)
{
	uint32_t odd = value >> by & 1;

	return (value + ((1u << (by - 1)) - 1) + odd) >> by;
}

static inline uint16_t pld_float_to_half(float value)
{
	uint32_t bits = pld_float_bits(value);
	uint32_t sign = bits >> 16 & 0x8000;
	uint32_t exponent = bits >> 23 & 0xff;
	uint32_t fraction = bits & 0x7fffff;
	uint32_t result;

	bits &= 0x7fffffff;
	if (bits > 0x7f800000)
		result = 0x7e00 | fraction >> 13;
	else if (bits >= 0x477ff000) /* 65520 and more */
		result = 0x7c00;
	else if (exponent > 127 - 15)
		result = pld_shift_rounded(bits - ((127 - 15) << 23), 13);
	else if (exponent >= 127 - 25) /* in units of 2^-24 */
		result = pld_shift_rounded(0x800000 | fraction, 126 - exponent);
	else
		result = 0;
	return (uint16_t)(sign | result);
}

static inline float pld_bfloat_to_float(uint16_t bfloat)
{
	uint32_t bits = (uint32_t)bfloat << 16;

	if ((bits & 0x7fffffff) > 0x7f800000)
		bits |= 0x400000;
	return pld_float_of_bits(bits);
}

static inline uint16_t pld_float_to_bfloat(float value)
{
	uint32_t bits = pld_float_bits(value);

	if ((bits & 0x7fffffff) > 0x7f800000)
		return (uint16_t)(bits >> 16 | 0x40);
	/* A carry out of the fraction is right: the next exponent, or inf. */
	return (uint16_t)pld_shift_rounded(bits, 16);
}

#endif
