// SPDX-License-Identifier: GPL-2.0
/*
 * The pair of fences of notify and wait, on this machine's processors.
 *
 *	notifier			waiter
 *	change the cell			raise the waiters word
 *	full barrier			full barrier
 *	read the waiters word		read the cell
 *
 * Not both may miss the other's write. Two threads do that millions of times,
 * each time on words of their own, beginning at the same moment. The notifier's side
 * and the look at the cell are the library's own code, in a domain that has nothing
 * else; what the kernel does is written here once more.
 *
 * First without one of the fences, where a miss of both must be
 * seen, which tells that the test can see it; then as the code has it, where
 * none may be. Exits with 0, 1 when that is not so, or 4 with fewer than two
 * processors, on which nothing can be seen.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "look.h"
#include "notify.h"

/* Rounds of a batch, after which is looked at what was seen. */
#define PLACES 64
#define LINE 64
/* Of the code as it is. */
#define ROUNDS 2000000L
/* Until a mutant must be caught; it is within some thousands, most often. */
#define MOST_ROUNDS 100000000L
/* Turns of a thread that waits for the other, before it lets others run. */
#define PATIENCE 10000

/* A place is a rank: a cell and a doorbell. */
static struct {
	_Alignas(LINE) int32_t value;
} cells[PLACES];
static struct {
	_Alignas(LINE) struct pld_sim_doorbell bell;
	char rest[PLD_SIM_DOORBELL_STRIDE - LINE];
} doorbells[PLACES];
static int32_t seen[2][PLACES];
/* How often a thread has come to where both meet. */
static struct {
	_Alignas(LINE) atomic_long count;
} came[2];

/* Of the notifier: whether it saw that it is to ring. */
static bool rang;

static void ring(pld_window_buffer *buffer, size_t offset, int peer)
{
	(void)buffer;
	(void)offset;
	(void)peer;
	rang = true;
}

/* As each process has them: who notifies, and who waits. */
static const struct pld_platform platform = { .ring = ring };
static pld_domain domains[2] = {
	{ .platform = &platform, .doorbells = (char *)doorbells },
	{ .platform = &platform, .doorbells = (char *)doorbells },
};
static pld_window_buffer buffers[2] = {
	{ .domain = &domains[0],
	  .base = (char *)cells,
	  .stride = sizeof(cells[0]) },
	{ .domain = &domains[1],
	  .base = (char *)cells,
	  .stride = sizeof(cells[0]) },
};

static uint32_t *waiters_of(int place)
{
	return &pld_doorbell(&domains[0], place)->waiters;
}

/* lib/wait.c: pld_look(), of one cell. */
static int32_t look(int place)
{
	const struct pld_wanted wanted = { .buffer = &buffers[1],
					   .expected = 1 };
	const struct pld_wants wants = { .cells = &wanted, .count = 1 };

	domains[1].rank = place;
	return pld_look(&wants).satisfied;
}

/* lib/notify.c: pld_system_notify() */
static int32_t notify(int place)
{
	rang = false;
	pld_notify_cell(&buffers[0], place, 0, 1, PLD_ATOMIC_ADD);
	return rang;
}

static int32_t notify_set(int place)
{
	rang = false;
	pld_notify_cell(&buffers[0], place, 0, 1, PLD_SET);
	return rang;
}

/* lib/platform/memfd.c: memfd_block() */
static int32_t wait_memfd(int place)
{
	__atomic_fetch_add(waiters_of(place), 1, __ATOMIC_SEQ_CST);
	return look(place);
}

