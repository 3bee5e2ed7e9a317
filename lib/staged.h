/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * What a rank stores in its own window for its peers to load.
 */
#ifndef PLD_STAGED_H
#define PLD_STAGED_H

#include "copy.h"
#include "domain.h"

/*
 * The peers have loaded it before, and each line has to be taken out of their caches
 * before it is written: where the cores share no cache that takes three to ten times as
 * long as the copy. Past the caches it does not; where they share one, that takes longer.
 * Which it is, no processor tells, and a virtual one is now here and now there. So the
 * stores themselves are timed, some of them, and what was slow goes past the caches
 * for a while. What is shorter is not worth a look at the clock.
 */
#define PLD_STAGED_LEAST ((size_t)32 << 10)

/*
 * memcpy() to the own memory of a window, of PLD_STAGED_LEAST or more and less than
 * PLD_PAST_CACHES, from where all goes past them. Any thread may call it.
 */
void pld_copy_staged(pld_window_buffer *buffer, void *dst, const void *src,
		     size_t bytes);

#endif
