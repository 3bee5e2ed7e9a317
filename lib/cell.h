/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * Signals, for the collectives and the waiters: the same as the public calls,
 * under the name of who calls.
 */
#ifndef PLD_CELL_H
#define PLD_CELL_H

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "dims.h"
#include "dtype.h"
#include "error.h"
#include "health.h"
#include "look.h"
#include "observe.h"
#include "pld.h"
#include "relax.h"
#include "view.h"

/* pld_signal_cell() of what pld_find_cell() has not found. */
int pld_check_cell(const char *op, const char *argument, const pld_view *signal,
		   const pld_dims *offsets, size_t *cell);

/*
 * The same at one look, without a sentence: of a signal without elements on each
 * other. What this is false for may be right all the same.
 */
static inline bool pld_find_cell(const pld_view *signal,
				 const pld_dims *offsets, size_t *cell)
{
	int64_t reach = 1, index = 0, step;
	int ndim;

	if (!signal || signal->kind != PLD_DISTRIBUTED_TENSOR ||
	    signal->dtype != PLD_INT32 || !signal->data)
		return false;
	ndim = signal->shape.ndim;
	if (ndim < 1 || ndim > PLD_MAX_DIMS || offsets->ndim != ndim)
		return false;
	for (int i = ndim - 1; i >= 0; i--) {
		int64_t n = signal->shape.n[i], stride = signal->stride[i];

		if (offsets->n[i] < 0 || offsets->n[i] >= n || stride < reach ||
		    __builtin_mul_overflow(n - 1, stride, &step) ||
		    __builtin_add_overflow(reach, step, &reach))
			return false;
		index += offsets->n[i] * stride;
	}
	if (__builtin_mul_overflow(reach, (int64_t)sizeof(int32_t), &reach) ||
	    (size_t)reach > signal->bytes ||
	    !pld_view_in_window(signal, (size_t)reach) ||
	    !pld_healthy(signal->buffer->domain))
		return false;
	*cell = (size_t)((char *)signal->data - pld_own_base(signal->buffer)) +
		(size_t)index * sizeof(int32_t);
	return *cell % sizeof(int32_t) == 0;
}

/*
 * Checks signal, which sentences call argument, and offsets; *cell becomes the
 * cell's byte offset in the window buffer.
 */
static inline int pld_signal_cell(const char *op, const char *argument,
				  const pld_view *signal,
				  const pld_dims *offsets, size_t *cell)
{
	*cell = 0;
	return __builtin_expect(pld_find_cell(signal, offsets, cell), 1)
		       ? 0
		       : pld_check_cell(op, argument, signal, offsets, cell);
}

/*
 * Is it as expected, so that there is nothing to wait for? Not when somebody looks
 * on: pld_wait_cell() tells of it.
 */
static inline bool pld_arrived(const struct pld_wanted *cell)
{
	return pld_holds(cell, pld_value(cell)) && !pld_observed();
}

/* Spins before a wait begins in earnest, with a deadline; about a microsecond. */
#define PLD_FIRST_SPINS 64

/* pld_arrived() now, or so soon that a clock need not be read: a peer may be at it. */
static inline bool pld_arrives(const struct pld_wanted *cell)
{
	if (pld_arrived(cell))
		return true;
	if (pld_observed() || cell->buffer->domain->oversubscribed)
		return false;
	for (int i = 0; i < PLD_FIRST_SPINS; i++) {
		pld_relax();
		if (pld_holds(cell, pld_value(cell)))
			return true;
	}
	return false;
}

/*
 * pld_system_wait_timeout() of a cell that has been checked, at offsets of
 * signal. A timeout leaves pld_failure()->culprit set.
 */
int pld_wait_cell(const char *op, const pld_view *signal,
		  const pld_dims *offsets, const struct pld_wanted *cell,
		  int64_t timeout_ns);

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
