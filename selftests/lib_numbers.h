/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Elements of every dtype as numbers, one at a time, and floats by double, which
 * has all of them exactly: what arithmetic must come to. Nothing here is shared
 * with the library.
 */
#ifndef PLD_LIB_NUMBERS_H
#define PLD_LIB_NUMBERS_H

#include <math.h>
#include <string.h>

#include <pld.h>

#define LAST_DTYPE PLD_UINT8

/* f of a float dtype; i of an integer one, extended to 64 bits. */
struct number {
	double f;
	uint64_t i;
};

static inline int is_float(pld_dtype dtype)
{
	return dtype <= PLD_BF16;
}

static inline int is_signed(pld_dtype dtype)
{
	return dtype <= PLD_INT8;
}

/* The short float formats. */
struct format {
	int bits; /* of the fraction */
	int bias;
};

static inline struct format format_of(pld_dtype dtype)
{
	return dtype == PLD_FP16 ? (struct format){ 10, 15 }
				 : (struct format){ 7, 127 };
}

static inline double decode(struct format format, unsigned int bits)
{
	int exponent = (int)(bits & 0x7fff) >> format.bits;
	unsigned int fraction = bits & ((1u << format.bits) - 1);
	double value;

	if (exponent == 2 * format.bias + 1)
		value = fraction ? NAN : INFINITY;
	else if (exponent)
		value = ldexp(fraction + (1u << format.bits),
			      exponent - format.bias - format.bits);
	else
		value = ldexp(fraction, 1 - format.bias - format.bits);
	return bits & 0x8000 ? -value : value;
}

/* The format's number nearest to value, of two the even one. */
static inline unsigned int encode(struct format format, double value)
{
	unsigned int infinity = (2u * (unsigned int)format.bias + 1)
				<< format.bits;
	unsigned int sign = signbit(value) ? 0x8000 : 0;
	double unit, units, rest;
	unsigned int count;
	int exponent;

	if (isnan(value))
		return infinity | 1u << (format.bits - 1);
	value = fabs(value);
	if (isinf(value))
		return sign | infinity;
	frexp(value, &exponent);
	exponent--;
	if (value == 0 || exponent < 1 - format.bias)
		exponent = 1 - format.bias;
	if (exponent > format.bias)
		return sign | infinity;
	unit = ldexp(1, exponent - format.bits);
	units = value / unit;
	count = (unsigned int)units;
	rest = units - count;
	count += rest > 0.5 || (rest == 0.5 && count % 2);
	/* A normal's count has the hidden bit, which adds one to the exponent. */
	count += (unsigned int)(exponent - 1 + format.bias) << format.bits;
	return sign | count;
}

static inline struct number number_at(pld_dtype dtype, const void *array,
				      int64_t i)
{
	switch (dtype) {
	case PLD_FP64:
		return (struct number){ .f = ((const double *)array)[i] };
	case PLD_FP32:
		return (struct number){ .f = ((const float *)array)[i] };
	case PLD_FP16:
	case PLD_BF16:
		return (struct number){
			.f = decode(format_of(dtype),
				    ((const uint16_t *)array)[i])
		};
	case PLD_INT64:
		return (struct number){ .i = (uint64_t)((
						const int64_t *)array)[i] };
	case PLD_INT32:
		return (struct number){ .i = (uint64_t)((
						const int32_t *)array)[i] };
	case PLD_INT16:
		return (struct number){ .i = (uint64_t)((
						const int16_t *)array)[i] };
	case PLD_INT8:
		return (struct number){ .i = (uint64_t)((
						const int8_t *)array)[i] };
	case PLD_UINT64:
		return (struct number){ .i = ((const uint64_t *)array)[i] };
	case PLD_UINT32:
		return (struct number){ .i = ((const uint32_t *)array)[i] };
	case PLD_UINT16:
		return (struct number){ .i = ((const uint16_t *)array)[i] };
	default:
		return (struct number){ .i = ((const uint8_t *)array)[i] };
	}
}

/* Rounded to dtype; every NaN as the quiet one without a payload. */
static inline void put_number(pld_dtype dtype, void *array, int64_t i,
			      struct number number)
{
	static const uint32_t nan32 = 0x7fc00000;
	static const uint64_t nan64 = UINT64_C(0x7ff8000000000000);
	double d = number.f;
	float f = (float)number.f;
	uint16_t half;

