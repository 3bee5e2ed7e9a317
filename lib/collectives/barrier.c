// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * Credits and the credit barrier, whose rules are in barrier.h, and
 * pld.tensor.barrier.
 */
#include <errno.h>

#include "cell.h"
#include "collectives/barrier.h"
#include "collectives/check.h"
#include "collectives/plain.h"
#include "dims.h"
#include "dtype.h"
#include "error.h"
#include "health.h"
#include "notify.h"
#include "observe.h"
#include "relax.h"
#include "view.h"

#define FEW_RANKS 8

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

/* The cells of a row: where that of writer 0 is in a rank's memory, and the steps. */
struct row {
	pld_window_buffer *buffer;
	size_t first;
	size_t step;
};

static inline struct row row_of(const pld_view *signal, int number)
{
	bool column = signal->shape.n[1] == 1;
	int64_t first = column ? 0 : number * signal->stride[0];
	int64_t step = column ? signal->stride[0] : signal->stride[1];

	return (struct row){
		.buffer = signal->buffer,
		.first = (size_t)((char *)signal->data -
				  pld_own_base(signal->buffer)) +
			 (size_t)first * sizeof(int32_t),
		.step = (size_t)step * sizeof(int32_t),
	};
}

static size_t cell_of(const struct row *row, int writer)
{
	return row->first + (size_t)writer * row->step;
}

/* Where that is in the signal. */
static pld_dims offsets_of(const pld_view *signal, int writer, int number)
{
	return signal->shape.n[1] == 1 ? PLD_AT(writer, 0)
				       : PLD_AT(number, writer);
}

/* pld_system_notify() of a signal that the call has checked. */
__attribute__((always_inline)) static inline int add(const struct row *row,
						     const pld_view *signal,
						     int number, int peer,
						     int writer, int32_t value)
{
	int32_t before;

	PLD_TRY(pld_enter(row->buffer->domain, "pld.system.notify"));
	before = pld_notify_cell(row->buffer, peer, cell_of(row, writer), value,
				 PLD_ATOMIC_ADD);
	if (pld_observed())
		pld_observe_notify(signal, peer,
				   offsets_of(signal, writer, number), value,
				   PLD_ATOMIC_ADD, before);
	return 0;
}

/* The wait for a cell that is not as expected yet, or that somebody looks at. */
static int wait_for(const char *op, const pld_view *signal, int src, int number,
		    const struct pld_wanted *cell)
{
	pld_domain *domain = signal->buffer->domain;
	pld_dims at = offsets_of(signal, src, number);
	int error = pld_wait_cell(op, signal, &at, cell, domain->timeout_ns);

	if (error == -ETIMEDOUT && !pld_failure()->secondhand)
		pld_break(domain, PLD_FAIL_TIMEOUT, src, error);
	return error;
}

__attribute__((always_inline)) static inline int
await(const struct row *row, const char *op, const pld_view *signal, int src,
      int number, int32_t g)
{
	const struct pld_wanted cell = {
		.buffer = row->buffer,
		.offset = cell_of(row, src),
		.expected = g,
		.cmp = PLD_GE,
	};

	PLD_TRY(pld_enter(row->buffer->domain, op));
	return __builtin_expect(pld_arrives(&cell), 1)
		       ? 0
		       : wait_for(op, signal, src, number, &cell);
}

int pld_credit_give(const pld_view *signal, int peer, int number)
{
	const struct row row = row_of(signal, number);

	return add(&row, signal, number, peer, signal->buffer->domain->rank, 1);
}

int pld_credit_wait(const char *op, const pld_view *signal, int src, int number,
		    int32_t g)
{
	const struct row row = row_of(signal, number);

	return await(&row, op, signal, src, number, g);
}

int pld_credit_clear(const pld_view *signal, int src, int number,
		     int32_t credits)
{
	const struct row row = row_of(signal, number);

	return add(&row, signal, number, signal->buffer->domain->rank, src,
		   -credits);
}

void pld_barrier_expect(const pld_view *signal, int number)
{
	const pld_domain *domain = signal->buffer->domain;
	const struct row row = row_of(signal, number);
	const char *cell = signal->buffer->base + cell_of(&row, domain->rank);

	if (domain->nranks > FEW_RANKS)
		return;
	for (int peer = 0; peer < domain->nranks; peer++)
		if (peer != domain->rank)
			pld_expect_write(cell +
					 (size_t)peer * signal->buffer->stride);
}

int pld_barrier(const char *op, const pld_view *signal, int number, int32_t g)
{
	const pld_domain *domain = signal->buffer->domain;
	const struct row row = row_of(signal, number);

	for (int peer = 0; peer < domain->nranks; peer++)
		if (peer != domain->rank)
			PLD_TRY(add(&row, signal, number, peer, domain->rank, 1));
	for (int src = 0; src < domain->nranks; src++)
		if (src != domain->rank)
			PLD_TRY(await(&row, op, signal, src, number, g));
	return 0;
}

int pld_barrier_epilogue(const pld_view *signal, int number, int32_t barriers)
{
	const pld_domain *domain = signal->buffer->domain;
	const struct row row = row_of(signal, number);

	for (int src = 0; src < domain->nranks; src++)
		if (src != domain->rank)
			PLD_TRY(add(&row, signal, number, domain->rank, src,
				    -barriers));
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

static int check(const char *op, const pld_view *signal)
{
	PLD_TRY(pld_check_given(op, "signal", signal));
	PLD_TRY(pld_check_window_kind(op, "signal", signal));
	PLD_TRY(pld_barrier_check(op, signal, signal->buffer->domain->nranks));
	return pld_enter(signal->buffer->domain, op);
}

int pld_tensor_barrier(const pld_distributed_tensor *signal)
{
	static const char op[] = "pld.tensor.barrier";

	if (!signal || !signal->buffer ||
	    !pld_plain_signal(signal, signal->buffer->domain))
		PLD_TRY(check(op, signal));
	return pld_collective_end(signal->buffer->domain, pld_meet(op, signal));
}
