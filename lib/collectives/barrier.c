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
#include "notify.h"
#include "observe.h"
#include "view.h"

int pld_barrier_check(const char *op, const pld_view *signal, int nranks)
{
	char got[PLD_DIMS_TEXT_BYTES];
	pld_dims want = PLD_SHAPE(nranks, 1);

	if (!signal || signal->kind != PLD_DISTRIBUTED_TENSOR)
		return pld_error(EINVAL,
				 "%s signal must be a DistributedTensor, got %s",
				 op, pld_kind_name(signal));
	if (signal->dtype != PLD_INT32 || !pld_dims_equal(&signal->shape, &want))
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

/* pld_system_notify() of a signal that the call has checked. */
static int add(const pld_view *signal, int peer, int writer, int row,
	       int32_t value)
{
	pld_window_buffer *buffer = signal->buffer;
	pld_dims at = cell_of(signal, writer, row);
	int32_t before;

	PLD_TRY(pld_enter(buffer->domain, "pld.system.notify"));
	before = pld_notify_cell(buffer, peer, pld_cell_at(signal, &at), value,
				 PLD_ATOMIC_ADD);
	if (pld_observed())
		pld_observe_notify(signal, peer, at, value, PLD_ATOMIC_ADD,
				   before);
	return 0;
}

int pld_credit_give(const pld_view *signal, int peer, int row)
{
	return add(signal, peer, signal->buffer->domain->rank, row, 1);
}

int pld_credit_wait(const char *op, const pld_view *signal, int src, int row,
		    int32_t g)
{
	pld_domain *domain = signal->buffer->domain;
	pld_dims at = cell_of(signal, src, row);
	const struct pld_wanted cell = {
		.buffer = signal->buffer,
		.offset = pld_cell_at(signal, &at),
		.expected = g,
		.cmp = PLD_GE,
	};
	int error;

	PLD_TRY(pld_enter(domain, op));
	if (pld_arrived(&cell))
		return 0;
	error = pld_wait_cell(op, signal, &at, &cell, domain->timeout_ns);
	if (error == -ETIMEDOUT && !pld_failure()->secondhand)
		pld_break(domain, PLD_FAIL_TIMEOUT, src, error);
	return error;
}

int pld_credit_clear(const pld_view *signal, int src, int row, int32_t credits)
{
	return add(signal, signal->buffer->domain->rank, src, row, -credits);
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
