/* SPDX-License-Identifier: GPL-2.0 */
/* Random numbers that are a function of one seed (xorshift64*). */
#ifndef FUZZ_RANDOM_H
#define FUZZ_RANDOM_H

#include <stdbool.h>
#include <stdint.h>

struct fuzz_random {
	uint64_t state; /* never 0 */
};

static inline uint64_t fuzz_random(struct fuzz_random *random)
{
	uint64_t x = random->state;

	x ^= x >> 12;
	x ^= x << 25;
	x ^= x >> 27;
	random->state = x;
	return x * 0x2545f4914f6cdd1dULL;
}

/* 0 to n - 1. */
static inline unsigned int fuzz_below(struct fuzz_random *random, unsigned int n)
{
	return (fuzz_random(random) >> 33) % n;
}

static inline bool fuzz_percent(struct fuzz_random *random, unsigned int percent)
{
	return fuzz_below(random, 100) < percent;
}

#endif /* FUZZ_RANDOM_H */
