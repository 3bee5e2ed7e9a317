// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * Shapes and offsets. All arithmetic on a caller's numbers is checked.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "dims.h"
#include "dtype.h"
#include "error.h"

const pld_dims pld_origins[PLD_MAX_DIMS + 1] = {
	{ .ndim = 0 }, { .ndim = 1 }, { .ndim = 2 },
	{ .ndim = 3 }, { .ndim = 4 }, { .ndim = 5 },
};

const char *pld_dims_text(pld_dims dims, char text[PLD_DIMS_TEXT_BYTES])
{
	int length = snprintf(text, PLD_DIMS_TEXT_BYTES, "[");

	for (int i = 0; i < dims.ndim && i < PLD_MAX_DIMS; i++)
		length += snprintf(text + length,
				   PLD_DIMS_TEXT_BYTES - (size_t)length,
				   "%s%lld", i ? ", " : "",
				   (long long)dims.n[i]);
	snprintf(text + length, PLD_DIMS_TEXT_BYTES - (size_t)length, "]");
	return text;
}

int pld_dims_uncounted(const char *op, const pld_dims *shape, pld_dtype dtype)
{
	char text[PLD_DIMS_TEXT_BYTES];
	int size = pld_dtype_size(dtype);

	if (size < 0)
		return size;
	if (shape->ndim < 1 || shape->ndim > PLD_MAX_DIMS)
		return pld_error(EINVAL,
				 "%s: shape has %d dimensions, wanted 1 to %d",
				 op, shape->ndim, PLD_MAX_DIMS);
	pld_dims_text(*shape, text);
	for (int64_t i = 0, product = size; i < shape->ndim; i++) {
		if (shape->n[i] < 1)
			return pld_error(EINVAL,
					 "%s: shape is %s, wanted every dimension positive",
					 op, text);
		if (__builtin_mul_overflow(product, shape->n[i], &product))
			break;
	}
	return pld_error(EOVERFLOW,
			 "%s: shape %s of %s has more bytes than can be counted",
			 op, text, pld_dtype_text(dtype));
}

/* The stride of a dimension of one element leads nowhere. */
bool pld_dims_dense(const pld_view *view)
{
	int64_t stride[PLD_MAX_DIMS];

	pld_dims_strides(&view->shape, 1, stride);
	for (int i = 0; i < view->shape.ndim; i++)
		if (view->shape.n[i] != 1 && view->stride[i] != stride[i])
			return false;
	return true;
}

int pld_dims_outside(const char *op, const char *argument, const pld_view *view,
		     const pld_dims *offsets, const pld_dims *shape)
{
	char at[PLD_DIMS_TEXT_BYTES], of[PLD_DIMS_TEXT_BYTES];
	char in[PLD_DIMS_TEXT_BYTES];

	pld_dims_text(*offsets, at);
	pld_dims_text(*shape, of);
	pld_dims_text(view->shape, in);
	if (offsets->ndim != view->shape.ndim || shape->ndim != view->shape.ndim)
		return pld_error(EINVAL,
				 "%s: offsets %s and shape %s must have the %d dimensions of %s %s",
				 op, at, of, view->shape.ndim, argument, in);
	for (int i = 0; i < shape->ndim; i++) {
		if (shape->n[i] < 1)
			return pld_error(EINVAL,
					 "%s: shape is %s, wanted every dimension positive",
					 op, of);
		if (!pld_dim_within(view, offsets, shape, i))
			break;
	}
	return pld_error(ERANGE,
			 "%s: offsets %s with shape %s lie outside %s %s", op,
			 at, of, argument, in);
}

int pld_dims_not_inside(const char *op, const char *argument,
			const pld_view *view, const pld_dims *offsets)
{
	const pld_dims one = { .ndim = offsets->ndim, .n = { 1, 1, 1, 1, 1 } };

	return pld_dims_outside(op, argument, view, offsets, &one);
}
