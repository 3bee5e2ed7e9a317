// SPDX-License-Identifier: GPL-2.0
/*
 * The command line, by glibc's argp: long options, --help and --version in the
 * form that every GNU tool has.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/allgather.h"
#include "common/arguments.h"
#include "common/program.h"
#include "options.h"

#define NS_PER_S INT64_C(1000000000)
#define LARGEST_TILE (1 << 30)
/* A mistake that ends in a timeout is to be seen soon. */
#define FAULT_TIMEOUT_NS NS_PER_S

/* Options without a letter. */
enum {
	KEY_MODE = CHAR_MAX + 1,
	KEY_SIZE,
	KEY_DTYPE,
	KEY_ITERS,
	KEY_TIMEOUT,
	KEY_TILE,
	KEY_IR,
	KEY_IR_DIFF,
	KEY_COST,
	KEY_INJECT,
	KEY_SERVE,
	KEY_JOIN,
	KEY_RANK,
};

static const struct argp_option words[] = {
	{ "devices", 'd', "LIST", 0, devices_doc, 0 },
	{ "platform", 'p', "NAME", 0, platform_doc, 0 },
	{ "mode", KEY_MODE, "MODE", 0,
	  "hand (pull: stage, barrier, remote_load) or builtin (push: put, barrier, epilogue) (default: hand)",
	  0 },
	{ "size", KEY_SIZE, "N", 0,
	  "elements per slice, 1 or more (default: 64)", 0 },
	{ "dtype", KEY_DTYPE, "TYPE", 0, dtype_doc, 0 },
	{ "iters", KEY_ITERS, "N", 0,
	  "calls, each with data of its own and checked, 1 or more (default: 1)",
	  0 },
	{ "timeout", KEY_TIMEOUT, "SECONDS", 0,
	  "longest wait for a peer, above 0, such as 0.5 (default: 30; 1 with --inject)",
	  0 },
	{ "tile", KEY_TILE, "BYTES", 0,
	  "the tile that hand's slices pass through in pieces, 8 to 2^30 (default: 65536)",
	  0 },
	{ "verbose", 'v', NULL, 0, "tell what ran, and every rank's failure", 0 },
	{ NULL, 0, NULL, 0, "To see what happens:", 1 },
	{ "ir", KEY_IR, NULL, 0, "print the operations that ran, rank by rank",
	  1 },
	{ "ir-diff", KEY_IR_DIFF, NULL, 0,
	  "run both modes and print their operations side by side", 1 },
	{ "cost", KEY_COST, NULL, 0,
	  "print what each rank moved beside the formula; FAILED if they differ",
	  1 },
	{ "inject", KEY_INJECT, "MISTAKE", 0,
	  "make a mistake, to see what it looks like: wrong-slot, own-window, no-barrier, stage-offset, tile-source, window-source, dead-rank or missing-notify",
	  1 },
	{ NULL, 0, NULL, 0, "For ranks that are started by themselves:", 2 },
	{ "serve", KEY_SERVE, "PATH", 0,
	  "wait at a socket for ranks that come in, and run with them", 2 },
	{ "join", KEY_JOIN, "PATH", 0,
	  "come in there as the rank of --rank; the server says what to do", 2 },
	{ "rank", KEY_RANK, "LIST", 0,
	  "with --serve: the ranks that come in, the others are started (default: all); with --join: this one",
	  2 },
	{ NULL, 0, NULL, 0, "About the program:", 3 },
	LAST_OPTIONS(3),
};

static const char doc[] =
	"Every rank gathers every rank's slice, and checks each element.\v"
	"Prints OK and exits 0; or says what is wrong, prints FAILED and exits 1. "
	"What cannot start exits 2.";

static enum mode parse_mode(const char *name)
{
	if (!strcmp(name, "hand"))
		return MODE_HAND;
	if (!strcmp(name, "builtin"))
		return MODE_BUILTIN;
	usage_error("--mode: '%s' is not hand or builtin", name);
}

static enum fault parse_fault(const char *name)
{
	int fault = fault_parse(name);

	if (fault < 0)
		usage_error("--inject: '%s' is not wrong-slot, own-window, no-barrier, stage-offset, tile-source, window-source, dead-rank or missing-notify",
			    name);
	return (enum fault)fault;
}

