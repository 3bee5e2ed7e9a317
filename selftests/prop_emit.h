/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Adding a step to a program that stays free of races: one that would race with
 * earlier steps is left out, or comes after a hand-over or a barrier. What is
 * left unordered really runs at once.
 */
#ifndef PLD_PROP_EMIT_H
#define PLD_PROP_EMIT_H

#include "prop_generator.h"

static inline bool prop_is_whole(double value, double most)
{
	return fabs(value) <= most && value == rint(value) &&
	       !(value == 0 && signbit(value));
}

enum prop_sum {
	PROP_SUM_NAN, /* not to be added: which NaN comes out is not said */
	PROP_SUM_ROUNDED, /* right if nothing else is added at the time */
	PROP_SUM_EXACT, /* in any order with others that are exact */
};

/*
 * Whole numbers up to 64 and additions of up to 4: there are not so many of
 * them in a program that bf16 would not have each sum.
 */
static inline enum prop_sum prop_sum_of(pld_dtype dtype, const void *to,
					const void *from)
{
	double old = prop_float(dtype, to), more = prop_float(dtype, from);

	if (isnan(old + more))
		return PROP_SUM_NAN;
	return prop_is_whole(old, 64) && prop_is_whole(more, 4)
		       ? PROP_SUM_EXACT
		       : PROP_SUM_ROUNDED;
}

static inline enum prop_sum prop_sums(const struct prop_generator *g,
				      pld_dtype dtype,
				      const struct prop_side *to,
				      const struct prop_side *from)
{
	const struct prop_program *p = g->program;
	enum prop_sum worst = PROP_SUM_EXACT;

	for (int i = 0; prop_is_float(dtype) && i < to->spots.n; i++) {
		enum prop_sum sum =
			prop_sum_of(dtype, p->image[to->owner] + to->spots.at[i],
				    p->image[from->owner] + from->spots.at[i]);

		if (sum < worst)
			worst = sum;
	}
	return worst;
}

static inline bool prop_sides_overlap(const struct prop_side *to,
				      const struct prop_side *from)
{
	bool taken[PROP_IMAGE_BYTES] = { false };

	if (to->owner != from->owner)
		return false;
	for (int i = 0; i < to->spots.n; i++)
		memset(taken + to->spots.at[i], true, (size_t)to->spots.size);
	for (int i = 0; i < from->spots.n; i++)
		for (int k = 0; k < from->spots.size; k++)
			if (taken[from->spots.at[i] + k])
				return true;
	return false;
}

/* The rank that the step would race with, or -1; *side is looked at. */
static inline int prop_side_conflict(struct prop_generator *g, int by,
				     const struct prop_side *side,
				     enum prop_mode mode, pld_dtype dtype)
{
	if (!side->window)
		return -1;
	return prop_conflict(&g->order, prop_access(&g->order, by, side->owner,
						    mode, dtype, &side->spots));
}

static inline void prop_keep_side(struct prop_generator *g, int by,
				  const struct prop_side *side,
				  enum prop_mode mode, pld_dtype dtype)
{
	if (side->window)
		prop_keep(&g->order, prop_access(&g->order, by, side->owner,
						 mode, dtype, &side->spots));
}

/* A barrier, or a hand-over from that rank. */
static inline void prop_settle(struct prop_generator *g, int from, int to)
{
	if (prop_once_in(&g->random, 3))
		prop_barrier(g);
	else
		prop_handover(g, from, to);
}

/*
 * Appends a step of one rank that moves data. When it races, must tells whether
 * it is made to wait, or left out. False: there is no such step.
 */
static inline bool prop_emit(struct prop_generator *g, struct prop_step *step,
			     bool must)
{
	static struct prop_side to, from;
	enum prop_mode mode = PROP_WRITES;
	int by = step->rank, other;

	prop_sides(&g->model, step, &to, &from);
	if (prop_sides_overlap(&to, &from))
		return false;
	if (step->atomic == PLD_ADD) {
		enum prop_sum sum = prop_sums(g, step->dst.dtype, &to, &from);

		if (sum == PROP_SUM_NAN)
			step->atomic = PLD_NONE;
		else if (sum == PROP_SUM_EXACT)
			mode = PROP_ADDS;
	}
	for (;;) {
		other = prop_side_conflict(g, by, &to, mode, step->dst.dtype);
		if (other < 0)
			other = prop_side_conflict(g, by, &from, PROP_READS, 0);
		if (other < 0)
			break;
		if (!must || !prop_room(g))
			return false;
		prop_settle(g, other, by);
	}
	if (!prop_room(g) || prop_full(&g->order, 2))
		return false;
	prop_keep_side(g, by, &from, PROP_READS, 0);
	prop_keep_side(g, by, &to, mode, step->dst.dtype);
	prop_append(g, step);
	return true;
}

/* Plain writes of n elements to private memory. */
static inline void prop_fill(struct prop_generator *g, int rank, int at,
			     enum prop_values values, pld_dtype dtype, int n)
{
	struct prop_step step = {
		.op = PROP_FILL,
		.rank = rank,
		.peer = -1,
		.value_at = at,
		.values = values,
		.dst = { .dtype = dtype },
		.shape = PLD_SHAPE(n),
		.seed = prop_next(&g->random),
	};

	if (prop_room(g))
		prop_append(g, &step);
}

static inline int prop_private_at(struct prop_generator *g, int bytes)
{
	return PROP_WINDOWS_BYTES +
	       prop_below(&g->random, PROP_PLACE_BYTES - bytes + 1);
}

static inline void prop_draw_fill(struct prop_generator *g, int rank)
{
	struct prop_random *r = &g->random;
	pld_dtype dtype = (pld_dtype)prop_below(r, PROP_DTYPES);
	int n = prop_between(r, 1, 512 / prop_size(dtype));

	prop_fill(g, rank, prop_private_at(g, n * prop_size(dtype)),
		  (enum prop_values)prop_below(r, 3), dtype, n);
}

static inline void prop_draw_pause(struct prop_generator *g, int rank)
{
	struct prop_step step = {
		.op = PROP_PAUSE,
		.rank = rank,
		.peer = -1,
		.sent = prop_once_in(&g->random, 4)
				? prop_between(&g->random, 1, 60)
				: 0,
	};

	if (prop_room(g))
		prop_append(g, &step);
}

#endif /* PLD_PROP_EMIT_H */
