/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the tools' command lines, by glibc's argp, have in common.
 */
#ifndef PLD_COMMON_ARGUMENTS_H
#define PLD_COMMON_ARGUMENTS_H

#include <argp.h>

#include <pld.h>

/*
 * Parses in silence, so that each mistake is one line: the parser calls
 * usage_error() for what is wrong with a value, and refuse_option() for
 * ARGP_KEY_ERROR.
 */
void parse_arguments(const struct argp *argp, int argc, char **argv,
		     void *input);

/* Ends the process by usage_error() for what argp did not take. */
void refuse_option(const struct argp_state *state);

/* Prints the options and what argp's doc says. */
void print_help(const struct argp *argp);

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

int64_t parse_number(const char *option, const char *text, int64_t least,
		     int64_t most);

/* That of --dtype. */
pld_dtype parse_dtype(const char *name);

/* The value of -d: the ids in a list such as 3,1,7,0. How many, at least 2. */
int parse_devices(const char *list, int devices[PLD_MAX_RANKS]);

#endif
