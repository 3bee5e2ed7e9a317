/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which measurements there are to be.
 */
#ifndef PLD_BENCH_PLAN_H
#define PLD_BENCH_PLAN_H

#include <stddef.h>

#include "options.h"

struct measurement {
	const struct operation *operation;
	/* elements of a slice; 0: it has no sizes */
	int64_t size;
};

struct plan {
	struct measurement *measurements;
	size_t count;
};

/* False: no memory. */
bool plan_make(const struct options *options, struct plan *plan);
void plan_free(struct plan *plan);

#endif
