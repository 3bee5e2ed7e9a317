// SPDX-License-Identifier: GPL-2.0
/*
 * The command line, by getopt_long: each mistake in it is one line.
 */
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"

#define NS_PER_S 1e9
#define LONGEST_TIMEOUT_S 1e9
#define LARGEST_TILE (1 << 30)

/* Options without a letter. */
enum {
	KEY_MODE = CHAR_MAX + 1,
	KEY_SIZE,
	KEY_DTYPE,
	KEY_ITERS,
	KEY_TIMEOUT,
	KEY_TILE,
	KEY_HELP,
	KEY_VERSION,
};

/* The colon in front: say nothing, and tell a missing value by ':'. */
static const char letters[] = ":d:p:v";

static const struct option words[] = {
	{ "devices", required_argument, NULL, 'd' },
	{ "platform", required_argument, NULL, 'p' },
	{ "mode", required_argument, NULL, KEY_MODE },
	{ "size", required_argument, NULL, KEY_SIZE },
	{ "dtype", required_argument, NULL, KEY_DTYPE },
	{ "iters", required_argument, NULL, KEY_ITERS },
	{ "timeout", required_argument, NULL, KEY_TIMEOUT },
	{ "tile", required_argument, NULL, KEY_TILE },
	{ "verbose", no_argument, NULL, 'v' },
	{ "help", no_argument, NULL, KEY_HELP },
	{ "version", no_argument, NULL, KEY_VERSION },
	{ NULL, 0, NULL, 0 },
};

static const char help[] =
	"Usage: pld-allgather -d LIST [OPTION]...\n"
	"Every rank gathers every rank's slice, and checks each element.\n"
	"\n"
	"  -d, --devices=LIST     device ids, one rank each, such as 0,1,2,3; 2 to 256,\n"
	"                         all different\n"
	"  -p, --platform=NAME    auto (kmod when it can be used, else memfd), kmod,\n"
	"                         memfd, or a2a3sim, another name of auto\n"
	"                         (default: $PLD_PLATFORM, else auto)\n"
	"      --mode=MODE        hand (pull: stage, barrier, remote_load) or builtin\n"
	"                         (push: put, barrier, epilogue) (default: hand)\n"
	"      --size=N           elements per slice, 1 or more (default: 64)\n"
	"      --dtype=TYPE       fp64, fp32, fp16, bf16, int64, int32, int16, int8,\n"
	"                         uint64, uint32, uint16 or uint8 (default: fp32)\n"
	"      --iters=N          calls, each with data of its own and checked, 1 or more\n"
	"                         (default: 1)\n"
	"      --timeout=SECONDS  longest wait for a peer, above 0, such as 0.5\n"
	"                         (default: 30)\n"
	"      --tile=BYTES       the builtin's staging tile, 8 to 2^30 (default: 65536)\n"
	"  -v, --verbose          tell what ran, and every rank's failure\n"
	"      --help             print this\n"
	"      --version          print the version\n"
	"\n"
	"Prints OK and exits 0; or says what is wrong, prints FAILED and exits 1.\n"
	"What cannot start exits 2.\n";

_Noreturn static void usage_error(const char *format, ...)
{
	va_list args;

	fputs("pld-allgather: ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputs("; see --help\n", stderr);
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

/* How many options that word, of two dashes, may be short for. */
static int options_meant(const char *word)
{
	size_t length = strcspn(word, "=") - 2;
	int meant = 0;

	for (const struct option *o = words; o->name; o++)
		meant += !strncmp(o->name, word + 2, length);
	return meant;
}

static bool is_option(int key)
{
	for (const struct option *o = words; o->name; o++)
		if (o->val == key)
			return true;
	return false;
}

/* What getopt_long did not take: key is what it returned. */
_Noreturn static void refuse_option(int key, char **argv)
{
	/* Only if it is a long one: a letter may have others behind it. */
	const char *word = argv[optind - 1];

	if (key == ':' && strncmp(word, "--", 2) != 0)
		usage_error("option '-%c' wants a value", optopt);
	if (key == ':')
		usage_error("option '%s' wants a value", word);
	if (optopt && is_option(optopt))
		usage_error("option '%s' takes no value", word);
	if (optopt)
		usage_error("there is no option '-%c'", optopt);
	if (options_meant(word) > 1)
		usage_error("option '%s' is ambiguous", word);
	usage_error("there is no option '%s'", word);
}

static void take_option(int key, char *value, struct options *options)
{
	switch (key) {
	case 'd':
		parse_devices(options, value);
		break;
	case 'p':
		options->platform = value;
		break;
	case 'v':
		options->verbose = true;
		break;
	case KEY_MODE:
		options->mode = parse_mode(value);
		break;
	case KEY_SIZE:
		options->size = parse_number("--size", value, 1, INT64_MAX);
		break;
	case KEY_DTYPE:
		options->dtype = parse_dtype(value);
		break;
	case KEY_ITERS:
		options->iters = (int)parse_number("--iters", value, 1, INT_MAX);
		break;
	case KEY_TIMEOUT:
		options->timeout_ns = parse_timeout(value);
		break;
	case KEY_TILE:
		options->tile_bytes =
			(size_t)parse_number("--tile", value, 8, LARGEST_TILE);
		break;
	}
}

bool parse_options(int argc, char **argv, struct options *options)
{
	int key;

	*options = (struct options){
		.mode = MODE_HAND,
		.size = 64,
		.dtype = PLD_FP32,
		.iters = 1,
	};
	while ((key = getopt_long(argc, argv, letters, words, NULL)) >= 0) {
		switch (key) {
		case '?':
		case ':':
			refuse_option(key, argv);
		case KEY_HELP:
			fputs(help, stdout);
			return false;
		case KEY_VERSION:
			printf("pld-allgather %s\n", pld_version());
			return false;
		default:
			take_option(key, optarg, options);
		}
	}
	if (optind < argc)
		usage_error("'%s' is not an option", argv[optind]);
	if (!options->nranks)
		usage_error("-d LIST is missing: it names the devices");
	return true;
}
