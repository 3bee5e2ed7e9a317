/* SPDX-License-Identifier: GPL-2.0 */
#ifndef EXAMPLE_OPTIONS_H
#define EXAMPLE_OPTIONS_H

#include "example.h"

struct options {
	int devices[PLD_MAX_RANKS];
	int nranks;
	/* NULL: the library's choice */
	const char *platform;
	int mode;
	bool ir;
};

/*
 * Ends the process when they make no sense, with EXIT_USAGE and one line, or
 * when they only ask for words, which are printed.
 */
void example_parse(const struct example *example, int argc, char **argv,
		   struct options *options);

#endif
