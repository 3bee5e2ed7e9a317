/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Where the elements of a view lie in a rank's image: index arithmetic of the
 * property test's own, one element at a time.
 */
#ifndef PLD_PROP_LAYOUT_H
#define PLD_PROP_LAYOUT_H

#include "prop_program.h"

#define PROP_ELEMENTS PROP_PLACE_BYTES

struct prop_layout {
	int64_t first; /* byte */
	int64_t step[PLD_MAX_DIMS]; /* bytes */
	pld_dims shape;
};

/* The elements of a region, in the order of their indices. */
struct prop_spots {
	int n;
	int size;
	int at[PROP_ELEMENTS];
};

static inline struct prop_layout prop_dense(int64_t first, pld_dims shape,
					    int size)
{
	struct prop_layout layout = { .first = first, .shape = shape };

	for (int i = 0; i < shape.ndim; i++) {
		layout.step[i] = size;
		for (int j = i + 1; j < shape.ndim; j++)
			layout.step[i] *= shape.n[j];
	}
	return layout;
}

static inline void prop_move(struct prop_layout *layout,
			     const struct prop_move *move, int size)
{
	for (int i = 0; i < layout->shape.ndim; i++) {
		if (move->strides)
			layout->step[i] = move->offsets.n[i] * size;
		else
			layout->first += move->offsets.n[i] * layout->step[i];
	}
	if (!move->strides)
		layout->shape = move->shape;
}

static inline struct prop_layout prop_layout(const struct prop_view *view)
{
	int size = prop_size(view->dtype);
	struct prop_layout layout =
		prop_dense(prop_place_at(view->place) + view->start, view->full,
			   size);

	for (int i = 0; i < view->moves; i++)
		prop_move(&layout, &view->move[i], size);
	return layout;
}

/* The byte behind the last element of the layout. */
static inline int64_t prop_end(const struct prop_layout *layout, int size)
{
	int64_t last = layout->first;

	for (int i = 0; i < layout->shape.ndim; i++)
		last += (layout->shape.n[i] - 1) * layout->step[i];
	return last + size;
}

/* offsets may have no dimensions: the beginning. */
static inline void prop_spots(const struct prop_layout *layout, pld_dims offsets,
			      pld_dims shape, int size, struct prop_spots *spots)
{
	int64_t count = prop_count(shape);

	spots->n = (int)count;
	spots->size = size;
	for (int64_t k = 0; k < count; k++) {
		int64_t rest = k, at = layout->first;

		for (int i = shape.ndim - 1; i >= 0; i--) {
			int64_t index = rest % shape.n[i];

			if (i < offsets.ndim)
				index += offsets.n[i];
			at += index * layout->step[i];
			rest /= shape.n[i];
		}
		spots->at[k] = (int)at;
	}
}

#endif /* PLD_PROP_LAYOUT_H */
