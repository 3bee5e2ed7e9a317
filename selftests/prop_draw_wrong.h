/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Steps with one wrong argument: a right one is drawn, and one thing in it is
 * spoiled when it runs. Here is decided what, and which errno the contract has
 * for it.
 */
#ifndef PLD_PROP_DRAW_WRONG_H
#define PLD_PROP_DRAW_WRONG_H

#include <errno.h>

#include "prop_draw_collective.h"

static inline bool prop_stores(const struct prop_step *step)
{
	return step->op == PROP_STORE || step->op == PROP_REMOTE_STORE;
}

static inline bool prop_loads(const struct prop_step *step)
{
	return step->op == PROP_LOAD || step->op == PROP_REMOTE_LOAD;
}

static inline bool prop_moves(const struct prop_step *step)
{
	return step->op == PROP_PUT || step->op == PROP_GET;
}

static inline bool prop_has_peer(const struct prop_step *step)
{
	return prop_moves(step) || step->op == PROP_REMOTE_LOAD ||
	       step->op == PROP_REMOTE_STORE || step->op == PROP_HANDOVER;
}

/* Is dst the tensor that the operation is about, the peer's if it has one? */
static inline bool prop_about_dst(const struct prop_step *step)
{
	return prop_stores(step) || step->op == PROP_WRITE ||
	       step->op == PROP_PUT;
}

static inline const struct prop_view *prop_about(const struct prop_step *step)
{
	return prop_about_dst(step) ? &step->dst : &step->src;
}

static inline bool prop_may_add(const struct prop_step *step)
{
	return step->op == PROP_PUT || step->op == PROP_REMOTE_STORE;
}

/* A number below 0 or one that is too large by a little. */
static inline int prop_out_of(struct prop_random *r, int64_t limit)
{
	return prop_once_in(r, 2) ? -1 - prop_below(r, 3)
				  : (int)limit + prop_below(r, 3);
}

static inline bool prop_wrong_offset(struct prop_generator *g,
				     struct prop_step *step)
{
	struct prop_layout layout;
	pld_dims *offsets;
	int dim;

	if (step->op == PROP_HANDOVER) {
		step->wrong_detail = prop_out_of(&g->random, g->program->nranks);
		return true;
	}
	if (step->whole)
		return false;
	layout = prop_layout(prop_about(step));
	offsets = prop_about_dst(step) ? &step->dst_offsets : &step->src_offsets;
	dim = prop_below(&g->random, layout.shape.ndim);
	offsets->n[dim] = prop_out_of(&g->random, layout.shape.n[dim]);
	return true;
}

static inline bool prop_wrong_chunk_size(struct prop_step *step)
{
	int last = step->shape.ndim - 1;
	int size = prop_size(step->dst.dtype);

	step->chunk_cols = step->shape.n[last];
	step->chunk_rows = last ? step->shape.n[last - 1] : 0;
	step->pipeline = 0;
	step->stage_bytes = (int)prop_chunk_bytes(step, size) - 1;
	return step->stage_bytes >= size && step->stage_bytes <= PROP_TILE_BYTES;
}

static inline bool prop_wrong_overlap(struct prop_step *step)
{
	if (!prop_moves(step) ||
	    (step->op == PROP_GET && step->dst.place == PROP_PRIVATE))
		return false;
	step->peer = step->rank;
	step->src = step->dst;
	step->src_offsets = step->dst_offsets;
	return true;
}

static inline bool prop_wrong_valid(struct prop_generator *g,
				    struct prop_step *step)
{
	int dim;

	if (!prop_loads(step))
		return false;
	dim = prop_below(&g->random, step->shape.ndim);
	step->valid = step->shape;
	step->valid.n[dim] =
		prop_once_in(&g->random, 2) ? 0 : step->shape.n[dim] + 1;
	return true;
}

