// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * pl.cast: a block at a time, by way of double, which has every float exactly,
 * or of 64-bit integers.
 */
#include <errno.h>
#include <stdbool.h>

#include "dims.h"
#include "error.h"
#include "observe.h"
#include "half.h"
#include "operand.h"

/* Elements at a time. */
#define BLOCK 256

/* Elements on their way: floats, or 64-bit integers, signed or not. */
struct block {
	bool is_float;
	bool is_signed;
	int64_t n;
	union {
		double floats[BLOCK];
		uint64_t integers[BLOCK];
	};
};

/*
 * The float next to a double, towards whichever of both neighbours is odd:
 * rounded again to a shorter type, that comes out as the double would have.
 */
static float to_odd(double value)
{
	float near = (float)value;
	uint32_t bits = pld_float_bits(near);

	if (near == value || near != near || bits & 1)
		return near;
	/* Away from zero is the next greater number of bits. */
	bits += (near < value) == (value > 0) ? 1 : -1u;
	return pld_float_of_bits(bits);
}

/* The same for integers that double does not have exactly. */
static double integer_to_odd(uint64_t magnitude)
{
	const uint64_t below = 0x7ff;

	if (magnitude >> 53)
		magnitude = (magnitude & ~below) |
			    (magnitude & below ? below + 1 : 0);
	return (double)magnitude;
}

static double signed_to_odd(int64_t value)
{
	return value < 0 ? -integer_to_odd(-(uint64_t)value)
			 : integer_to_odd((uint64_t)value);
}

#define READ(member, type, convert)                          \
	do {                                                 \
		const type *from = in;                       \
                                                             \
		for (int64_t i = 0; i < block->n; i++)       \
			block->member[i] = convert(from[i]); \
	} while (0)
#define WRITE(member, type, convert)                             \
	do {                                                     \
		type *to = out;                                  \
                                                                 \
		for (int64_t i = 0; i < block->n; i++)           \
			to[i] = (type)convert(block->member[i]); \
	} while (0)
#define SAME(value) (value)
#define FROM_SIGNED(value) ((uint64_t)(int64_t)(value))
#define TO_SIGNED(value) ((int64_t)(value))

static void read_block(pld_dtype dtype, const void *in, struct block *block)
{
	block->is_float = dtype <= PLD_BF16;
	block->is_signed = dtype <= PLD_INT8;
	switch (dtype) {
	case PLD_FP64:
		READ(floats, double, SAME);
		break;
	case PLD_FP32:
		READ(floats, float, SAME);
		break;
	case PLD_FP16:
		READ(floats, uint16_t, pld_half_to_float);
		break;
	case PLD_BF16:
		READ(floats, uint16_t, pld_bfloat_to_float);
		break;
	case PLD_INT64:
		READ(integers, int64_t, FROM_SIGNED);
		break;
	case PLD_INT32:
		READ(integers, int32_t, FROM_SIGNED);
		break;
	case PLD_INT16:
		READ(integers, int16_t, FROM_SIGNED);
		break;
	case PLD_INT8:
		READ(integers, int8_t, FROM_SIGNED);
		break;
	case PLD_UINT64:
		READ(integers, uint64_t, SAME);
		break;
	case PLD_UINT32:
		READ(integers, uint32_t, SAME);
		break;
	case PLD_UINT16:
		READ(integers, uint16_t, SAME);
		break;
	case PLD_UINT8:
		READ(integers, uint8_t, SAME);
		break;
	}
}

static uint16_t double_to_half(double value)
{
	return pld_float_to_half(to_odd(value));
}

static uint16_t double_to_bfloat(double value)
{
	return pld_float_to_bfloat(to_odd(value));
}

static int64_t saturate(double value, int64_t least, int64_t most)
{
	if (value != value)
		return 0;
	if (value <= (double)least)
		return least;
	/* 2^63 for INT64_MAX, which is no double: at that, it is too much. */
	if (value >= (double)most)
		return most;
	return (int64_t)value;
}

static uint64_t saturate_uint64(double value)
{
	if (!(value > 0))
		return 0;
	return value >= 0x1p64 ? UINT64_MAX : (uint64_t)value;
}

