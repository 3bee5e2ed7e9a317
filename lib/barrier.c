// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * The credit barrier; its rules are in barrier.h.
 */
#include <errno.h>

#include "barrier.h"
#include "dims.h"
#include "error.h"
#include "health.h"
#include "cell.h"
#include "view.h"

int pld_barrier_check(const char *op, const pld_view *signal, int nranks)
{
	char got[PLD_DIMS_TEXT_BYTES];
	pld_dims want = PLD_SHAPE(nranks, 1);

	if (!signal || signal->kind != PLD_DISTRIBUTED_TENSOR)
		return pld_error(EINVAL,
				 "%s signal must be a DistributedTensor, got %s",
				 op, pld_kind_name(signal));
	if (signal->dtype != PLD_INT32 || !pld_dims_equal(signal->shape, want))
		return pld_error(EINVAL,
				 "%s signal must be int32 [%d, 1], got %s %s",
				 op, nranks, pld_dtype_name(signal->dtype),
				 pld_dims_text(signal->shape, got));
	return pld_view_check(op, "signal", signal,
			      PLD_ACCEPT(PLD_DISTRIBUTED_TENSOR));
}

static int wait_for(const char *op, const pld_view *signal, int src, int32_t g)
{
	pld_domain *domain = signal->buffer->domain;
	int error = pld_wait(op, signal, PLD_AT(src, 0), g, PLD_GE,
			     domain->timeout_ns);

	if (error == -ETIMEDOUT && !pld_failure()->secondhand)
		pld_break(domain, PLD_FAIL_TIMEOUT, src, error);
	return error;
}

int pld_barrier(const char *op, const pld_view *signal, int32_t g)
{
	const pld_domain *domain = signal->buffer->domain;
	int me = domain->rank;

	for (int peer = 0; peer < domain->nranks; peer++)
		if (peer != me)
			PLD_TRY(pld_system_notify(signal, peer, PLD_AT(me, 0),
						  1, PLD_ATOMIC_ADD));
	for (int src = 0; src < domain->nranks; src++)
		if (src != me)
			PLD_TRY(wait_for(op, signal, src, g));
	return 0;
}

int pld_barrier_epilogue(const pld_view *signal, int32_t barriers)
{
	const pld_domain *domain = signal->buffer->domain;
	int me = domain->rank;

	for (int src = 0; src < domain->nranks; src++)
		if (src != me)
			PLD_TRY(pld_system_notify(signal, me, PLD_AT(src, 0),
						  -barriers, PLD_ATOMIC_ADD));
	return 0;
}
