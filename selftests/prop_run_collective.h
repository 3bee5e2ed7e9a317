/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Running a collective of the property test.
 */
#ifndef PLD_PROP_RUN_COLLECTIVE_H
#define PLD_PROP_RUN_COLLECTIVE_H

#include "prop_rank.h"

/* The signal of a collective, viewed in that shape. */
static inline int prop_signal(const struct prop_rank *rank,
			      const struct prop_step *step, pld_dims shape,
			      pld_distributed_tensor *signal)
{
	PROP_DO(rank, pld_window(step->dense_signal ? rank->buffers->dense
						    : rank->buffers->spread,
				 shape, PLD_INT32, signal));
	return 0;
}

static inline pld_dims prop_signal_shape(const struct prop_step *step,
					 int nranks)
{
	if (step->op == PROP_ALLREDUCE && step->mode == PLD_TWO_PHASE)
		return PLD_SHAPE(2, nranks);
	if (step->op == PROP_ALLREDUCE && step->mode == PLD_RING)
		return PLD_SHAPE(nranks > 1 ? 2 * (nranks - 1) : 1, nranks);
	return PLD_SHAPE(nranks, 1);
}

struct prop_collective_call {
	pld_view target;
	pld_view input;
	pld_view signal;
	pld_view *about;
	int root;
	int reduce;
	int mode;
	unsigned int flags;
	pld_view slot;
	int32_t send[PROP_RANKS];
	int32_t receive[PROP_RANKS];
};

static inline void prop_spoil_collective(const struct prop_step *step,
					 struct prop_collective_call *call)
{
	switch (step->wrong) {
	case PROP_WRONG_KIND:
		call->about->kind = PLD_TILE;
		break;
	case PROP_WRONG_NULL:
		call->about = NULL;
		break;
	case PROP_WRONG_DTYPE:
		call->target.dtype = prop_other_dtype(call->target.dtype);
		break;
	case PROP_WRONG_ADDRESS:
		call->about->data = (char *)call->about->data + (1 << 20);
		break;
	case PROP_WRONG_SIGNAL_SHAPE:
		call->signal.shape.n[step->wrong_detail % 2]++;
		break;
	case PROP_WRONG_SIGNAL_DTYPE:
		call->signal.dtype = PLD_FP32;
		break;
	case PROP_WRONG_ROOT:
		call->root = step->wrong_detail;
		break;
	case PROP_WRONG_ROWS:
		call->target.shape.n[0]++;
		break;
	case PROP_WRONG_REDUCE_OP:
		call->reduce = step->wrong_detail % 2 ? 4 : -1;
		break;
	case PROP_WRONG_MODE:
		call->mode = step->wrong_detail % 2 ? 3 : -1;
		break;
	case PROP_WRONG_COUNT:
		(step->wrong_detail & 2 ? call->send
					: call->receive)[step->peer] =
			step->wrong_detail % 2 ? -1 : step->most + 1;
		break;
	case PROP_WRONG_FLAGS:
		call->flags = 2u << step->wrong_detail % 31;
		break;
	default:
		break;
	}
}

static inline int prop_prepare_collective(const struct prop_rank *rank,
					  const struct prop_step *step,
					  struct prop_collective_call *call)
{
	int nranks = rank->program->nranks;

	memset(call, 0, sizeof(*call));
	PLD_TRY(prop_signal(rank, step, prop_signal_shape(step, nranks),
			    &call->signal));
	if (step->dst.full.ndim)
		PLD_TRY(prop_make_view(rank, &step->dst, &call->target));
	if (step->src.full.ndim)
		PLD_TRY(prop_make_view(rank, &step->src, &call->input));
	call->about = step->op == PROP_BARRIER ? &call->signal : &call->target;
	call->root = step->root;
	call->reduce = step->reduce;
	call->mode = step->mode;
	call->flags = PLD_REUSE_TARGET;
	for (int r = 0; r < nranks; r++) {
		call->send[r] = prop_rows_sent(step, rank->me, r);
		call->receive[r] = prop_rows_sent(step, r, rank->me);
	}
	prop_spoil_collective(step, call);
	return 0;
}

static inline int prop_call_collective(const struct prop_step *step,
				       struct prop_collective_call *call)
{
	switch (step->op) {
	case PROP_BARRIER:
		return pld_tensor_barrier(call->about);
	case PROP_BROADCAST:
		return pld_tensor_broadcast(call->about, &call->signal,
					    call->root);
	case PROP_ALLGATHER:
		return pld_tensor_allgather(&call->input, call->about,
					    &call->signal);
	case PROP_ALLGATHER_REUSE:
		return pld_tensor_allgather_flags(&call->input, call->about,
						  &call->signal, call->flags,
						  &call->slot);
	case PROP_REDUCE_SCATTER:
		return pld_tensor_reduce_scatter(call->about, &call->signal,
						 (pld_reduce_op)call->reduce);
	case PROP_ALLREDUCE:
		return pld_tensor_allreduce(call->about, &call->signal,
					    (pld_reduce_op)call->reduce,
					    (pld_allreduce_mode)call->mode);
	case PROP_ALL_TO_ALL:
		return pld_tensor_all_to_all(&call->input, call->about,
					     &call->signal);
	default:
		return pld_tensor_all_to_all_v(&call->input, call->about,
					       &call->signal, call->send,
					       call->receive);
	}
}

/* The view that came back is of the slot that is filled. */
static inline int prop_check_slot(const struct prop_rank *rank,
				  const struct prop_step *step,
				  const struct prop_collective_call *call)
{
	int64_t skipped = step->slot * rank->program->nranks *
			  call->target.stride[0] * prop_size(step->dst.dtype);

	if (call->slot.data == (char *)call->target.data + skipped &&
	    call->slot.shape.n[0] == rank->program->nranks &&
	    call->slot.shape.n[1] == call->target.shape.n[1])
		return 0;
	prop_report_step(rank, "the view that is returned is of another slot");
	return -EBADMSG;
}

static inline int prop_run_collective(const struct prop_rank *rank,
				      const struct prop_step *step)
{
	struct prop_collective_call call;

	PLD_TRY(prop_prepare_collective(rank, step, &call));
	PLD_TRY(prop_returned(rank, step->want,
			      prop_call_collective(step, &call)));
	if (step->op == PROP_ALLGATHER_REUSE && !step->want)
		return prop_check_slot(rank, step, &call);
	return 0;
}

#endif /* PLD_PROP_RUN_COLLECTIVE_H */
