/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Drawing a step of one rank that moves data.
 */
#ifndef PLD_PROP_DRAW_H
#define PLD_PROP_DRAW_H

#include "prop_draw_view.h"
#include "prop_emit.h"

static inline int64_t prop_clip(int64_t extent, int64_t whole)
{
	return extent && extent < whole ? extent : whole;
}

static inline int64_t prop_chunk_bytes(const struct prop_step *step, int size)
{
	int last = step->shape.ndim - 1;
	int64_t bytes = prop_clip(step->chunk_cols, step->shape.n[last]) * size;

	if (last > 0)
		bytes *= prop_clip(step->chunk_rows, step->shape.n[last - 1]);
	return bytes;
}

static inline void prop_draw_chunks(struct prop_generator *g,
				    struct prop_step *step)
{
	struct prop_random *r = &g->random;
	int size = prop_size(step->dst.dtype), last = step->shape.ndim - 1;
	int64_t room;

	if (!prop_once_in(r, 3))
		step->stage_bytes =
			prop_between(r, size,
				     prop_once_in(r, 2) ? 64 : PROP_TILE_BYTES);
	if (prop_once_in(r, 2))
		return;
	step->chunk_rows = prop_below(r, last ? step->shape.n[last - 1] + 2 : 2);
	step->chunk_cols = prop_below(r, step->shape.n[last] + 2);
	step->pipeline = step->chunk_rows && step->chunk_cols &&
			 !prop_once_in(r, 3);
	room = (step->stage_bytes ? step->stage_bytes : g->program->tile_bytes) /
	       (step->pipeline ? 2 : 1);
	if (!(step->chunk_rows || step->chunk_cols))
		return;
	while (prop_chunk_bytes(step, size) > room) {
		if (step->chunk_cols == 1 && step->chunk_rows <= 1) {
			step->chunk_rows = 0;
			step->chunk_cols = 0;
			step->pipeline = 0;
			return;
		}
		if (step->chunk_rows != 1 && last > 0)
			step->chunk_rows = prop_clip(step->chunk_rows,
						     step->shape.n[last - 1]) /
							   2
						   ?: 1;
		else
			step->chunk_cols = prop_clip(step->chunk_cols,
						     step->shape.n[last]) /
							   2
						   ?: 1;
	}
}

static inline int prop_any_rank(struct prop_generator *g)
{
	return prop_below(&g->random, g->program->nranks);
}

static inline int prop_any_window(struct prop_generator *g)
{
	return prop_below(&g->random, PROP_WINDOWS);
}

/* Of a tensor of the own rank, private more often than not. */
static inline int prop_any_place(struct prop_generator *g)
{
	return prop_once_in(&g->random, 3) ? prop_any_window(g) : PROP_PRIVATE;
}

static inline bool prop_draw_load(struct prop_generator *g,
				  struct prop_step *step)
{
	struct prop_random *r = &g->random;
	pld_dtype dtype = (pld_dtype)prop_below(r, PROP_DTYPES);
	pld_dims part;

	step->tile = prop_below(r, PROP_TILES);
	step->shape = prop_draw_shape(r, PROP_TILE_BYTES / prop_size(dtype));
	part = step->shape;
	if (prop_once_in(r, 4)) {
		for (int i = 0; i < part.ndim; i++)
			part.n[i] = 1 + prop_below(r, part.n[i]);
		step->valid = part;
	}
	prop_draw_view(r,
		       step->op == PROP_LOAD ? prop_any_place(g)
					     : prop_any_window(g),
		       dtype, part, PROP_MAY_REPEAT, &step->src,
		       &step->src_offsets);
	return true;
}

static inline bool prop_draw_store(struct prop_generator *g,
				   struct prop_step *step)
{
	struct prop_random *r = &g->random;
	const struct prop_tile_state *tile;
	unsigned int how = 0;

