// SPDX-License-Identifier: GPL-2.0
/*
 * The command line, by glibc's argp. Letters are those of nccl-tests where it
 * has the option.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "common/arguments.h"
#include "common/program.h"
#include "options.h"

#define LARGEST_TILE (1 << 30)
#define LARGEST_SIZE (INT64_C(1) << 40)
#define MOST_CALLS 1000000000
#define MOST_OFFSET 4096
#define MOST_SIZES 100000
/*
 * A signal's cells count the calls of a launch in 32 bits; there is room for
 * those that find out how many take a while.
 */
#define MOST_CALLS_TOGETHER INT64_C(2000000000)

/* Options without a letter. */
enum {
	KEY_OSU = CHAR_MAX + 1,
	KEY_CSV,
	KEY_JSON,
	KEY_PLOT,
	KEY_ROTATE,
	KEY_OFFSET,
	KEY_TIMEOUT,
	KEY_TILE,
};

static const struct argp_option words[] = {
	{ "devices", 'd', "LIST", 0, devices_doc, 0 },
	{ "platform", 'p', "NAME", 0, platform_doc, 0 },
	{ "op", 'o', "LIST", 0,
	  "what to measure: some of allgather-hand, allgather-builtin, allgather-reuse, broadcast, reduce-scatter, allreduce-mesh, allreduce-two-phase, allreduce-ring, all-to-all, all-to-all-v, put, get, ping-pong, barrier, blocked-wait, window-alloc, window-map, domain-start, or all (default: allgather-hand,allgather-builtin)",
	  0 },
	{ "dtype", 't', "TYPE", 0, dtype_doc, 0 },
	{ "minbytes", 'b', "SIZE", 0,
	  "the least size, such as 8, 64K or 1M (default: 8)", 0 },
	{ "maxbytes", 'e', "SIZE", 0, "the largest size (default: 8M)", 0 },
	{ "stepfactor", 'f', "N", 0,
	  "the next size is N times as large, 2 or more (default: 2)", 0 },
	{ "stepbytes", 'i', "SIZE", 0, "the next size is larger by SIZE", 0 },
	{ "iters", 'n', "N", 0,
	  "calls that are timed, 1 or more (default: as many as take 50 ms)", 0 },
	{ "warmup", 'w', "N", 0, "calls before, 0 or more (default: 10)", 0 },
	{ "check", 'c', "N", 0,
	  "calls afterwards of which every element is checked, 0 or more (default: 1)",
	  0 },
	{ "rotate", KEY_ROTATE, "N", 0,
	  "buffers that calls take by turns, 1 to 64, so that data is not in the cache (default: 1)",
	  0 },
	{ "offset", KEY_OFFSET, "N", 0,
	  "elements by which buffers begin later than a page, 0 to 4096 (default: 0)",
	  0 },
	{ "timeout", KEY_TIMEOUT, "SECONDS", 0,
	  "longest wait for a peer, above 0, such as 0.5 (default: 30)", 0 },
	{ "tile", KEY_TILE, "BYTES", 0,
	  "a tile that slices of allgather-hand go through, as on a device, 8 to 2^30 (default: none, straight to y), and the pieces of reductions (default: 65536)",
	  0 },
	{ "verbose", 'v', NULL, 0, "tell every rank's failure", 0 },
	{ NULL, 0, NULL, 0, "What is printed:", 1 },
	{ "osu", KEY_OSU, NULL, 0,
	  "the layout of the OSU benchmarks; sizes are then bytes per rank", 1 },
	{ "csv", KEY_CSV, NULL, 0, "comma-separated values", 1 },
	{ "json", KEY_JSON, NULL, 0, "JSON", 1 },
	{ "plot", KEY_PLOT, "FILE", 0,
	  "besides, time over size as a picture, FILE.svg", 1 },
	{ NULL, 0, NULL, 0, "About the program:", 2 },
	LAST_OPTIONS(2),
};

static const char doc[] =
	"Measures the operations of libpld between ranks, and checks their results.\v"
	"Columns are those of nccl-tests: size is the bytes of all ranks' slices together, count the elements of one, "
	"algbw = size / time, busbw = algbw (n-1)/n, for allreduce 2 (n-1)/n, for broadcast, put and get 1. "
	"Ranks meet in a barrier, then each times its loop; time is the mean over the ranks of a call's mean. "
	"Sizes are rounded to whole elements, at least one for each rank. "
	"The time that a cache line takes from one CPU to another is measured before and after: "
	"where the two differ, the machine was busy.\n\n"
	"Exits 1 when a rank failed or an element is wrong. What cannot start exits 2.";

static void choose_one(struct options *options, const char *name)
{
	const struct operation *operation = operation_find(name);

	if (!strcmp(name, "all")) {
		memset(options->chosen, true, sizeof(options->chosen));
		return;
	}
	if (!operation)
		usage_error("--op: '%s' is no operation", name);
	options->chosen[operation->id] = true;
}

static void choose(struct options *options, const char *list)
{
	char *names = strdup(list), *at = names, *name;

	if (!names)
		usage_error("--op: no memory");
	if (!*list)
		usage_error("--op: the list of operations is empty");
	memset(options->chosen, false, sizeof(options->chosen));
	while ((name = strsep(&at, ",")))
		choose_one(options, name);
	free(names);
}

