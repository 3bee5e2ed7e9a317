// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * Making sub-domains, and naming their ranks. What they are: subdomain.h.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "error.h"
#include "platform/platform.h"
#include "subdomain.h"

static const char op[] = "pld_subdomain_create";

int pld_member_of(const pld_domain *domain, int launched_rank)
{
	if (!domain->parent)
		return launched_rank;
	for (int rank = 0; rank < domain->nranks; rank++)
		if (domain->members[rank] == launched_rank)
			return rank;
	return -1;
}

const char *pld_rank_text(const pld_domain *domain, int launched_rank,
			  char text[PLD_RANK_TEXT_BYTES])
{
	int rank = pld_member_of(domain, launched_rank);

	if (!domain->parent)
		snprintf(text, PLD_RANK_TEXT_BYTES, "rank %d", rank);
	else if (rank < 0)
		snprintf(text, PLD_RANK_TEXT_BYTES,
			 "rank %d of the parent domain", launched_rank);
	else
		snprintf(text, PLD_RANK_TEXT_BYTES,
			 "rank %d of the sub-domain (rank %d of its parent)",
			 rank, launched_rank);
	return text;
}

void pld_subdomain_unlink(const pld_domain *domain)
{
	pld_domain **link;

	if (!domain->parent)
		return;
	link = &domain->parent->subdomains;
	while (*link != domain)
		link = &(*link)->next_subdomain;
	*link = domain->next_subdomain;
}

static int check_ranks(const pld_domain *parent, const int *ranks, int nranks)
{
	if (nranks < 1 || nranks > parent->nranks)
		return pld_error(EINVAL, "%s: %d ranks, wanted 1 to %d", op,
				 nranks, parent->nranks);
	for (int i = 0; i < nranks; i++) {
		if (ranks[i] < 0 || ranks[i] >= parent->nranks)
			return pld_error(ERANGE,
					 "%s: ranks[%d] is %d, wanted 0 to %d",
					 op, i, ranks[i], parent->nranks - 1);
		for (int j = 0; j < i; j++)
			if (ranks[i] == ranks[j])
				return pld_error(EINVAL,
						 "%s: rank %d is named twice",
						 op, ranks[i]);
	}
	return 0;
}

static void fill(pld_domain *domain, pld_domain *parent, const int *ranks,
		 int nranks)
{
	*domain = (pld_domain){
		.platform = parent->platform,
		.nranks = nranks,
		.timeout_ns = parent->timeout_ns,
		.tile_bytes = parent->tile_bytes,
		.parent = parent,
		.host = parent->host,
		.rank = -1,
		.oversubscribed = parent->oversubscribed,
	};
	snprintf(domain->platform_reason, sizeof(domain->platform_reason), "%s",
		 parent->platform_reason);
	for (int rank = 0; rank < nranks; rank++) {
		domain->members[rank] = ranks[rank];
		domain->devices[rank] = parent->devices[ranks[rank]];
	}
}

int pld_subdomain_create(pld_domain *parent, const int *ranks, int nranks,
			 pld_domain **subdomain)
{
	pld_domain *made;
	int error;

	if (!parent || !ranks || !subdomain)
		return pld_error(EINVAL,
				 "%s: parent, ranks and subdomain must not be NULL",
				 op);
	PLD_TRY(pld_host_only(parent, op));
	if (parent->parent)
		return pld_error(EINVAL,
				 "%s: parent is a sub-domain itself, wanted a domain that can be launched",
				 op);
	PLD_TRY(check_ranks(parent, ranks, nranks));
	made = malloc(sizeof(*made));
	if (!made)
		return pld_error(ENOMEM, "%s: out of memory", op);
	fill(made, parent, ranks, nranks);
	error = made->platform->create(made);
	if (error) {
		free(made);
		return error;
	}
	made->next_subdomain = parent->subdomains;
	parent->subdomains = made;
	pld_domain_enlist(made);
	*subdomain = made;
	return 0;
}
