// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * Strided regions as runs of adjacent elements: a run is as long as both
 * regions allow.
 */
#include "add.h"
#include "dims.h"
#include "region.h"

#include <string.h>

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

struct pld_region pld_region_dense(char *data, pld_dims shape)
{
	struct pld_region region = { .data = data };

	pld_dims_strides(shape, 1, region.stride);
	return region;
}

struct pld_region pld_region_moved(const struct pld_region *region,
				   pld_dims offsets, size_t size)
{
	struct pld_region moved = *region;

	for (int i = 0; i < offsets.ndim; i++)
		moved.data += offsets.n[i] * region->stride[i] * (int64_t)size;
	return moved;
}

int64_t pld_region_count(pld_dims shape)
{
	int64_t elements = 1;

	for (int i = 0; i < shape.ndim; i++)
		elements *= shape.n[i];
	return elements;
}

/* What to do with the runs of two regions. */
struct walk {
	int64_t dst_step[PLD_MAX_DIMS]; /* bytes */
	int64_t src_step[PLD_MAX_DIMS];
	pld_dims shape;
	/* the dimensions from here on are one run */
	int run_dim;
	size_t run_elements;
	size_t size;
	pld_atomic_type atomic;
	/* with PLD_ADD */
	pld_dtype dtype;
};

static void one_run(const struct walk *walk, char *dst, const char *src)
{
	if (walk->atomic == PLD_ADD)
		pld_add_run(dst, src, walk->run_elements, walk->dtype);
	else
		memcpy(dst, src, walk->run_elements * walk->size);
}

static void walk_dim(const struct walk *walk, int dim, char *dst,
		     const char *src)
{
	if (dim == walk->run_dim) {
		one_run(walk, dst, src);
		return;
	}
	for (int64_t i = 0; i < walk->shape.n[dim]; i++) {
		walk_dim(walk, dim + 1, dst, src);
		dst += walk->dst_step[dim];
		src += walk->src_step[dim];
	}
}

static void walk_runs(struct walk *walk, const struct pld_region *dst,
		      const struct pld_region *src)
{
	int64_t run = 1;
	int dim;

	for (dim = walk->shape.ndim; dim > 0; dim--) {
		int64_t n = walk->shape.n[dim - 1];

		if (n != 1 && (dst->stride[dim - 1] != run ||
			       src->stride[dim - 1] != run))
			break;
		run *= n;
	}
	walk->run_dim = dim;
	walk->run_elements = (size_t)run;
	for (int i = 0; i < dim; i++) {
		walk->dst_step[i] = dst->stride[i] * (int64_t)walk->size;
		walk->src_step[i] = src->stride[i] * (int64_t)walk->size;
	}
	walk_dim(walk, 0, dst->data, src->data);
}

void pld_region_copy(const struct pld_region *dst, const struct pld_region *src,
		     pld_dims shape, size_t size)
{
	struct walk walk = { .shape = shape, .size = size };

	walk_runs(&walk, dst, src);
}

void pld_region_write(const struct pld_region *dst, const struct pld_region *src,
		      pld_dims shape, pld_dtype dtype, pld_atomic_type atomic)
{
	struct walk walk = {
		.shape = shape,
		.size = (size_t)pld_dtype_size(dtype),
		.atomic = atomic,
		.dtype = dtype,
	};

	walk_runs(&walk, dst, src);
}
