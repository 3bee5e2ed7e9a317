// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * Copies that memcpy() is slow at. Non-temporal stores: every x86-64 has them for
 * 16 bytes, and writes whole lines with them without reading these; elsewhere it is
 * memcpy().
 */
#include <stdint.h>

#if defined(__x86_64__)
#include <cpuid.h>
#include <emmintrin.h>
#endif

#include "copy.h"

bool pld_string_crawls = true;

/* Of a size that the compiler knows, it would make the string instruction itself. */
static void *(*volatile const copy)(void *, const void *, size_t) = memcpy;

/* From the first whole line of dst on: stores that lie in two lines take longer. */
void pld_copy_in_pieces(void *dst, const void *src, size_t bytes)
{
	size_t piece = -(uintptr_t)dst % PLD_LINE_BYTES;

	for (size_t at = 0; at < bytes; at += piece, piece = PLD_STRING_BYTES) {
		if (piece > bytes - at)
			piece = bytes - at;
		copy((char *)dst + at, (const char *)src + at, piece);
	}
}

#if defined(__x86_64__)

#define ZEN_5 0x1a

/* Before anybody copies: the instruction may be a trap into a hypervisor. */
__attribute__((constructor)) static void look_at_processor(void)
{
	unsigned int a, b, c, d, family;

	if (!__get_cpuid(0, &a, &b, &c, &d) || b != signature_AMD_ebx ||
	    c != signature_AMD_ecx || d != signature_AMD_edx ||
	    !__get_cpuid(1, &a, &b, &c, &d))
		return;
	/* AMD's manual, CPUID Fn0000_0001_EAX: the extension counts if the family is 15 */
	family = a >> 8 & 0xf;
	if (family == 0xf)
		family += a >> 20 & 0xff;
	pld_string_crawls = family < ZEN_5;
}

/* Lines that begin at to, which is aligned to them. */
static void copy_lines(char *to, const char *from, size_t lines)
{
	for (; lines; lines--, to += PLD_LINE_BYTES, from += PLD_LINE_BYTES) {
		__m128i *line = (__m128i *)(void *)to;
		const __m128i *in = (const void *)from;
		__m128i a = _mm_loadu_si128(in);
		__m128i b = _mm_loadu_si128(in + 1);
		__m128i c = _mm_loadu_si128(in + 2);
		__m128i d = _mm_loadu_si128(in + 3);

		_mm_stream_si128(line, a);
		_mm_stream_si128(line + 1, b);
		_mm_stream_si128(line + 2, c);
		_mm_stream_si128(line + 3, d);
	}
}

void pld_copy_past_caches(void *dst, const void *src, size_t bytes)
{
	size_t head = -(uintptr_t)dst % PLD_LINE_BYTES, body;
	const char *from = src;
	char *to = dst;

	if (head > bytes)
		head = bytes;
	body = (bytes - head) / PLD_LINE_BYTES * PLD_LINE_BYTES;
	memcpy(to, from, head);
	copy_lines(to + head, from + head, body / PLD_LINE_BYTES);
	memcpy(to + head + body, from + head + body, bytes - head - body);
	/*
	 * These stores wait in buffers of their own, which a release store does not
	 * wait for. With the fence they come before all later stores, so before
	 * the notify that tells of them, and before its atomic change.
	 */
	_mm_sfence();
}

#else

void pld_copy_past_caches(void *dst, const void *src, size_t bytes)
{
	memcpy(dst, src, bytes);
}

#endif
