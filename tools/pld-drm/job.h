/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What every rank does, and what every window must hold then.
 */
#ifndef PLD_DRM_JOB_H
#define PLD_DRM_JOB_H

#include <stdbool.h>

#include "options.h"

struct job {
	const struct options *options;
	pld_window_buffer *data;
	pld_window_buffer *signal;
};

/* What a rank whose window is wrong returns; it has said what is wrong. */
#define JOB_WRONG_RESULT (-EBADMSG)

/* A pld_kernel; arg is the job. */
int run_job(pld_domain *domain, void *arg);

/* Bytes of a rank's window; 0 for more than can be counted. */
size_t job_bytes(const struct options *options);

/* Compares them all; who tells whose they are and how they are seen. */
bool job_is_right(const struct options *options, const char *who,
		  const void *window);

#endif
