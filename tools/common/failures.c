// SPDX-License-Identifier: GPL-2.0
/*
 * The cause first; the others mostly say that the cause reached them.
 */
#include <string.h>

#include "common/failures.h"
#include "common/program.h"

void failures_tell(const pld_rank_report *reports, int nranks, int error,
		   int told, bool verbose)
{
	const char *cause = pld_last_error();
	int others = 0;

	if (!told || error != told)
		complain("%s", cause);
	for (int rank = 0; rank < nranks; rank++) {
		if (!reports[rank].error ||
		    (told && reports[rank].error == told) ||
		    !strcmp(reports[rank].message, cause))
			continue;
		others++;
		if (verbose)
			complain("%s", reports[rank].message);
	}
	if (others && !verbose)
		complain("%d more %s failed for it; -v tells how", others,
			 others == 1 ? "rank" : "ranks");
}

bool failures_never_started(const pld_rank_report *reports, int nranks)
{
	for (int rank = 0; rank < nranks; rank++)
		if (!strcmp(reports[rank].message, pld_last_error()))
			return false;
	return true;
}
