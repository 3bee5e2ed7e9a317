/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PLD_ALLGATHER_OPTIONS_H
#define PLD_ALLGATHER_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <pld.h>

#include "fault.h"

enum mode {
	MODE_HAND,
	MODE_BUILTIN,
};

struct options {
	int devices[PLD_MAX_RANKS];
	int nranks;
	/* NULL: the library's choice */
	const char *platform;
	enum mode mode;
	bool mode_given;
	/* elements per slice */
	int64_t size;
	pld_dtype dtype;
	int iters;
	int64_t timeout_ns;
	size_t tile_bytes;
	bool verbose;
	/* what to show of what ran */
	bool ir;
	bool ir_diff;
	bool cost;
	enum fault fault;
	/* where to serve, or to come in; NULL: neither */
	const char *serve;
	const char *join;
	/* with --serve, who comes in, none for all; with --join, who this is */
	int ranks[PLD_MAX_RANKS];
	int nr_ranks;
	/* an option was given that goes not with --join */
	bool others;
};

/*
 * Ends the process with EXIT_USAGE and one line when they make no sense. False
 * when they only ask for words, which are printed.
 */
bool parse_options(int argc, char **argv, struct options *options);

#endif
