/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What operations are given, and what must come of it, computed without them.
 *
 * What is copied has the pattern of common/pattern.h, a slice of its own for
 * each call, rank and destination. What is summed are whole numbers, so small
 * that each sum is exact in the dtype.
 */
#ifndef PLD_BENCH_CHECK_H
#define PLD_BENCH_CHECK_H

#include <stdint.h>

#include <pld.h>

/* Which numbers elements get. */
struct source {
	pld_dtype dtype;
	int nranks;
	int64_t calls;
	/* elements of a slice */
	int64_t size;
	int64_t call;
};

/* The slice of rank from for rank to. */
void fill_slice(const struct source *source, int from, int to, void *data);
int64_t slice_wrong(const struct source *source, int from, int to,
		    const void *data);

/* What the rank adds to elements first to first + size - 1. */
void fill_addend(const struct source *source, int rank, int64_t first,
		 void *data);
/* Their sum over all ranks. */
int64_t sum_wrong(const struct source *source, int64_t first, const void *data);

#endif
