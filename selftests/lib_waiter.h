/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Waiters of pld.system.defer_wait: making them, and telling those of rank 0.
 */
#ifndef PLD_LIB_WAITER_H
#define PLD_LIB_WAITER_H

#define NRANKS 4
#include "lib_polled.h"

FIXTURE(waiter)
{
	pld_domain *domain;
	pld_window_buffer *buffer;
};

FIXTURE_SETUP(waiter)
{
	make_signals(_metadata, &self->domain, &self->buffer);
}

FIXTURE_TEARDOWN(waiter)
{
	pld_domain_destroy(self->domain);
}

#define EXPECT_PENDING(waiter)                                          \
	CHECK_REFUSED(-EAGAIN,                                          \
		      "pld_waiter_result: not all conditions hold yet", \
		      pld_waiter_result(waiter))

/* Rank 0's conditions, in a view that is gone when they are looked at. */
static inline int defer(pld_waiter *waiter, void *buffer, int32_t expected)
{
	pld_distributed_tensor signal;

	PLD_TRY(view(buffer, &signal));
	for (int peer = 1; peer < NRANKS; peer++)
		CHECK_EQ(0, pld_system_defer_wait(waiter, &signal,
						  PLD_AT(peer, peer), expected,
						  PLD_GE));
	memset(&signal, 0, sizeof(signal));
	return 0;
}

static inline int tell_zero(void *buffer, int me, int32_t value)
{
	pld_distributed_tensor signal;

	PLD_TRY(view(buffer, &signal));
	return pld_system_notify(&signal, 0, PLD_AT(me, me), value, PLD_SET);
}

#define WAITERS (NRANKS - 1)

/* Rank 0's waiters, one for each peer. */
static inline int make_waiters(pld_domain *domain, void *buffer,
			       pld_waiter *waiters[WAITERS], int32_t expected)
{
	pld_distributed_tensor signal;

	PLD_TRY(view(buffer, &signal));
	for (int i = 0; i < WAITERS; i++) {
		CHECK_EQ(0, pld_waiter_create(domain, &waiters[i]));
		CHECK_EQ(0, pld_system_defer_wait(waiters[i], &signal,
						  PLD_AT(i + 1, i + 1),
						  expected, PLD_GE));
	}
	return 0;
}

#endif /* PLD_LIB_WAITER_H */
