/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Drawing shapes, and views in which a region of a given shape lies.
 */
#ifndef PLD_PROP_DRAW_VIEW_H
#define PLD_PROP_DRAW_VIEW_H

#include "prop_layout.h"

#define PROP_WHOLE 1u /* the region is all of the view */
#define PROP_ALIGNED 2u /* to elements */
#define PROP_MAY_REPEAT 4u /* elements may lie on each other */

static inline pld_dims prop_draw_shape(struct prop_random *r,
				       int64_t most_elements)
{
	pld_dims shape = { .ndim = prop_between(r, 1, PLD_MAX_DIMS) };
	int64_t left = most_elements;

	for (int i = shape.ndim - 1; i >= 0; i--) {
		int64_t most = shape.ndim == 1 ? left : 9;

		if (prop_once_in(r, 3))
			most = 3;
		shape.n[i] = 1 + prop_below(r, most < left ? most : left);
		left /= shape.n[i];
	}
	return shape;
}

/* A shape around another one, and where in it that lies. */
static inline pld_dims prop_draw_around(struct prop_random *r, pld_dims shape,
					int64_t most_elements, pld_dims *offsets)
{
	pld_dims around = shape;

	offsets->ndim = shape.ndim;
	for (int i = shape.ndim - 1; i >= 0; i--) {
		int64_t others = prop_count(around) / around.n[i];
		int64_t room = most_elements / others - around.n[i];
		int64_t most = i ? 3 : room;

		if (prop_once_in(r, 2))
			most = 1;
		if (most > room)
			most = room;
		around.n[i] += prop_below(r, most + 1);
		offsets->n[i] = prop_below(r, around.n[i] - shape.n[i] + 1);
	}
	return around;
}

/* Strides of shape, in a random order of its dimensions. */
static inline pld_dims prop_draw_strides(struct prop_random *r, pld_dims shape,
					 bool may_repeat)
{
	pld_dims strides = { .ndim = shape.ndim };
	bool shuffle = prop_once_in(r, 2), done[PLD_MAX_DIMS] = { false };
	int64_t reach = 1;

	may_repeat = may_repeat && prop_once_in(r, 2);
	for (int k = shape.ndim - 1; k >= 0; k--) {
		int i = k;

		do {
			if (shuffle)
				i = prop_below(r, shape.ndim);
		} while (done[i]);
		done[i] = true;
		strides.n[i] = reach + prop_below(r, 3);
		if (may_repeat && prop_once_in(r, 2))
			strides.n[i] = prop_below(r, reach + 1);
		reach += (shape.n[i] - 1) * strides.n[i];
	}
	return strides;
}

/* Adds a move to the view, unless it would leave the view's memory. */
static inline void prop_try_move(struct prop_view *view, struct prop_move move)
{
	int size = prop_size(view->dtype);
	/* A Tensor's memory is that of the dense shape, a window is all of it. */
	int64_t end = view->place == PROP_PRIVATE
			      ? view->start + prop_count(view->full) * size
			      : PROP_PLACE_BYTES;
	struct prop_layout layout;

	view->move[view->moves++] = move;
	layout = prop_layout(view);
	if (prop_end(&layout, size) > prop_place_at(view->place) + end)
		view->moves--;
}

static inline void prop_draw_view(struct prop_random *r, int place,
				  pld_dtype dtype, pld_dims region,
				  unsigned int how, struct prop_view *view,
				  pld_dims *offsets)
{
	int size = prop_size(dtype);
	pld_dims shape = region;
	struct prop_move slice = { 0 };
	bool strides = prop_once_in(r, 3), before = prop_once_in(r, 2);
	int64_t room;

	*view = (struct prop_view){ .place = place, .dtype = dtype };
	if (prop_once_in(r, place == PROP_PRIVATE ? 2 : 6))
		view->start = prop_below(r, 32);
	if (how & PROP_ALIGNED)
		view->start -= view->start % size;
	room = (PROP_PLACE_BYTES - view->start) / size;
	*offsets = (pld_dims){ .ndim = region.ndim };
	if (!(how & PROP_WHOLE))
		shape = prop_draw_around(r, region, room, offsets);
	view->full = prop_draw_around(r, shape, room, &slice.offsets);
	slice.shape = shape;
	if (strides && before)
		prop_try_move(view,
			      (struct prop_move){
				      .strides = true,
				      .offsets =
					      prop_draw_strides(r, view->full,
								how & PROP_MAY_REPEAT) });
	prop_try_move(view, slice);
	if (strides && !before)
		prop_try_move(view,
			      (struct prop_move){
				      .strides = true,
				      .offsets =
					      prop_draw_strides(r, shape,
								how & PROP_MAY_REPEAT) });
}

#endif /* PLD_PROP_DRAW_VIEW_H */
