/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * Reducing dense arrays, element by element.
 *
 * fp16 and bf16 are reduced as floats and rounded once, at the end; every other
 * dtype is reduced as itself. Integers wrap. A NaN comes out as the one quiet
 * NaN, and -0 is less than +0: what a result looks like depends on the values
 * and their order alone, not on how a compiler arranged the loop.
 */
#ifndef PLD_REDUCE_H
#define PLD_REDUCE_H

#include "pld.h"

/* Bytes of an element while it is reduced. */
size_t pld_reduce_size(pld_dtype dtype);

/* acc = in, n elements, for the first rank's. */
void pld_reduce_first(pld_dtype dtype, void *acc, const void *in, int64_t n);

/* acc = acc op in; the two do not overlap. */
void pld_reduce_next(pld_dtype dtype, pld_reduce_op op, void *acc,
		     const void *in, int64_t n);

/* out = acc, rounded to dtype. */
void pld_reduce_result(pld_dtype dtype, void *out, const void *acc, int64_t n);

#endif
