/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A rank that runs a program of the property test: what it knows, what it says
 * when something is not as it should be, and its views.
 */
#ifndef PLD_PROP_RANK_H
#define PLD_PROP_RANK_H

#include "lib_test.h"
#include "prop_call.h"
#include "prop_text.h"

/* The buffers of a domain. */
struct prop_buffers {
	pld_window_buffer *window[PROP_WINDOWS];
	pld_window_buffer *cells; /* for hand-overs */
	/* for barriers and collectives: of cells that lie apart, and dense */
	pld_window_buffer *spread;
	pld_window_buffer *dense;
};

struct prop_rank {
	pld_domain *domain;
	const struct prop_buffers *buffers;
	const struct prop_program *program;
	int me;
	int step;
	unsigned char *memory; /* private */
	pld_tile tile[PROP_TILES];
	pld_distributed_tensor cells;
};

/* One line that says what is not as it should be. */
static inline void prop_report_step(const struct prop_rank *rank,
				    const char *what)
{
	const struct prop_program *p = rank->program;

	fprintf(stderr, "# seed %llu: rank %d of %d, step %d (%s): %s\n",
		(unsigned long long)p->seed, rank->me, p->nranks, rank->step,
		rank->step < 0 ? "none" : prop_op_names[p->step[rank->step].op],
		what);
}

static inline int prop_returned(const struct prop_rank *rank, int wanted,
				int got)
{
	char text[PLD_MESSAGE_BYTES + 64];

	if (got == wanted)
		return 0;
	/* Another rank has failed or died: its own report says how. */
	if (got == -EOWNERDEAD)
		return got;
	snprintf(text, sizeof(text), "returned %d%s%s, wanted %d", got,
		 got < 0 ? ": " : "", got < 0 ? pld_last_error() : "", wanted);
	prop_report_step(rank, text);
	return -EBADMSG;
}

/* In a function that returns 0 or a negative errno: the call must return 0. */
#define PROP_DO(rank, call) PLD_TRY(prop_returned(rank, 0, call))

/* ---- views ---- */

static inline int prop_make_view(const struct prop_rank *rank,
				 const struct prop_view *view, pld_view *made)
{
	if (view->place == PROP_PRIVATE) {
		PROP_DO(rank, pld_tensor_init(made, rank->memory + view->start,
					      view->full, view->dtype));
	} else {
		PROP_DO(rank, pld_window(rank->buffers->window[view->place],
					 view->full, view->dtype, made));
		made->data = (char *)made->data + view->start;
	}
	for (int i = 0; i < view->moves; i++) {
		const struct prop_move *move = &view->move[i];

		if (move->strides)
			PROP_DO(rank, pld_set_strides(made, move->offsets));
		else
			PROP_DO(rank, pld_slice(made, move->offsets,
						move->shape, made));
	}
	return 0;
}

#endif /* PLD_PROP_RANK_H */
