/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * Memory of dma-bufs, for platform memfd: each is mapped over the place of its
 * rank in the window's memfd, which has no memory there. The buffer keeps
 * descriptors of its own, for the ranks of every launch to map; a rank closes
 * them once it has.
 *
 * Functions that answer an int return 0 or a negative errno with a sentence,
 * unless they say otherwise.
 */
#ifndef PLD_MEMFD_IMPORT_H
#define PLD_MEMFD_IMPORT_H

#include <unistd.h>

#include "domain.h"

static inline size_t pld_page_align(size_t bytes)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	return (bytes + page - 1) / page * page;
}

/* Can all of fds be their ranks' memory? */
int pld_imports_check(const pld_window_buffer *buffer, const int *fds);
/* Fills buffer->imports with duplicates of fds. */
int pld_imports_take(pld_window_buffer *buffer, const int *fds);
/*
 * A new signal's, by its maker only: a rank that comes in may be late, and others
 * be at work.
 */
int pld_imports_zero(const pld_window_buffer *buffer, const int *fds);
void pld_imports_close(pld_window_buffer *buffer);
/* Rank side. */
int pld_imports_map(pld_window_buffer *buffer);

/* Zeroes a part of a file, or the start of a dma-buf; 0 or a positive errno. */
int pld_memfd_zero(int fd, size_t at, size_t bytes);
int pld_import_zero(int fd, size_t bytes);

#endif
