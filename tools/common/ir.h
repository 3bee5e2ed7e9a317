/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The operations that ran, as the original's IR.
 */
#ifndef PLD_COMMON_IR_H
#define PLD_COMMON_IR_H

#include <pld.h>

/* The lines of one rank's trace. */
struct ir {
	char **lines;
	size_t count;
	/* earlier ones that the trace has no room for */
	uint64_t lost;
};

/* Of the last launch. 0, or a negative errno with pld_last_error(). */
int ir_read(const pld_domain *domain, int rank, struct ir *ir);
void ir_free(struct ir *ir);

/* Prints a rank's lines, and how many of each operation there are. */
void ir_print(const struct ir *ir, int rank, const char *mode);

/*
 * Prints two traces of a rank side by side: lines that both have stand beside
 * each other, '<' and '>' are in one alone, '|' differs.
 */
void ir_print_diff(const struct ir *left, const char *left_mode,
		   const struct ir *right, const char *right_mode, int rank);

#endif
