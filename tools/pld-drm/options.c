// SPDX-License-Identifier: GPL-2.0
/*
 * The command line, by glibc's argp.
 */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "common/arguments.h"
#include "common/program.h"
#include "options.h"

/* Options without a letter. */
enum {
	KEY_DRM = CHAR_MAX + 1,
	KEY_IMPORT,
	KEY_SIZE,
	KEY_DTYPE,
};

static const struct argp_option words[] = {
	{ "devices", 'd', "LIST", 0, devices_doc, 0 },
	{ "platform", 'p', "NAME", 0, platform_doc, 0 },
	{ "drm", KEY_DRM, "NODE", 0,
	  "the DRM device, such as /dev/dri/card0 (default: the first vgem device)",
	  0 },
	{ "import", KEY_IMPORT, "RANKS", 0,
	  "ranks whose windows are the DRM device's buffers, such as 1,3, or none (default: every second one, from 1)",
	  0 },
	{ "size", KEY_SIZE, "N", 0,
	  "elements per slice, 1 or more (default: 64)", 0 },
	{ "dtype", KEY_DTYPE, "TYPE", 0, dtype_doc, 0 },
	{ NULL, 0, NULL, 0, "About the program:", 1 },
	LAST_OPTIONS(1),
};

static const char doc[] =
	"Ranks gather every rank's slice into windows of which some are buffers of a DRM device, "
	"and the others are given to it; every byte is compared through the device too.\v"
	"Prints what it compared and OK, and exits 0; or says what is wrong, prints FAILED and exits 1. "
	"What cannot start exits 2.";

/* What the command line has; who is a rank is known after all of it. */
struct command_line {
	struct options *options;
	const char *import;
};

static error_t take_option(int key, char *value, struct argp_state *state)
{
	struct command_line *line = state->input;
	struct options *options = line->options;

	switch (key) {
	case 'd':
		options->nranks = parse_devices(value, options->devices);
		return 0;
	case 'p':
		options->platform = value;
		return 0;
	case KEY_DRM:
		options->node = value;
		return 0;
	case KEY_IMPORT:
		line->import = value;
		return 0;
	case KEY_SIZE:
		options->size = parse_number("--size", value, 1, INT64_MAX);
		return 0;
	case KEY_DTYPE:
		options->dtype = parse_dtype(value);
		return 0;
	default:
		return take_last_option(key, value, state);
	}
}

static void import_named(struct options *options, const char *list)
{
	int ranks[PLD_MAX_RANKS];
	int n = parse_list("--import", "ranks", "rank", list, ranks);

	for (int i = 0; i < n; i++) {
		if (ranks[i] >= options->nranks)
			usage_error("--import: rank is %d, wanted 0 to %d",
				    ranks[i], options->nranks - 1);
		options->imported[ranks[i]] = true;
	}
}

static void complete(const struct command_line *line)
{
	struct options *options = line->options;

	if (!options->nranks)
		usage_error("-d LIST is missing: it names the devices");
	if (!line->import)
		for (int rank = 1; rank < options->nranks; rank += 2)
			options->imported[rank] = true;
	else if (strcmp(line->import, "none") != 0)
		import_named(options, line->import);
}

bool parse_options(int argc, char **argv, struct options *options)
{
	static const struct argp argp = {
		.options = words,
		.parser = take_option,
		.doc = doc,
	};
	struct command_line line = { .options = options };

	*options = (struct options){ .size = 64, .dtype = PLD_FP32 };
	if (parse_arguments(&argp, argc, argv, &line) != ASKED_TO_RUN)
		return false;
	complete(&line);
	return true;
}
