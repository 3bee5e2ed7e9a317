/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One measurement: an operation with one size. The launcher makes it, the ranks
 * do it.
 */
#ifndef PLD_BENCH_JOB_H
#define PLD_BENCH_JOB_H

#include <time.h>

#include "options.h"
#include "shared.h"

struct job {
	const struct options *options;
	const struct operation *operation;
	/* elements of a slice */
	int64_t size;
	/* none where the operation has no window */
	pld_window_buffer *data[MAX_ROTATE];
	/* the operation's */
	pld_window_buffer *signal;
	/* of the barriers between what is measured */
	pld_window_buffer *meet;
	struct shared *shared;
};

/* What calls are timed for, where their number is not given. */
#define TIMED_NS 50e6
#define LEAST_CALLS 10

/* A pld_kernel; arg is the job. */
int run_ranks(pld_domain *domain, void *arg);

/* Allocates what the job needs; 0, or an error with pld_last_error(). */
int job_alloc(struct job *job, pld_domain *domain);
void job_free(struct job *job);

/* CLOCK_MONOTONIC in ns. */
static inline int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

#endif
