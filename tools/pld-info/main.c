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
};

static const struct argp_option words[] = {
	{ "json", KEY_JSON, NULL, 0, "print it as JSON", 0 },
	{ NULL, 0, NULL, 0, "About the program:", 1 },
	LAST_OPTIONS(1),
};

static const char doc[] =
	"Shows the platforms, the module, devices in use, and live domains: their "
	"ranks, windows, and who waits for what.\v"
	"Changes nothing. What this user may not see is told at the end.";

static error_t take_option(int key, char *value, struct argp_state *state)
{
	bool *json = state->input;

	switch (key) {
	case KEY_JSON:
		*json = true;
		return 0;
	default:
		return take_last_option(key, value, state);
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
	bool json = false;
	int status = EXIT_OK;

	program_begin("pld-info");
	if (parse_arguments(&argp, argc, argv, &json) == ASKED_TO_RUN)
		status = show(json);
	return close_output(status);
}
