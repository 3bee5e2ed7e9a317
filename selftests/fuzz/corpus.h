/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The corpus: programs, each with what it came by. A folder of it has a file for
 * each program, named by a sum of its text.
 */
#ifndef FUZZ_CORPUS_H
#define FUZZ_CORPUS_H

#include "cover.h"
#include "program.h"

struct fuzz_entry {
	struct fuzz_program program;
	struct fuzz_covered covered;
};

struct fuzz_corpus {
	struct fuzz_entry *entries;
	int nr;
	struct fuzz_covered known; /* by all programs that ever ran */
};

/* A file's program; false, with why on standard error. */
bool fuzz_read_program(const char *path, struct fuzz_program *program);
void fuzz_corpus_add(struct fuzz_corpus *corpus,
		     const struct fuzz_program *program,
		     const struct fuzz_covered *covered);
/* Prints, as files' texts, few entries that come by all that all come by. */
void fuzz_corpus_print_few(const struct fuzz_corpus *corpus);

#endif /* FUZZ_CORPUS_H */
