/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The generator of programs. It runs the model as it goes, so it knows what
 * memory holds, and it knows what is ordered with what. Here is what orders:
 * barriers and hand-overs.
 */
#ifndef PLD_PROP_GENERATOR_H
#define PLD_PROP_GENERATOR_H

#include "prop_model.h"
#include "prop_order.h"

struct prop_generator {
	struct prop_random random;
	struct prop_program *program;
	struct prop_model model;
	struct prop_order order;
	/* the program comes to its end */
	bool closing;
	/* which slot of each window is next, when it is gathered into again */
	int slot[PROP_WINDOWS];
	/* the waiter's clock when it saw what the other had set */
	int seen[PROP_RANKS][PROP_RANKS];
};

/* Is there room for one more step? */
static inline bool prop_room(const struct prop_generator *g)
{
	int most = PROP_STEPS - (g->closing ? 0 : PROP_LAST_STEPS);

	return g->program->nsteps < most;
}

static inline void prop_append(struct prop_generator *g,
			       const struct prop_step *step)
{
	int number = g->program->nsteps++;

	g->program->step[number] = *step;
	if (!step->want)
		prop_model_step(&g->model, step, number);
}

static inline void prop_barrier(struct prop_generator *g)
{
	static const enum prop_op barriers[] = {
		PROP_CREDIT_BARRIER,
		PROP_CENTRAL_BARRIER,
		PROP_BARRIER,
		PROP_BARRIER,
	};
	struct prop_random *r = &g->random;
	struct prop_step step = {
		.op = barriers[prop_below(r, 4)],
		.way = (enum prop_way)prop_below(r, PROP_WAYS),
		.rank = -1,
		.peer = -1,
		.root = prop_below(r, g->program->nranks),
		.dense_signal = prop_once_in(r, 2),
	};

	if (!prop_room(g))
		return;
	prop_append(g, &step);
	prop_join_all(&g->order);
}

/* May from overwrite what it has set before? The waiter must have seen it. */
static inline bool prop_may_set(const struct prop_generator *g, int from, int to)
{
	return g->order.clock[from][to] >= g->seen[from][to];
}

static inline void prop_handover(struct prop_generator *g, int from, int to)
{
	struct prop_random *r = &g->random;
	int32_t now, *cell = g->program->cell[to][from];
	struct prop_step step = {
		.op = PROP_HANDOVER,
		.rank = from,
		.peer = to,
		.column = prop_once_in(r, 2) && prop_may_set(g, from, to),
	};

	if (!prop_room(g))
		return;
	now = cell[step.column];
	step.sent = step.column == PROP_SET ? now + prop_between(r, 1, 9) - 11
					    : prop_between(r, 1, 3);
	step.expected = step.column == PROP_SET ? step.sent : now + step.sent;
	step.way = (enum prop_way)prop_below(r, step.column == PROP_SET
							? PROP_WAIT_EVENT
							: PROP_WAYS);
	prop_append(g, &step);
	prop_tick(&g->order, from);
	prop_join(&g->order, to, from);
	prop_tick(&g->order, to);
	if (step.column == PROP_SET)
		g->seen[from][to] = g->order.clock[to][to];
}

#endif /* PLD_PROP_GENERATOR_H */
