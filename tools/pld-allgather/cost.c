// SPDX-License-Identifier: GPL-2.0
/*
 * The formula, per rank and call: a slice goes to each of P - 1 peers, and one
 * comes from each: (P - 1) / P of the result's N bytes either way, in P - 1
 * messages, or by hand in as many for each piece that fits the tile; the barrier
 * is P - 1 notifies and as many waits. The builtin's epilogue notifies the own
 * cells P - 1 times.
 */
#include <stdio.h>

#include "cost.h"

static uint64_t pieces(const struct options *options)
{
	uint64_t size = (uint64_t)options->size;
	uint64_t piece =
		options->tile_bytes / (size_t)pld_dtype_size(options->dtype);

	return options->mode == MODE_HAND ? (size + piece - 1) / piece : 1;
}

static pld_cost formula(const struct options *options)
{
	uint64_t calls = (uint64_t)options->iters;
	uint64_t peers = (uint64_t)options->nranks - 1;
	uint64_t slice = (uint64_t)options->size *
			 (uint64_t)pld_dtype_size(options->dtype);

	return (pld_cost){
		.bytes_sent = calls * peers * slice,
		.messages_sent = calls * peers * pieces(options),
		.bytes_received = calls * peers * slice,
		.messages_received = calls * peers * pieces(options),
		.notifies = calls * peers,
		.own_notifies = options->mode == MODE_BUILTIN ? calls * peers
							      : 0,
		.waits = calls * peers,
	};
}

static bool same(int rank, const char *what, uint64_t got, uint64_t wanted)
{
	if (got == wanted)
		return true;
	fprintf(stderr,
		"pld-allgather: cost of rank %d: %llu %s, by the formula %llu\n",
		rank, (unsigned long long)got, what, (unsigned long long)wanted);
	return false;
}

static bool check(int rank, const pld_cost *got, const pld_cost *wanted)
{
	bool right = true;

	right &= same(rank, "bytes sent", got->bytes_sent, wanted->bytes_sent);
	right &= same(rank, "bytes received", got->bytes_received,
		      wanted->bytes_received);
	right &= same(rank, "messages sent", got->messages_sent,
		      wanted->messages_sent);
	right &= same(rank, "messages received", got->messages_received,
		      wanted->messages_received);
	right &= same(rank, "notifies of peers", got->notifies,
		      wanted->notifies);
	right &= same(rank, "notifies of its own cells", got->own_notifies,
		      wanted->own_notifies);
	right &= same(rank, "waits", got->waits, wanted->waits);
	return right;
}

static void print_line(const char *who, const pld_cost *cost)
{
	printf("%-8s %14llu %14llu %9llu %9llu %9llu %9llu %9llu\n", who,
	       (unsigned long long)cost->bytes_sent,
	       (unsigned long long)cost->bytes_received,
	       (unsigned long long)cost->messages_sent,
	       (unsigned long long)cost->messages_received,
	       (unsigned long long)cost->notifies,
	       (unsigned long long)cost->own_notifies,
	       (unsigned long long)cost->waits);
}

static void print_head(const struct options *options, const pld_cost *wanted)
{
	unsigned long long slice =
		(unsigned long long)(options->size *
				     pld_dtype_size(options->dtype));

	printf("P = %d ranks, slices of %llu bytes, N = P * slice = %llu bytes; "
	       "(P-1)/P * N = %llu bytes a call, %d %s\n",
	       options->nranks, slice,
	       slice * (unsigned long long)options->nranks,
	       (unsigned long long)(wanted->bytes_received /
				    (uint64_t)options->iters),
	       options->iters, options->iters == 1 ? "call" : "calls");
	printf("%-8s %14s %14s %9s %9s %9s %9s %9s\n", "rank", "bytes sent",
	       "received", "messages", "received", "notifies", "own cells",
	       "waits");
}

bool cost_card(const struct options *options, const pld_domain *domain)
{
	pld_cost wanted = formula(options), got;
	bool right = true;
	char who[16];

	print_head(options, &wanted);
	for (int rank = 0; rank < options->nranks; rank++) {
		if (pld_launch_cost(domain, rank, &got)) {
			fprintf(stderr, "pld-allgather: %s\n", pld_last_error());
			return false;
		}
		snprintf(who, sizeof(who), "%d", rank);
		print_line(who, &got);
		right &= check(rank, &got, &wanted);
	}
	print_line("formula", &wanted);
	return right;
}