static error_t take_option(int key, char *value, struct argp_state *state)
{
	struct options *options = state->input;

	if (key > 0 && key != 'v' && key != KEY_JOIN && key != KEY_RANK &&
	    key < KEY_HELP)
		options->others = true;
	switch (key) {
	case 'd':
		options->nranks = parse_devices(value, options->devices);
		return 0;
	case 'p':
		options->platform = value;
		return 0;
	case 'v':
		options->verbose = true;
		return 0;
	case KEY_MODE:
		options->mode = parse_mode(value);
		options->mode_given = true;
		return 0;
	case KEY_SIZE:
		options->size = parse_number("--size", value, 1, INT64_MAX);
		return 0;
	case KEY_DTYPE:
		options->dtype = parse_dtype(value);
		return 0;
	case KEY_ITERS:
		options->iters = (int)parse_number("--iters", value, 1, INT_MAX);
		return 0;
	case KEY_TIMEOUT:
		options->timeout_ns = parse_timeout(value);
		return 0;
	case KEY_TILE:
		options->tile_bytes =
			(size_t)parse_number("--tile", value, 8, LARGEST_TILE);
		return 0;
	case KEY_IR:
		options->ir = true;
		return 0;
	case KEY_IR_DIFF:
		options->ir_diff = true;
		return 0;
	case KEY_COST:
		options->cost = true;
		return 0;
	case KEY_INJECT:
		options->fault = parse_fault(value);
		return 0;
	case KEY_SERVE:
		options->serve = value;
		return 0;
	case KEY_JOIN:
		options->join = value;
		return 0;
	case KEY_RANK:
		options->nr_ranks = parse_list("--rank", "ranks", "rank", value,
					       options->ranks);
		return 0;
	default:
		return take_last_option(key, value, state);
	}
}

static const char *mode_of(const struct options *options)
{
	return options->mode == MODE_HAND ? "hand" : "builtin";
}

/* A mistake belongs to a mode, and is made once. */
static void complete_fault(struct options *options)
{
	enum mode mode = fault_is_builtin(options->fault) ? MODE_BUILTIN
							  : MODE_HAND;

	if (options->mode_given && options->mode != mode)
		usage_error("--inject %s is not for --mode %s",
			    fault_name(options->fault), mode_of(options));
	options->mode = mode;
	if (options->iters != 1)
		usage_error("--inject is for one call, not for %d",
			    options->iters);
	if (!options->timeout_ns)
		options->timeout_ns = FAULT_TIMEOUT_NS;
}

/* All but how much is told is the server's to say. */
static void complete_join(const struct options *options)
{
	if (options->nr_ranks != 1)
		usage_error("--join is for one rank: --rank R says which");
	if (options->others)
		usage_error(
			"--join goes with --rank and -v only: the server says the rest");
}

static void complete_serve(const struct options *options)
{
	if (options->ir || options->ir_diff || options->cost ||
	    options->fault != FAULT_NONE)
		usage_error(
			"--serve goes with none of --ir, --ir-diff, --cost and --inject");
	for (int i = 0; i < options->nr_ranks; i++)
		if (options->ranks[i] >= options->nranks)
			usage_error("--rank: %d is none of the ranks 0 to %d",
				    options->ranks[i], options->nranks - 1);
}

static void complete(struct options *options)
{
	if (options->join) {
		complete_join(options);
		return;
	}
	if (options->nr_ranks && !options->serve)
		usage_error("--rank goes with --serve or --join");
	if (!options->nranks)
		usage_error("-d LIST is missing: it names the devices");
	if (options->ir_diff && options->iters != 1)
		usage_error("--ir-diff is for one call, not for %d",
			    options->iters);
	if (options->ir_diff &&
	    (options->ir || options->cost || options->fault != FAULT_NONE))
		usage_error(
			"--ir-diff goes with none of --ir, --cost and --inject");
	if (options->fault != FAULT_NONE)
		complete_fault(options);
	if (options->serve)
		complete_serve(options);
}

bool parse_options(int argc, char **argv, struct options *options)
{
	static const struct argp argp = {
		.options = words,
		.parser = take_option,
		.doc = doc,
	};

	*options = (struct options){
		.mode = MODE_HAND,
		.size = 64,
		.dtype = PLD_FP32,
		.iters = 1,
		.tile_bytes = ALLGATHER_TILE_BYTES,
	};
	if (parse_arguments(&argp, argc, argv, options) != ASKED_TO_RUN)
		return false;
	complete(options);
	return true;
}
