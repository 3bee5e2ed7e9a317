/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the tools' command lines, by glibc's argp, have in common.
 */
#ifndef PLD_COMMON_ARGUMENTS_H
#define PLD_COMMON_ARGUMENTS_H

#include <argp.h>

#include <pld.h>

/*
 * What tools have in common of argp's options, and the end of the list. The keys
 * are apart from those that a tool counts up from CHAR_MAX.
 */
enum {
	KEY_HELP = 0x1000,
	KEY_VERSION,
};

/* clang-format off */
#define LAST_OPTIONS(group)						\
	{ "help", KEY_HELP, NULL, 0, "print this", group },		\
	{ "version", KEY_VERSION, NULL, 0, "print the version", group },	\
	{ NULL, 0, NULL, 0, NULL, 0 }
/* clang-format on */

/* What --devices, where it is required, --platform and --dtype take. */
extern const char devices_doc[];
extern const char platform_doc[];
extern const char dtype_doc[];

/* What a tool's parser leaves to this one: all that it does not know itself. */
error_t take_last_option(int key, const char *value,
			 const struct argp_state *state);

enum asked { ASKED_TO_RUN, ASKED_FOR_HELP, ASKED_FOR_VERSION };

/*
 * Parses in silence, so that each mistake is one line: the parser calls
 * usage_error() for what is wrong with a value. What was asked for: help and
 * version have been printed.
 */
enum asked parse_arguments(const struct argp *argp, int argc, char **argv,
			   void *input);

/*
 * Values of options; each ends the process by usage_error() where it makes no
 * sense.
 */

/*
 * Numbers from 0 on, all different, such as 3,1,7,0; how many. what and one are
 * their name in the plural and in the singular.
 */
int parse_list(const char *option, const char *what, const char *one,
	       const char *list, int numbers[PLD_MAX_RANKS]);

/*
 * The number that the text begins with, and where it ends. Below 0 where there
 * is none: only digits count, neither blanks nor signs, and no 0 before others,
 * which some read as octal.
 */
int64_t parse_digits(const char *text, const char **end);

/* least is 0 or more. */
int64_t parse_number(const char *option, const char *text, int64_t least,
		     int64_t most);

/* That of --timeout, in ns: seconds above 0. */
int64_t parse_timeout(const char *text);

/* That of --dtype. */
pld_dtype parse_dtype(const char *name);

/* The value of -d: the ids in a list such as 3,1,7,0. How many, at least 2. */
int parse_devices(const char *list, int devices[PLD_MAX_RANKS]);

#endif
