/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
#ifndef PLD_CLOCK_H
#define PLD_CLOCK_H

#include <stdint.h>
#include <time.h>

#define PLD_NS_PER_S INT64_C(1000000000)
#define PLD_NS_PER_MS INT64_C(1000000)

/* CLOCK_MONOTONIC in ns. */
static inline int64_t pld_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * PLD_NS_PER_S + now.tv_nsec;
}

/* The moment timeout ns from now, at most the end of time. */
static inline int64_t pld_deadline(int64_t timeout)
{
	int64_t deadline;

	if (__builtin_add_overflow(pld_now(), timeout, &deadline))
		return INT64_MAX;
	return deadline;
}

#endif
