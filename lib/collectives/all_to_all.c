// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * pld.tensor.all_to_all and all_to_all_v: block d of rank s to block s of rank
 * d, by pushing; then a barrier.
 */
#include <errno.h>

#include "collectives/barrier.h"
#include "collectives/check.h"
#include "dims.h"
#include "dtype.h"
#include "domain.h"
#include "error.h"
#include "view.h"

/* A call of either: all_to_all has blocks of one row, and sends all of it. */
struct call {
	const char *op;
	const pld_view *input;
	const pld_view *target;
	const pld_view *signal;
	/* rows of input and target, in words */
	const char *rows;
};

static int check_input(const struct call *call)
{
	char got[PLD_DIMS_TEXT_BYTES], want[PLD_DIMS_TEXT_BYTES];
	const pld_view *input = call->input, *target = call->target;

	if (pld_views_overlap(input, target))
		return pld_error(EINVAL,
				 "%s input and target must be different buffers, got overlapping ones",
				 call->op);
	if (input->kind != PLD_TENSOR && input->kind != PLD_DISTRIBUTED_TENSOR)
		return pld_error(EINVAL,
				 "%s input must be a Tensor or DistributedTensor, got %s",
				 call->op, pld_kind_name(input));
	PLD_TRY(pld_check_table(call->op, "target", target, call->rows));
	if (input->dtype != target->dtype)
		return pld_error(EINVAL,
				 "%s dtype of input must be target's %s, got %s",
				 call->op, pld_dtype_text(target->dtype),
				 pld_dtype_text(input->dtype));
	if (!pld_dims_equal(&input->shape, &target->shape))
		return pld_error(EINVAL,
				 "%s shape of input must be target's %s, got %s",
				 call->op, pld_dims_text(target->shape, want),
				 pld_dims_text(input->shape, got));
	return 0;
}

static int check_ready(const struct call *call)
{
	PLD_TRY(pld_check_ready(call->op, call->target, call->signal));
	PLD_TRY(pld_view_check(call->op, "input", call->input,
			       PLD_ACCEPT_TENSORS));
	if (call->input->kind == PLD_DISTRIBUTED_TENSOR &&
	    call->input->buffer->domain != call->target->buffer->domain)
		return pld_error(EINVAL,
				 "%s input and target must be of one domain",
				 call->op);
	return 0;
}

static int check_given(const struct call *call)
{
	PLD_TRY(pld_check_given(call->op, "input", call->input));
	PLD_TRY(pld_check_given(call->op, "target", call->target));
	return pld_check_given(call->op, "signal", call->signal);
}

/* Sends rows rows of each block, or as many as counts says, and meets all. */
static int exchange(const struct call *call, int64_t block,
		    const int32_t *counts)
{
	const pld_domain *domain = call->target->buffer->domain;
	int64_t size = call->target->shape.n[1];

	for (int peer = 0; peer < domain->nranks; peer++) {
		int64_t rows = counts ? counts[peer] : block;
		pld_put_options part = {
			.dst_offsets = PLD_AT(domain->rank * block, 0),
			.src_offsets = PLD_AT(peer * block, 0),
			.shape = PLD_SHAPE(rows, size),
		};

		if (rows)
			PLD_TRY(pld_tensor_put(call->target, peer, call->input,
					       &part));
	}
	return pld_meet(call->op, call->signal);
}

static int run(const struct call *call, int64_t block, const int32_t *counts)
{
	return pld_collective_end(call->target->buffer->domain,
				  exchange(call, block, counts));
}

int pld_tensor_all_to_all(const pld_view *input,
			  const pld_distributed_tensor *target,
			  const pld_distributed_tensor *signal)
{
	const struct call call = {
		.op = "pld.tensor.all_to_all",
		.input = input,
		.target = target,
		.signal = signal,
		.rows = "[nranks, SIZE]",
	};

	PLD_TRY(check_given(&call));
	PLD_TRY(check_input(&call));
	PLD_TRY(pld_check_rows(call.op, "target", target));
	PLD_TRY(pld_barrier_check(call.op, signal,
				  target->buffer->domain->nranks));
	PLD_TRY(check_ready(&call));
	return run(&call, 1, NULL);
}

static int check_counts(const char *op, const char *name, const int32_t *counts,
			int nranks, int64_t most)
{
	for (int rank = 0; rank < nranks; rank++)
		if (counts[rank] < 0 || counts[rank] > most)
			return pld_error(ERANGE,
					 "%s %s[%d] must be 0 to MAX = %lld, got %d",
					 op, name, rank, (long long)most,
					 (int)counts[rank]);
	return 0;
}

/* Of the own rank, both are known here. */
static int check_own_counts(const char *op, const int32_t *send_counts,
			    const int32_t *recv_counts, int me)
{
	if (send_counts[me] != recv_counts[me])
		return pld_error(EINVAL,
				 "%s recv_counts[%d] of rank %d must be its send_counts[%d] = %d, got %d",
				 op, me, me, me, (int)send_counts[me],
				 (int)recv_counts[me]);
	return 0;
}

int pld_tensor_all_to_all_v(const pld_view *input,
			    const pld_distributed_tensor *target,
			    const pld_distributed_tensor *signal,
			    const int32_t *send_counts,
			    const int32_t *recv_counts)
{
	const struct call call = {
		.op = "pld.tensor.all_to_all_v",
		.input = input,
		.target = target,
		.signal = signal,
		.rows = "[nranks * MAX, SIZE]",
	};
	const pld_domain *domain;
	int64_t block;

	PLD_TRY(check_given(&call));
	PLD_TRY(pld_check_given(call.op, "send_counts", send_counts));
	PLD_TRY(pld_check_given(call.op, "recv_counts", recv_counts));
	PLD_TRY(check_input(&call));
	domain = target->buffer->domain;
	if (target->shape.n[0] % domain->nranks)
		return pld_error(EINVAL,
				 "%s target must have a multiple of nranks = %d rows, got %lld",
				 call.op, domain->nranks,
				 (long long)target->shape.n[0]);
	block = target->shape.n[0] / domain->nranks;
	PLD_TRY(pld_barrier_check(call.op, signal, domain->nranks));
	PLD_TRY(check_counts(call.op, "send_counts", send_counts,
			     domain->nranks, block));
	PLD_TRY(check_counts(call.op, "recv_counts", recv_counts,
			     domain->nranks, block));
	PLD_TRY(check_ready(&call));
	PLD_TRY(check_own_counts(call.op, send_counts, recv_counts,
				 domain->rank));
	return run(&call, block, send_counts);
}
