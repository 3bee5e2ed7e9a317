/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PLD_BENCH_BLOCKED_H
#define PLD_BENCH_BLOCKED_H

#include "calls.h"

/*
 * Rank 0 lets the others wait, and looks at the CPU time that they take for it:
 * from outside, since who waits cannot look. Then it notifies all.
 */
int measure_blocked_wait(struct bench *bench);

#endif
