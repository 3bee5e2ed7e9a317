/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Waiting for signal cells. A waiter lives on the stack of its process, and in
 * the wait queue of its rank while it sleeps.
 */
#ifndef PLD_SIM_WAIT_H
#define PLD_SIM_WAIT_H

#include <linux/types.h>
#include <linux/wait.h>

struct pld_call;

/* Names a cell among all of one rank. */
struct pld_cell {
	u32 window;
	u64 offset;
};

struct pld_waiter {
	struct wait_queue_entry entry;
	struct pld_cell cell;
	u32 cmp;	/* enum pld_sim_cmp */
	s32 expected;
};

int pld_ioctl_wait(struct pld_call *call);
int pld_ioctl_ring(struct pld_call *call);

#endif
