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

/* A trial that is this long tells about how long a call takes. */
#define TRIAL_NS 2000000
/* Calls that were timed for less are too few, and timed anew, so often at most. */
#define LEAST_TIMED_NS (TIMED_NS / 2)
#define MOST_REPEATS 4
#define MOST_TRIAL_CALLS (1 << 16)
#define MOST_CALLS 1000000

/* As pld.h says it. */
#define DEFAULT_TIMEOUT_NS INT64_C(30000000000)

static bool takes_part(const struct bench *bench, int rank)
{
	switch (bench->job->operation->timed) {
	case TIMED_ALL:
		return true;
	case TIMED_FIRST:
		return !rank;
	case TIMED_PAIR:
		return rank < 2;
	case TIMED_HOST:
		return false;
	}
	return false;
}

static int meet(const struct bench *bench)
{
	return pld_tensor_barrier(&bench->meet);
}

/*
 * Who has no part in the calls waits until rank 0 has made them all. None of them
 * has to end within the timeout of a wait but each by itself.
 */
static int look_on(struct bench *bench, int64_t count)
{
	int64_t timeout = bench->job->options->timeout_ns;

	if (!timeout)
		timeout = DEFAULT_TIMEOUT_NS;
	if (__builtin_mul_overflow(timeout, count, &timeout))
		timeout = INT64_MAX;
	return pld_system_wait_timeout(&bench->signal, PLD_AT(0, 0),
				       ++bench->round, PLD_GE, timeout);
}

static int tell_who_looks_on(const struct bench *bench)
{
	for (int rank = 0; rank < bench->nranks; rank++)
		if (!takes_part(bench, rank))
			PLD_TRY(pld_system_notify(&bench->signal, rank,
						  PLD_AT(0, 0), 1,
						  PLD_ATOMIC_ADD));
	return 0;
}

static int time_calls(struct bench *bench, int64_t count, int64_t *ns)
{
	int rotate = bench->job->options->rotate, slot = 0;
	int64_t start = now_ns();

	for (int64_t i = 0; i < count; i++) {
		PLD_TRY(call_operation(bench, &bench->buffers[slot]));
		slot = slot + 1 == rotate ? 0 : slot + 1;
	}
	*ns = now_ns() - start;
	return bench->rank ? 0 : tell_who_looks_on(bench);
}

/* So many calls from a barrier to the next; *ns is the time of all. */
static int calls(struct bench *bench, int64_t count, int64_t *ns)
{
	*ns = 0;
	PLD_TRY(meet(bench));
	PLD_TRY(takes_part(bench, bench->rank) ? time_calls(bench, count, ns)
					       : look_on(bench, count));
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

/* By rank 0's clock: have calls been timed for long enough, or how many will be? */
static int choose_again(struct bench *bench, int64_t ns)
{
	struct shared *shared = bench->job->shared;

	if (!bench->rank) {
		shared->enough = ns >= LEAST_TIMED_NS ||
				 shared->iterations >= MOST_CALLS;
		if (!shared->enough)
			shared->iterations =
				wanted_calls(ns, shared->iterations);
	}
	return meet(bench);
}

/* A trial that was disturbed has told of too few calls: these tell better. */
static int time_enough(struct bench *bench, int64_t *ns)
{
	struct shared *shared = bench->job->shared;

	PLD_TRY(choose_iterations(bench));
	for (int i = 0; i < MOST_REPEATS; i++) {
		PLD_TRY(calls(bench, shared->iterations, ns));
		PLD_TRY(choose_again(bench, *ns));
		if (shared->enough)
			return 0;
	}
	return calls(bench, shared->iterations, ns);
}

static int check(struct bench *bench, struct rank_result *result)
{
	const struct options *options = bench->job->options;

	for (int64_t call = 1; call <= options->checks; call++) {
		struct buffers *buffers =
			&bench->buffers[call % options->rotate];

		fill_input(bench, buffers, call);
		PLD_TRY(meet(bench));
		if (takes_part(bench, bench->rank))
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
	PLD_TRY(options->iterations ? calls(bench, options->iterations, &ns)
				    : time_enough(bench, &ns));
	result->timed = takes_part(bench, bench->rank);
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
