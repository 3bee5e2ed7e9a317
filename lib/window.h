/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * Making window buffers, whatever their memory is.
 */
#ifndef PLD_WINDOW_H
#define PLD_WINDOW_H

#include "domain.h"

struct pld_window_wish {
	pld_domain *domain;
	size_t bytes;
	/* of a signal, 0 for data */
	int64_t cells;
	/* for each rank a dma-buf, or -1 for memory of its own; NULL: all of those */
	const int *fds;
};

/* Makes a buffer on the host side; op is whose sentences they are. */
int pld_window_make(const char *op, const struct pld_window_wish *wish,
		    pld_window_buffer **out);

/* Cells of a signal of that shape, and bytes of one rank. */
int pld_signal_bytes(const char *op, pld_dims shape, size_t *bytes,
		     int64_t *cells);

#endif
