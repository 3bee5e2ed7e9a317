// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * Credits and the credit barrier, whose rules are in barrier.h, and
 * pld.tensor.barrier.
 */
#include <errno.h>

#include "cell.h"
#include "collectives/barrier.h"
#include "collectives/check.h"
#include "dims.h"
#include "dtype.h"
#include "error.h"
#include "health.h"
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
				 op, nranks, pld_dtype_text(signal->dtype),
				 pld_dims_text(signal->shape, got));
	return pld_check_cells(op, signal);
}

/* Where the credits of writer are. */
static pld_dims cell_of(const pld_view *signal, int writer, int row)
{
	return signal->shape.n[1] == 1 ? PLD_AT(writer, 0) : PLD_AT(row, writer);
}

int pld_credit_give(const pld_view *signal, int peer, int row)
{
	int me = signal->buffer->domain->rank;

	return pld_system_notify(signal, peer, cell_of(signal, me, row), 1,
				 PLD_ATOMIC_ADD);
}

int pld_credit_wait(const char *op, const pld_view *signal, int src, int row,
		    int32_t g)
{
	pld_domain *domain = signal->buffer->domain;
	int error = pld_wait(op, signal, cell_of(signal, src, row), g, PLD_GE,
			     domain->timeout_ns);

	if (error == -ETIMEDOUT && !pld_failure()->secondhand)
		pld_break(domain, PLD_FAIL_TIMEOUT, src, error);
	return error;
}

int pld_credit_clear(const pld_view *signal, int src, int row, int32_t credits)
{
	int me = signal->buffer->domain->rank;

	return pld_system_notify(signal, me, cell_of(signal, src, row),
				 -credits, PLD_ATOMIC_ADD);
}

int pld_barrier(const char *op, const pld_view *signal, int row, int32_t g)
{
	const pld_domain *domain = signal->buffer->domain;

	for (int peer = 0; peer < domain->nranks; peer++)
		if (peer != domain->rank)
			PLD_TRY(pld_credit_give(signal, peer, row));
	for (int src = 0; src < domain->nranks; src++)
		if (src != domain->rank)
			PLD_TRY(pld_credit_wait(op, signal, src, row, g));
	return 0;
}

int pld_barrier_epilogue(const pld_view *signal, int row, int32_t barriers)
{
	const pld_domain *domain = signal->buffer->domain;

	for (int src = 0; src < domain->nranks; src++)
		if (src != domain->rank)
			PLD_TRY(pld_credit_clear(signal, src, row, barriers));
	return 0;
}

int pld_meet(const char *op, const pld_view *signal)
{
	PLD_TRY(pld_barrier(op, signal, 0, 1));
	return pld_barrier_epilogue(signal, 0, 1);
}

int pld_collective_end(pld_domain *domain, int error)
{
	if (error && !pld_failure()->secondhand)
		pld_break(domain, PLD_FAIL_ERROR, domain->rank, error);
	return error;
}

int pld_tensor_barrier(const pld_distributed_tensor *signal)
{
	static const char op[] = "pld.tensor.barrier";

	PLD_TRY(pld_check_given(op, "signal", signal));
	PLD_TRY(pld_check_window_kind(op, "signal", signal));
	PLD_TRY(pld_barrier_check(op, signal, signal->buffer->domain->nranks));
	PLD_TRY(pld_enter(signal->buffer->domain, op));
	return pld_collective_end(signal->buffer->domain, pld_meet(op, signal));
}
