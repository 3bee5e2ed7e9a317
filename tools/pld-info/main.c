// SPDX-License-Identifier: GPL-2.0
/*
 * pld-info: what is here, what runs, and who waits for what.
 */
#include <limits.h>
#include <stdio.h>

#include <pld.h>

#include "common/arguments.h"
#include "common/program.h"
#include "gather.h"
#include "print.h"

/* Options without a letter. */
enum {
	KEY_JSON = CHAR_MAX + 1,
	KEY_HELP,
	KEY_VERSION,
};

static const struct argp_option words[] = {
	{ "json", KEY_JSON, NULL, 0, "print it as JSON", 0 },
	{ NULL, 0, NULL, 0, "About the program:", 1 },
	{ "help", KEY_HELP, NULL, 0, "print this", 1 },
	{ "version", KEY_VERSION, NULL, 0, "print the version", 1 },
	{ NULL, 0, NULL, 0, NULL, 0 },
};

static const char doc[] =
	"Shows the platforms, the module, devices in use, and live domains: their "
	"ranks, windows, and who waits for what.\v"
	"Changes nothing. What this user may not see is told at the end.";

struct options {
	bool json;
	bool help;
	bool version;
};

static error_t take_option(int key, char *value, struct argp_state *state)
{
	struct options *options = state->input;

	switch (key) {
	case KEY_JSON:
		options->json = true;
		return 0;
	case KEY_HELP:
		options->help = true;
		return 0;
	case KEY_VERSION:
		options->version = true;
		return 0;
	case ARGP_KEY_ARG:
		usage_error("'%s' is not an option", value);
	case ARGP_KEY_ERROR:
		refuse_option(state);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static int show(bool json)
{
	struct info info = { 0 };
	int status = EXIT_OK;

	gather(&info);
	if (!json) {
		print_table(&info);
	} else if (!print_json(&info)) {
		fprintf(stderr, "%s: out of memory\n", program_name);
		status = EXIT_USAGE;
	}
	free_info(&info);
	return status;
}

int main(int argc, char **argv)
{
	static const struct argp argp = {
		.options = words,
		.parser = take_option,
		.doc = doc,
	};
	struct options options = { 0 };
	int status = EXIT_OK;

	program_name = "pld-info";
	parse_arguments(&argp, argc, argv, &options);
	if (options.help) {
		print_help(&argp);
	} else if (options.version) {
		printf("%s %s\n", program_name, pld_version());
	} else {
		status = show(options.json);
	}
	return close_output(status);
}
