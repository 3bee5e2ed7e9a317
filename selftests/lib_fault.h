/* SPDX-License-Identifier: GPL-2.0 */
/*
 * For tests in which ranks end, stop and die: memory that outlives them, clocks,
 * and deadlines that fit the machine.
 */
#ifndef PLD_LIB_FAULT_H
#define PLD_LIB_FAULT_H

#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <pld.h>

#include "pld_sleep.h"

/* What ranks leave behind for the test. */
struct shared {
	pid_t pids[PLD_MAX_RANKS];
	/* ranks that are where the test wants them */
	int ready;
	int64_t died_at;
	int64_t told_at[PLD_MAX_RANKS];
};

static inline struct shared *make_shared(void)
{
	void *memory = mmap(NULL, sizeof(struct shared), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

static inline int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static inline void say_ready(struct shared *shared)
{
	__atomic_fetch_add(&shared->ready, 1, __ATOMIC_SEQ_CST);
}

static inline void wait_for_ready(struct shared *shared, int ranks)
{
	while (__atomic_load_n(&shared->ready, __ATOMIC_SEQ_CST) < ranks)
		sleep_ms(1);
}

/*
 * ms milliseconds on an idle machine, in ns here and now: longer by as much as
 * the slowest of some children takes longer to start and end than the 2 ms that
 * are ample for it.
 */
static inline int64_t deadline_ns(int ms)
{
	const double ample_ns = 2e6;
	int64_t slowest = 0;

	for (int i = 0; i < 20; i++) {
		int64_t start = now_ns();
		pid_t child = fork();

		if (!child)
			_exit(0);
		if (child > 0)
			TEMP_FAILURE_RETRY(waitpid(child, NULL, 0));
		if (now_ns() - start > slowest)
			slowest = now_ns() - start;
	}
	return (int64_t)(ms * 1e6 *
			 ((double)slowest > ample_ns ? (double)slowest / ample_ns
						     : 1));
}

/* Is that process, no child of ours, gone before a hang must be assumed? */
static inline int ends(pid_t pid)
{
	for (int i = 0; i < 10000; i++) {
		if (kill(pid, 0))
			return 1;
		sleep_ms(1);
	}
	return 0;
}

#endif /* PLD_LIB_FAULT_H */
