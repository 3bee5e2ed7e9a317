/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Coverage: which places of the module a worker's calls came by (KCOV), and from
 * which one to which.
 */
#ifndef FUZZ_COVER_H
#define FUZZ_COVER_H

#include <stdbool.h>
#include <stdint.h>

/* One task's trace at a time. */
struct fuzz_cover {
	int fd;
	uint64_t *trace; /* how many, and the places */
};

#define FUZZ_PLACES (1 << 18) /* bytes of the module's text */
#define FUZZ_STEPS (1 << 16) /* from place to place, hashed */

struct fuzz_covered {
	uint8_t places[FUZZ_PLACES / 8];
	uint8_t steps[FUZZ_STEPS / 8];
};

/* False, and why on standard error, where the kernel or the module has no KCOV. */
bool fuzz_cover_open(struct fuzz_cover *cover);
/* By the task whose calls are to be traced. */
void fuzz_cover_enable(struct fuzz_cover *cover);
void fuzz_cover_clear(struct fuzz_cover *cover);
/* Adds what was traced. */
void fuzz_cover_take(const struct fuzz_cover *cover,
		     struct fuzz_covered *covered);

/* How many places or steps there are in @bits of @nr. */
unsigned int fuzz_count_bits(const uint8_t *bits, unsigned int nr);
/* Adds @from's steps and places to @to; how many steps are new. */
unsigned int fuzz_cover_merge(struct fuzz_covered *to,
			      const struct fuzz_covered *from);
/* Whether all steps of @wanted are among @have. */
bool fuzz_cover_has(const struct fuzz_covered *have,
		    const struct fuzz_covered *wanted);
/* @fresh gets those of @from that are not in @known; how many steps. */
unsigned int fuzz_cover_new(struct fuzz_covered *fresh,
			    const struct fuzz_covered *from,
			    const struct fuzz_covered *known);

#endif /* FUZZ_COVER_H */
