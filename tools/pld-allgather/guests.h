/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Ranks that come in by themselves: the server's side, and theirs.
 */
#ifndef PLD_ALLGATHER_GUESTS_H
#define PLD_ALLGATHER_GUESTS_H

#include "job.h"

/*
 * In place of pld_launch(): tells each rank's command, and who comes. started
 * is set when all ranks run. SIGINT and SIGTERM end it.
 */
int serve(const struct options *options, pld_domain *domain, struct job *job,
	  pld_rank_report *reports, bool *started);

/* Comes in, does the job, and tells how it went: the exit status. */
int join(const struct options *options);

#endif
