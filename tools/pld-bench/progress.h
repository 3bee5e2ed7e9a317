/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A bar on the terminal, where standard error is one that can erase a line, while
 * a run lasts longer than a moment.
 */
#ifndef PLD_BENCH_PROGRESS_H
#define PLD_BENCH_PROGRESS_H

#include <stddef.h>

/* done of total measurements are there; what, which comes now, stays. */
void progress_show(size_t done, size_t total, const char *what);
/* Before anything else is written. */
void progress_hide(void);

#endif
