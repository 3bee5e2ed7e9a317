/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * What is particular to an architecture: how to spin politely, what makes a full
 * barrier of an atomic change, and how to fetch a cache line before it is written.
 */
#ifndef PLD_RELAX_H
#define PLD_RELAX_H

static inline void pld_relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("isb" ::: "memory");
#endif
}

/*
 * A full barrier, right after a seq_cst change of memory (not a load or store).
 * x86 has one in each of these, and a second one costs as much again: only the
 * compiler has to be told.
 */
static inline void pld_barrier_after_atomic(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
#else
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
}

/*
 * Has this CPU get the line for writing, while it does other things. The compiler's
 * own prefetch would get it for reading on the oldest x86-64, and for writing need
 * it again.
 */
static inline void pld_expect_write(const void *address)
{
#if defined(__x86_64__)
	__asm__ volatile("prefetchw %0" : : "m"(*(const char *)address));
#else
	__builtin_prefetch(address, 1);
#endif
}

#endif
