// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * Do two strided regions share a byte? Side by side in one tensor they
 * interleave without it.
 */
#include "region.h"

static uintptr_t region_end(const struct pld_region *r, pld_dims shape,
			    size_t size)
{
	int64_t last = 0;

	for (int i = 0; i < shape.ndim; i++)
		last += (shape.n[i] - 1) * r->stride[i];
	return (uintptr_t)r->data + (uintptr_t)(last + 1) * size;
}

/* Is each step longer than all that the inner dimensions reach? */
static bool nested(const int64_t *stride, pld_dims shape)
{
	int64_t reach = 1;

	for (int i = shape.ndim - 1; i >= 0; i--) {
		if (shape.n[i] == 1)
			continue;
		if (stride[i] < reach)
			return false;
		reach = (shape.n[i] - 1) * stride[i] + reach;
	}
	return true;
}

/* Is there an element at the byte apart from a nested region's first one? */
static bool covers(const struct pld_region *r, pld_dims shape, size_t size,
		   uintptr_t at)
{
	int64_t apart = (int64_t)(at - (uintptr_t)r->data);

	if (apart < 0)
		return false;
	for (int i = 0; i < shape.ndim; i++) {
		int64_t step = r->stride[i] * (int64_t)size;
		int64_t index = shape.n[i] > 1 ? apart / step : 0;

		if (index >= shape.n[i])
			return false;
		apart -= index * step;
	}
	return apart < (int64_t)size;
}

/* Looks at both ends of each element of a, which are in the order of dims. */
static bool any_covered(const struct pld_region *a, const struct pld_region *b,
			pld_dims shape, size_t size, int dim, uintptr_t at)
{
	if (dim == shape.ndim)
		return covers(b, shape, size, at) ||
		       covers(b, shape, size, at + size - 1);
	for (int64_t i = 0; i < shape.n[dim]; i++)
		if (any_covered(a, b, shape, size, dim + 1,
				at + (uintptr_t)(i * a->stride[dim]) * size))
			return true;
	return false;
}

bool pld_region_overlap(const struct pld_region *a, const struct pld_region *b,
			pld_dims shape, size_t size)
{
	if ((uintptr_t)a->data >= region_end(b, shape, size) ||
	    (uintptr_t)b->data >= region_end(a, shape, size))
		return false;
	/* Elements of one region on each other: nothing that is worth telling. */
	if (!nested(a->stride, shape) || !nested(b->stride, shape))
		return true;
	return any_covered(a, b, shape, size, 0, (uintptr_t)a->data);
}
