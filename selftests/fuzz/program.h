/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A program: calls, one a line, whose arguments are numbers or what earlier
 * lines made. As text:
 *
 *	r0 = open()
 *	r1 = domain_create(fd=r0, n=2)
 *	r2 = spawn(slot=1)
 *	p1: r3 = window_alloc(domain=r1, length=4096) !2
 *	r4 = wait(fd=r0, ms=20) &
 *
 * p1: is the process or thread that does it, p0 where none is named. & is a call
 * that the next lines do not wait for. !2 has the second thing fail that the
 * call can be refused by the kernel (fail-nth). Arguments that are left out have
 * the first of their values. # begins a comment.
 */
#ifndef FUZZ_PROGRAM_H
#define FUZZ_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FUZZ_MAX_LINES 24
#define FUZZ_MAX_ARGS 18
#define FUZZ_MAX_SLOTS 5

/* How long a program's text can be. */
#define FUZZ_MAX_TEXT 16384

struct fuzz_call;

struct fuzz_arg {
	int64_t value; /* or the number of an earlier line */
	bool is_line;
};

struct fuzz_line {
	const struct fuzz_call *call;
	uint8_t slot;
	uint8_t nth; /* 0: nothing fails */
	bool async;
	struct fuzz_arg args[FUZZ_MAX_ARGS];
};

struct fuzz_program {
	int nr;
	struct fuzz_line lines[FUZZ_MAX_LINES];
};

/* Of a line, without its newline; the length as snprintf() says it. */
int fuzz_print_line(const struct fuzz_program *program, int line, char *text,
		    size_t size);
/* All lines. Truncated where it does not fit. */
void fuzz_print(const struct fuzz_program *program, char *text, size_t size);
/* 0, or the number of the line of @text that is wrong, from 1 on. */
int fuzz_parse(struct fuzz_program *program, const char *text);

#endif /* FUZZ_PROGRAM_H */
