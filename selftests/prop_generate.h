/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The program of a seed.
 */
#ifndef PLD_PROP_GENERATE_H
#define PLD_PROP_GENERATE_H

#include <stdlib.h>

#include "prop_draw_storm.h"
#include "prop_draw_wrong.h"

/* Programs of one class can run in one domain. */
#define PROP_STAGES 4

static const int prop_stages[PROP_STAGES] = { 8, 64, 1000, 65536 };

static inline int prop_nranks(uint64_t seed)
{
	static const int nranks[] = { 1, 2, 2, 3, 3, 4, 4, 4, 5, 6, 7, 8 };
	struct prop_random r = { seed };

	return prop_once_in(&r, 100) ? PROP_RANKS : nranks[prop_below(&r, 12)];
}

static inline int prop_stage_bytes(uint64_t seed)
{
	struct prop_random r = { ~seed };

	return prop_stages[prop_below(&r, PROP_STAGES)];
}

static inline void prop_draw_one(struct prop_generator *g)
{
	struct prop_random *r = &g->random;
	int rank = prop_any_rank(g), what = prop_below(r, 100);
	struct prop_step step;

	if (what < 6)
		prop_barrier(g);
	else if (what < 12)
		prop_handover(g, rank, prop_any_rank(g));
	else if (what < 20)
		prop_draw_fill(g, rank);
	else if (what < 24)
		prop_draw_pause(g, rank);
	else if (what < 28)
		prop_draw_storm(g);
	else if (what < 40)
		prop_draw_collective(g);
	else if (prop_draw_data(g, rank, &step))
		prop_emit(g, &step, prop_once_in(r, 2));
}

/* NULL: no memory. */
static inline struct prop_program *prop_generate(uint64_t seed)
{
	static struct prop_generator g;
	struct prop_program *p = calloc(1, sizeof(*p));
	int draws, wrong_at;

	if (!p)
		return NULL;
	p->seed = seed;
	p->nranks = prop_nranks(seed);
	p->tile_bytes = prop_stage_bytes(seed);
	p->image = calloc((size_t)p->nranks, sizeof(*p->image));
	p->writer = malloc((size_t)p->nranks * sizeof(*p->writer));
	if (!p->image || !p->writer)
		return NULL;
	memset(p->writer, PROP_NOBODY, (size_t)p->nranks * sizeof(*p->writer));
	for (int rank = 0; rank < p->nranks; rank++)
		prop_initial(seed, rank, p->image[rank]);
	g.random.state = seed;
	g.program = p;
	memset(&g.model, 0, sizeof(g.model));
	memset(g.seen, 0, sizeof(g.seen));
	memset(g.slot, 0, sizeof(g.slot));
	g.closing = false;
	g.model.program = p;
	prop_order_init(&g.order, p->nranks);
	draws = prop_between(&g.random, 4, 12 + 4 * p->nranks);
	wrong_at = prop_once_in(&g.random, 4) ? prop_below(&g.random, draws)
					      : -1;
	for (int i = 0; i < draws && prop_room(&g); i++) {
		if (i == wrong_at && prop_once_in(&g.random, 3))
			prop_draw_wrong_collective(&g, prop_any_rank(&g));
		else if (i == wrong_at)
			prop_draw_wrong(&g, prop_any_rank(&g));
		prop_draw_one(&g);
	}
	prop_close(&g);
	return p;
}

static inline void prop_free(struct prop_program *p)
{
	if (!p)
		return;
	free(p->image);
	free(p->writer);
	free(p);
}

#endif /* PLD_PROP_GENERATE_H */
