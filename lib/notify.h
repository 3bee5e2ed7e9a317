/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * The notify itself, of a cell and a peer that have been checked.
 */
#ifndef PLD_NOTIFY_H
#define PLD_NOTIFY_H

#include "platform/platform.h"
#include "relax.h"

/* The cell's value before; op is one of the two. */
static inline int32_t pld_notify_cell(pld_window_buffer *buffer, int peer,
				      size_t cell, int32_t value,
				      pld_notify_op op)
{
	char *memory = buffer->base + (size_t)peer * buffer->stride;
	int32_t *address = (void *)(memory + cell), before;

	/*
	 * seq_cst: a release of all that this rank did before, and in one order
	 * with the load of waiters below. Pairs with the platform's block(),
	 * which raises waiters before it looks at the cell.
	 */
	if (op == PLD_SET)
		before = __atomic_exchange_n(address, value, __ATOMIC_SEQ_CST);
	else
		before = __atomic_fetch_add(address, value, __ATOMIC_SEQ_CST);
	/* The kernel's side of that order is a full barrier, so is this. */
	pld_barrier_after_atomic();
	if (__atomic_load_n(&pld_doorbell(buffer->domain, peer)->waiters,
			    __ATOMIC_RELAXED))
		buffer->domain->platform->ring(buffer, cell, peer);
	return before;
}

#endif
