/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * Signals, for the collectives and the waiters: the same as the public calls,
 * under the name of who calls.
 */
#ifndef PLD_CELL_H
#define PLD_CELL_H

#include <stdatomic.h>
#include <stdbool.h>

#include "look.h"
#include "pld.h"

/*
 * Checks signal, which sentences call argument, and offsets; *cell becomes the
 * cell's byte offset in the window buffer.
 */
int pld_signal_cell(const char *op, const char *argument,
		    const pld_view *signal, pld_dims offsets, size_t *cell);

/* pld_system_wait_timeout(). A timeout leaves pld_failure()->culprit set. */
int pld_wait(const char *op, const pld_view *signal, pld_dims offsets,
	     int32_t expected, pld_cmp cmp, int64_t timeout_ns);

/* Any wait. */
struct pld_wait_request {
	const char *op;
	const pld_condition *conditions;
	int count;
	/* one condition is enough, and its index is the result */
	bool any;
	/* sentences name a condition by its index */
	bool indexed;
	int64_t timeout_ns;
	/*
	 * NULL, or set by another thread to end the wait with -EINTR; it rings
	 * one of the cells then. Such a wait does not spin.
	 */
	const atomic_bool *stop;
};

int pld_wait_for(const struct pld_wait_request *request);

/* A wait that the kernel does, where the platform has arm(); it changes nothing. */
struct pld_armed_wait {
	struct pld_wanted cells[PLD_MAX_CONDITIONS];
	uint64_t cookie;
};

/* Has it begin, and tell by eventfd, once, that it has ended. */
int pld_wait_arm(const struct pld_wait_request *request,
		 struct pld_armed_wait *armed, int eventfd);
/*
 * Without a sentence: -EAGAIN while it goes on. Then, once, as pld_wait_for().
 * With end, it is over anyway.
 */
int pld_wait_armed(const struct pld_wait_request *request,
		   const struct pld_armed_wait *armed, bool end);
/* The same as a sync_file, for a timeout that a fence may have. */
int pld_wait_fence(const struct pld_wait_request *request, int *fd);

#endif
