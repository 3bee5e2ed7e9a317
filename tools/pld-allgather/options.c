// SPDX-License-Identifier: GPL-2.0
/*
 * The command line, by glibc's argp: long options, --help and --version in the
 * form that every GNU tool has.
 */
#include <argp.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"

#define NS_PER_S 1e9
#define LONGEST_TIMEOUT_S 1e9
#define LARGEST_TILE (1 << 30)

enum {
	KEY_MODE = 256,
	KEY_SIZE,
	KEY_DTYPE,
	KEY_ITERS,
	KEY_TIMEOUT,
	KEY_TILE,
};

static const struct argp_option argp_options[] = {
	{ "devices", 'd', "LIST", 0,
	  "device ids, one rank each, such as 0,1,2,3; at least 2, all different",
	  0 },
	{ "platform", 'p', "NAME", 0,
	  "auto (kmod when it can be used, else memfd), kmod, memfd, or a2a3sim, another name of auto (default: $PLD_PLATFORM, else auto)",
	  0 },
	{ "mode", KEY_MODE, "MODE", 0,
	  "hand (pull: stage, barrier, remote_load) or builtin (push: put, barrier, epilogue) (default: hand)",
	  0 },
	{ "size", KEY_SIZE, "N", 0, "elements per slice (default: 64)", 0 },
	{ "dtype", KEY_DTYPE, "TYPE", 0,
	  "fp64, fp32, fp16, bf16, int64, int32, int16, int8, uint64, uint32, uint16 or uint8 (default: fp32)",
	  0 },
	{ "iters", KEY_ITERS, "N", 0,
	  "calls, each with data of its own and checked (default: 1)", 0 },
	{ "timeout", KEY_TIMEOUT, "SECONDS", 0,
	  "longest wait for a peer (default: 30)", 0 },
	{ "tile", KEY_TILE, "BYTES", 0,
	  "the builtin's staging tile (default: 65536)", 0 },
	{ "verbose", 'v', NULL, 0, "tell what ran, and every rank's failure", 0 },
	{ 0 },
};

static const char doc[] =
	"Every rank gathers every rank's slice, and checks each element.\v"
	"Prints OK and exits 0; or says what is wrong, prints FAILED and exits 1. "
	"What cannot start exits 2.";

static void print_version(FILE *stream, struct argp_state *state)
{
	(void)state;
	fprintf(stream, "pld-allgather %s\n", pld_version());
}

_Noreturn static void usage_error(const char *format, ...)
{
	va_list args;

	fputs("pld-allgather: ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	exit(EXIT_USAGE);
}

static int64_t parse_number(const char *option, const char *text, int64_t least,
			    int64_t most)
{
	char *end;
	long long number;

	errno = 0;
	number = strtoll(text, &end, 10);
	if (errno || end == text || *end || number < least || number > most)
		usage_error("%s: '%s' is not a number from %lld to %lld",
			    option, text, (long long)least, (long long)most);
	return number;
}

/* One id up to a comma or the end; returns what follows, or NULL at the end. */
static const char *parse_device(struct options *options, const char *list,
				const char *at)
{
	char *end;
	long id;

	errno = 0;
	id = strtol(at, &end, 10);
	if (errno || *at < '0' || *at > '9' || (*end && *end != ',') ||
	    id < 0 || id > INT_MAX)
		usage_error("-d: '%s' is not a list of device ids such as 0,1,2,3",
			    list);
	if (options->nranks == PLD_MAX_RANKS)
		usage_error("-d: more than %d devices", PLD_MAX_RANKS);
	for (int i = 0; i < options->nranks; i++)
		if (options->devices[i] == id)
			usage_error("-d: device %ld is named twice", id);
	options->devices[options->nranks++] = (int)id;
	return *end ? end + 1 : NULL;
}

static void parse_devices(struct options *options, const char *list)
{
	const char *at = list;

	options->nranks = 0;
	if (!*list)
		usage_error("-d: the list of device ids is empty");
	while (at)
		at = parse_device(options, list, at);
	if (options->nranks < 2)
		usage_error("-d: one device, wanted at least 2");
}

static enum mode parse_mode(const char *name)
{
	if (!strcmp(name, "hand"))
		return MODE_HAND;
	if (!strcmp(name, "builtin"))
		return MODE_BUILTIN;
	usage_error("--mode: '%s' is not hand or builtin", name);
}

static pld_dtype parse_dtype(const char *name)
{
	int dtype = pld_dtype_parse(name);

	if (dtype < 0)
		usage_error("--dtype: '%s' is not fp64, fp32, fp16, bf16, int64, int32, int16, int8, uint64, uint32, uint16 or uint8",
			    name);
	return (pld_dtype)dtype;
}

static int64_t parse_timeout(const char *text)
{
	char *end;
	double seconds = strtod(text, &end);

	if (end == text || *end || !(seconds > 0) ||
	    !(seconds <= LONGEST_TIMEOUT_S) || seconds * NS_PER_S < 1)
		usage_error("--timeout: '%s' is not a number of seconds above 0 and up to %g",
			    text, LONGEST_TIMEOUT_S);
	return (int64_t)(seconds * NS_PER_S);
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct options *options = state->input;

	switch (key) {
	case 'd':
		parse_devices(options, arg);
		return 0;
	case 'p':
		options->platform = arg;
		return 0;
	case 'v':
		options->verbose = true;
		return 0;
	case KEY_MODE:
		options->mode = parse_mode(arg);
		return 0;
	case KEY_SIZE:
		options->size = parse_number("--size", arg, 1, INT64_MAX);
		return 0;
	case KEY_DTYPE:
		options->dtype = parse_dtype(arg);
		return 0;
	case KEY_ITERS:
		options->iters = (int)parse_number("--iters", arg, 1, INT_MAX);
		return 0;
	case KEY_TIMEOUT:
		options->timeout_ns = parse_timeout(arg);
		return 0;
	case KEY_TILE:
		options->tile_bytes =
			(size_t)parse_number("--tile", arg, 8, LARGEST_TILE);
		return 0;
	case ARGP_KEY_ARG:
		usage_error("'%s' is not an option; see --help", arg);
	case ARGP_KEY_END:
		if (!options->nranks)
			usage_error(
				"-d LIST is missing: which devices? See --help");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

void parse_options(int argc, char **argv, struct options *options)
{
	static const struct argp argp = {
		.options = argp_options,
		.parser = parse_option,
		.doc = doc,
	};

	*options = (struct options){
		.mode = MODE_HAND,
		.size = 64,
		.dtype = PLD_FP32,
		.iters = 1,
	};
	argp_err_exit_status = EXIT_USAGE;
	argp_program_version_hook = print_version;
	argp_parse(&argp, argc, argv, 0, NULL, options);
}
