/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * Copies of strided regions.
 */
#ifndef PLD_REGION_H
#define PLD_REGION_H

#include "pld.h"

/* Where a region lies: strides in elements. */
struct pld_region {
	char *data;
	int64_t stride[PLD_MAX_DIMS];
};

/* The region at offsets of a view whose first element is at data. */
struct pld_region pld_region_at(const pld_view *view, char *data,
				pld_dims offsets);

/* Copies shape elements of size bytes each; the two do not overlap. */
void pld_region_copy(const struct pld_region *dst, const struct pld_region *src,
		     pld_dims shape, size_t size);

/*
 * The same by way of a stage of stage_bytes, in chunks that fit it, in the
 * order of their addresses. stage_bytes >= size.
 */
void pld_region_copy_staged(const struct pld_region *dst,
			    const struct pld_region *src, pld_dims shape,
			    size_t size, void *stage, size_t stage_bytes);

#endif
