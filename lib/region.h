/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * Strided regions: copying them, and adding one to another.
 */
#ifndef PLD_REGION_H
#define PLD_REGION_H

#include <stdbool.h>

#include "pld.h"

/* Where a region lies: strides in elements. */
struct pld_region {
	char *data;
	int64_t stride[PLD_MAX_DIMS];
};

/* The region at offsets of a view whose first element is at data. */
struct pld_region pld_region_at(const pld_view *view, char *data,
				pld_dims offsets);

/* A dense region of that shape. */
struct pld_region pld_region_dense(char *data, pld_dims shape);

/* The region whose first element lies at offsets of this one. */
struct pld_region pld_region_moved(const struct pld_region *region,
				   pld_dims offsets, size_t size);

/* Number of elements. */
int64_t pld_region_count(pld_dims shape);

/* Copies shape elements of size bytes each; the two do not overlap. */
void pld_region_copy(const struct pld_region *dst, const struct pld_region *src,
		     pld_dims shape, size_t size);

/*
 * The same with an addition instead, each element's atomic, where atomic is
 * PLD_ADD; pld_atomic_check() has been asked.
 */
void pld_region_write(const struct pld_region *dst, const struct pld_region *src,
		      pld_dims shape, pld_dtype dtype, pld_atomic_type atomic);

/* Do two regions of one shape share a byte? */
bool pld_region_overlap(const struct pld_region *a, const struct pld_region *b,
			pld_dims shape, size_t size);

/* Do no two elements of a region lie on each other? */
bool pld_region_is_distinct(const struct pld_region *r, pld_dims shape);

#endif
