/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How every program of this folder measures: as pld-bench does it. Warm up, try
 * ever more calls until they tell how many take PEER_TIMED_NS, meet in a
 * barrier, time the calls, check the result of one more. Time is the mean over
 * the ranks.
 *
 * Rank 0 prints a line for each size: bytes of a rank's slice, and µs of a call.
 */
#ifndef PLD_BENCH_PEER_H
#define PLD_BENCH_PEER_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PEER_WARMUPS 10
#define PEER_TIMED_NS 50e6
#define PEER_LEAST_CALLS 10
#define PEER_MOST_CALLS 1000000
#define PEER_TRIAL_NS 2e6
#define PEER_MOST_TRIAL_CALLS (1 << 16)
#define PEER_MOST_REPEATS 4

struct peer {
	int rank;
	int nranks;
	/* bytes of a slice */
	size_t bytes;
	/* the largest slice there will be */
	size_t most;
	/* the own slice, and what is gathered, nranks slices */
	unsigned char *slice;
	unsigned char *gathered;
};

/* What a program has to bring. */
static void peer_call(struct peer *peer);
static void peer_barrier(struct peer *peer);
/* The sum over all ranks, in all of them. */
static double peer_sum(struct peer *peer, double value);

static inline double peer_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

/* ns of all the calls together. */
static double peer_calls(struct peer *peer, long count)
{
	double start;

	peer_barrier(peer);
	start = peer_now();
	for (long i = 0; i < count; i++)
		peer_call(peer);
	return peer_now() - start;
}

/* The ranks agree on the mean of their times. */
static double peer_mean(struct peer *peer, long count)
{
	return peer_sum(peer, peer_calls(peer, count)) / peer->nranks;
}

static long peer_wanted(double ns, long count)
{
	double wanted = PEER_TIMED_NS * (double)count / (ns > 1 ? ns : 1);

	if (wanted < PEER_LEAST_CALLS)
		return PEER_LEAST_CALLS;
	return wanted > PEER_MOST_CALLS ? PEER_MOST_CALLS : (long)wanted;
}

static long peer_choose(struct peer *peer)
{
	long count = 1;
	double ns = peer_mean(peer, count);

	while (ns < PEER_TRIAL_NS && count < PEER_MOST_TRIAL_CALLS) {
		count *= 4;
		ns = peer_mean(peer, count);
	}
	return peer_wanted(ns, count);
}

/* ns of a call. A trial that was disturbed tells of too few calls, which tell better. */
static double peer_time(struct peer *peer)
{
	long count = peer_choose(peer);
	double ns = peer_mean(peer, count);

	for (int i = 0; i < PEER_MOST_REPEATS && ns < PEER_TIMED_NS / 2 &&
			count < PEER_MOST_CALLS;
	     i++) {
		count = peer_wanted(ns, count);
		ns = peer_mean(peer, count);
	}
	return ns / (double)count;
}

static unsigned char peer_byte(const struct peer *peer, int rank, size_t at)
{
	uint64_t mixed = ((uint64_t)rank << 40 ^ (at + peer->bytes)) *
			 UINT64_C(0x9e3779b97f4a7c15);

	return (unsigned char)(mixed >> 56);
}

static void peer_check(struct peer *peer)
{
	double wrong = 0;

	for (size_t at = 0; at < peer->bytes; at++)
		peer->slice[at] = peer_byte(peer, peer->rank, at);
	memset(peer->gathered, 0xee, peer->bytes * (size_t)peer->nranks);
	/* Twice: where calls order nothing, the second finds all slices staged. */
	for (int i = 0; i < 2; i++) {
		peer_barrier(peer);
		peer_call(peer);
	}
	peer_barrier(peer);
	for (int rank = 0; rank < peer->nranks; rank++)
		for (size_t at = 0; at < peer->bytes; at++)
			wrong += peer->gathered[(size_t)rank * peer->bytes + at] !=
				 peer_byte(peer, rank, at);
	if (peer_sum(peer, wrong) > 0) {
		fprintf(stderr, "%zu bytes: a wrong result\n", peer->bytes);
		exit(1);
	}
}

static void peer_size(struct peer *peer)
{
	double ns;

	peer_calls(peer, PEER_WARMUPS);
	ns = peer_time(peer);
	peer_check(peer);
	if (!peer->rank) {
		printf("%zu %.6g\n", peer->bytes, ns / 1e3);
		fflush(stdout);
	}
}

/* The arguments are the least and the largest slice, and the factor between. */
static inline size_t peer_most(int argc, char **argv)
{
	if (argc != 4 || atol(argv[1]) < 8 || atol(argv[3]) < 2) {
		fprintf(stderr, "usage: %s LEAST MOST FACTOR\n", argv[0]);
		exit(2);
	}
	return strtoul(argv[2], NULL, 10);
}

static void peer_run(struct peer *peer, char **argv)
{
	size_t factor = strtoul(argv[3], NULL, 10);

	for (peer->bytes = strtoul(argv[1], NULL, 10);
	     peer->bytes <= peer->most; peer->bytes *= factor)
		peer_size(peer);
}

#endif
