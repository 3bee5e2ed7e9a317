// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * Why a domain is broken, in words. The status page of platform memfd can be
 * scribbled on by a peer, so nothing read from it is used as an index.
 */
#include <errno.h>
#include <string.h>

#include "error.h"
#include "health.h"
#include "platform/platform.h"

int pld_reason_errno(uint32_t reason)
{
	switch (reason) {
	case PLD_FAIL_TIMEOUT:
		return ETIMEDOUT;
	case PLD_FAIL_ABORT:
		return ECANCELED;
	default:
		return EOWNERDEAD;
	}
}

static int broken(const pld_domain *domain, const char *op)
{
	struct pld_sim_status status = *domain->status;
	int error = pld_reason_errno(status.reason);
	int code;

	switch (status.reason) {
	case PLD_FAIL_DEAD:
		code = pld_error(error, "%s: rank %u died", op, status.rank);
		break;
	case PLD_FAIL_ERROR:
		code = pld_error(error, "%s: rank %u failed: %s", op,
				 status.rank, strerror(-status.code));
		break;
	case PLD_FAIL_TIMEOUT:
		code = pld_error(error,
				 "%s: rank %u did not do its part in time", op,
				 status.rank);
		break;
	case PLD_FAIL_ABORT:
		code = pld_error(error, "%s: rank %u aborted with code %d", op,
				 status.rank, status.code);
		break;
	default:
		return pld_error(error, "%s: the domain was reset", op);
	}
	pld_failure()->culprit = (int)status.rank;
	pld_failure()->secondhand = true;
	return code;
}

int pld_unhealthy(const pld_domain *domain, const char *op)
{
	if (domain->rank < 0)
		return pld_error(ENOTCONN,
				 "%s: only a launched kernel can do this, not the host side",
				 op);
	if (!*domain->alive)
		return pld_error(EPERM,
				 "%s: this process was forked by rank %d and is not a rank itself",
				 op, domain->rank);
	return broken(domain, op);
}

void pld_break(pld_domain *domain, enum pld_sim_fail_reason reason, int culprit,
	       int code)
{
	domain->platform->fail(domain, reason, culprit, code);
}
