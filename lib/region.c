// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * Copies of strided regions: runs of adjacent elements by memcpy, the rest by
 * recursion over the dimensions.
 */
#include <stdbool.h>
#include <string.h>

#include "dims.h"
#include "region.h"

struct pld_region pld_region_at(const pld_view *view, char *data,
				pld_dims offsets)
{
	int64_t size = pld_dtype_size(view->dtype);
	struct pld_region region = {
		.data = data + pld_dims_index(view, offsets) * size,
	};

	for (int i = 0; i < view->shape.ndim; i++)
		region.stride[i] = view->stride[i];
	return region;
}

static bool dense(const struct pld_region *region, pld_dims shape)
{
	int64_t run = 1;

	for (int i = shape.ndim - 1; i >= 0; i--) {
		if (shape.n[i] != 1 && region->stride[i] != run)
			return false;
		run *= shape.n[i];
	}
	return true;
}

static int64_t count(pld_dims shape)
{
	int64_t elements = 1;

	for (int i = 0; i < shape.ndim; i++)
		elements *= shape.n[i];
	return elements;
}

static struct pld_region moved(const struct pld_region *region, int dim,
			       int64_t by, size_t size)
{
	struct pld_region result = *region;

	result.data += by * region->stride[dim] * (int64_t)size;
	return result;
}

/* The first dimension of more than one element, or the last one. */
static int outermost(pld_dims shape)
{
	int dim = 0;

	while (dim < shape.ndim - 1 && shape.n[dim] == 1)
		dim++;
	return dim;
}

void pld_region_copy(const struct pld_region *dst, const struct pld_region *src,
		     pld_dims shape, size_t size)
{
	int dim = outermost(shape);
	pld_dims inner = shape;

	if (dense(dst, shape) && dense(src, shape)) {
		memcpy(dst->data, src->data, (size_t)count(shape) * size);
		return;
	}
	inner.n[dim] = 1;
	for (int64_t i = 0; i < shape.n[dim]; i++) {
		struct pld_region to = moved(dst, dim, i, size);
		struct pld_region from = moved(src, dim, i, size);

		pld_region_copy(&to, &from, inner, size);
	}
}

void pld_region_copy_staged(const struct pld_region *dst,
			    const struct pld_region *src, pld_dims shape,
			    size_t size, void *stage, size_t stage_bytes)
{
	int dim = outermost(shape);
	int64_t fits = (int64_t)(stage_bytes / size);
	int64_t total = count(shape);
	int64_t rows = fits / (total / shape.n[dim]);
	struct pld_region tile = { .data = stage };
	pld_dims chunk = shape;

	if (total <= fits) {
		pld_dims_strides(shape, 1, tile.stride);
		pld_region_copy(&tile, src, shape, size);
		pld_region_copy(dst, &tile, shape, size);
		return;
	}
	if (rows < 1)
		rows = 1;
	for (int64_t i = 0; i < shape.n[dim]; i += rows) {
		struct pld_region to = moved(dst, dim, i, size);
		struct pld_region from = moved(src, dim, i, size);

		chunk.n[dim] = shape.n[dim] - i;
		if (chunk.n[dim] > rows)
			chunk.n[dim] = rows;
		pld_region_copy_staged(&to, &from, chunk, size, stage,
				       stage_bytes);
	}
}
