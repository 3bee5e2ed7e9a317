// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * pld.tensor.broadcast: the root puts its slice to every peer, then a barrier.
 */
#include <errno.h>

#include "collectives/barrier.h"
#include "collectives/check.h"
#include "domain.h"
#include "error.h"

static const char op[] = "pld.tensor.broadcast";

static int check(const pld_view *target, const pld_view *signal, int root)
{
	int nranks;

	PLD_TRY(pld_check_given(op, "target", target));
	PLD_TRY(pld_check_given(op, "signal", signal));
	PLD_TRY(pld_check_window_kind(op, "target", target));
	nranks = target->buffer->domain->nranks;
	PLD_TRY(pld_barrier_check(op, signal, nranks));
	if (root < 0 || root >= nranks)
		return pld_error(ERANGE, "%s root must be 0 to %d, got %d", op,
				 nranks - 1, root);
	return pld_check_ready(op, target, signal);
}

static int run(const pld_view *target, const pld_view *signal, int root)
{
	const pld_domain *domain = target->buffer->domain;

	for (int peer = 0; root == domain->rank && peer < domain->nranks; peer++)
		if (peer != root)
			PLD_TRY(pld_tensor_put(target, peer, target, NULL));
	return pld_meet(op, signal);
}

int pld_tensor_broadcast(const pld_distributed_tensor *target,
			 const pld_distributed_tensor *signal, int root)
{
	PLD_TRY(check(target, signal, root));
	return pld_collective_end(target->buffer->domain,
				  run(target, signal, root));
}
