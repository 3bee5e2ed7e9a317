/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Elements as numbers, for the property test: all types by way of double or
 * int64_t, the 16-bit floats by arithmetic on powers of two. Shares nothing
 * with the library. Little-endian, as all that is tested on.
 */
#ifndef PLD_PROP_NUMBER_H
#define PLD_PROP_NUMBER_H

#include <math.h>
#include <string.h>

#include <pld.h>

#include "prop_random.h"

#define PROP_DTYPES (PLD_UINT8 + 1)

static inline int prop_size(pld_dtype dtype)
{
	static const int sizes[] = {
		[PLD_FP64] = 8,	  [PLD_FP32] = 4,   [PLD_FP16] = 2,
		[PLD_BF16] = 2,	  [PLD_INT64] = 8,  [PLD_INT32] = 4,
		[PLD_INT16] = 2,  [PLD_INT8] = 1,   [PLD_UINT64] = 8,
		[PLD_UINT32] = 4, [PLD_UINT16] = 2, [PLD_UINT8] = 1,
	};

	return sizes[dtype];
}

static inline bool prop_is_float(pld_dtype dtype)
{
	return dtype <= PLD_BF16;
}

/* Of the types that atomic Add is for. */
static inline bool prop_can_add(pld_dtype dtype)
{
	return dtype == PLD_FP32 || dtype == PLD_FP16 || dtype == PLD_BF16 ||
	       dtype == PLD_INT32 || dtype == PLD_INT16 || dtype == PLD_INT8;
}

/* Digits of a 16-bit float's significand, and its greatest exponent. */
static inline int prop_digits(pld_dtype dtype)
{
	return dtype == PLD_FP16 ? 11 : 8;
}

static inline int prop_greatest(pld_dtype dtype)
{
	return dtype == PLD_FP16 ? 15 : 127;
}

static inline double prop_from_16(pld_dtype dtype, uint16_t bits)
{
	int stored = prop_digits(dtype) - 1, greatest = prop_greatest(dtype);
	int exponent = (bits & 0x7fff) >> stored;
	int fraction = bits & ((1 << stored) - 1);
	double value;

	if (exponent == 2 * greatest + 1)
		value = fraction ? (double)NAN : (double)INFINITY;
	else if (exponent)
		value = ldexp((1 << stored) + fraction,
			      exponent - greatest - stored);
	else
		value = ldexp(fraction, 1 - greatest - stored);
	return bits & 0x8000 ? -value : value;
}

/* To nearest, ties to even. */
static inline uint16_t prop_to_16(pld_dtype dtype, double value)
{
	int stored = prop_digits(dtype) - 1, greatest = prop_greatest(dtype);
	uint16_t sign = signbit(value) ? 0x8000 : 0;
	double units, magnitude = fabs(value);
	int exponent;

	if (isnan(value))
		return (uint16_t)((2 * greatest + 1) << stored |
				  1 << (stored - 1));
	if (magnitude == 0)
		return sign;
	exponent = isinf(magnitude) ? greatest + 1 : ilogb(magnitude);
	if (exponent > greatest)
		return sign | (uint16_t)((2 * greatest + 1) << stored);
	if (exponent < 1 - greatest)
		exponent = 1 - greatest;
	units = rint(ldexp(magnitude, stored - exponent));
	/* A carry goes to the exponent; a subnormal has none of its own. */
	return sign |
	       (uint16_t)(((exponent + greatest - 1) << stored) + (int)units);
}

static inline double prop_float(pld_dtype dtype, const void *element)
{
	uint16_t bits;
	double wide;
	float single;

	switch (dtype) {
	case PLD_FP64:
		memcpy(&wide, element, sizeof(wide));
		return wide;
	case PLD_FP32:
		memcpy(&single, element, sizeof(single));
		return (double)single;
	default:
		memcpy(&bits, element, sizeof(bits));
		return prop_from_16(dtype, bits);
	}
}

/* value is rounded once, a NaN becomes the quiet one without a payload. */
static inline void prop_set_float(pld_dtype dtype, void *element, double value)
{
	float single = (float)value;
	uint16_t bits;

	if (isnan(value)) {
		value = fabs((double)NAN);
		single = fabsf(NAN);
	}
	switch (dtype) {
	case PLD_FP64:
		memcpy(element, &value, sizeof(value));
		break;
	case PLD_FP32:
		memcpy(element, &single, sizeof(single));
		break;
	default:
		bits = prop_to_16(dtype, value);
		memcpy(element, &bits, sizeof(bits));
	}
}

/* An integer's bits, sign-extended where the type has a sign. */
static inline uint64_t prop_integer(pld_dtype dtype, const void *element)
{
	bool is_signed = dtype >= PLD_INT64 && dtype <= PLD_INT8;
	int bits = 8 * prop_size(dtype);
	uint64_t value = 0;

	memcpy(&value, element, (size_t)prop_size(dtype));
	if (is_signed && bits < 64 && value >> (bits - 1))
		value |= ~UINT64_C(0) << bits;
	return value;
}

static inline void prop_set_integer(pld_dtype dtype, void *element,
				    uint64_t value)
{
	memcpy(element, &value, (size_t)prop_size(dtype));
}

/* A whole number of any type that has it. */
static inline void prop_set_whole(pld_dtype dtype, void *element, int value)
{
	if (prop_is_float(dtype))
		prop_set_float(dtype, element, value);
	else
		prop_set_integer(dtype, element, (uint64_t)(int64_t)value);
}

/* to += from, rounded once. */
static inline void prop_add(pld_dtype dtype, void *to, const void *from)
{
	if (prop_is_float(dtype))
		prop_set_float(dtype, to,
			       prop_float(dtype, to) + prop_float(dtype, from));
	else
		prop_set_integer(dtype, to,
				 prop_integer(dtype, to) +
					 prop_integer(dtype, from));
}

/* What data is like. */
enum prop_values {
	PROP_ANY, /* any bytes */
	PROP_SMALL, /* whole numbers from -4 to 4, the same in all types */
	PROP_FINITE, /* floats whose sums depend on their order */
};

static inline void prop_draw_value(struct prop_random *r,
				   enum prop_values values, pld_dtype dtype,
				   void *element)
{
	uint64_t bits = prop_next(r);

	if (values == PROP_SMALL)
		prop_set_whole(dtype, element, (int)(bits % 9) - 4);
	else if (values == PROP_FINITE && prop_is_float(dtype))
		prop_set_float(dtype, element,
			       ldexp((double)(int32_t)bits,
				     (int)(bits >> 32) % 8 - 31));
	else
		prop_set_integer(dtype, element, bits);
}

/* n elements, a function of the seed. */
static inline void prop_draw_values(uint64_t seed, enum prop_values values,
				    pld_dtype dtype, void *to, int n)
{
	struct prop_random r = { seed };

	for (int i = 0; i < n; i++)
		prop_draw_value(&r, values, dtype,
				(char *)to + i * prop_size(dtype));
}

#endif /* PLD_PROP_NUMBER_H */
