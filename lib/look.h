/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * What a wait waits for, and the look at its cells.
 */
#ifndef PLD_LOOK_H
#define PLD_LOOK_H

#include <stdatomic.h>
#include <stdbool.h>

#include "domain.h"

/* An own cell, checked, and what is expected of it. */
struct pld_wanted {
	pld_window_buffer *buffer;
	size_t offset;
	int32_t expected;
	pld_cmp cmp;
};

/* The cells of a wait, all of one domain. */
struct pld_wants {
	const struct pld_wanted *cells;
	int count;
	/* one of them is enough */
	bool any;
	/* see struct pld_wait_request */
	const atomic_bool *stop;
};

/*
 * index is the cell that decided: with any the first one that is as expected,
 * otherwise the first one that is not. Where there is none, it is 0.
 */
struct pld_look {
	bool satisfied;
	int index;
	int32_t value;
};

static inline int32_t pld_value(const struct pld_wanted *wanted)
{
	const char *own = pld_own_base(wanted->buffer);

	/*
	 * Acquire: pairs with the release in pld_system_notify(). seq_cst,
	 * because block() of memfd raises waiters before.
	 */
	return __atomic_load_n((const int32_t *)(own + wanted->offset),
			       __ATOMIC_SEQ_CST);
}

static inline bool pld_holds(const struct pld_wanted *wanted, int32_t value)
{
	return wanted->cmp == PLD_EQ ? value == wanted->expected
				     : value >= wanted->expected;
}

static inline struct pld_look pld_look(const struct pld_wants *wants)
{
	struct pld_look look = { .satisfied = !wants->any };

	for (int i = 0; i < wants->count; i++) {
		const struct pld_wanted *wanted = &wants->cells[i];
		int32_t value = pld_value(wanted);
		bool holds = pld_holds(wanted, value);

		if (holds == wants->any)
			return (struct pld_look){ holds, i, value };
		if (!i)
			look.value = value;
	}
	return look;
}

#endif
