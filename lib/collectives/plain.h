/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * The arguments that almost every call of a collective brings, known at one look.
 * What is not plain may be right all the same: the checks of check.h, which have the
 * sentences, decide about it.
 */
#ifndef PLD_COLLECTIVES_PLAIN_H
#define PLD_COLLECTIVES_PLAIN_H

#include <stdbool.h>

#include "dtype.h"
#include "health.h"
#include "pld.h"
#include "view.h"

/*
 * The bytes that a table of rows of adjacent elements, one row after another,
 * covers in its memory; 0 when view is none.
 */
static inline size_t pld_plain_bytes(const pld_view *view)
{
	const int64_t *n = view->shape.n, *stride = view->stride;
	int64_t bytes;

	/* The stride of a dimension of one element leads nowhere. */
	if (view->shape.ndim != 2 || n[0] < 1 || n[1] < 1 || stride[0] < n[1] ||
	    (n[1] == 1 ? stride[1] < 0 : stride[1] != 1) ||
	    __builtin_mul_overflow(n[0] - 1, stride[0], &bytes) ||
	    __builtin_add_overflow(bytes, n[1], &bytes) ||
	    __builtin_mul_overflow(bytes, pld_dtype_bytes(view->dtype), &bytes) ||
	    !view->data || (size_t)bytes > view->bytes)
		return 0;
	return (size_t)bytes;
}

static inline bool pld_bytes_overlap(const void *a, size_t a_bytes,
				     const void *b, size_t b_bytes)
{
	return (uintptr_t)a < (uintptr_t)b + b_bytes &&
	       (uintptr_t)b < (uintptr_t)a + a_bytes;
}

/*
 * The bytes of a signal [nranks, 1] of the domain, which this process is a healthy
 * rank of; 0 when it is none.
 */
static inline size_t pld_plain_signal(const pld_view *signal,
				      const pld_domain *domain)
{
	size_t bytes;

	if (signal->kind != PLD_DISTRIBUTED_TENSOR || !signal->buffer ||
	    signal->buffer->domain != domain || signal->dtype != PLD_INT32 ||
	    (uintptr_t)signal->data % sizeof(int32_t))
		return 0;
	bytes = pld_plain_bytes(signal);
	return bytes && signal->shape.n[0] == domain->nranks &&
			       signal->shape.n[1] == 1 && pld_healthy(domain) &&
			       pld_view_in_window(signal, bytes)
		       ? bytes
		       : 0;
}

#endif
