// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * pld_abort: system calls and atomics only, for signal handlers.
 */
#include <errno.h>

#include "error.h"
#include "health.h"
#include "launch.h"

int pld_abort(pld_domain *domain, int code)
{
	struct pld_record record = { .kind = PLD_RECORD_ABORT, .code = code };

	if (!domain)
		return pld_error(EINVAL, "pld_abort: domain must not be NULL");
	if (domain->rank < 0 || !*domain->alive)
		return pld_unhealthy(domain, "pld_abort");
	if (domain->parent)
		domain = domain->parent;
	pld_tell_launcher(domain, &record);
	pld_break(domain, PLD_FAIL_ABORT, domain->rank, code);
	return -ECANCELED;
}