/* Is that possible for the step? Then it is prepared, and *want is set. */
static inline bool prop_spoil(struct prop_generator *g, struct prop_step *step)
{
	const struct prop_view *about = prop_about(step);
	int size = prop_size(about->dtype);
	bool handover = step->op == PROP_HANDOVER;
	struct prop_random *r = &g->random;

	step->want = -EINVAL;
	step->wrong_detail = prop_below(r, 60);
	switch (step->wrong) {
	case PROP_WRONG_PEER:
		step->want = -ERANGE;
		step->wrong_detail = prop_out_of(r, g->program->nranks);
		return prop_has_peer(step);
	case PROP_WRONG_OFFSET:
		step->want = -ERANGE;
		return prop_wrong_offset(g, step);
	case PROP_WRONG_NDIM:
		return !step->whole;
	case PROP_WRONG_KIND:
	case PROP_WRONG_NULL:
		return true;
	case PROP_WRONG_DTYPE:
		return handover || prop_stores(step) || prop_moves(step);
	case PROP_WRONG_ADDRESS:
		step->want = -EFAULT;
		return handover || about->place != PROP_PRIVATE;
	case PROP_WRONG_STAGE:
		step->want = -ENOSPC;
		step->stage_bytes = size - 1;
		return prop_moves(step) && size > 1;
	case PROP_WRONG_CHUNK:
		step->chunk_rows = step->wrong_detail % 2 ? -1 : 1;
		step->chunk_cols = step->wrong_detail % 2 ? 1 : INT64_MIN;
		return prop_moves(step);
	case PROP_WRONG_CHUNK_SIZE:
		step->want = -ENOSPC;
		return prop_moves(step) && prop_wrong_chunk_size(step);
	case PROP_WRONG_PIPELINE:
		step->pipeline = 1;
		step->chunk_rows = step->wrong_detail % 2;
		step->chunk_cols = 0;
		return prop_moves(step);
	case PROP_WRONG_SUBREGION:
		return prop_moves(step) && !step->whole;
	case PROP_WRONG_SHAPE:
		return prop_moves(step) &&
		       (!step->whole || step->shape.n[step->shape.ndim - 1] > 1);
	case PROP_WRONG_ATOMIC:
		return prop_may_add(step) || step->op == PROP_GET;
	case PROP_WRONG_ATOMIC_DTYPE:
		step->atomic = PLD_ADD;
		return prop_may_add(step) && !prop_can_add(step->dst.dtype);
	case PROP_WRONG_ALIGNMENT:
		step->want = -EFAULT;
		step->atomic = PLD_ADD;
		return prop_may_add(step) && prop_can_add(step->dst.dtype) &&
		       size > 1 && step->dst.start % size == 0;
	case PROP_WRONG_OVERLAP:
		return prop_wrong_overlap(step);
	case PROP_WRONG_TILE_BYTES:
		step->want = prop_loads(step) ? -ENOSPC : -EFAULT;
		return prop_loads(step) ||
		       (prop_stores(step) && !step->tile_shape.ndim);
	case PROP_WRONG_TILE_KIND:
		return prop_loads(step) ||
		       (prop_stores(step) && !step->tile_shape.ndim);
	case PROP_WRONG_VALID_SHAPE:
		return prop_wrong_valid(g, step);
	default:
		return handover;
	}
}

static inline void prop_draw_wrong(struct prop_generator *g, int rank)
{
	struct prop_step right, step;

	for (;;) {
		if (!prop_draw_data(g, rank, &right))
			continue;
		if (prop_once_in(&g->random, 8)) {
			memset(&right, 0, sizeof(right));
			right.op = PROP_HANDOVER;
			right.rank = rank;
			right.peer = prop_any_rank(g);
		}
		step = right;
		step.wrong = (enum prop_wrong)prop_between(&g->random,
							   PROP_RIGHT + 1,
							   PROP_WRONG_NOTIFY_OP);
		if (prop_spoil(g, &step))
			break;
	}
	if (prop_room(g))
		prop_append(g, &step);
}

/* ---- collectives ---- */

static inline bool prop_spoil_collective_step(struct prop_generator *g,
					      struct prop_step *step)
{
	bool reduces = step->op == PROP_ALLREDUCE ||
		       step->op == PROP_REDUCE_SCATTER;
	struct prop_random *r = &g->random;

	step->want = -EINVAL;
	step->wrong_detail = prop_below(r, 60);
	switch (step->wrong) {
	case PROP_WRONG_KIND:
	case PROP_WRONG_NULL:
	case PROP_WRONG_SIGNAL_SHAPE:
	case PROP_WRONG_SIGNAL_DTYPE:
		return true;
	case PROP_WRONG_DTYPE:
		return step->src.full.ndim;
	case PROP_WRONG_ADDRESS:
		step->want = -EFAULT;
		return true;
	case PROP_WRONG_ROOT:
		step->want = -ERANGE;
		step->wrong_detail = prop_out_of(r, g->program->nranks);
		return step->op == PROP_BROADCAST;
	case PROP_WRONG_ROWS:
		return step->op == PROP_ALLGATHER ||
		       step->op == PROP_ALL_TO_ALL ||
		       step->op == PROP_REDUCE_SCATTER;
	case PROP_WRONG_REDUCE_OP:
		return reduces;
	case PROP_WRONG_MODE:
		return step->op == PROP_ALLREDUCE;
	case PROP_WRONG_COUNT:
		step->want = -ERANGE;
		return step->op == PROP_ALL_TO_ALL_V;
	case PROP_WRONG_FLAGS:
		return step->op == PROP_ALLGATHER_REUSE;
	default:
		return false;
	}
}

/* One rank alone is refused, so it must not wait for others. */
static inline void prop_draw_wrong_collective(struct prop_generator *g, int rank)
{
	struct prop_step step;

	do {
		step = prop_collective(g,
				       (enum prop_op)prop_between(&g->random,
								  PROP_BARRIER,
								  PROP_OPS - 1));
		prop_draw_arguments(g, &step);
		step.rank = rank;
		step.peer = prop_any_rank(g);
		step.wrong = (enum prop_wrong)prop_between(&g->random,
							   PROP_RIGHT + 1,
							   PROP_WRONGS - 1);
	} while (!prop_spoil_collective_step(g, &step));
	if (prop_room(g))
		prop_append(g, &step);
}

#endif /* PLD_PROP_DRAW_WRONG_H */
