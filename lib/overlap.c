// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * Do two strided regions share a byte? Side by side in one tensor they
 * interleave without it.
 */
#include "region.h"

static uintptr_t region_end(const struct pld_region *r, const pld_dims *shape,
			    size_t size)
{
	int64_t last = 0;

	for (int i = 0; i < shape->ndim; i++)
		last += (shape->n[i] - 1) * r->stride[i];
	return (uintptr_t)r->data + (uintptr_t)(last + 1) * size;
}

/* A region with its dimensions in another order: the same elements. */
struct nest {
	char *data;
	int64_t stride[PLD_MAX_DIMS];
	pld_dims shape;
};

/*
 * Puts the longest step outside. Is each then longer than all that the inner
 * ones reach, so that no two elements lie on each other?
 */
static bool nest(const struct pld_region *r, const pld_dims *shape,
		 struct nest *nest)
{
	int64_t *stride = nest->stride;
	int64_t reach = 1;
	int n = 0;

	nest->data = r->data;
	for (int i = 0; i < shape->ndim; i++) {
		int at = n;

		if (shape->n[i] == 1)
			continue;
		for (; at > 0 && stride[at - 1] < r->stride[i]; at--) {
			stride[at] = stride[at - 1];
			nest->shape.n[at] = nest->shape.n[at - 1];
		}
		stride[at] = r->stride[i];
		nest->shape.n[at] = shape->n[i];
		n++;
	}
	nest->shape.ndim = n;
	for (int i = n - 1; i >= 0; i--) {
		if (stride[i] < reach)
			return false;
		reach += (nest->shape.n[i] - 1) * stride[i];
	}
	return true;
}

bool pld_region_is_distinct_sorted(const struct pld_region *r,
				   const pld_dims *shape)
{
	struct nest ignored;

	return nest(r, shape, &ignored);
}

/* Is there an element at the byte apart from the first one? */
static bool covers(const struct nest *nest, size_t size, uintptr_t at)
{
	int64_t apart = (int64_t)(at - (uintptr_t)nest->data);

	if (apart < 0)
		return false;
	for (int i = 0; i < nest->shape.ndim; i++) {
		int64_t step = nest->stride[i] * (int64_t)size;
		int64_t index = apart / step;

		if (index >= nest->shape.n[i])
			return false;
		apart -= index * step;
	}
	return apart < (int64_t)size;
}

/* Looks at both ends of each element of a. */
static bool any_covered(const struct pld_region *a, const struct nest *b,
			const pld_dims *shape, size_t size, int dim,
			uintptr_t at)
{
	if (dim == shape->ndim)
		return covers(b, size, at) || covers(b, size, at + size - 1);
	for (int64_t i = 0; i < shape->n[dim]; i++)
		if (any_covered(a, b, shape, size, dim + 1,
				at + (uintptr_t)(i * a->stride[dim]) * size))
			return true;
	return false;
}

bool pld_region_overlap(const struct pld_region *a, const struct pld_region *b,
			const pld_dims *shape, size_t size)
{
	struct nest into;

	if ((uintptr_t)a->data >= region_end(b, shape, size) ||
	    (uintptr_t)b->data >= region_end(a, shape, size))
		return false;
	/* A source may have elements on each other, as with a stride of 0. */
	if (nest(b, shape, &into))
		return any_covered(a, &into, shape, size, 0, (uintptr_t)a->data);
	if (nest(a, shape, &into))
		return any_covered(b, &into, shape, size, 0, (uintptr_t)b->data);
	/* If both have: nothing that is worth telling. */
	return true;
}
