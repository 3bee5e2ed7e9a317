/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * Credits on a signal, and the barrier made of them.
 *
 * A credit is +1 in a peer's cell. Whatever the signal's shape, [nranks, 1] or
 * a row of nranks cells per step, cell number i is written by rank i % nranks
 * alone. So in a call a cell counts its one writer's credits in the order in
 * which that rank gives them, and a wait for at least g is over exactly when
 * the call's first g are there: at least, not equal, since a fast peer may be
 * in a later call already, of any collective. At its end a call takes out what
 * it was given, by adding: a set would erase a credit that has just come.
 */
#ifndef PLD_BARRIER_H
#define PLD_BARRIER_H

#include "domain.h"

/* 0, or -EINVAL when signal is not INT32 [nranks, 1]. */
int pld_barrier_check(const char *op, const pld_view *signal, int nranks);

/* A credit for the peer, in row row; a signal [nranks, 1] is one row, 0. */
int pld_credit_give(const pld_view *signal, int peer, int row);

/*
 * Waits for src's credit number g of this call in row row. A failure breaks the
 * domain: the call has moved data already.
 */
int pld_credit_wait(const char *op, const pld_view *signal, int src, int row,
		    int32_t g);

/* Takes out credits of src. */
int pld_credit_clear(const pld_view *signal, int src, int row, int32_t credits);

/*
 * Barrier g of a call on a row, g = 1, 2, ...: a credit for every peer, then a
 * wait for the g-th of each.
 */
int pld_barrier(const char *op, const pld_view *signal, int row, int32_t g);

/*
 * Fetches the cells in which a barrier's credits will be given, while the caller
 * moves data. For few ranks: with many, the lines have left again by then.
 */
void pld_barrier_expect(const pld_view *signal, int row);

/* Takes the credits of barriers barriers out. */
int pld_barrier_epilogue(const pld_view *signal, int row, int32_t barriers);

/* One barrier and its epilogue, on a signal [nranks, 1]. */
int pld_meet(const char *op, const pld_view *signal);

/*
 * Passes on the error of a call in which the peers are already: it breaks the
 * domain, of whatever kind it is; the first one stays.
 */
int pld_collective_end(pld_domain *domain, int error);

#endif
