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
#include "region.h"
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

/* What a view covers; all behind it where its shape tells nothing. */
static uintptr_t end_of(const pld_view *view)
{
	size_t extent = pld_view_extent(view);

	return (uintptr_t)view->data + (extent ? extent : view->bytes);
}

bool pld_views_overlap(const pld_view *a, const pld_view *b)
{
	return (uintptr_t)a->data < end_of(b) && (uintptr_t)b->data < end_of(a);
}

static int check_distinct(const char *op, const char *argument,
			  const pld_view *view)
{
	struct pld_region region = pld_region_of(view, view->data);

	if (!pld_region_is_distinct(&region, &view->shape))
		return pld_error(EINVAL,
				 "%s %s has elements that lie on each other",
				 op, argument);
	return 0;
}

int pld_check_cells(const char *op, const pld_view *signal)
{
	PLD_TRY(pld_view_check(op, "signal", signal,
			       PLD_ACCEPT(PLD_DISTRIBUTED_TENSOR)));
	if ((uintptr_t)signal->data % sizeof(int32_t))
		return pld_error(EFAULT, "%s: signal is not aligned to int32",
				 op);
	return check_distinct(op, "signal", signal);
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
	PLD_TRY(check_distinct(op, "target", target));
	if (pld_views_overlap(target, signal))
		return pld_error(EINVAL,
				 "%s signal and target must not overlap", op);
	return 0;
}
