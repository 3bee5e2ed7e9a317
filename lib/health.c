// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * Why a domain is broken, in words. The status page of platform memfd can be
 * scribbled on by a peer, so nothing read from it is used as an index.
 */
#include <errno.h>
#include <string.h>

#include "clock.h"
#include "error.h"
#include "health.h"
#include "join/joined.h"
#include "launch.h"
#include "platform/platform.h"
#include "subdomain.h"

/* "No space left on device" would send its reader to look at a disk. */
static const char *error_text(int error)
{
	return error == ENOSPC ? "what it moves does not fit its tile"
			       : strerror(error);
}

/* More failures and resets than a rank lives through. */
#define EPOCHS_AT_MOST (1u << 20)

/* A server that ends closes its ranks' sockets one after another. */
#define HANGUP_NS (100 * PLD_NS_PER_MS)

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

/* A rank that only a scribbler can have put there gets no other name. */
static int launched_rank(const pld_domain *domain, uint32_t rank)
{
	return rank < (uint32_t)domain->nranks
		       ? pld_launched_rank(domain, (int)rank)
		       : (int)rank;
}

static int say_why(const pld_domain *domain, const char *op, uint32_t reason,
		   int rank, int32_t code)
{
	int error = reason_errno(reason);
	/* INT32_MIN has no positive. */
	int failed_with = code > INT32_MIN ? -code : INT32_MAX;
	char who[PLD_RANK_TEXT_BYTES];

	pld_rank_text(domain, rank, who);
	switch (reason) {
	case PLD_FAIL_DEAD:
		return pld_error(error, "%s: %s died", op, who);
	case PLD_FAIL_ERROR:
		return pld_error(error, "%s: %s failed: %s", op, who,
				 error_text(failed_with));
	case PLD_FAIL_TIMEOUT:
		return pld_error(error, "%s: %s did not do its part in time",
				 op, who);
	case PLD_FAIL_ABORT:
		return pld_error(error, "%s: %s aborted with code %d", op, who,
				 code);
	case PLD_FAIL_OUTSIDE:
		return pld_error(error, "%s: the parent domain is broken", op);
	case PLD_FAIL_NONE:
		return pld_error(error, "%s: the domain was reset", op);
	default:
		return pld_error(error,
				 "%s: the domain's status page was overwritten: it holds what no rank writes there",
				 op);
	}
}

/*
 * Was only the epoch scribbled on? It goes on by one with each failure and each reset,
 * and a failure has a reason.
 */
static bool is_no_epoch(const pld_domain *domain)
{
	uint32_t epoch =
		__atomic_load_n(&domain->status->epoch, __ATOMIC_RELAXED);

	return epoch - domain->epoch > EPOCHS_AT_MOST;
}

static bool parent_broken(const pld_domain *domain)
{
	const pld_domain *parent = domain->parent;

	/* Acquire: as in pld_healthy(). */
	return parent && __atomic_load_n(&parent->status->epoch,
					 __ATOMIC_ACQUIRE) != parent->epoch;
}

struct cause {
	uint32_t reason;
	uint32_t rank;
	int32_t code;
};

/*
 * What the status page says. Relaxed: the epoch was read before, with acquire;
 * atomic all the same, since whoever else finds a failure publishes it again.
 */
static struct cause cause_of(const pld_domain *domain)
{
	const struct pld_sim_status *status = domain->status;

	return (struct cause){
		.reason = __atomic_load_n(&status->reason, __ATOMIC_RELAXED),
		.rank = __atomic_load_n(&status->rank, __ATOMIC_RELAXED),
		.code = __atomic_load_n(&status->code, __ATOMIC_RELAXED),
	};
}

int pld_broken(const pld_domain *domain, const char *op, uint32_t reason,
	       uint32_t rank, int32_t code)
{
	int culprit = launched_rank(domain, rank);
	const pld_domain *broken = domain;
	int result;

	if (parent_broken(domain)) {
		struct cause cause = cause_of(domain->parent);

		broken = domain->parent;
		reason = cause.reason;
		culprit = (int)cause.rank;
		code = cause.code;
	}
	if (domain->joined && reason == PLD_FAIL_ERROR &&
	    code == PLD_SERVER_GONE && pld_server_gone(domain, HANGUP_NS))
		return pld_error(EOWNERDEAD, "%s: the server has gone away", op);
	if (reason == PLD_FAIL_NONE && is_no_epoch(broken))
		reason = UINT32_MAX;
	result = say_why(domain, op, reason, culprit, code);
	if (reason >= PLD_FAIL_DEAD && reason <= PLD_FAIL_OUTSIDE) {
		pld_failure()->culprit = culprit;
		pld_failure()->secondhand = true;
	}
	return result;
}

int pld_unhealthy(const pld_domain *domain, const char *op)
{
	char who[PLD_RANK_TEXT_BYTES];
	struct cause cause;

	if (!pld_on_rank_side(domain))
		return pld_error(ENOTCONN,
				 "%s: only a launched kernel can do this, not the host side",
				 op);
	pld_rank_text(domain, pld_launched(domain)->rank, who);
	if (!*domain->alive)
		return pld_error(EPERM,
				 "%s: this process was forked by %s and is not a rank itself",
				 op, who);
	if (domain->outsider)
		return pld_error(ENOTCONN, "%s: %s is not in this sub-domain",
				 op, who);
	cause = cause_of(domain);
	return pld_broken(domain, op, cause.reason, cause.rank, cause.code);
}

void pld_break(pld_domain *domain, enum pld_sim_fail_reason reason, int culprit,
	       int code)
{
	struct pld_record record = {
		.kind = PLD_RECORD_BROKE,
		.reason = reason,
		.culprit = pld_launched_rank(domain, culprit),
		.code = code,
	};

	domain->platform->fail(domain, reason, culprit, code);
	if (domain->parent || domain->subdomains)
		pld_tell_launcher(domain, &record);
}
