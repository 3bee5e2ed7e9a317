/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * What is particular to an architecture: how to spin politely.
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

#endif