	switch (dtype) {
	case PLD_FP64:
		memcpy((double *)array + i,
		       isnan(d) ? (const void *)&nan64 : &d, sizeof(d));
		break;
	case PLD_FP32:
		memcpy((float *)array + i, isnan(f) ? (const void *)&nan32 : &f,
		       sizeof(f));
		break;
	case PLD_FP16:
	case PLD_BF16:
		half = (uint16_t)encode(format_of(dtype), number.f);
		memcpy((uint16_t *)array + i, &half, sizeof(half));
		break;
	default:
		for (int byte = 0; byte < pld_dtype_size(dtype); byte++)
			((unsigned char *)array)[i * pld_dtype_size(dtype) + byte] =
				(unsigned char)(number.i >> 8 * byte);
	}
}

static inline int less(pld_dtype dtype, uint64_t a, uint64_t b)
{
	return is_signed(dtype) ? (int64_t)a < (int64_t)b : a < b;
}

static inline uint64_t combine_integers(pld_dtype dtype, pld_reduce_op op,
					uint64_t a, uint64_t b)
{
	switch (op) {
	case PLD_SUM:
		return a + b;
	case PLD_PROD:
		return a * b;
	case PLD_MAX:
		return less(dtype, a, b) ? b : a;
	default:
		return less(dtype, a, b) ? a : b;
	}
}

static inline double greater(double a, double b)
{
	if (isnan(a) || isnan(b))
		return NAN;
	if (a == b)
		return signbit(a) ? b : a;
	return a > b ? a : b;
}

/* Of floats, in fp64 for that and in fp32 for all others: not yet in dtype. */
static inline double combine_floats(pld_dtype dtype, pld_reduce_op op, double a,
				    double b)
{
	volatile float f = (float)a, g = (float)b;

	if (op == PLD_MAX)
		return greater(a, b);
	if (op == PLD_MIN)
		return -greater(-a, -b);
	if (dtype == PLD_FP64)
		return op == PLD_SUM ? a + b : a * b;
	f = op == PLD_SUM ? f + g : f * g;
	return f;
}

static inline struct number combine(pld_dtype dtype, pld_reduce_op op,
				    struct number a, struct number b)
{
	if (is_float(dtype))
		a.f = combine_floats(dtype, op, a.f, b.f);
	else
		a.i = combine_integers(dtype, op, a.i, b.i);
	/* Bytes beyond the dtype's must not count in a comparison. */
	if (!is_float(dtype)) {
		unsigned char bytes[8];

		put_number(dtype, bytes, 0, a);
		a = number_at(dtype, bytes, 0);
	}
	return a;
}

static inline uint64_t mixed(uint64_t x)
{
	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

/* Infinities, zeros, subnormals, the greatest number, a NaN with a payload. */
static inline uint16_t special_half(struct format format, unsigned int which)
{
	unsigned int infinity = (2u * (unsigned int)format.bias + 1)
				<< format.bits;
	const unsigned int all[] = {
		0,
		1,
		(1u << format.bits) - 1,
		infinity - 1,
		infinity,
		infinity | 1u << (format.bits - 1) | 5,
	};

	return (uint16_t)(all[which % 6] | (which & 8 ? 0x8000 : 0));
}

/* A float of any sign, within 2^-6 and 2^6, with a full fraction. */
static inline uint16_t random_half(struct format format, uint64_t random)
{
	unsigned int exponent = (unsigned int)format.bias - 6 +
				(unsigned int)(random >> 20) % 12;

	if (!(random >> 40 & 0x3ff))
		return special_half(format, (unsigned int)(random >> 52));
	return (uint16_t)((random & 0x8000) | exponent << format.bits |
			  (random & ((1u << format.bits) - 1)));
}

/* Element i of what seed stands for, as bits that have no other source. */
static inline void random_element(pld_dtype dtype, void *array, int64_t i,
				  uint64_t seed)
{
	uint64_t random =
		mixed(seed * UINT64_C(0x9e3779b97f4a7c15) + (uint64_t)i + 1);
	struct format format = format_of(dtype);
	uint16_t half;

	switch (dtype) {
	case PLD_FP64:
	case PLD_FP32:
		format = format_of(PLD_BF16);
		half = random_half(format, random);
		/* Their fraction is longer; a special one has none. */
		put_number(dtype, array, i,
			   (struct number){
				   .f = decode(format, half) *
					(random >> 40 & 0x3ff
						 ? 1 + ldexp(random >> 16 &
								     0xffffff,
							     -25)
						 : 1) });
		break;
	case PLD_FP16:
	case PLD_BF16:
		half = random_half(format, random);
		memcpy((uint16_t *)array + i, &half, sizeof(half));
		break;
	default:
		put_number(dtype, array, i, (struct number){ .i = random });
	}
}

static inline void random_elements(pld_dtype dtype, void *array, int64_t n,
				   uint64_t seed)
{
	for (int64_t i = 0; i < n; i++)
		random_element(dtype, array, i, seed);
}

#endif /* PLD_LIB_NUMBERS_H */
