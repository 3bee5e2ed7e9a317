/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What one measurement has found.
 */
#ifndef PLD_BENCH_RESULT_H
#define PLD_BENCH_RESULT_H

#include "options.h"

struct result {
	const struct operation *operation;
	pld_dtype dtype;
	int nranks;
	/* of one slice, and of all that size counts; 0: it has no sizes */
	int64_t count;
	int64_t slice_bytes;
	int64_t bytes;
	int64_t iterations;
	/* of a call: over the ranks, the mean, the least and the most */
	double us;
	double min_us;
	double max_us;
	/* below 0: nothing was checked */
	int64_t wrong;
	/* below 0: not measured */
	double cpu_percent;
};

static inline bool result_has_bandwidth(const struct result *result)
{
	return result->operation->bus != BUS_NONE;
}

/* GB/s, of 10^9 bytes. */
static inline double result_algbw(const struct result *result)
{
	return result->us > 0 ? (double)result->bytes / result->us / 1e3 : 0;
}

static inline double result_busbw(const struct result *result)
{
	double n = result->nranks, factor = 1;

	if (result->operation->bus == BUS_OTHERS)
		factor = (n - 1) / n;
	else if (result->operation->bus == BUS_TWICE)
		factor = 2 * (n - 1) / n;
	return result_algbw(result) * factor;
}

/* What the size column has. */
static inline int64_t result_size(const struct result *result,
				  enum format format)
{
	return format == FORMAT_OSU ? result->slice_bytes : result->bytes;
}

#endif
