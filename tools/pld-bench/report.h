/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What is told of a run. All formats tell the same; those for readers tell each
 * result at once.
 */
#ifndef PLD_BENCH_REPORT_H
#define PLD_BENCH_REPORT_H

#include <stddef.h>
#include <stdio.h>

#include "result.h"

struct report {
	const struct options *options;
	const char *platform;
	const char *platform_reason;
	/* that this process may run on */
	int cpus;
	/* see noise.h */
	double noise_before;
	double noise_after;
	struct result *results;
	size_t count;
};

/* Before the first result. */
void report_begin(const struct report *report);
/* False: no memory. */
bool report_add(struct report *report, const struct result *result);
/* After the last one; ok: all of them came. False: it could not be written. */
bool report_end(const struct report *report, bool ok);

/* Elements that are wrong, of all results; below 0: nothing was checked. */
int64_t report_wrong(const struct report *report);
/* The machine did something else, at least before or after the run. */
bool report_is_noisy(const struct report *report);

/* The formats. */
void table_begin(const struct report *report);
void table_add(const struct report *report, const struct result *result);
void table_end(const struct report *report, bool ok);
void csv_begin(void);
void csv_add(const struct report *report, const struct result *result);
bool json_print(const struct report *report, bool ok);
/* The picture; false as above. */
bool plot_write(const struct report *report, FILE *file);

#endif
