// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * Staging: through the caches or past them, by what the last ones took. All of
 * buffer->staged is a hint, which threads may take from each other.
 */
#include "clock.h"
#include "staged.h"

/*
 * Measured, with two ranks staging at a time: 0.8 to 3 ns a line where they share a cache,
 * 20 to 37 where they do not.
 */
#define SLOW_NS_PER_LINE 5
/* As many stores are not timed after a fast one. */
#define UNTIMED 16
/* And as many go past the caches after a slow one. */
#define PAST 128

/* Whether a copy took so long. */
static bool copy_timed(void *dst, const void *src, size_t bytes)
{
	int64_t begin = pld_now();

	pld_copy(dst, src, bytes, bytes);
	return pld_now() - begin >
	       (int64_t)(bytes / PLD_LINE_BYTES) * SLOW_NS_PER_LINE;
}

void pld_copy_staged(pld_window_buffer *buffer, void *dst, const void *src,
		     size_t bytes)
{
	int staged = atomic_load_explicit(&buffer->staged, memory_order_relaxed);

	if (staged > 0) {
		pld_copy(dst, src, bytes, PLD_PAST_CACHES);
		staged--;
	} else if (staged < 0) {
		pld_copy(dst, src, bytes, bytes);
		staged++;
	} else {
		staged = copy_timed(dst, src, bytes) ? PAST : -UNTIMED;
	}
	atomic_store_explicit(&buffer->staged, staged, memory_order_relaxed);
}
