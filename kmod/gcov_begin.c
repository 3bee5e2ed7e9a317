// SPDX-License-Identifier: GPL-2.0
/* Linked first where coverage is counted: gcov_end.c. */
#include "gcov.h"

const void *const pld_gcov_begin[0] __section(PLD_GCOV_TABLE) __aligned(8);
