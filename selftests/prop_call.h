/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The arguments of one call of the library that the property test makes, and
 * how one of them is spoiled.
 */
#ifndef PLD_PROP_CALL_H
#define PLD_PROP_CALL_H

#include "prop_program.h"

struct prop_call {
	pld_view dst;
	pld_view src;
	/* the tensor or signal that the call is about: dst or src, or NULL */
	pld_view *about;
	pld_tile tile;
	int peer;
	pld_dims offsets;
	pld_dims shape;
	pld_dims valid;
	pld_atomic_type atomic;
	pld_notify_op notify_op;
	pld_put_options options;
	pld_tile stage;
};

/* Another type of the same size. */
static inline pld_dtype prop_other_dtype(pld_dtype dtype)
{
	static const pld_dtype others[PROP_DTYPES] = {
		[PLD_FP64] = PLD_INT64,	 [PLD_FP32] = PLD_UINT32,
		[PLD_FP16] = PLD_BF16,	 [PLD_BF16] = PLD_INT16,
		[PLD_INT64] = PLD_FP64,	 [PLD_INT32] = PLD_FP32,
		[PLD_INT16] = PLD_FP16,	 [PLD_INT8] = PLD_UINT8,
		[PLD_UINT64] = PLD_FP64, [PLD_UINT32] = PLD_FP32,
		[PLD_UINT16] = PLD_BF16, [PLD_UINT8] = PLD_INT8,
	};

	return others[dtype];
}

static inline void prop_spoil_ndim(pld_dims *dims)
{
	dims->ndim += dims->ndim > 1 ? -1 : 1;
}

static inline void prop_spoil_subregion(pld_put_options *options, int which)
{
	pld_dims *dims[] = { &options->dst_offsets, &options->src_offsets,
			     &options->shape };

	dims[which % 3]->ndim = 0;
}

static inline void prop_spoil_shape(const struct prop_step *step,
				    struct prop_call *call)
{
	int dim = step->wrong_detail % step->shape.ndim;

	if (step->whole)
		call->src.shape.n[call->src.shape.ndim - 1]--;
	else
		call->options.shape.n[dim] = 0;
}

static inline size_t prop_tile_bytes(const pld_tile *tile, pld_dims shape,
				     pld_dtype dtype)
{
	if (tile->shape.ndim && !shape.ndim)
		return (size_t)prop_count(tile->shape) *
		       (size_t)prop_size(tile->dtype);
	return (size_t)prop_count(shape) * (size_t)prop_size(dtype);
}

static inline void prop_spoil_call(const struct prop_step *step,
				   struct prop_call *call)
{
	pld_view *about = call->about;

	switch (step->wrong) {
	case PROP_WRONG_PEER:
		call->peer = step->wrong_detail;
		break;
	case PROP_WRONG_OFFSET:
		if (step->op == PROP_HANDOVER)
			call->offsets.n[0] = step->wrong_detail;
		break;
	case PROP_WRONG_NDIM:
		prop_spoil_ndim(&call->offsets);
		prop_spoil_ndim(&call->options.dst_offsets);
		break;
	case PROP_WRONG_KIND:
		about->kind = about->kind == PLD_DISTRIBUTED_TENSOR &&
					      step->op >= PROP_REMOTE_LOAD
				      ? PLD_TENSOR
				      : PLD_TILE;
		break;
	case PROP_WRONG_NULL:
		call->about = NULL;
		break;
	case PROP_WRONG_DTYPE:
		about->dtype = prop_other_dtype(about->dtype);
		break;
	case PROP_WRONG_ADDRESS:
		about->data = (char *)about->data +
			      (step->wrong_detail % 2 ? 1 << 20 : -(1 << 20));
		break;
	case PROP_WRONG_SUBREGION:
		prop_spoil_subregion(&call->options, step->wrong_detail);
		break;
	case PROP_WRONG_SHAPE:
		prop_spoil_shape(step, call);
		break;
	case PROP_WRONG_ATOMIC:
		call->atomic = step->op == PROP_GET ? PLD_ADD
						    : (pld_atomic_type)2;
		break;
	case PROP_WRONG_ALIGNMENT:
		about->data = (char *)about->data + 1;
		break;
	case PROP_WRONG_TILE_BYTES:
		call->tile.bytes = prop_tile_bytes(&call->tile, step->shape,
						   about->dtype) -
				   1;
		break;
	case PROP_WRONG_TILE_KIND:
		call->tile.kind = PLD_TENSOR;
		break;
	case PROP_WRONG_NOTIFY_OP:
		call->notify_op = (pld_notify_op)2;
		break;
	default:
		break; /* what is wrong is in the step */
	}
}

#endif /* PLD_PROP_CALL_H */
