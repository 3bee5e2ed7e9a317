/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * May this process go on? Looked at by every operation, and by a wait in each
 * of its turns.
 */
#ifndef PLD_HEALTH_H
#define PLD_HEALTH_H

#include "domain.h"

/* The error and sentence for a domain that pld_healthy() does not hold for. */
int pld_unhealthy(const pld_domain *domain, const char *op);

static inline bool pld_healthy(const pld_domain *domain)
{
	/*
	 * Acquire: what broke the domain was published before the epoch. Pairs
	 * with the release in the platform's fail().
	 */
	return domain->rank >= 0 && *domain->alive &&
	       __atomic_load_n(&domain->status->epoch, __ATOMIC_ACQUIRE) ==
		       domain->epoch;
}

/* 0, or why op cannot run here and now. */
static inline int pld_enter(const pld_domain *domain, const char *op)
{
	return __builtin_expect(pld_healthy(domain), 1)
		       ? 0
		       : pld_unhealthy(domain, op);
}

/*
 * Breaks the domain; the first failure stays. culprit is the rank of it that is
 * the cause. Where there are sub-domains, the launcher is told, and breaks the
 * others. Async-signal-safe.
 */
void pld_break(pld_domain *domain, enum pld_sim_fail_reason reason, int culprit,
	       int code);

/*
 * The error and sentence for a domain that is broken for that reason; for a
 * sub-domain whose parent is broken, for the parent's.
 */
int pld_broken(const pld_domain *domain, const char *op, uint32_t reason,
	       uint32_t rank, int32_t code);

#endif
