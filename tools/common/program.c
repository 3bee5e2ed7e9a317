// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/program.h"

const char *program_name;

/*
 * Where a standard stream is closed, the next file that is opened takes its
 * number, and what is printed ends up in it. What takes it here is open the
 * other way only, so that its use still fails as that of a closed one does.
 */
static void keep_standard_streams(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		int way = fd == STDIN_FILENO ? O_WRONLY : O_RDONLY;

		if (fcntl(fd, F_GETFD) >= 0)
			continue;
		/* The lowest that is free, since those below are open. */
		if (open("/dev/null", way) != fd) {
			complain("cannot open /dev/null: %s", strerror(errno));
			exit(EXIT_USAGE);
		}
	}
}

void program_begin(const char *name)
{
	program_name = name;
	keep_standard_streams();
	/* A file that may not grow further is an error that can be told. */
	signal(SIGXFSZ, SIG_IGN);
}

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
