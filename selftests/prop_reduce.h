/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reductions of the property test's model: one element of all ranks, in the
 * order that the contract has.
 */
#ifndef PLD_PROP_REDUCE_H
#define PLD_PROP_REDUCE_H

#include "prop_layout.h"

/* As IEEE 754-2019: a NaN propagates, -0 is less than +0. */
static inline double prop_extreme(double a, double b, bool greatest)
{
	if (isnan(a) || isnan(b))
		return (double)NAN;
	if (a == b)
		return (bool)signbit(a) == greatest ? b : a;
	return (a > b) == greatest ? a : b;
}

static inline double prop_combine_floats(pld_reduce_op op, double a, double b)
{
	switch (op) {
	case PLD_SUM:
		return a + b;
	case PLD_PROD:
		return a * b;
	default:
		return prop_extreme(a, b, op == PLD_MAX);
	}
}

static inline uint64_t prop_combine_integers(pld_dtype dtype, pld_reduce_op op,
					     uint64_t a, uint64_t b)
{
	bool less = dtype >= PLD_UINT64 ? a < b : (int64_t)a < (int64_t)b;

	switch (op) {
	case PLD_SUM:
		return a + b;
	case PLD_PROD:
		return a * b;
	case PLD_MAX:
		return less ? b : a;
	default:
		return less ? a : b;
	}
}

static inline void prop_reduce_floats(const struct prop_program *p,
				      const struct prop_step *step, int at,
				      int first, void *result)
{
	pld_dtype dtype = step->dst.dtype;
	double value = prop_float(dtype, p->image[first] + at);

	for (int i = 1; i < p->nranks; i++) {
		int rank = (first + i) % p->nranks;

		value = prop_combine_floats(step->reduce, value,
					    prop_float(dtype,
						       p->image[rank] + at));
		/* All but fp64 are computed as float, step by step. */
		if (dtype != PLD_FP64)
			value = (double)(float)value;
	}
	prop_set_float(dtype, result, value);
}

/* The reduction of all ranks' elements at a byte of their images. */
static inline void prop_reduce(const struct prop_program *p,
			       const struct prop_step *step, int at, int first,
			       void *result)
{
	pld_dtype dtype = step->dst.dtype;
	uint64_t value;

	memcpy(result, p->image[0] + at, (size_t)prop_size(dtype));
	if (p->nranks == 1)
		return;
	if (prop_is_float(dtype)) {
		prop_reduce_floats(p, step, at, first, result);
		return;
	}
	value = prop_integer(dtype, p->image[0] + at);
	for (int rank = 1; rank < p->nranks; rank++)
		value = prop_combine_integers(dtype, step->reduce, value,
					      prop_integer(dtype,
							   p->image[rank] + at));
	prop_set_integer(dtype, result, value);
}

/*
 * The rank that a ring begins with for element number index of count: chunk c
 * of each block begins with rank c.
 */
static inline int prop_ring_first(pld_dtype dtype, int nranks, int tile_bytes,
				  int count, int index)
{
	int size = prop_size(dtype) < 4 && prop_is_float(dtype)
			   ? 4
			   : prop_size(dtype);
	int block = nranks * (tile_bytes / size);
	int begin = index / block * block;
	int length = count - begin < block ? count - begin : block;
	int chunk = 0, end = 0;

	for (;; chunk++) {
		end += length / nranks + (chunk < length % nranks);
		if (index - begin < end)
			return chunk;
	}
}

#endif /* PLD_PROP_REDUCE_H */
