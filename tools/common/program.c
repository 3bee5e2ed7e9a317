// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/program.h"

const char *program_name;

void complain(const char *format, ...)
{
	char line[1024];
	va_list args;

	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	/* In one piece: ranks complain at once. */
	fprintf(stderr, "%s: %s\n", program_name, line);
}

void usage_error(const char *format, ...)
{
	va_list args;

	fprintf(stderr, "%s: ", program_name);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputs("; see --help\n", stderr);
	exit(EXIT_USAGE);
}

int close_output(int status)
{
	if (!ferror(stdout) && !fclose(stdout))
		return status;
	fprintf(stderr, "%s: cannot write to standard output: %s\n",
		program_name, strerror(errno));
	return status ? status : EXIT_RUN_FAILED;
}
