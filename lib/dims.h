/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * Shapes and offsets: counting, comparing, printing, copying.
 */
#ifndef PLD_DIMS_H
#define PLD_DIMS_H

#include <stdbool.h>

#include "dtype.h"
#include "pld.h"

/* Room for five 64-bit numbers, commas and brackets. */
#define PLD_DIMS_TEXT_BYTES 120

/* The text "[a, b]" of dims, in text, which is returned. */
const char *pld_dims_text(pld_dims dims, char text[PLD_DIMS_TEXT_BYTES]);

static inline bool pld_dims_equal(const pld_dims *a, const pld_dims *b)
{
	if (a->ndim != b->ndim || a->ndim < 1 || a->ndim > PLD_MAX_DIMS)
		return false;
	for (int i = 0; i < a->ndim; i++)
		if (a->n[i] != b->n[i])
			return false;
	return true;
}

/* Offsets [0, ...] of so many dimensions. */
extern const pld_dims pld_origins[PLD_MAX_DIMS + 1];

/* The error and sentence of what pld_dims_bytes() does not count. */
int pld_dims_uncounted(const char *op, const pld_dims *shape, pld_dtype dtype);

/*
 * Bytes of a dense array: 0 and *bytes, or -EINVAL for a dimension below 1 or
 * a number of dimensions out of 1 to PLD_MAX_DIMS, -EOVERFLOW for too many.
 */
static inline int pld_dims_bytes(const char *op, const pld_dims *shape,
				 pld_dtype dtype, size_t *bytes)
{
	int64_t product = pld_dtype_bytes(dtype);
	bool counted = product && shape->ndim >= 1 &&
		       shape->ndim <= PLD_MAX_DIMS;

	for (int i = 0; counted && i < shape->ndim; i++)
		counted =
			shape->n[i] >= 1 &&
			!__builtin_mul_overflow(product, shape->n[i], &product);
	*bytes = (size_t)product;
	return __builtin_expect(counted, 1)
		       ? 0
		       : pld_dims_uncounted(op, shape, dtype);
}

/* Strides of a dense array, times scale. */
static inline void pld_dims_strides(const pld_dims *shape, int64_t scale,
				    int64_t stride[PLD_MAX_DIMS])
{
	for (int i = shape->ndim - 1; i >= 0; i--) {
		stride[i] = scale;
		scale *= shape->n[i];
	}
}

/* Elements of a shape that pld_dims_bytes() has counted. */
static inline int64_t pld_dims_count(const pld_dims *shape)
{
	int64_t count = 1;

	for (int i = 0; i < shape->ndim; i++)
		count *= shape->n[i];
	return count;
}

/* Do the view's elements lie one after another? */
bool pld_dims_dense(const pld_view *view);

/* The error and sentence of what pld_dims_within() does not hold for. */
int pld_dims_outside(const char *op, const char *argument, const pld_view *view,
		     const pld_dims *offsets, const pld_dims *shape);

/* In one dimension. One comparison for both ends: below 0 is large there. */
static inline bool pld_dim_within(const pld_view *view, const pld_dims *offsets,
				  const pld_dims *shape, int i)
{
	return shape->n[i] >= 1 && shape->n[i] <= view->shape.n[i] &&
	       (uint64_t)offsets->n[i] <=
		       (uint64_t)(view->shape.n[i] - shape->n[i]);
}

/*
 * 0, or -EINVAL / -ERANGE when offsets + shape do not lie in the view, which has
 * been checked.
 */
static inline int pld_dims_within(const char *op, const char *argument,
				  const pld_view *view, const pld_dims *offsets,
				  const pld_dims *shape)
{
	int ndim = view->shape.ndim;
	bool in = offsets->ndim == ndim && shape->ndim == ndim;

	for (int i = 0; in && i < ndim; i++)
		in = pld_dim_within(view, offsets, shape, i);
	return __builtin_expect(in, 1)
		       ? 0
		       : pld_dims_outside(op, argument, view, offsets, shape);
}

/* The same of one element. */
int pld_dims_not_inside(const char *op, const char *argument,
			const pld_view *view, const pld_dims *offsets);

static inline int pld_dims_inside(const char *op, const char *argument,
				  const pld_view *view, const pld_dims *offsets)
{
	bool in = offsets->ndim == view->shape.ndim;

	for (int i = 0; in && i < view->shape.ndim; i++)
		in = (uint64_t)offsets->n[i] < (uint64_t)view->shape.n[i];
	return __builtin_expect(in, 1)
		       ? 0
		       : pld_dims_not_inside(op, argument, view, offsets);
}

/* Elements from the view's first one to the one at offsets. */
static inline int64_t pld_dims_index(const pld_view *view,
				     const pld_dims *offsets)
{
	int64_t index = 0;

	for (int i = 0; i < offsets->ndim; i++)
		index += offsets->n[i] * view->stride[i];
	return index;
}

#endif
