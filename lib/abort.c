// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * pld_abort: system calls and atomics only, for signal handlers.
 */
#include <errno.h>
#include <unistd.h>

#include "health.h"
#include "launch.h"

int pld_abort(pld_domain *domain, int code)
{
	struct pld_launch *launch = domain->launch;
	uint64_t one = 1, none = 0, abort;

	if (domain->rank < 0 || !*domain->alive)
		return pld_unhealthy(domain, "pld_abort");
	abort = ((uint64_t)domain->rank + 1) << 32 | (uint32_t)code;
	/* The first one counts. Release: pairs with the launcher's load. */
	__atomic_compare_exchange_n(&launch->abort, &none, abort, false,
				    __ATOMIC_RELEASE, __ATOMIC_RELAXED);
	pld_break(domain, PLD_FAIL_ABORT, domain->rank, code);
	while (write(launch->abort_event, &one, sizeof(one)) < 0 &&
	       errno == EINTR)
		;
	return -ECANCELED;
}
