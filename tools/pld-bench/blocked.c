// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <time.h>
#include <unistd.h>

#include "blocked.h"

/* A wait may spin so long before it has to sleep. */
#define SPIN_NS 1000000
#define SLEEP_NS 200000000
#define DEFAULT_CALLS 5

static void pause_ns(long ns)
{
	const struct timespec pause = { .tv_nsec = ns };

	nanosleep(&pause, NULL);
}

/* The CPU time of a process so far; below 0: not to be had. */
static double cpu_ns(pid_t pid)
{
	struct timespec time;
	clockid_t clock;

	if (clock_getcpuclockid(pid, &clock) || clock_gettime(clock, &time))
		return -1;
	return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

/* The most of all waits counts. */
static void look(struct rank_result *result, double before, int64_t ns)
{
	double after = cpu_ns(result->pid), percent;

	if (before < 0 || after < 0)
		return;
	percent = 100 * (after - before) / (double)ns;
	if (percent > result->cpu_percent)
		result->cpu_percent = percent;
}

static int let_wait(struct bench *bench)
{
	struct rank_result *ranks = bench->job->shared->ranks;
	double before[PLD_MAX_RANKS];
	int64_t start;

	pause_ns(SPIN_NS);
	start = now_ns();
	for (int rank = 1; rank < bench->nranks; rank++)
		before[rank] = cpu_ns(ranks[rank].pid);
	pause_ns(SLEEP_NS);
	for (int rank = 1; rank < bench->nranks; rank++)
		look(&ranks[rank], before[rank], now_ns() - start);
	bench->job->shared->notified = now_ns();
	for (int rank = 1; rank < bench->nranks; rank++)
		PLD_TRY(pld_system_notify(&bench->signal, rank, PLD_AT(0, 0), 1,
					  PLD_ATOMIC_ADD));
	return 0;
}

static int wait_once(struct bench *bench, int32_t call, double *ns)
{
	PLD_TRY(pld_system_wait(&bench->signal, PLD_AT(0, 0), call, PLD_GE));
	*ns += (double)(now_ns() - bench->job->shared->notified);
	return 0;
}

int measure_blocked_wait(struct bench *bench)
{
	struct shared *shared = bench->job->shared;
	struct rank_result *result = &shared->ranks[bench->rank];
	int64_t count = bench->job->options->iterations;
	double ns = 0;

	if (!count)
		count = DEFAULT_CALLS;
	result->pid = getpid();
	result->timed = bench->rank > 0;
	for (int64_t i = 1; i <= count; i++) {
		PLD_TRY(pld_tensor_barrier(&bench->meet));
		PLD_TRY(bench->rank ? wait_once(bench, (int32_t)i, &ns)
				    : let_wait(bench));
	}
	result->ns = ns / (double)count;
	if (!bench->rank)
		shared->iterations = count;
	return 0;
}
