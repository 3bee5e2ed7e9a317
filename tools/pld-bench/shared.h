/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Memory that the ranks share with the process that launches them: what they
 * have measured, and what they agree on. A rank reads another's members only
 * after a barrier, the launcher after the launch: nothing else orders them.
 */
#ifndef PLD_BENCH_SHARED_H
#define PLD_BENCH_SHARED_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <pld.h>

struct rank_result {
	pid_t pid;
	/* it takes part in the time of a call, which took so long on average */
	bool timed;
	double ns;
	/* when its kernel began to run, in ns of CLOCK_MONOTONIC */
	int64_t began;
	int64_t wrong;
	/* of a CPU, while it slept in a wait; below 0: not measured */
	double cpu_percent;
};

struct shared {
	/* of the calls that are timed; rank 0 writes them */
	int64_t iterations;
	bool enough;
	/* of a blocked wait: when it was notified */
	int64_t notified;
	struct rank_result ranks[PLD_MAX_RANKS];
};

/* NULL: no memory. It lives as long as the process. */
struct shared *shared_create(void);

#endif
