/* SPDX-License-Identifier: GPL-2.0 */
/* The table in which the compiler has an entry for each instrumented file. */
#ifndef PLD_GCOV_H
#define PLD_GCOV_H

#include <linux/compiler.h>

#define PLD_GCOV_TABLE ".gcov_info"

extern const void *const pld_gcov_begin[0];
extern const void *const *const pld_gcov_bounds[2];

void __gcov_merge_add(void *counts, unsigned int nr);

#endif /* PLD_GCOV_H */
