// SPDX-License-Identifier: GPL-2.0
/*
 * A rank's part: warm up, agree on a number of calls, time them, check some
 * more.
 */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "blocked.h"
#include "calls.h"

/* A trial that is this long tells how long a call takes. */
#define TRIAL_NS 2000000
#define MOST_TRIAL_CALLS (1 << 16)
#define MOST_CALLS 1000000

static bool takes_part(const struct bench *bench)
{
	switch (bench->job->operation->timed) {
	case TIMED_ALL:
		return true;
	case TIMED_FIRST:
		return !bench->rank;
	case TIMED_PAIR:
		return bench->rank < 2;
	case TIMED_HOST:
		return false;
	}
	return false;
}

static int meet(const struct bench *bench)
{
	return pld_tensor_barrier(&bench->meet);
}

/* So many calls from a barrier to the next; *ns is the time of all. */
static int calls(struct bench *bench, int64_t count, int64_t *ns)
{
	int rotate = bench->job->options->rotate, slot = 0;
	int64_t start;

	*ns = 0;
	PLD_TRY(meet(bench));
	if (takes_part(bench)) {
		start = now_ns();
		for (int64_t i = 0; i < count; i++) {
			PLD_TRY(call_operation(bench, &bench->buffers[slot]));
			slot = slot + 1 == rotate ? 0 : slot + 1;
		}
		*ns = now_ns() - start;
	}
	return meet(bench);
}

static int64_t wanted_calls(int64_t ns, int64_t count)
{
	double wanted = ns > 0 ? TIMED_NS * (double)count / (double)ns
			       : MOST_CALLS;

	if (wanted < LEAST_CALLS)
		return LEAST_CALLS;
	return wanted > MOST_CALLS ? MOST_CALLS : (int64_t)wanted;
}

/* Tries ever more calls, until they tell how many there are to be. */
static int choose_iterations(struct bench *bench)
{
	struct shared *shared = bench->job->shared;
	int64_t count = 1, ns;

	do {
		PLD_TRY(calls(bench, count, &ns));
		if (!bench->rank) {
			shared->enough = ns >= TRIAL_NS ||
					 count >= MOST_TRIAL_CALLS;
			shared->iterations = wanted_calls(ns, count);
		}
		count *= 4;
		PLD_TRY(meet(bench));
	} while (!shared->enough);
	return 0;
}

static int check(struct bench *bench, struct rank_result *result)
{
	const struct options *options = bench->job->options;

	for (int64_t call = 1; call <= options->checks; call++) {
		struct buffers *buffers =
			&bench->buffers[call % options->rotate];

		fill_input(bench, buffers, call);
		PLD_TRY(meet(bench));
		if (takes_part(bench))
			PLD_TRY(call_operation(bench, buffers));
		PLD_TRY(meet(bench));
		result->wrong += count_wrong(bench, buffers, call);
	}
	return 0;
}

static int measure(struct bench *bench)
{
	const struct options *options = bench->job->options;
	struct shared *shared = bench->job->shared;
	struct rank_result *result = &shared->ranks[bench->rank];
	int64_t ns;

	for (int i = 0; i < options->rotate; i++)
		fill_input(bench, &bench->buffers[i], 0);
	if (options->warmups)
		PLD_TRY(calls(bench, options->warmups, &ns));
	if (!options->iterations)
		PLD_TRY(choose_iterations(bench));
	PLD_TRY(calls(bench, shared->iterations, &ns));
	result->timed = takes_part(bench);
	result->ns = (double)ns / (double)shared->iterations;
	/* There and back. */
	if (bench->job->operation->id == OP_PING_PONG)
		result->ns /= 2;
	return check(bench, result);
}

int run_ranks(pld_domain *domain, void *arg)
{
	const struct job *job = arg;
	struct bench *bench;
	int error;

	job->shared->ranks[pld_rank(domain)].began = now_ns();
	if (job->operation->timed == TIMED_HOST)
		return 0;
	bench = calloc(1, sizeof(*bench));
	if (!bench)
		return -ENOMEM;
	bench->job = job;
	bench->rank = pld_rank(domain);
	bench->nranks = pld_nranks(domain);
	error = bench_begin(bench);
	if (!error)
		error = job->operation->id == OP_BLOCKED_WAIT
				? measure_blocked_wait(bench)
				: measure(bench);
	bench_end(bench);
	free(bench);
	return error;
}
