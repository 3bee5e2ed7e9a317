/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The serial model of the property test: does one step after the other on the
 * images of all ranks, one element at a time.
 */
#ifndef PLD_PROP_MODEL_H
#define PLD_PROP_MODEL_H

#include "prop_reduce.h"

struct prop_tile_state {
	bool loaded;
	pld_dtype dtype;
	pld_dims shape;
	pld_dims valid;
};

struct prop_model {
	struct prop_program *program;
	struct prop_tile_state tile[PROP_RANKS][PROP_TILES];
};

/* One side of a transfer. */
struct prop_side {
	int owner;
	bool window;
	struct prop_spots spots;
};

static inline void prop_tensor_side(const struct prop_view *view, int owner,
				    pld_dims offsets, pld_dims shape,
				    struct prop_side *side)
{
	struct prop_layout layout = prop_layout(view);

	side->owner = owner;
	side->window = view->place != PROP_PRIVATE;
	prop_spots(&layout, offsets, shape, prop_size(view->dtype),
		   &side->spots);
}

/* Dense elements of private memory. */
static inline void prop_dense_side(int owner, int at, pld_dims all,
				   pld_dims offsets, pld_dims shape, int size,
				   struct prop_side *side)
{
	struct prop_layout layout = prop_dense(at, all, size);

	side->owner = owner;
	side->window = false;
	prop_spots(&layout, offsets, shape, size, &side->spots);
}

static inline pld_dims prop_ones(int ndim)
{
	return (pld_dims){ .ndim = ndim, .n = { 1, 1, 1, 1, 1 } };
}

/* What of the tile a store takes. */
static inline pld_dims prop_stored_shape(const struct prop_tile_state *tile,
					 const struct prop_step *step)
{
	if (step->tile_shape.ndim)
		return step->tile_shape;
	return tile->valid.ndim ? tile->valid : tile->shape;
}

static inline void prop_load_sides(const struct prop_step *step, int owner,
				   struct prop_side *to, struct prop_side *from)
{
	pld_dims part = step->valid.ndim ? step->valid : step->shape;

	prop_tensor_side(&step->src, owner, step->src_offsets, part, from);
	prop_dense_side(step->rank, prop_tile_at(step->tile), step->shape,
			(pld_dims){ 0 }, part, prop_size(step->src.dtype), to);
}

static inline void prop_store_sides(const struct prop_model *model,
				    const struct prop_step *step, int owner,
				    struct prop_side *to, struct prop_side *from)
{
	const struct prop_tile_state *tile =
		&model->tile[step->rank][step->tile];
	pld_dims part = prop_stored_shape(tile, step);

	prop_tensor_side(&step->dst, owner, step->dst_offsets, part, to);
	prop_dense_side(step->rank, prop_tile_at(step->tile), tile->shape,
			step->tile_offsets, part, prop_size(tile->dtype), from);
}

static inline void prop_value_side(const struct prop_step *step, int size,
				   struct prop_side *side)
{
	prop_dense_side(step->rank, step->value_at, PLD_SHAPE(1),
			(pld_dims){ 0 }, PLD_SHAPE(1), size, side);
}

/* Both sides of a step that moves data. */
static inline void prop_sides(const struct prop_model *model,
			      const struct prop_step *step,
			      struct prop_side *to, struct prop_side *from)
{
	int me = step->rank;

