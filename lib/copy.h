/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * Copying what an operation moves.
 */
#ifndef PLD_COPY_H
#define PLD_COPY_H

#include <stddef.h>
#include <string.h>

/*
 * Who writes as many bytes in a call writes them past the caches: they would not stay there
 * until somebody reads them, and each line would be read from memory before it is
 * overwritten. Of less than this the reader finds much in a cache that the cores
 * share. memcpy() has such a bound too, which it computes from what the processor says
 * of its caches; virtual processors say what they like.
 */
#define PLD_PAST_CACHES ((size_t)4 << 20)

/* memcpy() past the caches, where the architecture can. */
void pld_copy_past_caches(void *dst, const void *src, size_t bytes);

/* memcpy() in a call that writes all bytes, these among them. */
static inline void pld_copy(void *dst, const void *src, size_t bytes, size_t all)
{
	if (__builtin_expect(all < PLD_PAST_CACHES, 1))
		memcpy(dst, src, bytes);
	else
		pld_copy_past_caches(dst, src, bytes);
}

#endif
