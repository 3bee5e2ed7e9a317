// SPDX-License-Identifier: GPL-2.0
/*
 * Elements are compared as bytes, which is exact for every dtype.
 */
#include <string.h>

#include "check.h"
#include "common/pattern.h"

/* Elements that are made and compared at a time. */
#define BLOCK 1024

static uint64_t first_of_slice(const struct source *source, int from, int to)
{
	uint64_t nranks = (uint64_t)source->nranks;
	uint64_t slice =
		((uint64_t)source->call * nranks + (uint64_t)from) * nranks +
		(uint64_t)to;

	return pattern_first(source->dtype, slice,
			     (uint64_t)source->calls * nranks * nranks,
			     (uint64_t)source->size);
}

void fill_slice(const struct source *source, int from, int to, void *data)
{
	pattern_fill(data, source->dtype, first_of_slice(source, from, to),
		     source->size);
}

static int64_t differing(const char *got, const char *want, int64_t count,
			 size_t bytes)
{
	int64_t wrong = 0;

	if (!memcmp(got, want, (size_t)count * bytes))
		return 0;
	for (int64_t i = 0; i < count; i++)
		wrong += memcmp(got + (size_t)i * bytes,
				want + (size_t)i * bytes, bytes) != 0;
	return wrong;
}

/* Writes count elements from first on of what must be there. */
typedef void make(const struct source *source, const void *arg, int64_t first,
		  int64_t count, void *data);

static int64_t wrong_by_blocks(const struct source *source, make *make,
			       const void *arg, const void *data)
{
	size_t bytes = (size_t)pld_dtype_size(source->dtype);
	uint64_t want[BLOCK];
	int64_t wrong = 0;

	for (int64_t at = 0; at < source->size; at += BLOCK) {
		int64_t left = source->size - at;
		int64_t count = left < BLOCK ? left : BLOCK;

		make(source, arg, at, count, want);
		wrong += differing((const char *)data + (size_t)at * bytes,
				   (const char *)want, count, bytes);
	}
	return wrong;
}

static void make_slice(const struct source *source, const void *arg,
		       int64_t first, int64_t count, void *data)
{
	const uint64_t *slice = arg;

	pattern_fill(data, source->dtype, *slice + (uint64_t)first, count);
}

int64_t slice_wrong(const struct source *source, int from, int to,
		    const void *data)
{
	uint64_t first = first_of_slice(source, from, to);

	return wrong_by_blocks(source, make_slice, &first, data);
}

/* Whole numbers from 0 on that the dtype has all of. */
static int64_t whole_numbers(pld_dtype dtype)
{
	switch (dtype) {
	case PLD_INT8:
		return 1 << 7;
	case PLD_UINT8:
	case PLD_BF16:
		return 1 << 8;
	case PLD_FP16:
		return 1 << 11;
	default:
		return 1 << 15;
	}
}

static uint64_t mixed(uint64_t number)
{
	number = (number ^ number >> 31) * UINT64_C(0x9e3779b97f4a7c15);
	return number ^ number >> 29;
}

/*
 * Sums of more ranks than the dtype has numbers are taken modulo 2^8, by int8
 * and uint8 alone: with 256 ranks the others get as far as they need.
 */
static int64_t addend(const struct source *source, int rank, int64_t index)
{
	int64_t most = (whole_numbers(source->dtype) - 1) / source->nranks;
	uint64_t number = mixed((uint64_t)source->call << 48 ^
				(uint64_t)rank << 40 ^ (uint64_t)index);

	return (int64_t)(number % (uint64_t)(most < 1 ? 2 : most + 1));
}

/* The bits of a whole number from 0 to 2048. */
static uint16_t fp16_of(int64_t number)
{
	int exponent = 0;

	if (!number)
		return 0;
	while (number >> (exponent + 1))
		exponent++;
	return (uint16_t)((exponent + 15) << 10 |
			  (((number << 10) >> exponent) & 0x3ff));
}

static uint16_t bf16_of(int64_t number)
{
	float single = (float)number;
	uint32_t bits;

	memcpy(&bits, &single, sizeof(bits));
	return (uint16_t)(bits >> 16);
}

static void store(pld_dtype dtype, int64_t number, void *data, int64_t index)
{
	switch (dtype) {
	case PLD_FP64:
		((double *)data)[index] = (double)number;
		return;
	case PLD_FP32:
		((float *)data)[index] = (float)number;
		return;
	case PLD_FP16:
		((uint16_t *)data)[index] = fp16_of(number);
		return;
	case PLD_BF16:
		((uint16_t *)data)[index] = bf16_of(number);
		return;
	case PLD_INT64:
	case PLD_UINT64:
		((uint64_t *)data)[index] = (uint64_t)number;
		return;
	case PLD_INT32:
	case PLD_UINT32:
		((uint32_t *)data)[index] = (uint32_t)number;
		return;
	case PLD_INT16:
	case PLD_UINT16:
		((uint16_t *)data)[index] = (uint16_t)number;
		return;
	case PLD_INT8:
	case PLD_UINT8:
		((uint8_t *)data)[index] = (uint8_t)number;
		return;
	}
}

void fill_addend(const struct source *source, int rank, int64_t first,
		 void *data)
{
	for (int64_t i = 0; i < source->size; i++)
		store(source->dtype, addend(source, rank, first + i), data, i);
}

static void make_sum(const struct source *source, const void *arg,
		     int64_t first, int64_t count, void *data)
{
	const int64_t *base = arg;

	for (int64_t i = 0; i < count; i++) {
		int64_t sum = 0;

		for (int rank = 0; rank < source->nranks; rank++)
			sum += addend(source, rank, *base + first + i);
		store(source->dtype, sum, data, i);
	}
}

int64_t sum_wrong(const struct source *source, int64_t first, const void *data)
{
	return wrong_by_blocks(source, make_sum, &first, data);
}