#define TO_INT64(value) saturate(value, INT64_MIN, INT64_MAX)
#define TO_INT32(value) saturate(value, INT32_MIN, INT32_MAX)
#define TO_INT16(value) saturate(value, INT16_MIN, INT16_MAX)
#define TO_INT8(value) saturate(value, INT8_MIN, INT8_MAX)
#define TO_UINT32(value) saturate(value, 0, UINT32_MAX)
#define TO_UINT16(value) saturate(value, 0, UINT16_MAX)
#define TO_UINT8(value) saturate(value, 0, UINT8_MAX)

/* A block of floats to integers. */
static void floats_to_integers(pld_dtype dtype, void *out,
			       const struct block *block)
{
	switch (dtype) {
	case PLD_INT64:
		WRITE(floats, int64_t, TO_INT64);
		break;
	case PLD_INT32:
		WRITE(floats, int32_t, TO_INT32);
		break;
	case PLD_INT16:
		WRITE(floats, int16_t, TO_INT16);
		break;
	case PLD_INT8:
		WRITE(floats, int8_t, TO_INT8);
		break;
	case PLD_UINT64:
		WRITE(floats, uint64_t, saturate_uint64);
		break;
	case PLD_UINT32:
		WRITE(floats, uint32_t, TO_UINT32);
		break;
	case PLD_UINT16:
		WRITE(floats, uint16_t, TO_UINT16);
		break;
	default:
		WRITE(floats, uint8_t, TO_UINT8);
		break;
	}
}

/* The lower bits. */
static void integers_to_integers(pld_dtype dtype, void *out,
				 const struct block *block)
{
	switch (pld_dtype_size(dtype)) {
	case 8:
		WRITE(integers, uint64_t, SAME);
		break;
	case 4:
		WRITE(integers, uint32_t, SAME);
		break;
	case 2:
		WRITE(integers, uint16_t, SAME);
		break;
	default:
		WRITE(integers, uint8_t, SAME);
		break;
	}
}

static void integers_to_doubles(void *out, const struct block *block)
{
	if (block->is_signed)
		WRITE(integers, double, TO_SIGNED);
	else
		WRITE(integers, double, SAME);
}

/* Floats that round to any type shorter than double as the integers would. */
static void make_floats(struct block *block)
{
	for (int64_t i = 0; i < block->n; i++) {
		uint64_t value = block->integers[i];

		block->floats[i] = block->is_signed
					   ? signed_to_odd((int64_t)value)
					   : integer_to_odd(value);
	}
}

static void write_floats(pld_dtype dtype, void *out, const struct block *block)
{
	switch (dtype) {
	case PLD_FP64:
		WRITE(floats, double, SAME);
		break;
	case PLD_FP32:
		WRITE(floats, float, SAME);
		break;
	case PLD_FP16:
		WRITE(floats, uint16_t, double_to_half);
		break;
	default:
		WRITE(floats, uint16_t, double_to_bfloat);
		break;
	}
}

static void write_block(pld_dtype dtype, void *out, struct block *block)
{
	bool to_float = dtype <= PLD_BF16;

	if (!to_float && block->is_float) {
		floats_to_integers(dtype, out, block);
	} else if (!to_float) {
		integers_to_integers(dtype, out, block);
	} else if (!block->is_float && dtype == PLD_FP64) {
		integers_to_doubles(out, block);
	} else {
		if (!block->is_float)
			make_floats(block);
		write_floats(dtype, out, block);
	}
}

int pld_cast(const pld_tile *in, pld_dtype dtype, pld_tile *out)
{
	static const char op[] = "pl.cast";
	int64_t n, blocks;
	pld_tile from;
	int size;

	PLD_TRY(pld_operand_check(op, "in", in));
	from = *in;
	PLD_TRY(pld_operand_result(op, out, &from, dtype));
	size = pld_dtype_size(dtype);
	n = pld_dims_count(&from.shape);
	blocks = (n + BLOCK - 1) / BLOCK;
	for (int64_t i = 0; i < blocks; i++) {
		int from_size = pld_dtype_size(from.dtype);
		/* In place, wider elements reach into what follows. */
		int64_t at = BLOCK * (size > from_size ? blocks - 1 - i : i);
		struct block block;

		block.n = n - at < BLOCK ? n - at : BLOCK;
		read_block(from.dtype, (char *)from.data + at * from_size,
			   &block);
		write_block(dtype, (char *)out->data + at * size, &block);
	}
	if (pld_observed())
		pld_observe_arithmetic(PLD_TRACE_CAST, &from, NULL, out);
	return 0;
}
