// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * pld.system.wait: spin, then yield, then sleep.
 *
 * With a CPU for every rank the peer is likely running, and its notify is less
 * than a sleep away. With more ranks than CPUs it likely is not: after a short
 * spin the CPU is better given away.
 */
#include <errno.h>
#include <sched.h>
#include <stdio.h>

#include "clock.h"
#include "compare.h"
#include "dims.h"
#include "domain.h"
#include "error.h"
#include "health.h"
#include "observe.h"
#include "platform/platform.h"
#include "relax.h"
#include "subdomain.h"
#include "cell.h"
#include "view.h"

#define SPINS 2000
#define SPINS_OVERSUBSCRIBED 20
#define YIELDS 100

/* The rank that should write a cell, where the signal's shape tells, or -1. */
static int owed_by(const pld_view *signal, pld_dims offsets)
{
	int last = offsets.ndim - 1;
	int64_t nranks = signal->buffer->domain->nranks;

	if (signal->shape.n[0] == nranks)
		return (int)offsets.n[0];
	if (signal->shape.n[last] == nranks)
		return (int)offsets.n[last];
	return -1;
}

static int timed_out(const char *op, const pld_view *signal, pld_dims offsets,
		     int32_t value, int32_t expected, pld_cmp cmp,
		     int64_t timeout_ns)
{
	const pld_domain *domain = signal->buffer->domain;
	char me[PLD_RANK_TEXT_BYTES], who[PLD_RANK_TEXT_BYTES];
	char text[PLD_DIMS_TEXT_BYTES], blame[sizeof(who) + 32] = "";
	int owed = owed_by(signal, offsets);
	int error;

	pld_rank_text(domain, pld_launched_rank(domain, domain->rank), me);
	if (owed >= 0) {
		owed = pld_launched_rank(domain, owed);
		snprintf(blame, sizeof(blame), "; %s should have notified it",
			 pld_rank_text(domain, owed, who));
	}
	error = pld_error(ETIMEDOUT,
			  "%s: timed out after %.3f s: cell %s of %s is %d, expected %s %d%s",
			  op, (double)timeout_ns / (double)PLD_NS_PER_S,
			  pld_dims_text(offsets, text), me, value,
			  cmp == PLD_EQ ? "==" : ">=", expected, blame);
	pld_failure()->culprit = owed;
	return error;
}

/* Does the cell satisfy the wait before spins and yields are used up? */
static bool satisfied_soon(const pld_domain *domain, const int32_t *address,
			   int32_t expected, pld_cmp cmp, int32_t *seen)
{
	int spins = domain->oversubscribed ? SPINS_OVERSUBSCRIBED : SPINS;

	for (int turn = 0; turn < spins + YIELDS; turn++) {
		if (turn < spins)
			pld_relax();
		else
			sched_yield();
		/* Acquire: pairs with the release in pld_system_notify(). */
		*seen = __atomic_load_n(address, __ATOMIC_ACQUIRE);
		if (pld_compare(*seen, expected, cmp))
			return true;
		if (!pld_healthy(domain))
			return false;
	}
	return false;
}

/* Waits as pld_wait() does; *seen is what the cell was at last. */
static int wait_for(const char *op, const pld_view *signal, size_t cell,
		    pld_dims offsets, int32_t expected, pld_cmp cmp,
		    int64_t timeout_ns, int32_t *seen)
{
	const pld_domain *domain = signal->buffer->domain;
	const int32_t *address = (void *)(pld_own_base(signal->buffer) + cell);
	int64_t deadline;
	int error;

	*seen = __atomic_load_n(address, __ATOMIC_ACQUIRE);
	if (pld_compare(*seen, expected, cmp))
		return 0;
	deadline = pld_deadline(timeout_ns);
	if (timeout_ns && satisfied_soon(domain, address, expected, cmp, seen))
		return 0;
	error = domain->platform->block(signal->buffer, cell, expected, cmp,
					deadline);
	*seen = __atomic_load_n(address, __ATOMIC_ACQUIRE);
	if (pld_compare(*seen, expected, cmp))
		return 0;
	PLD_TRY(pld_enter(domain, op));
	if (error == -ETIMEDOUT)
		return timed_out(op, signal, offsets, *seen, expected, cmp,
				 timeout_ns);
	return error;
}

int pld_wait(const char *op, const pld_view *signal, pld_dims offsets,
	     int32_t expected, pld_cmp cmp, int64_t timeout_ns)
{
	int32_t seen;
	size_t cell;
	int error;

	PLD_TRY(pld_signal_cell(op, signal, offsets, &cell));
	if (cmp != PLD_EQ && cmp != PLD_GE)
		return pld_error(EINVAL,
				 "%s: cmp is %d, wanted Eq (0) or Ge (1)", op,
				 (int)cmp);
	if (timeout_ns < 0)
		return pld_error(EINVAL,
				 "%s: timeout is %lld ns, wanted 0 or more", op,
				 (long long)timeout_ns);
	error = wait_for(op, signal, cell, offsets, expected, cmp, timeout_ns,
			 &seen);
	if (pld_observed())
		pld_observe_wait(signal, offsets, expected, cmp, seen, error);
	return error;
}

int pld_system_wait(const pld_distributed_tensor *signal, pld_dims offsets,
		    int32_t expected, pld_cmp cmp)
{
	static const char op[] = "pld.system.wait";

	PLD_TRY(pld_view_check(op, "signal", signal,
			       PLD_ACCEPT(PLD_DISTRIBUTED_TENSOR)));
	return pld_wait(op, signal, offsets, expected, cmp,
			signal->buffer->domain->timeout_ns);
}

int pld_system_wait_timeout(const pld_distributed_tensor *signal,
			    pld_dims offsets, int32_t expected, pld_cmp cmp,
			    int64_t timeout_ns)
{
	return pld_wait("pld.system.wait", signal, offsets, expected, cmp,
			timeout_ns);
}