/* kmod/wait.c: pld_add_waiters(), barrier A, pld_waiter_look() */
static int32_t wait_kmod(int place)
{
	__atomic_store_n(waiters_of(place), 1, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	return __atomic_load_n(&cells[place].value, __ATOMIC_RELAXED);
}

/* Without the fence. A locked instruction would be one, on x86. */
static int32_t notify_unfenced(int place)
{
	__atomic_store_n(&cells[place].value, 1, __ATOMIC_RELEASE);
	return __atomic_load_n(waiters_of(place), __ATOMIC_RELAXED);
}

static int32_t wait_unfenced(int place)
{
	__atomic_store_n(waiters_of(place), 1, __ATOMIC_RELAXED);
	return __atomic_load_n(&cells[place].value, __ATOMIC_RELAXED);
}

/* What both threads run, and what has been seen. */
static struct trial {
	const char *name;
	int32_t (*act[2])(int place);
	/* how many batches at most; ends at the first miss if that must be seen */
	long batches;
	bool must_miss;

	long rounds;
	long misses;
	bool over;
} * trial;

static int cpus[2];
static int numbers[2] = { 0, 1 };

/* Until both are here. */
static void meet(int me, long *count)
{
	atomic_store_explicit(&came[me].count, ++*count, memory_order_release);
	for (int turn = 1; atomic_load_explicit(&came[!me].count,
						memory_order_acquire) < *count;
	     turn++)
		if (turn % PATIENCE == 0)
			sched_yield();
}

/* One of the two does so, while the other waits. */
static void look_at_batch(void)
{
	for (int place = 0; place < PLACES; place++) {
		trial->misses += !seen[0][place] && !seen[1][place];
		cells[place].value = 0;
		*waiters_of(place) = 0;
	}
	trial->rounds += PLACES;
	trial->over = --trial->batches == 0 ||
		      (trial->must_miss && trial->misses);
}

static void *run(void *arg)
{
	int me = *(int *)arg;
	long count = 0;
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(cpus[me], &one);
	pthread_setaffinity_np(pthread_self(), sizeof(one), &one);
	do {
		for (int place = 0; place < PLACES; place++) {
			meet(me, &count);
			seen[me][place] = trial->act[me](place);
		}
		meet(me, &count);
		if (!me)
			look_at_batch();
		meet(me, &count);
	} while (!trial->over);
	return NULL;
}

/* The first and the last of the processors that this process may use. */
static bool choose_cpus(void)
{
	cpu_set_t all;

	if (sched_getaffinity(0, sizeof(all), &all) || CPU_COUNT(&all) < 2)
		return false;
	cpus[0] = -1;
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (!CPU_ISSET(cpu, &all))
			continue;
		if (cpus[0] < 0)
			cpus[0] = cpu;
		cpus[1] = cpu;
	}
	return true;
}

static bool as_it_should(struct trial *which)
{
	pthread_t threads[2];
	bool good;

	trial = which;
	for (int i = 0; i < 2; i++)
		atomic_store(&came[i].count, 0);
	for (int i = 0; i < 2; i++)
		if (pthread_create(&threads[i], NULL, run, &numbers[i]))
			abort();
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	good = which->must_miss == (which->misses > 0);
	printf("%-40s %9ld rounds %6ld misses  %s\n", which->name,
	       which->rounds, which->misses, good ? "ok" : "WRONG");
	return good;
}

#define MUTANT(what, notifier, waiter)                              \
	{                                                           \
		.name = what, .act = { notifier, waiter },          \
		.batches = MOST_ROUNDS / PLACES, .must_miss = true, \
	}
#define REAL(what, notifier, waiter)                       \
	{                                                  \
		.name = what, .act = { notifier, waiter }, \
		.batches = ROUNDS / PLACES,                \
	}

int main(void)
{
	struct trial trials[] = {
		MUTANT("mutant: no fence in notify, memfd", notify_unfenced,
		       wait_memfd),
		MUTANT("mutant: no fence in notify, kmod", notify_unfenced,
		       wait_kmod),
		MUTANT("mutant: no fence in wait", notify, wait_unfenced),
		REAL("notify and wait, memfd", notify, wait_memfd),
		REAL("notify by Set and wait, memfd", notify_set, wait_memfd),
		REAL("notify and wait, kmod", notify, wait_kmod),
	};
	bool good = true;

	if (!choose_cpus()) {
		puts("fence: with one processor there is nothing to see");
		return 4;
	}
	for (size_t i = 0; i < sizeof(trials) / sizeof(trials[0]); i++)
		good = as_it_should(&trials[i]) && good;
	return !good;
}
