/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How a tool begins, how it says what is wrong with its command line, and how it
 * ends.
 */
#ifndef PLD_COMMON_PROGRAM_H
#define PLD_COMMON_PROGRAM_H

enum {
	EXIT_OK = 0,
	/* the run went wrong: a wrong element, a rank that failed */
	EXIT_RUN_FAILED = 1,
	/* it could not start: bad arguments, no module, no memory */
	EXIT_USAGE = 2,
};

/* What stands before each message. */
extern const char *program_name;

/* First of all: the program's name, and what all of them want of their process. */
void program_begin(const char *name);

/* Says in one line on standard error what is wrong. */
void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The same of the command line, and ends with EXIT_USAGE. */
_Noreturn void usage_error(const char *format, ...)
	__attribute__((format(printf, 1, 2)));

/* The status to end with: a result that could not be written is none. */
int close_output(int status);

#endif
