/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PLD_BENCH_OPTIONS_H
#define PLD_BENCH_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <pld.h>

#include "operation.h"

/* Most buffers that --rotate takes by turns. */
#define MAX_ROTATE 64

enum format {
	FORMAT_TABLE,
	FORMAT_OSU,
	FORMAT_CSV,
	FORMAT_JSON,
};

struct options {
	int devices[PLD_MAX_RANKS];
	int nranks;
	/* NULL: the library's choice */
	const char *platform;
	/* what is measured, in the order of the table of operations */
	bool chosen[OPERATIONS];
	pld_dtype dtype;
	/* bytes of the size column */
	int64_t least;
	int64_t most;
	/* the next size is this many times as large, or larger by step */
	int64_t factor;
	int64_t step;
	/* 0: as many as take a while */
	int64_t iterations;
	int64_t warmups;
	int64_t checks;
	int rotate;
	/* elements before the first one in each buffer */
	int64_t offset;
	int64_t timeout_ns;
	size_t tile_bytes;
	bool verbose;
	enum format format;
	/* NULL: none */
	const char *plot;
};

/*
 * Ends the process with EXIT_USAGE and one line when they make no sense. False
 * when they only ask for words, which are printed.
 */
bool parse_options(int argc, char **argv, struct options *options);

#endif
