/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * Views: what kinds there are, and whether one that a caller hands in can be
 * believed.
 */
#ifndef PLD_VIEW_H
#define PLD_VIEW_H

#include <stdbool.h>

#include "domain.h"
#include "dtype.h"
#include "pld.h"

/* "Tensor", "DistributedTensor", "Tile", or "NULL" and "no view". */
const char *pld_kind_name(const pld_view *view);

/* Kinds to accept, as bits. */
#define PLD_ACCEPT(kind) (1u << (kind))
#define PLD_ACCEPT_TENSORS \
	(PLD_ACCEPT(PLD_TENSOR) | PLD_ACCEPT(PLD_DISTRIBUTED_TENSOR))
#define PLD_ACCEPT_ALL (PLD_ACCEPT_TENSORS | PLD_ACCEPT(PLD_TILE))

static inline bool pld_view_accepted(const pld_view *view, unsigned int accepted)
{
	return view && (unsigned int)view->kind <= PLD_TILE &&
	       (accepted & PLD_ACCEPT(view->kind));
}

/*
 * Bytes from the first element to the end of the last; 0 when they cannot be
 * counted, or there is no such shape.
 */
static inline size_t pld_view_extent(const pld_view *view)
{
	int64_t size = pld_dtype_bytes(view->dtype);
	int64_t last = 0, elements = size;

	if (!size || view->shape.ndim < 1 || view->shape.ndim > PLD_MAX_DIMS)
		return 0;

	for (int i = 0; i < view->shape.ndim; i++) {
		int64_t step;

		if (view->shape.n[i] < 1 || view->stride[i] < 0 ||
		    __builtin_mul_overflow(elements, view->shape.n[i],
					   &elements) ||
		    __builtin_mul_overflow(view->shape.n[i] - 1,
					   view->stride[i], &step) ||
		    __builtin_add_overflow(last, step, &last))
			return 0;
	}
	if (__builtin_add_overflow(last, 1, &last) ||
	    __builtin_mul_overflow(last, size, &last))
		return 0;
	return (size_t)last;
}

/* Do that many bytes from the view's first element on lie in its own window? */
static inline bool pld_view_in_window(const pld_view *view, size_t bytes)
{
	const pld_window_buffer *buffer = view->buffer;
	size_t before;

	if (!buffer || bytes > buffer->bytes)
		return false;
	/* What lies before the window is far behind it in this. */
	before = (uintptr_t)view->data - (uintptr_t)pld_own_base(buffer);
	return before <= buffer->bytes - bytes;
}

/* The error and sentence for a view that pld_view_check() does not hold for. */
int pld_view_refused(const char *op, const char *argument, const pld_view *view,
		     unsigned int accepted);

/*
 * 0, or -EINVAL when it is not of an accepted kind or makes no sense, or
 * -EFAULT when it lies outside its own window.
 */
static inline int pld_view_check(const char *op, const char *argument,
				 const pld_view *view, unsigned int accepted)
{
	if (__builtin_expect(pld_view_accepted(view, accepted), 1)) {
		size_t bytes = pld_view_extent(view);

		if (__builtin_expect(bytes && view->data && bytes <= view->bytes &&
					     (view->kind !=
						      PLD_DISTRIBUTED_TENSOR ||
					      pld_view_in_window(view, bytes)),
				     1))
			return 0;
	}
	return pld_view_refused(op, argument, view, accepted);
}

/* The address of the peer's first element; peer is in range. */
static inline char *pld_peer_data(const pld_view *view, int peer)
{
	const pld_window_buffer *buffer = view->buffer;

	return (char *)view->data +
	       (int64_t)(peer - buffer->domain->rank) * (int64_t)buffer->stride;
}

static inline bool pld_is_peer(const pld_domain *domain, int peer)
{
	return (unsigned int)peer < (unsigned int)domain->nranks;
}

/* The error and sentence for a peer that pld_peer_check() does not hold for. */
int pld_peer_refused(const char *op, const pld_domain *domain, int peer);

/* 0 or -ERANGE. */
static inline int pld_peer_check(const char *op, const pld_domain *domain,
				 int peer)
{
	return __builtin_expect(pld_is_peer(domain, peer), 1)
		       ? 0
		       : pld_peer_refused(op, domain, peer);
}

#endif
