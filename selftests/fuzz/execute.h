/* SPDX-License-Identifier: GPL-2.0 */
/* Runs programs: each in processes of its own, which are gone afterwards. */
#ifndef FUZZ_EXECUTE_H
#define FUZZ_EXECUTE_H

#include <stdbool.h>

#include "cover.h"
#include "program.h"
#include "worker.h"

/* The answer of a line that nobody was there to do, or that has not ended. */
#define FUZZ_NOT_DONE (-1000)

/* False, with why on standard error. Without @cover nothing is traced. */
bool fuzz_execute_open(bool cover);

/*
 * Runs it; @covered, which may be NULL, gets what it came by. False when a
 * process could not be killed.
 */
bool fuzz_execute(const struct fuzz_program *program,
		  struct fuzz_covered *covered);

/* What a line of the program that ran last answered. */
const struct fuzz_answer *fuzz_answer_of(int line);

#endif /* FUZZ_EXECUTE_H */
