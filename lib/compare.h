/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
#ifndef PLD_COMPARE_H
#define PLD_COMPARE_H

#include <stdbool.h>

#include "pld.h"

/* Does a cell that reads value satisfy the wait? */
static inline bool pld_compare(int32_t value, int32_t expected, pld_cmp cmp)
{
	return cmp == PLD_EQ ? value == expected : value >= expected;
}

#endif
