// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * The check of a signal and a cell of it, one thing after another.
 */
#include <errno.h>

#include "cell.h"

int pld_check_cell(const char *op, const char *argument, const pld_view *signal,
		   const pld_dims *offsets, size_t *cell)
{
	PLD_TRY(pld_view_check(op, argument, signal,
			       PLD_ACCEPT(PLD_DISTRIBUTED_TENSOR)));
	if (signal->dtype != PLD_INT32)
		return pld_error(EINVAL, "%s: dtype of %s is %s, wanted int32",
				 op, argument, pld_dtype_text(signal->dtype));
	PLD_TRY(pld_enter(signal->buffer->domain, op));
	PLD_TRY(pld_dims_inside(op, argument, signal, offsets));
	*cell = (size_t)((char *)signal->data - pld_own_base(signal->buffer)) +
		(size_t)pld_dims_index(signal, offsets) * sizeof(int32_t);
	if (*cell % sizeof(int32_t))
		return pld_error(EFAULT, "%s: %s is not aligned to int32", op,
				 argument);
	return 0;
}
