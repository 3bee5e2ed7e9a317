/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Waiting for cells in all the ways that there are.
 */
#ifndef PLD_PROP_RUN_WAIT_H
#define PLD_PROP_RUN_WAIT_H

#include <poll.h>

#include "prop_rank.h"

#define PROP_WAIT_NS (20000 * LIB_MS)

static inline int prop_wait_one_by_one(const struct prop_rank *rank,
				       const pld_condition *conditions, int n)
{
	for (int i = 0; i < n; i++)
		PROP_DO(rank, pld_system_wait(conditions[i].signal,
					      conditions[i].offsets,
					      conditions[i].expected,
					      conditions[i].cmp));
	return 0;
}

/* Whichever comes first; each index comes once. */
static inline int prop_wait_any(const struct prop_rank *rank,
				const pld_condition *conditions, int n)
{
	pld_condition left[PROP_RANKS];

	memcpy(left, conditions, (size_t)n * sizeof(*left));
	while (n) {
		int index = pld_system_wait_any(left, n, PROP_WAIT_NS);

		if (index < 0)
			PROP_DO(rank, index);
		if (index >= n) {
			prop_report_step(rank, "wait_any returned no index");
			return -EBADMSG;
		}
		left[index] = left[--n];
	}
	return 0;
}

static inline int prop_wait_by_event(const struct prop_rank *rank,
				     const pld_condition *conditions, int n)
{
	struct pollfd event = { .events = POLLIN };
	pld_waiter *waiter;

	PROP_DO(rank, pld_waiter_create(rank->domain, &waiter));
	for (int i = 0; i < n; i++)
		PROP_DO(rank, pld_system_defer_wait(waiter, conditions[i].signal,
						    conditions[i].offsets,
						    conditions[i].expected,
						    conditions[i].cmp));
	event.fd = pld_waiter_fd(waiter);
	if (event.fd < 0)
		PROP_DO(rank, event.fd);
	while (poll(&event, 1, -1) < 0)
		;
	PROP_DO(rank, pld_waiter_result(waiter));
	pld_waiter_destroy(waiter);
	return 0;
}

static inline int prop_wait_somehow(const struct prop_rank *rank,
				    enum prop_way way,
				    const pld_condition *conditions, int n)
{
	switch (way) {
	case PROP_WAIT_ALL:
		PROP_DO(rank, pld_system_wait_all(conditions, n, PROP_WAIT_NS));
		return 0;
	case PROP_WAIT_ANY:
		return prop_wait_any(rank, conditions, n);
	case PROP_WAIT_EVENT:
		return prop_wait_by_event(rank, conditions, n);
	default:
		return prop_wait_one_by_one(rank, conditions, n);
	}
}

/* Without a call, which may be refused by now. */
static inline int32_t prop_cell_value(const pld_condition *condition)
{
	const pld_view *signal = condition->signal;
	int64_t at = 0;

	for (int i = 0; i < signal->shape.ndim; i++)
		at += condition->offsets.n[i] * signal->stride[i];
	return __atomic_load_n((int32_t *)signal->data + at, __ATOMIC_RELAXED);
}

/*
 * For all of n own cells. They hold what was waited for: nobody may change that
 * before this rank has told him so.
 */
static inline int prop_wait(const struct prop_rank *rank, enum prop_way way,
			    const pld_condition *conditions, int n)
{
	if (!n)
		return 0;
	PLD_TRY(prop_wait_somehow(rank, way, conditions, n));
	for (int i = 0; i < n; i++) {
		int32_t value = prop_cell_value(&conditions[i]);

		if (conditions[i].cmp == PLD_EQ
			    ? value == conditions[i].expected
			    : value >= conditions[i].expected)
			continue;
		prop_report_step(rank, "a wait returned before its cell was so");
		return -EBADMSG;
	}
	return 0;
}

#endif /* PLD_PROP_RUN_WAIT_H */
