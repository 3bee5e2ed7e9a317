// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * pld.system.notify.
 */
#include <errno.h>

#include "cell.h"
#include "error.h"
#include "notify.h"
#include "observe.h"
#include "view.h"

int pld_system_notify(const pld_distributed_tensor *signal, int peer,
		      pld_dims offsets, int32_t value, pld_notify_op op)
{
	static const char name[] = "pld.system.notify";
	int32_t before;
	size_t cell;

	PLD_TRY(pld_signal_cell(name, "signal", signal, &offsets, &cell));
	PLD_TRY(pld_peer_check(name, signal->buffer->domain, peer));
	if (op != PLD_ATOMIC_ADD && op != PLD_SET)
		return pld_error(EINVAL,
				 "%s: op is %d, wanted AtomicAdd (0) or Set (1)",
				 name, (int)op);
	before = pld_notify_cell(signal->buffer, peer, cell, value, op);
	if (pld_observed())
		pld_observe_notify(signal, peer, offsets, value, op, before);
	return 0;
}
