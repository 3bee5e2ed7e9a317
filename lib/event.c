// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * Signals as sync_files.
 */
#include <errno.h>

#include <linux/pld_sim.h>

#include "cell.h"
#include "error.h"
#include "pld_event.h"

_Static_assert(PLD_MAX_FENCE_NS == PLD_SIM_MAX_FENCE_NS,
	       "the module's limit is the library's");

int pld_signal_fence(const pld_distributed_tensor *signal, pld_dims offsets,
		     int32_t expected, pld_cmp cmp, int64_t timeout_ns, int *fd)
{
	pld_condition condition = { signal, offsets, expected, cmp };
	struct pld_wait_request request = {
		.op = "pld_signal_fence",
		.conditions = &condition,
		.count = 1,
		.timeout_ns = timeout_ns,
	};

	if (!fd)
		return pld_error(EINVAL, "%s: fd must not be NULL", request.op);
	return pld_wait_fence(&request, fd);
}
