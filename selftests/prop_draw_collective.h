/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Drawing a collective. What its ranks touch before they have met, earlier
 * accesses must not race with; afterwards all that was before is ordered.
 */
#ifndef PLD_PROP_DRAW_COLLECTIVE_H
#define PLD_PROP_DRAW_COLLECTIVE_H

#include "prop_draw.h"

/* ---- what it touches ---- */

/* Rows of the region [rows, SIZE] that is all of the view. */
static inline void prop_rows_side(const struct prop_view *view, int owner,
				  int row, int rows, struct prop_side *side)
{
	pld_dims shape = prop_layout(view).shape;

	shape.n[0] = rows;
	prop_tensor_side(view, owner, PLD_AT(row, 0), shape, side);
}

/*
 * Does what rank by writes to owner's target, or reads of its input, race with
 * earlier accesses?
 */
static inline bool prop_is_free(struct prop_generator *g, int by,
				const struct prop_side *side,
				enum prop_mode mode)
{
	return prop_side_conflict(g, by, side, mode, 0) < 0;
}

/* A push: to rows of every rank's target, from the own input. */
static inline bool prop_push_is_free(struct prop_generator *g,
				     const struct prop_step *step, int by)
{
	static struct prop_side side;
	int nranks = g->program->nranks, row = by, rows = 1;

	if (step->op == PROP_ALLGATHER_REUSE)
		row += step->slot * nranks;
	if (step->op == PROP_ALL_TO_ALL_V) {
		row = by * step->most;
		rows = step->most;
	}
	prop_whole_side(&step->src, by, &side);
	if (!prop_is_free(g, by, &side, PROP_READS))
		return false;
	for (int owner = 0; owner < nranks; owner++) {
		prop_rows_side(&step->dst, owner, row, rows, &side);
		if (!prop_is_free(g, by, &side, PROP_WRITES))
			return false;
	}
	return true;
}

static inline bool prop_root_is_free(struct prop_generator *g,
				     const struct prop_step *step)
{
	static struct prop_side side;

	for (int owner = 0; owner < g->program->nranks; owner++) {
		prop_whole_side(&step->dst, owner, &side);
		if (!prop_is_free(g, step->root, &side,
				  owner == step->root ? PROP_READS : PROP_WRITES))
			return false;
	}
	return true;
}

static inline bool prop_collective_is_free(struct prop_generator *g,
					   const struct prop_step *step)
{
	static struct prop_side side;

	if (step->op == PROP_BROADCAST)
		return prop_root_is_free(g, step);
	for (int by = 0; by < g->program->nranks; by++) {
		if (step->src.full.ndim) {
			if (!prop_push_is_free(g, step, by))
				return false;
			continue;
		}
		prop_whole_side(&step->dst, by, &side);
		if (!prop_is_free(g, by, &side, PROP_WRITES))
			return false;
	}
	return true;
}

/* A reduction's target is the own rank's alone when the call has returned. */
static inline void prop_keep_target(struct prop_generator *g,
				    const struct prop_step *step)
{
	static struct prop_side side;

	for (int rank = 0; rank < g->program->nranks; rank++) {
		prop_whole_side(&step->dst, rank, &side);
		prop_keep_side(g, rank, &side, PROP_WRITES, 0);
	}
}

static inline void prop_emit_collective(struct prop_generator *g,
					const struct prop_step *step)
{
	if (!prop_collective_is_free(g, step))
		prop_barrier(g);
	if (!prop_room(g))
		return;
	prop_append(g, step);
	prop_join_all(&g->order);
	if (step->op == PROP_REDUCE_SCATTER || step->op == PROP_ALLREDUCE)
		prop_keep_target(g, step);
	if (step->op == PROP_ALLGATHER_REUSE)
		g->slot[step->dst.place] ^= 1;
}

/* ---- its arguments ---- */

/* A view that is dense, from some byte of its place on. */
static inline void prop_dense_view(struct prop_generator *g, int place,
				   pld_dtype dtype, pld_dims shape,
				   struct prop_view *view)
{
	int bytes = (int)prop_count(shape) * prop_size(dtype);

	*view = (struct prop_view){
		.place = place,
		.dtype = dtype,
		.full = shape,
	};
	if (prop_once_in(&g->random, 2))
		view->start =
			prop_below(&g->random, PROP_PLACE_BYTES - bytes + 1);
}

/* A view of all of a region; most is elements. */
static inline void prop_any_view(struct prop_generator *g, int place,
				 pld_dtype dtype, pld_dims shape,
				 struct prop_view *view)
{
	pld_dims offsets;

	prop_draw_view(&g->random, place, dtype, shape, PROP_WHOLE, view,
		       &offsets);
}

/* Elements that a reduction can do in a few pieces. */
static inline int prop_reducible(const struct prop_generator *g, int size)
{
	int piece = g->program->tile_bytes / (size < 4 ? 4 : size);
	int most = 1024 / size;

	return 6 * piece < most ? 6 * piece : most;
}

/* Numbers whose order matters, in every rank's target. */
static inline void prop_fill_targets(struct prop_generator *g,
				     const struct prop_step *step)
{
	pld_dims shape = prop_layout(&step->dst).shape;
	enum prop_values values = prop_once_in(&g->random, 3) ? PROP_SMALL
							      : PROP_FINITE;

	for (int rank = 0; rank < g->program->nranks; rank++) {
		struct prop_step put = {
			.op = PROP_PUT,
			.rank = rank,
			.peer = rank,
			.whole = true,
			.shape = shape,
			.dst = step->dst,
			.src = {
				.place = PROP_PRIVATE,
				.dtype = step->dst.dtype,
				.full = shape,
			},
		};

		prop_fill(g, rank, PROP_WINDOWS_BYTES, values, put.src.dtype,
			  (int)prop_count(shape));
		prop_emit(g, &put, true);
	}
}

