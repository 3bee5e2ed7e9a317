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

static int reason_errno(uint32_t reason)
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

int pld_broken(const char *op, uint32_t reason, uint32_t rank, int32_t code)
{
	int error = reason_errno(reason);
	/* INT32_MIN has no positive. */
	int failed_with = code > INT32_MIN ? -code : INT32_MAX;
	int result;

	switch (reason) {
	case PLD_FAIL_DEAD:
		result = pld_error(error, "%s: rank %u died", op, rank);
		break;
	case PLD_FAIL_ERROR:
		result = pld_error(error, "%s: rank %u failed: %s", op, rank,
				   strerror(failed_with));
		break;
	case PLD_FAIL_TIMEOUT:
		result = pld_error(error,
				   "%s: rank %u did not do its part in time",
				   op, rank);
		break;
	case PLD_FAIL_ABORT:
		result = pld_error(error, "%s: rank %u aborted with code %d",
				   op, rank, code);
		break;
	default:
		return pld_error(error, "%s: the domain was reset", op);
	}
	pld_failure()->culprit = (int)rank;
	pld_failure()->secondhand = true;
	return result;
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
	return pld_broken(op, domain->status->reason, domain->status->rank,
			  domain->status->code);
}

void pld_break(pld_domain *domain, enum pld_sim_fail_reason reason, int culprit,
	       int code)
{
	domain->platform->fail(domain, reason, culprit, code);
}
