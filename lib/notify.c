// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * pld.system.notify.
 */
#include <errno.h>

#include "dims.h"
#include "dtype.h"
#include "domain.h"
#include "error.h"
#include "health.h"
#include "observe.h"
#include "platform/platform.h"
#include "cell.h"
#include "view.h"

int pld_signal_cell(const char *op, const char *argument,
		    const pld_view *signal, pld_dims offsets, size_t *cell)
{
	pld_dims one = { .ndim = offsets.ndim, .n = { 1, 1, 1, 1, 1 } };

	PLD_TRY(pld_view_check(op, argument, signal,
			       PLD_ACCEPT(PLD_DISTRIBUTED_TENSOR)));
	if (signal->dtype != PLD_INT32)
		return pld_error(EINVAL, "%s: dtype of %s is %s, wanted int32",
				 op, argument, pld_dtype_text(signal->dtype));
	PLD_TRY(pld_enter(signal->buffer->domain, op));
	PLD_TRY(pld_dims_within(op, argument, signal, offsets, one));
	*cell = (size_t)((char *)signal->data - pld_own_base(signal->buffer)) +
		(size_t)pld_dims_index(signal, offsets) * sizeof(int32_t);
	if (*cell % sizeof(int32_t))
		return pld_error(EFAULT, "%s: %s is not aligned to int32", op,
				 argument);
	return 0;
}

int pld_system_notify(const pld_distributed_tensor *signal, int peer,
		      pld_dims offsets, int32_t value, pld_notify_op op)
{
	static const char name[] = "pld.system.notify";
	pld_window_buffer *buffer;
	int32_t *address, before;
	size_t cell;

	PLD_TRY(pld_signal_cell(name, "signal", signal, offsets, &cell));
	buffer = signal->buffer;
	PLD_TRY(pld_peer_check(name, buffer->domain, peer));
	address = (void *)(buffer->base + (size_t)peer * buffer->stride + cell);
	/*
	 * seq_cst: a release of all that this rank did before, and in one order
	 * with the load of waiters below. Pairs with the platform's block(),
	 * which raises waiters before it looks at the cell.
	 */
	switch (op) {
	case PLD_ATOMIC_ADD:
		before = __atomic_fetch_add(address, value, __ATOMIC_SEQ_CST);
		break;
	case PLD_SET:
		before = __atomic_exchange_n(address, value, __ATOMIC_SEQ_CST);
		break;
	default:
		return pld_error(EINVAL,
				 "%s: op is %d, wanted AtomicAdd (0) or Set (1)",
				 name, (int)op);
	}
	/* The kernel's side of that order is a full barrier, so is this. */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (__atomic_load_n(&pld_doorbell(buffer->domain, peer)->waiters,
			    __ATOMIC_RELAXED))
		buffer->domain->platform->ring(buffer, cell, peer);
	if (pld_observed())
		pld_observe_notify(signal, peer, offsets, value, op, before);
	return 0;
}