static inline void prop_draw_reduction(struct prop_generator *g,
				       struct prop_step *step)
{
	struct prop_random *r = &g->random;
	pld_dtype dtype = (pld_dtype)prop_below(r, PROP_DTYPES);
	int most = prop_reducible(g, prop_size(dtype));
	int nranks = g->program->nranks, row = 1024 / prop_size(dtype) / nranks;

	step->reduce = (pld_reduce_op)prop_below(r, 4);
	if (step->op == PROP_REDUCE_SCATTER) {
		prop_any_view(g, prop_any_window(g), dtype,
			      PLD_SHAPE(nranks,
					1 + prop_below(r, most < row ? most
								     : row)),
			      &step->dst);
	} else {
		step->mode = (pld_allreduce_mode)prop_below(r, 3);
		if (step->mode == PLD_RING || step->mode == PLD_TWO_PHASE)
			most = most * nranks < 1024 / prop_size(dtype)
				       ? most * nranks
				       : 1024 / prop_size(dtype);
		prop_dense_view(g, prop_any_window(g), dtype,
				prop_draw_shape(r, most), &step->dst);
	}
	if (!prop_once_in(r, 4))
		prop_fill_targets(g, step);
}

static inline void prop_draw_gather(struct prop_generator *g,
				    struct prop_step *step)
{
	struct prop_random *r = &g->random;
	pld_dtype dtype = (pld_dtype)prop_below(r, PROP_DTYPES);
	int rows = g->program->nranks, n;

	if (step->op == PROP_ALLGATHER_REUSE)
		rows *= 2;
	n = 1 + prop_below(r, 1024 / prop_size(dtype) / rows);
	prop_any_view(g, prop_any_window(g), dtype, PLD_SHAPE(rows, n),
		      &step->dst);
	prop_any_view(g, PROP_PRIVATE, dtype, PLD_SHAPE(1, n), &step->src);
	if (step->op == PROP_ALLGATHER_REUSE)
		step->slot = g->slot[step->dst.place];
}

static inline void prop_draw_all_to_all(struct prop_generator *g,
					struct prop_step *step)
{
	struct prop_random *r = &g->random;
	pld_dtype dtype = (pld_dtype)prop_below(r, PROP_DTYPES);
	int window = prop_any_window(g), nranks = g->program->nranks;
	pld_dims shape = PLD_SHAPE(nranks, 1);
	int input = prop_once_in(r, 2) ? PROP_PRIVATE
				       : (window + 1) % PROP_WINDOWS;
	int most = 1024 / prop_size(dtype) / nranks;

	step->most = 1;
	if (step->op == PROP_ALL_TO_ALL_V) {
		step->most = 1 + prop_below(r, most < 4 ? most : 4);
		step->seed = prop_next(r);
	}
	shape.n[0] = nranks * step->most;
	shape.n[1] = 1 + prop_below(r, most / step->most);
	prop_any_view(g, window, dtype, shape, &step->dst);
	prop_any_view(g, input, dtype, shape, &step->src);
}

/* Its arguments, and what it is to find in memory. */
static inline void prop_draw_arguments(struct prop_generator *g,
				       struct prop_step *step)
{
	struct prop_random *r = &g->random;
	pld_dtype dtype = (pld_dtype)prop_below(r, PROP_DTYPES);

	switch (step->op) {
	case PROP_BARRIER:
		break;
	case PROP_BROADCAST:
		step->root = prop_any_rank(g);
		prop_any_view(g, prop_any_window(g), dtype,
			      prop_draw_shape(r, 1024 / prop_size(dtype)),
			      &step->dst);
		break;
	case PROP_ALLGATHER:
	case PROP_ALLGATHER_REUSE:
		prop_draw_gather(g, step);
		break;
	case PROP_REDUCE_SCATTER:
	case PROP_ALLREDUCE:
		prop_draw_reduction(g, step);
		break;
	default:
		prop_draw_all_to_all(g, step);
	}
}

static inline struct prop_step prop_collective(struct prop_generator *g,
					       enum prop_op op)
{
	return (struct prop_step){
		.op = op,
		.rank = -1,
		.peer = -1,
		.dense_signal = prop_once_in(&g->random, 2),
	};
}

static inline void prop_draw_collective(struct prop_generator *g)
{
	struct prop_step step =
		prop_collective(g, (enum prop_op)prop_between(&g->random,
							      PROP_BROADCAST,
							      PROP_OPS - 1));

	prop_draw_arguments(g, &step);
	prop_emit_collective(g, &step);
}

/* The next program of the launch finds the first slot of each window. */
static inline void prop_close(struct prop_generator *g)
{
	g->closing = true;
	for (int window = 0; window < PROP_WINDOWS; window++) {
		struct prop_step step = prop_collective(g, PROP_ALLGATHER_REUSE);

		if (!g->slot[window])
			continue;
		do
			prop_draw_gather(g, &step);
		while (step.dst.place != window);
		prop_emit_collective(g, &step);
	}
}

#endif /* PLD_PROP_DRAW_COLLECTIVE_H */