	step->tile = prop_below(r, PROP_TILES);
	tile = &g->model.tile[step->rank][step->tile];
	if (!tile->loaded)
		return false;
	if (prop_once_in(r, 3)) {
		step->tile_shape = tile->shape;
		step->tile_offsets.ndim = tile->shape.ndim;
		for (int i = 0; i < tile->shape.ndim; i++) {
			step->tile_shape.n[i] =
				1 + prop_below(r, tile->shape.n[i]);
			step->tile_offsets.n[i] =
				prop_below(r, tile->shape.n[i] -
						      step->tile_shape.n[i] + 1);
		}
	}
	if (step->op == PROP_REMOTE_STORE && prop_can_add(tile->dtype) &&
	    prop_once_in(r, 2)) {
		step->atomic = PLD_ADD;
		how = PROP_ALIGNED;
	}
	prop_draw_view(r,
		       step->op == PROP_STORE ? prop_any_place(g)
					      : prop_any_window(g),
		       tile->dtype, prop_stored_shape(tile, step), how,
		       &step->dst, &step->dst_offsets);
	return true;
}

static inline bool prop_draw_element(struct prop_generator *g,
				     struct prop_step *step)
{
	bool reads = step->op == PROP_READ;
	pld_dtype dtype = (pld_dtype)prop_below(&g->random, PROP_DTYPES);
	pld_dims one = prop_ones(prop_between(&g->random, 1, PLD_MAX_DIMS));

	prop_draw_view(&g->random, prop_any_place(g), dtype, one, 0,
		       reads ? &step->src : &step->dst,
		       reads ? &step->src_offsets : &step->dst_offsets);
	step->value_at = prop_private_at(g, prop_size(dtype));
	return true;
}

static inline bool prop_draw_transfer(struct prop_generator *g,
				      struct prop_step *step)
{
	struct prop_random *r = &g->random;
	pld_dtype dtype = (pld_dtype)prop_below(r, PROP_DTYPES);
	unsigned int whole = prop_once_in(r, 3) ? PROP_WHOLE : 0;
	unsigned int aligned = 0;

	step->whole = whole;
	step->shape = prop_draw_shape(r, (prop_once_in(r, 4) ? 1024 : 200) /
						 prop_size(dtype));
	if (step->op == PROP_PUT && prop_can_add(dtype) && prop_once_in(r, 2)) {
		step->atomic = PLD_ADD;
		aligned = PROP_ALIGNED;
	}
	prop_draw_view(r,
		       step->op == PROP_PUT ? prop_any_window(g)
					    : prop_any_place(g),
		       dtype, step->shape, whole | aligned, &step->dst,
		       &step->dst_offsets);
	prop_draw_view(r,
		       step->op == PROP_GET ? prop_any_window(g)
					    : prop_any_place(g),
		       dtype, step->shape, whole | PROP_MAY_REPEAT, &step->src,
		       &step->src_offsets);
	prop_draw_chunks(g, step);
	return true;
}

/* A right step of a rank that moves data; false if there is none. */
static inline bool prop_draw_data(struct prop_generator *g, int rank,
				  struct prop_step *step)
{
	static const enum prop_op ops[] = {
		PROP_PUT,	   PROP_PUT,	      PROP_PUT,
		PROP_PUT,	   PROP_GET,	      PROP_GET,
		PROP_GET,	   PROP_REMOTE_LOAD,  PROP_REMOTE_LOAD,
		PROP_REMOTE_LOAD,  PROP_REMOTE_STORE, PROP_REMOTE_STORE,
		PROP_REMOTE_STORE, PROP_LOAD,	      PROP_LOAD,
		PROP_STORE,	   PROP_STORE,	      PROP_READ,
		PROP_WRITE,
	};

	memset(step, 0, sizeof(*step));
	step->op = ops[prop_below(&g->random, sizeof(ops) / sizeof(ops[0]))];
	step->rank = rank;
	step->peer = prop_any_rank(g);
	switch (step->op) {
	case PROP_LOAD:
	case PROP_REMOTE_LOAD:
		return prop_draw_load(g, step);
	case PROP_STORE:
	case PROP_REMOTE_STORE:
		return prop_draw_store(g, step);
	case PROP_READ:
	case PROP_WRITE:
		return prop_draw_element(g, step);
	default:
		return prop_draw_transfer(g, step);
	}
}

#endif /* PLD_PROP_DRAW_H */
