/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What is written into windows and looked for in them, and touching memory
 * that may not be there.
 */
#ifndef PLD_BYTES_H
#define PLD_BYTES_H

#include <setjmp.h>
#include <signal.h>
#include <string.h>

#include "pld_uapi.h"

#define MB (1UL << 20)
#define GB (1UL << 30)

/* Every 8 bytes of a window differ from all others, in either rank. */
static inline __u64 mark(__u32 rank, __u64 at)
{
	return (at + 1) * 0x9e3779b97f4a7c15ULL + rank;
}

static inline void put_marks(unsigned char *bytes, __u64 length, __u32 rank)
{
	for (__u64 at = 0; at < length; at += sizeof(__u64)) {
		__u64 word = mark(rank, at), n = length - at;

		memcpy(bytes + at, &word, n < sizeof(word) ? n : sizeof(word));
	}
}

/* Offset of the first byte that is not as put_marks() left it, or @length. */
static inline __u64 first_wrong_mark(const unsigned char *bytes, __u64 length,
				     __u32 rank)
{
	for (__u64 at = 0; at < length; at += sizeof(__u64)) {
		__u64 word = mark(rank, at), n = length - at;

		if (memcmp(bytes + at, &word,
			   n < sizeof(word) ? n : sizeof(word)))
			return at;
	}
	return length;
}

/* Offset of the first byte that is not zero, or @length. */
static inline __u64 first_not_zero(const unsigned char *bytes, __u64 length)
{
	static const unsigned char zeros[SIM_PAGE];

	for (__u64 at = 0; at < length; at += SIM_PAGE) {
		__u64 n = length - at < SIM_PAGE ? length - at : SIM_PAGE;

		if (memcmp(bytes + at, zeros, n))
			return at;
	}
	return length;
}

static sigjmp_buf touched;

static inline void on_fault(int sig)
{
	siglongjmp(touched, sig);
}

static inline int try_byte(volatile unsigned char *byte, int writes)
{
	struct sigaction act = { .sa_handler = on_fault }, bus, segv;
	int sig;

	sigaction(SIGBUS, &act, &bus);
	sigaction(SIGSEGV, &act, &segv);
	sig = sigsetjmp(touched, 1);
	if (!sig && writes)
		*byte = 0x77;
	else if (!sig)
		(void)*byte;
	sigaction(SIGBUS, &bus, NULL);
	sigaction(SIGSEGV, &segv, NULL);
	return sig;
}

/* Writes a byte; 0, or the signal that it raised. */
static inline int touch(volatile unsigned char *byte)
{
	return try_byte(byte, 1);
}

/* The same for reading it. */
static inline int peek(volatile unsigned char *byte)
{
	return try_byte(byte, 0);
}

#endif /* PLD_BYTES_H */