	switch (step->op) {
	case PROP_LOAD:
	case PROP_REMOTE_LOAD:
		prop_load_sides(step, step->op == PROP_LOAD ? me : step->peer,
				to, from);
		break;
	case PROP_STORE:
	case PROP_REMOTE_STORE:
		prop_store_sides(model, step,
				 step->op == PROP_STORE ? me : step->peer, to,
				 from);
		break;
	case PROP_READ:
		prop_tensor_side(&step->src, me, step->src_offsets,
				 prop_ones(step->src_offsets.ndim), from);
		prop_value_side(step, prop_size(step->src.dtype), to);
		break;
	case PROP_WRITE:
		prop_tensor_side(&step->dst, me, step->dst_offsets,
				 prop_ones(step->dst_offsets.ndim), to);
		prop_value_side(step, prop_size(step->dst.dtype), from);
		break;
	default:
		prop_tensor_side(&step->dst,
				 step->op == PROP_PUT ? step->peer : me,
				 step->dst_offsets, step->shape, to);
		prop_tensor_side(&step->src,
				 step->op == PROP_GET ? step->peer : me,
				 step->src_offsets, step->shape, from);
	}
}

static inline void prop_written(struct prop_program *p, int rank, int at,
				int bytes, int step)
{
	memset(p->writer[rank] + at, step, (size_t)bytes);
}

static inline void prop_transfer(struct prop_model *model,
				 const struct prop_step *step, int number)
{
	static struct prop_side to, from;
	struct prop_program *p = model->program;
	unsigned char element[8];

	prop_sides(model, step, &to, &from);
	for (int i = 0; i < to.spots.n; i++) {
		unsigned char *at = p->image[to.owner] + to.spots.at[i];

		memcpy(element, p->image[from.owner] + from.spots.at[i],
		       (size_t)to.spots.size);
		if (step->atomic == PLD_ADD)
			prop_add(step->dst.dtype, at, element);
		else
			memcpy(at, element, (size_t)to.spots.size);
		prop_written(p, to.owner, to.spots.at[i], to.spots.size, number);
	}
}

static inline void prop_model_load(struct prop_model *model,
				   const struct prop_step *step, int number)
{
	struct prop_program *p = model->program;
	int at = prop_tile_at(step->tile);
	int bytes = (int)prop_count(step->shape) * prop_size(step->src.dtype);

	if (step->valid.ndim) {
		memset(p->image[step->rank] + at, 0, (size_t)bytes);
		prop_written(p, step->rank, at, bytes, number);
	}
	prop_transfer(model, step, number);
	model->tile[step->rank][step->tile] = (struct prop_tile_state){
		.loaded = true,
		.dtype = step->src.dtype,
		.shape = step->shape,
		.valid = step->valid,
	};
}

/* ---- collectives ---- */

/* All elements of a view of one rank. */
static inline void prop_whole_side(const struct prop_view *view, int owner,
				   struct prop_side *side)
{
	prop_tensor_side(view, owner, (pld_dims){ 0 }, prop_layout(view).shape,
			 side);
}

/* n elements from number from of one side on, to number to of another one. */
static inline void prop_copy(struct prop_program *p, const struct prop_side *to,
			     int to_rank, int to_at,
			     const struct prop_side *from, int from_rank,
			     int from_at, int n, int number)
{
	for (int i = 0; i < n; i++) {
		int at = to->spots.at[to_at + i];

		memcpy(p->image[to_rank] + at,
		       p->image[from_rank] + from->spots.at[from_at + i],
		       (size_t)to->spots.size);
		prop_written(p, to_rank, at, to->spots.size, number);
	}
}

/* Rank s's first n elements become row row + s of every target. */
static inline void prop_model_gather(struct prop_program *p,
				     const struct prop_side *target,
				     const struct prop_side *input, int row,
				     int number)
{
	int n = input->spots.n;

	for (int s = 0; s < p->nranks; s++)
		for (int r = 0; r < p->nranks; r++)
			prop_copy(p, target, r, (row + s) * n, input, s, 0, n,
				  number);
}

static inline void prop_model_all_to_all(struct prop_program *p,
					 const struct prop_step *step,
					 const struct prop_side *target,
					 const struct prop_side *input,
					 int number)
{
	int block = target->spots.n / p->nranks;

	for (int s = 0; s < p->nranks; s++)
		for (int d = 0; d < p->nranks; d++) {
			int n = block;

			if (step->op == PROP_ALL_TO_ALL_V)
				n = block / step->most *
				    prop_rows_sent(step, s, d);
			prop_copy(p, target, d, s * block, input, s, d * block,
				  n, number);
		}
}

