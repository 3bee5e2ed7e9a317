/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The two allgathers. x is this rank's [1, SIZE] slice, data a [nranks, SIZE]
 * window, signal an INT32 [nranks, 1].
 */
#ifndef PLD_COMMON_ALLGATHER_H
#define PLD_COMMON_ALLGATHER_H

#include <pld.h>

/* Bytes of a tile that stays in the cache of a core while data goes through it. */
#define ALLGATHER_TILE_BYTES ((size_t)64 << 10)

/*
 * Pull: every rank's slice into y [1, nranks * SIZE]. A slice that tile does not
 * hold passes in pieces: each byte is read and written in memory once only when
 * the tile stays in a cache. round counts the calls on this signal from 1: its
 * credits are not taken out again.
 */
int allgather_hand(const pld_tensor *x, const pld_tensor *y,
		   const pld_distributed_tensor *data,
		   const pld_distributed_tensor *signal, pld_tile *tile,
		   int round);

/*
 * The same without a tile between: a slice goes straight from x into the window, and
 * from a window into y. All are dense, and y is not smaller: nobody looks. A short own
 * slice is loaded before the waits.
 */
int allgather_hand_direct(const pld_tensor *x, const pld_tensor *y,
			  const pld_distributed_tensor *data,
			  const pld_distributed_tensor *signal, int round);

/* Push: every rank's slice into data. */
int allgather_builtin(const pld_tensor *x, const pld_distributed_tensor *data,
		      const pld_distributed_tensor *signal);

#endif
