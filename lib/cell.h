/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * Signals, for the collectives: the same as the public calls, under the name of
 * the collective.
 */
#ifndef PLD_CELL_H
#define PLD_CELL_H

#include "pld.h"

/*
 * Checks signal and offsets; *cell becomes the cell's byte offset in the
 * window buffer.
 */
int pld_signal_cell(const char *op, const pld_view *signal, pld_dims offsets,
		    size_t *cell);

/* pld_system_wait_timeout(). A timeout leaves pld_failure()->culprit set. */
int pld_wait(const char *op, const pld_view *signal, pld_dims offsets,
	     int32_t expected, pld_cmp cmp, int64_t timeout_ns);

#endif
