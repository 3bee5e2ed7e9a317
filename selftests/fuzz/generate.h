/* SPDX-License-Identifier: GPL-2.0 */
/* New programs, and changed ones. */
#ifndef FUZZ_GENERATE_H
#define FUZZ_GENERATE_H

#include "program.h"
#include "random.h"

void fuzz_generate(struct fuzz_random *random, struct fuzz_program *program);
/* @other: a program of which it may get lines. */
void fuzz_mutate(struct fuzz_random *random, struct fuzz_program *program,
		 const struct fuzz_program *other);
/* Arguments that were this line are -1 then. */
void fuzz_remove_line(struct fuzz_program *program, int line);

#endif /* FUZZ_GENERATE_H */