/* Bytes, with a letter for a power of 1024. */
static int64_t parse_size(const char *option, const char *text)
{
	static const char letters[] = "KMG";
	const char *end, *letter;
	int64_t number = parse_digits(text, &end);
	int shift = 0;

	letter = *end ? strchr(letters, *end) : NULL;
	if (letter) {
		shift = 10 * (int)(letter - letters + 1);
		end++;
	}
	if (number < 1 || number > LARGEST_SIZE >> shift || *end)
		usage_error("%s: '%s' is not a size of 1 byte to 1024G such as 8, 64K or 1M",
			    option, text);
	return number << shift;
}

static void set_format(struct options *options, enum format format)
{
	if (options->format != FORMAT_TABLE && options->format != format)
		usage_error("--osu, --csv and --json exclude each other");
	options->format = format;
}

static error_t take_option(int key, char *value, struct argp_state *state)
{
	struct options *options = state->input;

	switch (key) {
	case 'd':
		options->nranks = parse_devices(value, options->devices);
		return 0;
	case 'p':
		options->platform = value;
		return 0;
	case 'o':
		choose(options, value);
		return 0;
	case 't':
		options->dtype = parse_dtype(value);
		return 0;
	case 'b':
		options->least = parse_size("-b", value);
		return 0;
	case 'e':
		options->most = parse_size("-e", value);
		return 0;
	case 'f':
		options->factor = parse_number("-f", value, 2, 1 << 20);
		return 0;
	case 'i':
		options->step = parse_size("-i", value);
		return 0;
	case 'n':
		options->iterations = parse_number("-n", value, 1, MOST_CALLS);
		return 0;
	case 'w':
		options->warmups = parse_number("-w", value, 0, MOST_CALLS);
		return 0;
	case 'c':
		options->checks = parse_number("-c", value, 0, MOST_CALLS);
		return 0;
	case 'v':
		options->verbose = true;
		return 0;
	case KEY_ROTATE:
		options->rotate =
			(int)parse_number("--rotate", value, 1, MAX_ROTATE);
		return 0;
	case KEY_OFFSET:
		options->offset =
			parse_number("--offset", value, 0, MOST_OFFSET);
		return 0;
	case KEY_TIMEOUT:
		options->timeout_ns = parse_timeout(value);
		return 0;
	case KEY_TILE:
		options->tile_bytes =
			(size_t)parse_number("--tile", value, 8, LARGEST_TILE);
		return 0;
	case KEY_OSU:
		set_format(options, FORMAT_OSU);
		return 0;
	case KEY_CSV:
		set_format(options, FORMAT_CSV);
		return 0;
	case KEY_JSON:
		set_format(options, FORMAT_JSON);
		return 0;
	case KEY_PLOT:
		options->plot = value;
		return 0;
	default:
		return take_last_option(key, value, state);
	}
}

static bool chosen_has_sizes(const struct options *options)
{
	for (int i = 0; i < OPERATIONS; i++)
		if (options->chosen[i] && operations[i].sized)
			return true;
	return false;
}

static void refuse_many_sizes(const struct options *options)
{
	int64_t sizes;

	if (!options->step || !chosen_has_sizes(options))
		return;
	sizes = (options->most - options->least) / options->step + 1;
	if (sizes > MOST_SIZES)
		usage_error("-i: %lld sizes from -b to -e are more than %d",
			    (long long)sizes, MOST_SIZES);
}

static void refuse_many_calls(const struct options *options)
{
	int64_t calls = options->warmups + options->iterations + options->checks;

	if (calls > MOST_CALLS_TOGETHER)
		usage_error("-w, -n and -c: %lld calls together are more than %lld",
			    (long long)calls, (long long)MOST_CALLS_TOGETHER);
}

static void complete(const struct options *options)
{
	if (!options->nranks)
		usage_error("-d LIST is missing: it names the devices");
	if (options->least > options->most)
		usage_error("-b: %lld bytes are more than the %lld of -e",
			    (long long)options->least, (long long)options->most);
	if (options->factor && options->step)
		usage_error("-f and -i exclude each other");
	if (options->plot && !chosen_has_sizes(options))
		usage_error("--plot is for operations that have sizes");
	refuse_many_sizes(options);
	refuse_many_calls(options);
}

bool parse_options(int argc, char **argv, struct options *options)
{
	static const struct argp argp = {
		.options = words,
		.parser = take_option,
		.doc = doc,
	};

	*options = (struct options){
		.dtype = PLD_FP32,
		.least = 8,
		.most = 8 << 20,
		.warmups = 10,
		.checks = 1,
		.rotate = 1,
	};
	options->chosen[OP_ALLGATHER_HAND] = true;
	options->chosen[OP_ALLGATHER_BUILTIN] = true;
	if (parse_arguments(&argp, argc, argv, options) != ASKED_TO_RUN)
		return false;
	complete(options);
	if (!options->factor && !options->step)
		options->factor = 2;
	return true;
}
