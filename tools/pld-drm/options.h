/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PLD_DRM_OPTIONS_H
#define PLD_DRM_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include <pld.h>

struct options {
	int devices[PLD_MAX_RANKS];
	int nranks;
	/* NULL: the library's choice */
	const char *platform;
	/* a DRM device's node; NULL: the first vgem device */
	const char *node;
	/* the ranks whose windows are buffers of the DRM device */
	bool imported[PLD_MAX_RANKS];
	/* elements per slice */
	int64_t size;
	pld_dtype dtype;
};

/*
 * Ends the process with EXIT_USAGE and one line when they make no sense. False
 * when they only ask for words, which are printed.
 */
bool parse_options(int argc, char **argv, struct options *options);

#endif
