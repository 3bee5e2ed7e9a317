// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * pld.tensor.allgather: push, barrier, self-clearing epilogue.
 */
#include <errno.h>
#include <stdbool.h>

#include "collectives/allgather.h"
#include "collectives/barrier.h"
#include "collectives/check.h"
#include "collectives/plain.h"
#include "copy.h"
#include "dims.h"
#include "dtype.h"
#include "domain.h"
#include "error.h"
#include "health.h"
#include "observe.h"
#include "transfer.h"
#include "view.h"

static const char op[] = "pld.tensor.allgather";

/* Or in the memory behind the target: the same buffer, for short. */
static bool is_in_target(const pld_view *local, const pld_view *target)
{
	uintptr_t data = (uintptr_t)local->data;
	uintptr_t start = (uintptr_t)target->data;

	return pld_views_overlap(local, target) ||
	       (data >= start && data - start < target->bytes);
}

static int check_local_data(const pld_view *local, const pld_view *target)
{
	char got[PLD_DIMS_TEXT_BYTES];

	if (is_in_target(local, target))
		return pld_error(EINVAL,
				 "%s local_data and target must be different buffers, got overlapping ones",
				 op);
	if (local->kind != PLD_TENSOR && local->kind != PLD_DISTRIBUTED_TENSOR)
		return pld_error(EINVAL,
				 "%s input must be a Tensor or DistributedTensor, got %s",
				 op, pld_kind_name(local));
	if (local->shape.ndim != 2 || local->shape.n[0] != 1)
		return pld_error(EINVAL,
				 "%s local_data must be [1, SIZE], got %s", op,
				 pld_dims_text(local->shape, got));
	return 0;
}

/* Twice the rows, for two slots. */
static int check_slots(const pld_view *target)
{
	int rows = 2 * target->buffer->domain->nranks;

	if (target->shape.n[0] != rows)
		return pld_error(EINVAL,
				 "%s target must have 2 * nranks = %d rows with PLD_REUSE_TARGET, got %lld",
				 op, rows, (long long)target->shape.n[0]);
	return 0;
}

static int check_target(const pld_view *local, const pld_view *target,
			unsigned int flags)
{
	PLD_TRY(pld_check_table(op, "target", target,
				flags & PLD_REUSE_TARGET ? "[2 * nranks, SIZE]"
							 : "[nranks, SIZE]"));
	if (local->dtype != target->dtype)
		return pld_error(EINVAL,
				 "%s dtype of local_data must be target's %s, got %s",
				 op, pld_dtype_text(target->dtype),
				 pld_dtype_text(local->dtype));
	if (local->shape.n[1] != target->shape.n[1])
		return pld_error(EINVAL,
				 "%s SIZE of local_data must be target's %lld, got %lld",
				 op, (long long)target->shape.n[1],
				 (long long)local->shape.n[1]);
	return flags & PLD_REUSE_TARGET ? check_slots(target)
					: pld_check_rows(op, "target", target);
}

/* What is wrong. The order of the checks is the contract's. */
static int check_in_order(const pld_view *local, const pld_view *target,
			  const pld_view *signal, unsigned int flags,
			  bool in_core)
{
	PLD_TRY(pld_check_given(op, "local_data", local));
	PLD_TRY(pld_check_given(op, "target", target));
	PLD_TRY(pld_check_given(op, "signal", signal));
	PLD_TRY(check_local_data(local, target));
	PLD_TRY(check_target(local, target, flags));
	PLD_TRY(pld_barrier_check(op, signal, target->buffer->domain->nranks));
	if (in_core && local->kind != PLD_TENSOR)
		return pld_error(EINVAL,
				 "%s local_data must be a plain Tensor, got %s",
				 op, pld_kind_name(local));
	PLD_TRY(pld_check_ready(op, target, signal));
	return pld_view_check(op, "local_data", local, PLD_ACCEPT_TENSORS);
}

/*
 * Is all of that right, at one look? Yes for what almost every call brings; no for
 * what is wrong, and for rows that do not lie one after another.
 */
static bool is_plain(const pld_view *local, const pld_view *target,
		     const pld_view *signal, int slots)
{
	const pld_domain *domain;
	size_t row, table, cells;

	if (!local || !target || !signal || local->kind != PLD_TENSOR ||
	    target->kind != PLD_DISTRIBUTED_TENSOR || !target->buffer)
		return false;
	domain = target->buffer->domain;
	row = pld_plain_bytes(local);
	table = pld_plain_bytes(target);
	cells = pld_plain_signal(signal, domain);
	return row && table && cells && local->shape.n[0] == 1 &&
	       local->shape.n[1] == target->shape.n[1] &&
	       local->dtype == target->dtype &&
	       target->shape.n[0] == slots * domain->nranks &&
	       pld_view_in_window(target, table) &&
	       !pld_bytes_overlap(local->data, row, target->data,
				  target->bytes) &&
	       !pld_bytes_overlap(signal->data, cells, target->data, table);
}

static int check(const pld_view *local, const pld_view *target,
		 const pld_view *signal, unsigned int flags, bool in_core)
{
	int slots = flags & PLD_REUSE_TARGET ? 2 : 1;

	return __builtin_expect(is_plain(local, target, signal, slots), 1)
		       ? 0
		       : check_in_order(local, target, signal, flags, in_core);
}