/* Elements from on, n of them, to one rank or, if that is -1, to all. */
static inline void prop_model_reduce(struct prop_program *p,
				     const struct prop_step *step,
				     const struct prop_side *target, int from,
				     int n, int to, int number)
{
	for (int i = from; i < from + n; i++) {
		int first = 0, at = target->spots.at[i];
		unsigned char element[8];

		if (step->op == PROP_ALLREDUCE && step->mode == PLD_RING)
			first = prop_ring_first(step->dst.dtype, p->nranks,
						p->tile_bytes, target->spots.n,
						i);
		prop_reduce(p, step, at, first, element);
		for (int r = 0; r < p->nranks; r++)
			if (to < 0 || r == to) {
				memcpy(p->image[r] + at, element,
				       (size_t)target->spots.size);
				prop_written(p, r, at, target->spots.size,
					     number);
			}
	}
}

static inline void prop_model_collective(struct prop_program *p,
					 const struct prop_step *step,
					 int number)
{
	static struct prop_side target, input;
	int row;

	if (step->op == PROP_BARRIER)
		return;
	prop_whole_side(&step->dst, 0, &target);
	if (step->src.full.ndim)
		prop_whole_side(&step->src, 0, &input);
	row = target.spots.n / p->nranks;
	switch (step->op) {
	case PROP_BROADCAST:
		for (int r = 0; r < p->nranks; r++)
			if (r != step->root)
				prop_copy(p, &target, r, 0, &target, step->root,
					  0, target.spots.n, number);
		break;
	case PROP_ALLGATHER:
	case PROP_ALLGATHER_REUSE:
		prop_model_gather(p, &target, &input, step->slot * p->nranks,
				  number);
		break;
	case PROP_REDUCE_SCATTER:
		for (int r = 0; r < p->nranks; r++)
			prop_model_reduce(p, step, &target, r * row, row, r,
					  number);
		break;
	case PROP_ALLREDUCE:
		prop_model_reduce(p, step, &target, 0, target.spots.n, -1,
				  number);
		break;
	default:
		prop_model_all_to_all(p, step, &target, &input, number);
	}
}

static inline void prop_model_step(struct prop_model *model,
				   const struct prop_step *step, int number)
{
	struct prop_program *p = model->program;
	int bytes;

	switch (step->op) {
	case PROP_LOAD:
	case PROP_REMOTE_LOAD:
		prop_model_load(model, step, number);
		break;
	case PROP_STORE:
	case PROP_REMOTE_STORE:
	case PROP_READ:
	case PROP_WRITE:
	case PROP_PUT:
	case PROP_GET:
		if (p->stage_used[step->rank] < step->stage_bytes)
			p->stage_used[step->rank] = step->stage_bytes;
		prop_transfer(model, step, number);
		break;
	case PROP_FILL:
		bytes = (int)prop_count(step->shape) *
			prop_size(step->dst.dtype);
		prop_draw_values(step->seed, step->values, step->dst.dtype,
				 p->image[step->rank] + step->value_at,
				 (int)prop_count(step->shape));
		prop_written(p, step->rank, step->value_at, bytes, number);
		break;
	case PROP_HANDOVER:
		p->cell[step->peer][step->rank][step->column] = step->expected;
		break;
	case PROP_CENTRAL_BARRIER:
		for (int r = 0; r < p->nranks; r++)
			if (r != step->root)
				p->cell[r][step->root][PROP_ADDED]++;
		break;
	case PROP_PAUSE:
	case PROP_CREDIT_BARRIER:
		break;
	default:
		prop_model_collective(p, step, number);
	}
}

#endif /* PLD_PROP_MODEL_H */
