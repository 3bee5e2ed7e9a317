/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * Strided regions: copying them, and adding one to another.
 */
#ifndef PLD_REGION_H
#define PLD_REGION_H

#include <stdbool.h>
#include <string.h>

#include "copy.h"
#include "dims.h"
#include "dtype.h"
#include "pld.h"

/* Where a region lies: strides in elements, one for each dimension. */
struct pld_region {
	char *data;
	const int64_t *stride;
};

/* The region at offsets of a view whose first element is at data. */
static inline struct pld_region pld_region_at(const pld_view *view, char *data,
					      const pld_dims *offsets)
{
	return (struct pld_region){
		.data = data + pld_dims_index(view, offsets) *
				       pld_dtype_bytes(view->dtype),
		.stride = view->stride,
	};
}

/* All of a view whose first element is at data. */
static inline struct pld_region pld_region_of(const pld_view *view, char *data)
{
	return (struct pld_region){ .data = data, .stride = view->stride };
}

/*
 * The elements of the first run: as many inner dimensions as lie one element
 * after another in both regions. *dims becomes the number of the outer ones.
 */
static inline int64_t pld_region_run(const struct pld_region *a,
				     const struct pld_region *b,
				     const pld_dims *shape, int *dims)
{
	int64_t run = 1;
	int dim;

	for (dim = shape->ndim; dim > 0; dim--) {
		int64_t n = shape->n[dim - 1];

		/* The stride of a dimension of one element leads nowhere. */
		if (n != 1 &&
		    (a->stride[dim - 1] != run || b->stride[dim - 1] != run))
			break;
		run *= n;
	}
	*dims = dim;
	return run;
}

/* pld_region_copy() of what is more than one run. */
void pld_region_copy_runs(const struct pld_region *dst,
			  const struct pld_region *src, const pld_dims *shape,
			  size_t size);

/* Copies shape elements of size bytes each; the two do not overlap. */
static inline void pld_region_copy(const struct pld_region *dst,
				   const struct pld_region *src,
				   const pld_dims *shape, size_t size)
{
	int outer;
	int64_t run = pld_region_run(dst, src, shape, &outer);

	if (!outer)
		pld_copy(dst->data, src->data, (size_t)run * size, 0);
	else
		pld_region_copy_runs(dst, src, shape, size);
}

/*
 * The same with an addition instead, each element's atomic, where atomic is
 * PLD_ADD; pld_atomic_check() has been asked.
 */
void pld_region_write(const struct pld_region *dst,
		      const struct pld_region *src, const pld_dims *shape,
		      pld_dtype dtype, pld_atomic_type atomic);

/* Do two regions of one shape share a byte? */
bool pld_region_overlap(const struct pld_region *a, const struct pld_region *b,
			const pld_dims *shape, size_t size);

/* pld_region_is_distinct() of dimensions in any order. */
bool pld_region_is_distinct_sorted(const struct pld_region *r,
				   const pld_dims *shape);

/* Do no two elements of a region lie on each other? */
static inline bool pld_region_is_distinct(const struct pld_region *r,
					  const pld_dims *shape)
{
	int64_t reach = 1;

	for (int i = shape->ndim - 1; i >= 0; i--) {
		if (shape->n[i] == 1)
			continue;
		/* Not so far that it leads over what is inside. */
		if (r->stride[i] < reach)
			return pld_region_is_distinct_sorted(r, shape);
		reach += (shape->n[i] - 1) * r->stride[i];
	}
	return true;
}

#endif
