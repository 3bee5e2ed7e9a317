// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * Checks of arguments that collectives share.
 */
#include <errno.h>

#include "collectives/check.h"
#include "dims.h"
#include "domain.h"
#include "error.h"
#include "health.h"
#include "view.h"

int pld_check_given(const char *op, const char *argument, const void *value)
{
	if (!value)
		return pld_error(EINVAL, "%s %s must not be NULL", op, argument);
	return 0;
}

/* Of a view without a buffer, which pld_view_check() refuses too. */
static int check_buffer(const char *op, const char *argument,
			const pld_view *view)
{
	if (!view->buffer)
		return pld_error(EFAULT, "%s: %s has no window buffer", op,
				 argument);
	return 0;
}

int pld_check_window_kind(const char *op, const char *argument,
			  const pld_view *view)
{
	if (view->kind != PLD_DISTRIBUTED_TENSOR)
		return pld_error(EINVAL,
				 "%s %s must be a DistributedTensor, got %s",
				 op, argument, pld_kind_name(view));
	return check_buffer(op, argument, view);
}

int pld_check_table(const char *op, const char *argument, const pld_view *view,
		    const char *shape)
{
	char got[PLD_DIMS_TEXT_BYTES];

	if (view->kind != PLD_DISTRIBUTED_TENSOR || view->shape.ndim != 2)
		return pld_error(EINVAL,
				 "%s %s must be a DistributedTensor %s, got %s %s",
				 op, argument, shape, pld_kind_name(view),
				 pld_dims_text(view->shape, got));
	return check_buffer(op, argument, view);
}

int pld_check_rows(const char *op, const char *argument, const pld_view *view)
{
	int nranks = view->buffer->domain->nranks;

	if (view->shape.n[0] != nranks)
		return pld_error(EINVAL,
				 "%s %s must have nranks = %d rows, got %lld",
				 op, argument, nranks,
				 (long long)view->shape.n[0]);
	return 0;
}

int pld_check_reduce_op(const char *op, pld_reduce_op reduce)
{
	if ((unsigned int)reduce > PLD_PROD)
		return pld_error(EINVAL,
				 "%s op must be Sum (0), Max (1), Min (2) or Prod (3), got %d",
				 op, (int)reduce);
	return 0;
}

bool pld_views_overlap(const pld_view *a, const pld_view *b)
{
	uintptr_t from_a = (uintptr_t)a->data, from_b = (uintptr_t)b->data;

	return from_a < from_b + b->bytes && from_b < from_a + a->bytes;
}

/* The end of the last element. */
static uintptr_t end_of(const pld_view *view)
{
	int64_t last = 0;

	for (int i = 0; i < view->shape.ndim; i++)
		last += (view->shape.n[i] - 1) * view->stride[i];
	return (uintptr_t)view->data +
	       (uintptr_t)(last + 1) * (uintptr_t)pld_dtype_size(view->dtype);
}

int pld_check_ready(const char *op, const pld_view *target,
		    const pld_view *signal)
{
	if (signal->buffer->domain != target->buffer->domain)
		return pld_error(EINVAL,
				 "%s signal and target must be of one domain",
				 op);
	PLD_TRY(pld_enter(target->buffer->domain, op));
	PLD_TRY(pld_view_check(op, "target", target,
			       PLD_ACCEPT(PLD_DISTRIBUTED_TENSOR)));
	if ((uintptr_t)target->data < end_of(signal) &&
	    (uintptr_t)signal->data < end_of(target))
		return pld_error(EINVAL,
				 "%s signal and target must not overlap", op);
	return 0;
}
