/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Several ranks that add to the same elements of one rank at once. All are
 * whole numbers and few, so that every sum on the way is exact in every type
 * and the order does not matter.
 */
#ifndef PLD_PROP_DRAW_STORM_H
#define PLD_PROP_DRAW_STORM_H

#include "prop_draw.h"

/* Where small numbers are put together: the last bytes of private tensors. */
#define PROP_SMALL_AT (PROP_PLACE_BYTES - PROP_TILE_BYTES)

static inline void prop_small_view(pld_dtype dtype, pld_dims shape,
				   struct prop_view *view)
{
	*view = (struct prop_view){
		.place = PROP_PRIVATE,
		.start = PROP_SMALL_AT,
		.dtype = dtype,
		.full = shape,
	};
}

static inline void prop_fill_small(struct prop_generator *g, int rank,
				   pld_dtype dtype, pld_dims shape)
{
	prop_fill(g, rank, PROP_WINDOWS_BYTES + PROP_SMALL_AT, PROP_SMALL,
		  dtype, (int)prop_count(shape));
}

/* Part of the region that all add to. */
static inline void prop_narrow(struct prop_random *r, struct prop_step *step)
{
	if (prop_once_in(r, 2))
		return;
	for (int i = 0; i < step->shape.ndim; i++) {
		int cut = prop_below(r, step->shape.n[i]);

		step->shape.n[i] -= cut;
		step->dst_offsets.n[i] += prop_below(r, cut + 1);
	}
}

static inline void prop_add_by_put(struct prop_generator *g,
				   struct prop_step step)
{
	step.op = PROP_PUT;
	step.src_offsets = (pld_dims){ .ndim = step.shape.ndim };
	prop_small_view(step.dst.dtype, step.shape, &step.src);
	prop_draw_chunks(g, &step);
	prop_emit(g, &step, true);
}

static inline void prop_add_by_store(struct prop_generator *g,
				     struct prop_step step)
{
	struct prop_step load = {
		.op = PROP_LOAD,
		.rank = step.rank,
		.peer = -1,
		.tile = prop_below(&g->random, PROP_TILES),
		.src_offsets = { .ndim = step.shape.ndim },
		.shape = step.shape,
	};

	prop_small_view(step.dst.dtype, step.shape, &load.src);
	if (!prop_emit(g, &load, true))
		return;
	step.op = PROP_REMOTE_STORE;
	step.tile = load.tile;
	step.shape = (pld_dims){ 0 };
	prop_emit(g, &step, true);
}

static inline void prop_draw_storm(struct prop_generator *g)
{
	static const pld_dtype dtypes[] = { PLD_FP32,  PLD_FP16,  PLD_BF16,
					    PLD_INT32, PLD_INT16, PLD_INT8 };
	struct prop_random *r = &g->random;
	pld_dtype dtype = dtypes[prop_below(r, 6)];
	struct prop_step step = {
		.op = PROP_PUT,
		.rank = prop_any_rank(g),
		.peer = prop_any_rank(g),
		.shape = prop_draw_shape(r, 64),
	};
	int times = prop_between(r, 1, 2);

	prop_draw_view(r, prop_any_window(g), dtype, step.shape, PROP_ALIGNED,
		       &step.dst, &step.dst_offsets);
	step.src_offsets.ndim = step.shape.ndim;
	prop_small_view(dtype, step.shape, &step.src);
	prop_fill_small(g, step.rank, dtype, step.shape);
	if (!prop_emit(g, &step, true))
		return;
	prop_barrier(g);
	step.atomic = PLD_ADD;
	for (int i = 0; i < times * g->program->nranks; i++) {
		struct prop_step part = step;

		if (prop_once_in(r, 4))
			continue;
		part.rank = i % g->program->nranks;
		prop_narrow(r, &part);
		prop_fill_small(g, part.rank, dtype, part.shape);
		if (prop_once_in(r, 2))
			prop_add_by_put(g, part);
		else
			prop_add_by_store(g, part);
	}
}

#endif /* PLD_PROP_DRAW_STORM_H */
