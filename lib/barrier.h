/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * The credit barrier inside a collective.
 *
 * Barrier g of a call, g = 1, 2, ...: +1 to every peer's cell [my_rank, 0], then
 * wait for each own cell to be at least g. At least, not equal: a fast peer may
 * be in its next call already. The epilogue takes this call's credits out again
 * by adding, never by setting, which would erase a credit that has just come.
 */
#ifndef PLD_BARRIER_H
#define PLD_BARRIER_H

#include "domain.h"

/* 0, or -EINVAL when signal is not INT32 [nranks, 1]. */
int pld_barrier_check(const char *op, const pld_view *signal, int nranks);

/* A failure breaks the domain: the call has moved data already. */
int pld_barrier(const char *op, const pld_view *signal, int32_t g);

/* Takes the credits of barriers barriers out. */
int pld_barrier_epilogue(const pld_view *signal, int32_t barriers);

#endif
