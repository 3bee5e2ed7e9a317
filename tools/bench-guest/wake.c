// SPDX-License-Identifier: GPL-2.0
/*
 * What the module's wait and ring cost beside FUTEX_WAIT and FUTEX_WAKE, by the
 * same kernel in the same minute: two processes that wake each other by turns,
 * and each call by itself. Each has a word in a page of its own, which the other
 * writes before it wakes. Nobody spins: who waits asks the kernel at once.
 *
 *	wake CPUS ROUNDS CALLS
 *
 * In each round both contenders do all, CALLS times. Prints lines of what,
 * contender, round, ns of one and how often somebody slept in it:
 *
 *	trip	one wakes the other and sleeps until it is woken
 *	wake	wakes nobody
 *	look	waits for what is there
 *
 * With one CPU, both processes have the same one, and who is woken runs when its
 * waker sleeps (SCHED_BATCH), so that each wait of a trip sleeps.
 */
#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "pld_uapi.h"

#define HANG (60 * SIM_SEC)

/* The words of this process and of its peer. */
struct words {
	_Atomic int32_t *own;
	_Atomic int32_t *other;
	/* how often this process was woken, and woke */
	int32_t turns;
};

struct bench {
	int rank;
	int cpus;
	long calls;
	/* of the module */
	int domain;
	int fd;
	struct pld_sim_window_alloc window;
	/* a page for each process */
	char *shared;
	struct words words[2];
};

struct contender {
	const char *name;
	void (*wake)(const struct bench *bench, const struct words *words,
		     int rank);
	/* returns when the own word is value, or may be */
	void (*wait)(const struct bench *bench, const struct words *words,
		     int32_t value);
};

static _Noreturn void die(const char *what, int error)
{
	fprintf(stderr, "wake: %s: %s\n", what, strerror(error));
	exit(1);
}

static int check(const char *what, int result)
{
	if (result < 0)
		die(what, -result);
	return result;
}

static void pld_wake(const struct bench *bench, const struct words *words,
		     int rank)
{
	(void)words;
	check("PLD_IOC_RING",
	      sim_ring(bench->fd, bench->window.window, (__u32)rank, 0));
}

static void pld_wait(const struct bench *bench, const struct words *words,
		     int32_t value)
{
	(void)words;
	check("PLD_IOC_WAIT", sim_wait(bench->fd, bench->window.window, 0,
				       PLD_SIM_CMP_EQ, value, INT64_MAX, NULL));
}

static void futex_wake(const struct bench *bench, const struct words *words,
		       int rank)
{
	_Atomic int32_t *word = rank == bench->rank ? words->own : words->other;

	if (syscall(SYS_futex, word, FUTEX_WAKE, 1, NULL, NULL, 0) < 0)
		die("FUTEX_WAKE", errno);
}

/* It sleeps while the word is what it was the turn before. */
static void futex_wait(const struct bench *bench, const struct words *words,
		       int32_t value)
{
	(void)bench;
	if (syscall(SYS_futex, words->own, FUTEX_WAIT, value - 1, NULL, NULL, 0) &&
	    errno != EAGAIN)
		die("FUTEX_WAIT", errno);
}

static const struct contender contenders[2] = {
	{ "pld", pld_wake, pld_wait },
	{ "futex", futex_wake, futex_wait },
};

static void wake_other(const struct bench *bench,
		       const struct contender *contender, struct words *words)
{
	/* Seen by who is woken, or not asleep yet: a full barrier is in it. */
	atomic_store(words->other, words->turns);
	contender->wake(bench, words, !bench->rank);
}

static void wait_for_other(const struct bench *bench,
			   const struct contender *contender,
			   struct words *words)
{
	while (atomic_load_explicit(words->own, memory_order_acquire) !=
	       words->turns)
		contender->wait(bench, words, words->turns);
}

static void one_trip(const struct bench *bench,
		     const struct contender *contender, struct words *words)
{
	words->turns++;
	if (!bench->rank)
		wake_other(bench, contender, words);
	wait_for_other(bench, contender, words);
	if (bench->rank)
		wake_other(bench, contender, words);
}

/* The first process wakes itself, who does not sleep. */
static void one_wake(const struct bench *bench,
		     const struct contender *contender, struct words *words)
{
	if (!bench->rank)
		contender->wake(bench, words, 0);
}

