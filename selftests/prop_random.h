/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Random numbers of the property test: a sequence is a function of its seed on
 * every machine (splitmix64).
 */
#ifndef PLD_PROP_RANDOM_H
#define PLD_PROP_RANDOM_H

#include <stdbool.h>
#include <stdint.h>

struct prop_random {
	uint64_t state;
};

static inline uint64_t prop_next(struct prop_random *r)
{
	uint64_t z = r->state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

/* 0 to below - 1. */
static inline int prop_below(struct prop_random *r, int64_t below)
{
	return (int)(prop_next(r) % (uint64_t)below);
}

static inline int prop_between(struct prop_random *r, int from, int to)
{
	return from + prop_below(r, to - from + 1);
}

/* True once in so many times. */
static inline bool prop_once_in(struct prop_random *r, int times)
{
	return !prop_below(r, times);
}

/* The seed of program number index. */
static inline uint64_t prop_seed(uint64_t base, uint64_t index)
{
	struct prop_random r = { base ^ index * UINT64_C(0xd1342543de82ef95) };

	return prop_next(&r);
}

#endif /* PLD_PROP_RANDOM_H */
