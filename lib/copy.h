/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * Copying what an operation moves.
 */
#ifndef PLD_COPY_H
#define PLD_COPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* A line of the caches. */
#define PLD_LINE_BYTES 64

/*
 * Who writes as many bytes in a call writes them past the caches: they would not stay there
 * until somebody reads them, and each line would be read from memory before it is
 * overwritten. Of less than this the reader finds much in a cache that the cores
 * share. memcpy() has such a bound too, which it computes from what the processor says
 * of its caches; virtual processors say what they like.
 */
#define PLD_PAST_CACHES ((size_t)16 << 20)

/*
 * From 2112 bytes on the C library's memcpy() is the string instruction where the
 * processor says that this is fast. AMD's before Zen 5 take twenty times as long for it
 * when, in its page, the destination begins 1 to 31 bytes after the source, as it does
 * among rows of odd sizes (glibc bug 30994). Then memcpy() gets less at a time. Zen 5
 * does not crawl, and takes twice as long for the pieces.
 */
#define PLD_STRING_BYTES ((size_t)2048)

/* The string instruction may crawl on this processor. */
extern bool pld_string_crawls;

static inline bool pld_copy_crawls(const void *dst, const void *src,
				   size_t bytes)
{
	size_t ahead = ((uintptr_t)dst - (uintptr_t)src) % 4096;

	return bytes > PLD_STRING_BYTES && ahead - 1 < 31 && pld_string_crawls;
}

/* memcpy() in pieces. */
void pld_copy_in_pieces(void *dst, const void *src, size_t bytes);

/* memcpy() past the caches, where the architecture can. */
void pld_copy_past_caches(void *dst, const void *src, size_t bytes);

/*
 * memcpy() in a call that writes all bytes, these among them; all is 0 for the caches, and
 * four times as much for what is read for the only time.
 */
static inline void pld_copy(void *dst, const void *src, size_t bytes, size_t all)
{
	if (__builtin_expect(all >= PLD_PAST_CACHES, 0))
		pld_copy_past_caches(dst, src, bytes);
	else if (__builtin_expect(pld_copy_crawls(dst, src, bytes), 0))
		pld_copy_in_pieces(dst, src, bytes);
	else
		memcpy(dst, src, bytes);
}

#endif
