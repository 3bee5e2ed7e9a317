// SPDX-License-Identifier: GPL-2.0
/*
 * The limit: as many processes copy the bytes that an allgather has to move,
 * between the same kinds of memory, all at once and with nothing in between.
 * Their times are not those of a collective: nobody waits for anybody.
 *
 *	copy push NRANKS LEAST MOST FACTOR
 *		from private memory to the own row of every rank's window
 *	copy pull NRANKS LEAST MOST FACTOR
 *		to the own window, and from every rank's to private memory
 */
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "peer.h"

#define PAGE 4096
#define MOST_RANKS 256

/* For the ranks, between what is measured; not in it. */
struct meeting {
	atomic_int arrived;
	atomic_int round;
	double values[MOST_RANKS];
};

static bool push;
static struct meeting *meeting;
/* nranks slices of each rank */
static unsigned char *windows;
static unsigned char *private_memory;

static unsigned char *window_of(const struct peer *peer, int rank)
{
	return windows + (size_t)rank * (size_t)peer->nranks * peer->most;
}

/* Each begins with itself, so that not all go to one window at a time. */
static void peer_call(struct peer *peer)
{
	size_t bytes = peer->bytes, own = (size_t)peer->rank * bytes;

	if (!push)
		memcpy(window_of(peer, peer->rank) + own, peer->slice, bytes);
	for (int i = 0; i < peer->nranks; i++) {
		int rank = (peer->rank + i) % peer->nranks;
		size_t row = (size_t)rank * bytes;

		if (push)
			memcpy(window_of(peer, rank) + own, peer->slice, bytes);
		else
			memcpy(private_memory + row,
			       window_of(peer, rank) + row, bytes);
	}
}

/*
 * The last to arrive opens the next round. Acquire and release: what was done
 * before is seen by all afterwards.
 */
static void peer_barrier(struct peer *peer)
{
	int round = atomic_load_explicit(&meeting->round, memory_order_acquire);

	if (atomic_fetch_add_explicit(&meeting->arrived, 1,
				      memory_order_acq_rel) == peer->nranks - 1) {
		atomic_store_explicit(&meeting->arrived, 0,
				      memory_order_relaxed);
		atomic_store_explicit(&meeting->round, round + 1,
				      memory_order_release);
		return;
	}
	while (atomic_load_explicit(&meeting->round, memory_order_acquire) ==
	       round)
		sched_yield();
}

static double peer_sum(struct peer *peer, double value)
{
	double sum = 0;

	meeting->values[peer->rank] = value;
	peer_barrier(peer);
	for (int rank = 0; rank < peer->nranks; rank++)
		sum += meeting->values[rank];
	peer_barrier(peer);
	return sum;
}

static void *memory(size_t bytes, int sharing)
{
	void *mapped = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			    sharing | MAP_ANONYMOUS, -1, 0);

	if (mapped == MAP_FAILED) {
		perror("copy: mmap");
		exit(1);
	}
	return mapped;
}

/* A CPU for each, where there are as many, as libpld and the others do it. */
static void bind_rank(int rank, int nranks)
{
	cpu_set_t allowed, own;

	if (sched_getaffinity(0, sizeof(allowed), &allowed) ||
	    CPU_COUNT(&allowed) < nranks)
		return;
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (!CPU_ISSET(cpu, &allowed) || rank--)
			continue;
		CPU_ZERO(&own);
		CPU_SET(cpu, &own);
		sched_setaffinity(0, sizeof(own), &own);
		return;
	}
}

static _Noreturn void run_rank(struct peer *peer, char **argv)
{
	size_t all = (size_t)peer->nranks * peer->most;

	bind_rank(peer->rank, peer->nranks);
	peer->slice = memory(peer->most, MAP_PRIVATE);
	memset(peer->slice, 1, peer->most);
	private_memory = memory(all, MAP_PRIVATE);
	memset(private_memory, 0, all);
	/* Page tables of all windows: the copies take no faults. */
	for (size_t at = 0; at < all * (size_t)peer->nranks; at += PAGE)
		((volatile unsigned char *)windows)[at] = 0;
	peer->gathered = push ? window_of(peer, peer->rank) : private_memory;
	peer_run(peer, argv);
	exit(0);
}

static int wait_for_all(int nranks)
{
	int status, failed = 0;

	for (int rank = 0; rank < nranks; rank++)
		failed |= wait(&status) < 0 || status;
	return failed;
}

int main(int argc, char **argv)
{
	struct peer peer = { 0 };

	if (argc != 6 || (strcmp(argv[1], "push") && strcmp(argv[1], "pull"))) {
		fprintf(stderr,
			"usage: copy push|pull NRANKS LEAST MOST FACTOR\n");
		return 2;
	}
	push = !strcmp(argv[1], "push");
	peer.nranks = atoi(argv[2]);
	if (peer.nranks < 1 || peer.nranks > MOST_RANKS)
		return 2;
	peer.most = peer_most(argc - 2, argv + 2);
	meeting = memory(sizeof(*meeting), MAP_SHARED);
	windows = memory((size_t)peer.nranks * (size_t)peer.nranks * peer.most,
			 MAP_SHARED);
	for (peer.rank = 0; peer.rank < peer.nranks; peer.rank++)
		if (!fork())
			run_rank(&peer, argv + 2);
	return wait_for_all(peer.nranks);
}
