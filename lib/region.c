// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * Strided regions as runs of adjacent elements: a run is as long as both
 * regions allow.
 */
#include "add.h"
#include "region.h"

/* What to do with the runs of two regions. */
struct walk {
	int64_t dst_step[PLD_MAX_DIMS]; /* bytes */
	int64_t src_step[PLD_MAX_DIMS];
	const pld_dims *shape;
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
		pld_copy(dst, src, walk->run_elements * walk->size, 0);
}

static void walk_dim(const struct walk *walk, int dim, char *dst,
		     const char *src)
{
	if (dim == walk->run_dim) {
		one_run(walk, dst, src);
		return;
	}
	for (int64_t i = 0; i < walk->shape->n[dim]; i++) {
		walk_dim(walk, dim + 1, dst, src);
		dst += walk->dst_step[dim];
		src += walk->src_step[dim];
	}
}

static void walk_runs(struct walk *walk, const struct pld_region *dst,
		      const struct pld_region *src)
{
	walk->run_elements =
		(size_t)pld_region_run(dst, src, walk->shape, &walk->run_dim);
	for (int i = 0; i < walk->run_dim; i++) {
		walk->dst_step[i] = dst->stride[i] * (int64_t)walk->size;
		walk->src_step[i] = src->stride[i] * (int64_t)walk->size;
	}
	walk_dim(walk, 0, dst->data, src->data);
}

void pld_region_copy_runs(const struct pld_region *dst,
			  const struct pld_region *src, const pld_dims *shape,
			  size_t size)
{
	struct walk walk = { .shape = shape, .size = size };

	walk_runs(&walk, dst, src);
}

void pld_region_write(const struct pld_region *dst,
		      const struct pld_region *src, const pld_dims *shape,
		      pld_dtype dtype, pld_atomic_type atomic)
{
	size_t size = (size_t)pld_dtype_bytes(dtype);
	struct walk walk;

	if (atomic == PLD_NONE) {
		pld_region_copy(dst, src, shape, size);
		return;
	}
	walk = (struct walk){
		.shape = shape,
		.size = size,
		.atomic = atomic,
		.dtype = dtype,
	};
	walk_runs(&walk, dst, src);
}
