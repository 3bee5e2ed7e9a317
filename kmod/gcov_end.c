// SPDX-License-Identifier: GPL-2.0
/*
 * Linked last where coverage is counted (make GCOV=y). Who reads the counts, the
 * module pld_gcov of the selftests, finds them by this module's only symbol.
 */
#include <linux/export.h>

#include "gcov.h"

static const void *const pld_gcov_end[0] __section(PLD_GCOV_TABLE) __aligned(8);

const void *const *const pld_gcov_bounds[2] = { pld_gcov_begin, pld_gcov_end };
EXPORT_SYMBOL_GPL(pld_gcov_bounds);

/* Of gcov's own table, for programs that end. */
void __gcov_merge_add(void *counts, unsigned int nr)
{
}
