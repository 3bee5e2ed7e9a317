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

bool pld_dims_equal(pld_dims a, pld_dims b)
{
	return a.ndim == b.ndim && a.ndim >= 1 && a.ndim <= PLD_MAX_DIMS &&
	       !memcmp(a.n, b.n, (size_t)a.ndim * sizeof(a.n[0]));
}

int pld_dims_bytes(const char *op, pld_dims shape, pld_dtype dtype,
		   size_t *bytes)
{
	char text[PLD_DIMS_TEXT_BYTES];
	int64_t product = pld_dtype_size(dtype);

	if (product < 0)
		return (int)product;
	if (shape.ndim < 1 || shape.ndim > PLD_MAX_DIMS)
		return pld_error(EINVAL,
				 "%s: shape has %d dimensions, wanted 1 to %d",
				 op, shape.ndim, PLD_MAX_DIMS);
	for (int i = 0; i < shape.ndim; i++) {
		if (shape.n[i] < 1)
			return pld_error(EINVAL,
					 "%s: shape is %s, wanted every dimension positive",
					 op, pld_dims_text(shape, text));
		if (__builtin_mul_overflow(product, shape.n[i], &product))
			return pld_error(EOVERFLOW,
					 "%s: shape %s of %s has more bytes than can be counted",
					 op, pld_dims_text(shape, text),
					 pld_dtype_text(dtype));
	}
	*bytes = (size_t)product;
	return 0;
}

void pld_dims_strides(pld_dims shape, int64_t scale,
		      int64_t stride[PLD_MAX_DIMS])
{
	for (int i = shape.ndim - 1; i >= 0; i--) {
		stride[i] = scale;
		scale *= shape.n[i];
	}
}

int64_t pld_dims_count(pld_dims shape)
{
	int64_t count = 1;

	for (int i = 0; i < shape.ndim; i++)
		count *= shape.n[i];
	return count;
}

/* The stride of a dimension of one element leads nowhere. */
bool pld_dims_dense(const pld_view *view)
{
	int64_t stride[PLD_MAX_DIMS];

	pld_dims_strides(view->shape, 1, stride);
	for (int i = 0; i < view->shape.ndim; i++)
		if (view->shape.n[i] != 1 && view->stride[i] != stride[i])
			return false;
	return true;
}

int pld_dims_within(const char *op, const char *argument, const pld_view *view,
		    pld_dims offsets, pld_dims shape)
{
	char at[PLD_DIMS_TEXT_BYTES], of[PLD_DIMS_TEXT_BYTES];
	char in[PLD_DIMS_TEXT_BYTES];

	if (offsets.ndim != view->shape.ndim || shape.ndim != view->shape.ndim)
		return pld_error(EINVAL,
				 "%s: offsets %s and shape %s must have the %d dimensions of %s %s",
				 op, pld_dims_text(offsets, at),
				 pld_dims_text(shape, of), view->shape.ndim,
				 argument, pld_dims_text(view->shape, in));
	for (int i = 0; i < shape.ndim; i++) {
		if (shape.n[i] < 1)
			return pld_error(EINVAL,
					 "%s: shape is %s, wanted every dimension positive",
					 op, pld_dims_text(shape, of));
		if (offsets.n[i] < 0 || shape.n[i] > view->shape.n[i] ||
		    offsets.n[i] > view->shape.n[i] - shape.n[i])
			return pld_error(ERANGE,
					 "%s: offsets %s with shape %s lie outside %s %s",
					 op, pld_dims_text(offsets, at),
					 pld_dims_text(shape, of), argument,
					 pld_dims_text(view->shape, in));
	}
	return 0;
}

int64_t pld_dims_index(const pld_view *view, pld_dims offsets)
{
	int64_t index = 0;

	for (int i = 0; i < offsets.ndim; i++)
		index += offsets.n[i] * view->stride[i];
	return index;
}
