/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * What almost every operation moves: one run of bytes, with nothing wrong. It is known
 * at one look, without a sentence.
 */
#ifndef PLD_RUN_H
#define PLD_RUN_H

#include <stdbool.h>

#include "dims.h"
#include "dtype.h"
#include "health.h"
#include "view.h"

/* A region of a view that is one run of bytes. */
struct pld_run {
	/* from the view's first element on to the end of its last, and to the run */
	size_t extent;
	size_t before;
	size_t bytes;
};

/*
 * Does the region lie in the view, and one element after another? No element of the view
 * lies on another then, and nothing overflows that the view's end does not. What this
 * does not hold for may be right all the same.
 */
static inline bool pld_is_run(const pld_view *view, const pld_dims *offsets,
			      const pld_dims *shape, struct pld_run *run)
{
	int64_t size = pld_dtype_bytes(view->dtype), reach = 1, count = 1;
	int64_t index = 0;
	int ndim = view->shape.ndim;

	if (ndim < 1 || ndim > PLD_MAX_DIMS || offsets->ndim != ndim ||
	    shape->ndim != ndim)
		return false;
	for (int i = ndim - 1; i >= 0; i--) {
		int64_t n = view->shape.n[i], stride = view->stride[i];
		int64_t step;

		int64_t want = shape->n[i], at = offsets->n[i];

		/* By itself: a compiler makes more of it otherwise. */
		if (__builtin_expect(want < 1, 0))
			return false;
		if (want > n || (uint64_t)at > (uint64_t)(n - want) ||
		    stride < reach || (want != 1 && stride != count) ||
		    __builtin_mul_overflow(n - 1, stride, &step) ||
		    __builtin_add_overflow(reach, step, &reach))
			return false;
		index += at * stride;
		count *= want;
	}
	if (__builtin_mul_overflow(reach, size, &reach))
		return false;
	*run = (struct pld_run){
		.extent = (size_t)reach,
		.before = (size_t)(index * size),
		.bytes = (size_t)(count * size),
	};
	return true;
}

/* The same of a whole view. */
static inline bool pld_is_whole_run(const pld_view *view, struct pld_run *run)
{
	int64_t size = pld_dtype_bytes(view->dtype), count = 1;

	if (view->shape.ndim < 1 || view->shape.ndim > PLD_MAX_DIMS)
		return false;
	for (int i = view->shape.ndim - 1; i >= 0; i--) {
		int64_t n = view->shape.n[i], stride = view->stride[i];

		if (n < 1 || (n == 1 ? stride < count : stride != count) ||
		    __builtin_mul_overflow(count, n, &count))
			return false;
	}
	if (__builtin_mul_overflow(count, size, &count))
		return false;
	*run = (struct pld_run){ .extent = (size_t)count,
				 .bytes = (size_t)count };
	return true;
}

/* Is that view in its memory, and if it is a window's, the domain in order? */
static inline bool pld_run_in_place(const pld_view *view,
				    const struct pld_run *run)
{
	if (!view->data || !run->extent || run->extent > view->bytes)
		return false;
	return view->kind != PLD_DISTRIBUTED_TENSOR ||
	       (pld_view_in_window(view, run->extent) &&
		pld_healthy(view->buffer->domain));
}

/* Do two runs of so many bytes share one? */
static inline bool pld_runs_overlap(const char *a, const char *b, size_t bytes)
{
	return (uintptr_t)a - (uintptr_t)b < bytes ||
	       (uintptr_t)b - (uintptr_t)a < bytes;
}

/* Is it of an accepted kind, and the region one run, with nothing wrong? */
static inline bool pld_find_run(const pld_view *tensor, unsigned int accepted,
				const pld_dims *offsets, const pld_dims *shape,
				struct pld_run *run)
{
	return pld_view_accepted(tensor, accepted) &&
	       pld_is_run(tensor, offsets, shape, run) &&
	       pld_run_in_place(tensor, run);
}

/* The same of a region that is the whole view. */
static inline bool pld_find_whole_run(const pld_view *view,
				      unsigned int accepted, struct pld_run *run)
{
	return pld_view_accepted(view, accepted) &&
	       pld_is_whole_run(view, run) && pld_run_in_place(view, run);
}

#endif
