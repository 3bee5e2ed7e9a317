/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A domain with a window of signals, and descriptors that become readable when
 * its cells are as they should be. Whoever includes this says first how many
 * ranks there are: NRANKS.
 */
#ifndef PLD_LIB_POLLED_H
#define PLD_LIB_POLLED_H

#include "lib_fault.h"
#include "lib_test.h"
#include "pld_poll.h"

/* Of a poll that must end. */
#define HANG_MS 20000

static struct shared *shared;

static inline void make_signals(struct __test_metadata *_metadata,
				pld_domain **domain, pld_window_buffer **buffer)
{
	*domain = make_domain(NRANKS);
	ASSERT_NE(NULL, *domain);
	ASSERT_EQ(0, pld_alloc_signal(*domain, PLD_SHAPE(NRANKS, 16), buffer));
	shared = make_shared();
	ASSERT_NE(NULL, shared);
}

static inline int view(void *buffer, pld_distributed_tensor *signal)
{
	return pld_window(buffer, PLD_SHAPE(NRANKS, 16), PLD_INT32, signal);
}

static inline int readable(int fd, int timeout_ms)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return poll_one(&p, timeout_ms) == 1 && p.revents == POLLIN;
}

#endif /* PLD_LIB_POLLED_H */
