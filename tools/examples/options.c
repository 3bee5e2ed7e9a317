// SPDX-License-Identifier: GPL-2.0
/*
 * The command line of the tutorial's programs: the same options, and what
 * --mode takes is each one's own.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/arguments.h"
#include "common/program.h"
#include "options.h"

#define DEFAULT_DEVICES "0,1,2,3"

/* Options without a letter. */
enum {
	KEY_MODE = CHAR_MAX + 1,
	KEY_IR,
};

static const struct argp_option words[] = {
	{ "devices", 'd', "LIST", 0,
	  "device ids, one rank each, 2 to 256, all different (default: " DEFAULT_DEVICES
	  ")",
	  0 },
	{ "platform", 'p', "NAME", 0, platform_doc, 0 },
	{ "mode", KEY_MODE, "MODE", 0, "which kernel of the step, see below", 0 },
	{ "ir", KEY_IR, NULL, 0, "print the operations that ran, rank by rank",
	  0 },
	LAST_OPTIONS(1),
};

/* What a program is given on the way: its own words, and what to fill. */
struct parsing {
	const struct example *example;
	struct options *options;
};

static int nr_modes(const struct example *example)
{
	int n = 0;

	while (n < EXAMPLE_MODES && example->modes[n].name)
		n++;
	return n;
}

static int parse_mode(const struct example *example, const char *name)
{
	char known[64] = "";
	int n = nr_modes(example);

	for (int i = 0; i < n; i++)
		if (!strcmp(name, example->modes[i].name))
			return i;
	for (int i = 0; i < n; i++) {
		size_t length = strlen(known);

		snprintf(known + length, sizeof(known) - length, "%s%s",
			 !i	     ? ""
			 : i + 1 < n ? ", "
				     : " or ",
			 example->modes[i].name);
	}
	usage_error("--mode: '%s' is not %s%s", name, known,
		    n == 1 ? ", this step's only mode" : "");
}

static error_t take_option(int key, char *value, struct argp_state *state)
{
	const struct parsing *parsing = state->input;
	struct options *options = parsing->options;

	switch (key) {
	case 'd':
		options->nranks = parse_devices(value, options->devices);
		return 0;
	case 'p':
		options->platform = value;
		return 0;
	case KEY_MODE:
		options->mode = parse_mode(parsing->example, value);
		return 0;
	case KEY_IR:
		options->ir = true;
		return 0;
	default:
		return take_last_option(key, value, state);
	}
}

static void print_modes(const struct example *example)
{
	puts("\nModes, the first is the default:");
	for (int i = 0; i < nr_modes(example); i++)
		printf("  %-27s%s\n", example->modes[i].name,
		       example->modes[i].about);
	puts("\nPrints OK and exits 0; or says what is wrong, prints FAILED and exits 1.\n"
	     "What cannot start exits 2.");
}

void example_parse(const struct example *example, int argc, char **argv,
		   struct options *options)
{
	struct parsing parsing = { .example = example, .options = options };
	const struct argp argp = {
		.options = words,
		.parser = take_option,
		.doc = example->about,
	};
	enum asked asked;

	*options = (struct options){ 0 };
	options->nranks = parse_devices(DEFAULT_DEVICES, options->devices);
	asked = parse_arguments(&argp, argc, argv, &parsing);
	if (asked == ASKED_FOR_HELP)
		print_modes(example);
	if (asked != ASKED_TO_RUN)
		exit(close_output(EXIT_OK));
}
