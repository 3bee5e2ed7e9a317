/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What every rank does: the calls that the options ask for, each checked.
 */
#ifndef PLD_ALLGATHER_JOB_H
#define PLD_ALLGATHER_JOB_H

#include "options.h"

/*
 * Made by the host side. Calls take the two windows by turns: a rank that is
 * one call ahead writes where nobody reads any more, because to get there it
 * needed every peer to begin the call in between.
 */
struct job {
	const struct options *options;
	pld_window_buffer *data[2];
	pld_window_buffer *signal;
	/* With a mistake: who is late, and a slice of each rank. */
	struct moment *moment;
	pld_window_buffer *source;
};

/* What a rank whose result is wrong returns; it has said what is wrong. */
#define JOB_WRONG_RESULT (-EBADMSG)

/* A pld_kernel; arg is the job. */
int run_job(pld_domain *domain, void *arg);

#endif
