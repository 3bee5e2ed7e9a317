/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Where the picture of --plot goes. A file that is there stays as it is until
 * there is a picture to take its place.
 */
#ifndef PLD_BENCH_PLOT_FILE_H
#define PLD_BENCH_PLOT_FILE_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>

#include "report.h"

struct plot_file {
	/* as it was given, for messages */
	const char *name;
	/* without links */
	char *path;
	/* what is written first and then renamed; NULL: written in place */
	char *beside;
	/* of what is written in place */
	FILE *file;
	/* of the file that is there; 0: none is */
	mode_t mode;
};

/*
 * Before anything is measured, so that nothing was in vain. False: it cannot be
 * written, which was told.
 */
bool plot_file_begin(struct plot_file *plot, const char *name);
/* Writes the picture; false as above. */
bool plot_file_write(struct plot_file *plot, const struct report *report);
void plot_file_end(struct plot_file *plot);

#endif
