// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * pld.tensor.put and pld.tensor.get.
 */
#include <errno.h>

#include "domain.h"
#include "error.h"
#include "health.h"
#include "observe.h"
#include "transfer.h"
#include "view.h"

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
