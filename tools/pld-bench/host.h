/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the process that launches the ranks measures itself.
 */
#ifndef PLD_BENCH_HOST_H
#define PLD_BENCH_HOST_H

#include "job.h"

/* Times of the calls, and how many they were. */
struct host_times {
	int64_t count;
	double mean_ns;
	double min_ns;
	double max_ns;
};

/* 0, or an error with pld_last_error(). */
int measure_on_host(const struct job *job, pld_domain *domain,
		    const pld_domain_options *domain_options,
		    pld_rank_report *reports, struct host_times *times);

#endif