/* What is there is the last turn's. */
static void one_look(const struct bench *bench,
		     const struct contender *contender, struct words *words)
{
	int32_t there = atomic_load_explicit(words->own, memory_order_relaxed);

	if (bench->rank)
		return;
	/* A futex compares with what it sleeps for: another value ends it. */
	contender->wait(bench, words,
			contender->wait == futex_wait ? there + 2 : there);
}

static const struct {
	const char *name;
	void (*run)(const struct bench *bench,
		    const struct contender *contender, struct words *words);
} figures[] = {
	{ "trip", one_trip },
	{ "wake", one_wake },
	{ "look", one_look },
};

static long sleeps_of(int who)
{
	struct rusage usage;

	getrusage(who, &usage);
	return usage.ru_nvcsw;
}

static void measure(struct bench *bench, size_t figure, int contender, int round)
{
	long sleeps = sleeps_of(RUSAGE_SELF);
	__s64 start = sim_now();

	for (long i = 0; i < bench->calls; i++)
		figures[figure].run(bench, &contenders[contender],
				    &bench->words[contender]);
	start = sim_now() - start;
	sleeps = sleeps_of(RUSAGE_SELF) - sleeps;
	if (!bench->rank && round)
		printf("%s %s %d %.1f %.2f\n", figures[figure].name,
		       contenders[contender].name, round,
		       (double)start / (double)bench->calls,
		       (double)sleeps / (double)bench->calls);
}

static void bind_process(const struct bench *bench)
{
	struct sched_param param = { 0 };
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(bench->cpus > 1 ? bench->rank : 0, &set);
	if (sched_setaffinity(0, sizeof(set), &set) ||
	    sched_setscheduler(0, SCHED_BATCH, &param))
		die("cannot be bound to a CPU", errno);
}

static _Atomic int32_t *window_word(const struct bench *bench, int rank)
{
	void *memory = sim_map(bench->fd, &bench->window, (__u32)rank);

	if (memory == MAP_FAILED)
		die("the window cannot be mapped", errno);
	return memory;
}

static _Atomic int32_t *shared_word(const struct bench *bench, int rank)
{
	return (void *)(bench->shared + (size_t)rank * SIM_PAGE);
}

/* Round 0 warms up. Who comes first changes from round to round. */
static void run(struct bench *bench, int rounds)
{
	bind_process(bench);
	bench->fd = check("cannot join",
			  sim_member(bench->domain, (__u32)bench->rank));
	bench->words[0] =
		(struct words){ .own = window_word(bench, bench->rank),
				.other = window_word(bench, !bench->rank) };
	bench->words[1] =
		(struct words){ .own = shared_word(bench, bench->rank),
				.other = shared_word(bench, !bench->rank) };
	for (int round = 0; round <= rounds; round++)
		for (size_t i = 0; i < sizeof(figures) / sizeof(*figures); i++)
			for (int turn = 0; turn < 2; turn++)
				measure(bench, i, (round + turn) & 1, round);
	check("cannot leave", sim_leave(bench->fd));
}

static void make_words(struct bench *bench)
{
	bench->domain = check("no domain", sim_domain(2));
	check("no window", sim_alloc(bench->domain, SIM_PAGE, PLD_WINDOW_SIGNAL,
				     &bench->window));
	bench->shared = mmap(NULL, 2 * SIM_PAGE, PROT_READ | PROT_WRITE,
			     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (bench->shared == MAP_FAILED)
		die("no shared memory", errno);
}

int main(int argc, char **argv)
{
	struct bench bench = { 0 };
	int rounds, status;
	pid_t peer;

	if (argc != 4) {
		fprintf(stderr, "usage: wake CPUS ROUNDS CALLS\n");
		return 2;
	}
	bench.cpus = atoi(argv[1]);
	rounds = atoi(argv[2]);
	bench.calls = atol(argv[3]);
	make_words(&bench);
	peer = fork();
	if (peer < 0)
		die("fork", errno);
	bench.rank = !peer;
	/* A peer that fails must not be waited for. */
	alarm(600);
	run(&bench, rounds);
	if (peer && (waitpid(peer, &status, 0) < 0 || status))
		return 1;
	return 0;
}
