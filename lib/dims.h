/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * Shapes and offsets: counting, comparing, printing, copying.
 */
#ifndef PLD_DIMS_H
#define PLD_DIMS_H

#include <stdbool.h>

#include "pld.h"

/* Room for five 64-bit numbers, commas and brackets. */
#define PLD_DIMS_TEXT_BYTES 120

/* The text "[a, b]" of dims, in text, which is returned. */
const char *pld_dims_text(pld_dims dims, char text[PLD_DIMS_TEXT_BYTES]);

bool pld_dims_equal(pld_dims a, pld_dims b);

/*
 * Bytes of a dense array: 0 and *bytes, or -EINVAL for a dimension below 1 or
 * a number of dimensions out of 1 to PLD_MAX_DIMS, -EOVERFLOW for too many.
 */
int pld_dims_bytes(const char *op, pld_dims shape, pld_dtype dtype,
		   size_t *bytes);

/* Strides of a dense array, times scale. */
void pld_dims_strides(pld_dims shape, int64_t scale,
		      int64_t stride[PLD_MAX_DIMS]);

/* Elements of a shape that pld_dims_bytes() has counted. */
int64_t pld_dims_count(pld_dims shape);

/* Do the view's elements lie one after another? */
bool pld_dims_dense(const pld_view *view);

/* 0, or -EINVAL / -ERANGE when offsets + shape do not lie in the view. */
int pld_dims_within(const char *op, const char *argument, const pld_view *view,
		    pld_dims offsets, pld_dims shape);

/* Elements from the view's first one to the one at offsets. */
int64_t pld_dims_index(const pld_view *view, pld_dims offsets);

#endif
