// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * pld.tensor.allgather: push, barrier, self-clearing epilogue.
 */
#include <errno.h>

#include "barrier.h"
#include "dims.h"
#include "domain.h"
#include "error.h"
#include "health.h"
#include "view.h"

static const char op[] = "pld.tensor.allgather";

static bool overlap(const pld_view *a, const pld_view *b)
{
	uintptr_t from_a = (uintptr_t)a->data, from_b = (uintptr_t)b->data;

	return from_a < from_b + b->bytes && from_b < from_a + a->bytes;
}

static int check_local_data(const pld_view *local, const pld_view *target)
{
	char got[PLD_DIMS_TEXT_BYTES];

	if (overlap(local, target))
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

static int check_target(const pld_view *local, const pld_view *target)
{
	char got[PLD_DIMS_TEXT_BYTES];
	int nranks;

	if (target->kind != PLD_DISTRIBUTED_TENSOR || target->shape.ndim != 2)
		return pld_error(EINVAL,
				 "%s target must be a DistributedTensor [nranks, SIZE], got %s %s",
				 op, pld_kind_name(target),
				 pld_dims_text(target->shape, got));
	if (local->dtype != target->dtype)
		return pld_error(EINVAL,
				 "%s dtype of local_data must be target's %s, got %s",
				 op, pld_dtype_name(target->dtype),
				 pld_dtype_name(local->dtype));
	if (local->shape.n[1] != target->shape.n[1])
		return pld_error(EINVAL,
				 "%s SIZE of local_data must be target's %lld, got %lld",
				 op, (long long)target->shape.n[1],
				 (long long)local->shape.n[1]);
	nranks = target->buffer->domain->nranks;
	if (target->shape.n[0] != nranks)
		return pld_error(EINVAL,
				 "%s target must have nranks = %d rows, got %lld",
				 op, nranks, (long long)target->shape.n[0]);
	return 0;
}

/* The order of the checks is the contract's. */
static int check(const pld_view *local, const pld_view *target,
		 const pld_view *signal)
{
	if (!local || !target || !signal)
		return pld_error(EINVAL, "%s %s must not be NULL", op,
				 !local	   ? "local_data"
				 : !target ? "target"
					   : "signal");
	PLD_TRY(check_local_data(local, target));
	PLD_TRY(check_target(local, target));
	PLD_TRY(pld_barrier_check(op, signal, (int)target->shape.n[0]));
	if (local->kind != PLD_TENSOR)
		return pld_error(EINVAL,
				 "%s local_data must be a plain Tensor, got %s",
				 op, pld_kind_name(local));
	if (signal->buffer->domain != target->buffer->domain)
		return pld_error(EINVAL,
				 "%s signal and target must be of one domain",
				 op);
	PLD_TRY(pld_enter(target->buffer->domain, op));
	PLD_TRY(pld_view_check(op, "local_data", local, PLD_ACCEPT(PLD_TENSOR)));
	return pld_view_check(op, "target", target,
			      PLD_ACCEPT(PLD_DISTRIBUTED_TENSOR));
}

int pld_tensor_allgather(const pld_tensor *local_data,
			 const pld_distributed_tensor *target,
			 const pld_distributed_tensor *signal)
{
	pld_put_options row;
	int nranks, me;

	PLD_TRY(check(local_data, target, signal));
	nranks = target->buffer->domain->nranks;
	me = target->buffer->domain->rank;
	row = (pld_put_options){
		.dst_offsets = PLD_AT(me, 0),
		.src_offsets = PLD_AT(0, 0),
		.shape = local_data->shape,
	};
	for (int peer = 0; peer < nranks; peer++)
		PLD_TRY(pld_tensor_put(target, peer, local_data, &row));
	PLD_TRY(pld_barrier(op, signal, 1));
	return pld_barrier_epilogue(signal, 1);
}
