/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * Views: what kinds there are, and whether one that a caller hands in can be
 * believed.
 */
#ifndef PLD_VIEW_H
#define PLD_VIEW_H

#include "pld.h"

/* "Tensor", "DistributedTensor", "Tile", or "NULL" and "no view". */
const char *pld_kind_name(const pld_view *view);

/* Kinds to accept, as bits. */
#define PLD_ACCEPT(kind) (1u << (kind))
#define PLD_ACCEPT_TENSORS \
	(PLD_ACCEPT(PLD_TENSOR) | PLD_ACCEPT(PLD_DISTRIBUTED_TENSOR))
#define PLD_ACCEPT_ALL (PLD_ACCEPT_TENSORS | PLD_ACCEPT(PLD_TILE))

/*
 * 0, or -EINVAL when it is not of an accepted kind or makes no sense, or
 * -EFAULT when it lies outside its own window.
 */
int pld_view_check(const char *op, const char *argument, const pld_view *view,
		   unsigned int accepted);

/*
 * Bytes from the first element to the end of the last; 0 when they cannot be
 * counted, or there is no such shape.
 */
size_t pld_view_extent(const pld_view *view);

/* The address of the peer's first element; peer is in range. */
char *pld_peer_data(const pld_view *view, int peer);

/* 0 or -ERANGE. */
int pld_peer_check(const char *op, const pld_domain *domain, int peer);

#endif