/* g is the number of the call's last barrier. */
static int push(const pld_view *local, const pld_view *target,
		const pld_view *signal, int32_t g)
{
	static const pld_dims first = PLD_AT(0, 0);
	pld_domain *domain = target->buffer->domain;
	const pld_dims row = PLD_AT(domain->rank, 0);
	struct pld_transfer transfer = {
		.op = "pld.tensor.put",
		.dst = target,
		.src = local,
		.src_data = local->data,
		.domain = domain,
		.options = &pld_put_defaults,
		.dst_offsets = &row,
		.src_offsets = &first,
		.shape = &local->shape,
	};

	/* Rows that share lines keep the peers so busy that it costs more. */
	if (local->shape.n[1] * pld_dtype_bytes(local->dtype) >= PLD_LINE_BYTES)
		pld_barrier_expect(signal, 0);
	/* What pld_tensor_put() checks, check() has, but for overlaps. */
	PLD_TRY(pld_transfer_to_all(&transfer));
	PLD_TRY(pld_barrier(op, signal, 0, g));
	return pld_barrier_epilogue(signal, 0, g);
}

static int run(const pld_view *local, const pld_view *target,
	       const pld_view *signal)
{
	return pld_collective_end(target->buffer->domain,
				  push(local, target, signal, 1));
}

int pld_tensor_allgather(const pld_tensor *local_data,
			 const pld_distributed_tensor *target,
			 const pld_distributed_tensor *signal)
{
	PLD_TRY(check(local_data, target, signal, 0, true));
	return run(local_data, target, signal);
}

int pld_allgather_from_window(const pld_distributed_tensor *local_data,
			      const pld_distributed_tensor *target,
			      const pld_distributed_tensor *signal)
{
	PLD_TRY(check(local_data, target, signal, 0, false));
	return run(local_data, target, signal);
}

/* Makes of a view of both slots one of that slot. */
static void narrow_to(pld_distributed_tensor *view, int slot)
{
	int nranks = view->buffer->domain->nranks;
	size_t skipped = (size_t)slot * (size_t)nranks *
			 (size_t)view->stride[0] *
			 (size_t)pld_dtype_bytes(view->dtype);

	view->shape.n[0] = nranks;
	view->data = (char *)view->data + skipped;
	view->bytes -= skipped;
}

/* Remembers the target; was there a call before it, and to another one? */
static bool is_another(struct pld_reuse *last, const pld_view *target)
{
	bool first = !last->data;
	bool same = last->data == target->data && last->dtype == target->dtype &&
		    last->size == target->shape.n[1] &&
		    last->stride[0] == target->stride[0] &&
		    last->stride[1] == target->stride[1];

	if (same)
		return false;
	last->data = target->data;
	last->dtype = target->dtype;
	last->size = target->shape.n[1];
	last->stride[0] = target->stride[0];
	last->stride[1] = target->stride[1];
	return !first;
}

/*
 * Who begins a call has consumed what the call before last left in the slot. Of
 * another view that is not said: its slots may lie over both of the last one's,
 * of which the latter is still in use. Then all meet before anybody pushes.
 */
static int run_in_slot(const pld_view *local, pld_view *target,
		       const pld_view *signal)
{
	struct pld_reuse *reuse = &target->buffer->reuse;
	bool other = is_another(reuse, target);

	narrow_to(target, reuse->slot);
	reuse->slot ^= 1;
	if (other)
		PLD_TRY(pld_barrier(op, signal, 0, 1));
	return push(local, target, signal, other ? 2 : 1);
}

/* target, of both slots, becomes the one that is filled. */
static int gather_in_slot(const pld_view *local, pld_view *target,
			  const pld_view *signal)
{
	struct pld_reuse *reuse = &target->buffer->reuse;
	int error;

	/* Acquire and release: the threads of a rank that call by turns. */
	if (atomic_flag_test_and_set_explicit(&reuse->busy, memory_order_acquire))
		return pld_error(EBUSY,
				 "%s another thread is in a call with PLD_REUSE_TARGET on this window buffer",
				 op);
	error = pld_collective_end(target->buffer->domain,
				   run_in_slot(local, target, signal));
	atomic_flag_clear_explicit(&reuse->busy, memory_order_release);
	return error;
}

int pld_tensor_allgather_flags(const pld_tensor *local_data,
			       const pld_distributed_tensor *target,
			       const pld_distributed_tensor *signal,
			       unsigned int flags, pld_distributed_tensor *data)
{
	pld_distributed_tensor filled;

	PLD_TRY(pld_check_given(op, "data", data));
	if (flags & ~PLD_REUSE_TARGET)
		return pld_error(EINVAL,
				 "%s flags must be 0 or PLD_REUSE_TARGET (1), got %#x",
				 op, flags);
	PLD_TRY(check(local_data, target, signal, flags, true));
	filled = *target;
	if (flags & PLD_REUSE_TARGET)
		PLD_TRY(gather_in_slot(local_data, &filled, signal));
	else
		PLD_TRY(run(local_data, target, signal));
	*data = filled;
	return 0;
}
