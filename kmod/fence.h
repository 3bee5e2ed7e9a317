/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Fences: the dma_fence of a watch. The watch holds one reference until it has
 * signalled, and sync_files and drivers hold theirs for as long as they like;
 * each fence holds the module, whose functions it calls.
 *
 * Each is a timeline of its own. On one timeline a later fence stands for all
 * earlier ones, and whoever merges two of them keeps the later one only; but
 * conditions come true in any order.
 */
#ifndef PLD_SIM_FENCE_H
#define PLD_SIM_FENCE_H

#include <linux/types.h>

struct dma_fence;

struct dma_fence *pld_fence_create(u32 domain, u32 rank);
/* @error is 0 or a negative errno. Sleeps not, and takes the fence's lock. */
void pld_fence_signal(struct dma_fence *fence, int error);

void pld_fences_flush(void);

#endif
