// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * pld.tensor.put and pld.tensor.get.
 */
#include <errno.h>

#include "copy.h"
#include "domain.h"
#include "error.h"
#include "health.h"
#include "observe.h"
#include "run.h"
#include "transfer.h"
#include "view.h"

static inline bool is_special(const pld_put_options *at)
{
	return at->stage || at->atomic != PLD_NONE || at->chunk_rows ||
	       at->chunk_cols || at->pipeline;
}

/* The runs of both sides, of a region or of all; false when there is none. */
static inline bool find_runs(const pld_view *dst, unsigned int dst_kinds,
			     const pld_view *src, unsigned int src_kinds,
			     const pld_put_options *at, struct pld_run *to,
			     struct pld_run *from)
{
	if (at && is_special(at))
		return false;
	if (at && at->shape.ndim)
		return pld_find_run(dst, dst_kinds, &at->dst_offsets,
				    &at->shape, to) &&
		       pld_find_run(src, src_kinds, &at->src_offsets,
				    &at->shape, from);
	return (!at || (!at->dst_offsets.ndim && !at->src_offsets.ndim)) &&
	       pld_find_whole_run(dst, dst_kinds, to) &&
	       pld_find_whole_run(src, src_kinds, from) &&
	       pld_dims_equal(&dst->shape, &src->shape);
}

/*
 * The short way of one run of bytes, when nothing is wrong and nobody looks on. A put
 * is to the peer, anything else from it. Was it that?
 */
static inline bool move_run(bool put, const pld_view *dst, const pld_view *src,
			    int peer, const pld_put_options *options)
{
	const pld_view *far = put ? dst : src;
	const unsigned int peers = PLD_ACCEPT(PLD_DISTRIBUTED_TENSOR);
	struct pld_run to, from;
	char *at, *source;

	if (!dst || !src || dst->dtype != src->dtype ||
	    !find_runs(dst, put ? peers : PLD_ACCEPT_TENSORS, src,
		       put ? PLD_ACCEPT_TENSORS : peers, options, &to, &from) ||
	    !pld_is_peer(far->buffer->domain, peer) || pld_observed())
		return false;
	at = (put ? pld_peer_data(dst, peer) : (char *)dst->data) + to.before;
	source = (put ? (char *)src->data : pld_peer_data(src, peer)) +
		 from.before;
	if (pld_runs_overlap(at, source, to.bytes))
		return false;
	pld_copy(at, source, to.bytes, to.bytes);
	return true;
}

/* The views of a transfer of which far is the peer's; near is a tensor. */
static int check_views(const char *op, const char *far_name, const pld_view *far,
		       int peer, const char *near_name, const pld_view *near)
{
	PLD_TRY(pld_view_check(op, far_name, far,
			       PLD_ACCEPT(PLD_DISTRIBUTED_TENSOR)));
	PLD_TRY(pld_enter(far->buffer->domain, op));
	PLD_TRY(pld_view_check(op, near_name, near, PLD_ACCEPT_TENSORS));
	return pld_peer_check(op, far->buffer->domain, peer);
}

int pld_tensor_put(const pld_distributed_tensor *dst, int peer,
		   const pld_view *src, const pld_put_options *options)
{
	static const char op[] = "pld.tensor.put";
	struct pld_transfer transfer;

	if (move_run(true, dst, src, peer, options))
		return 0;
	PLD_TRY(check_views(op, "dst", dst, peer, "src", src));
	transfer = (struct pld_transfer){
		.op = op,
		.dst = dst,
		.dst_data = pld_peer_data(dst, peer),
		.src = src,
		.src_data = src->data,
		.domain = dst->buffer->domain,
		.options = options ? options : &pld_put_defaults,
	};
	PLD_TRY(pld_transfer_check(&transfer));
	PLD_TRY(pld_transfer_run(&transfer));
	if (pld_observed())
		pld_observe_transfer(&transfer, true, peer);
	return 0;
}

int pld_tensor_get(const pld_view *dst, int peer,
		   const pld_distributed_tensor *src,
		   const pld_get_options *options)
{
	static const char op[] = "pld.tensor.get";
	struct pld_transfer transfer;

	if (move_run(false, dst, src, peer, options))
		return 0;
	PLD_TRY(check_views(op, "src", src, peer, "dst", dst));
	transfer = (struct pld_transfer){
		.op = op,
		.dst = dst,
		.dst_data = dst->data,
		.src = src,
		.src_data = pld_peer_data(src, peer),
		.domain = src->buffer->domain,
		.options = options ? options : &pld_put_defaults,
	};
	if (transfer.options->atomic != PLD_NONE)
		return pld_error(EINVAL,
				 "%s: atomic is for put, wanted None (0), got %d",
				 op, (int)transfer.options->atomic);
	PLD_TRY(pld_transfer_check(&transfer));
	PLD_TRY(pld_transfer_run(&transfer));
	if (pld_observed())
		pld_observe_transfer(&transfer, false, peer);
	return 0;
}
