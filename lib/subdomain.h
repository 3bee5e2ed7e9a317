/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * Sub-domains, and whose ranks a sentence speaks of.
 *
 * To the platform a sub-domain is a domain like any other. What ties it to its
 * parent is here: the parent's list of them, and which of the parent's ranks
 * its ranks are. Both change on the host side only, between launches. A launch
 * of the parent makes its processes ranks of the sub-domains too; any failure
 * breaks all of them, first the parent.
 */
#ifndef PLD_SUBDOMAIN_H
#define PLD_SUBDOMAIN_H

#include "domain.h"

/* The domain that is launched: the parent, or the domain itself. */
static inline const pld_domain *pld_launched(const pld_domain *domain)
{
	return domain->parent ? domain->parent : domain;
}

/* The launched domain's number of a rank. */
static inline int pld_launched_rank(const pld_domain *domain, int rank)
{
	return domain->parent ? domain->members[rank] : rank;
}

/* The domain's number of a rank of the launched domain, or -1. */
int pld_member_of(const pld_domain *domain, int launched_rank);

/* Room for a rank's name. */
#define PLD_RANK_TEXT_BYTES 80

/*
 * A rank of the launched domain, to somebody in this one: "rank 3", or "rank 1
 * of the sub-domain (rank 3 of its parent)". text is returned.
 */
const char *pld_rank_text(const pld_domain *domain, int launched_rank,
			  char text[PLD_RANK_TEXT_BYTES]);

/* Takes a sub-domain out of its parent's list; nothing for other domains. */
void pld_subdomain_unlink(const pld_domain *domain);

#endif
