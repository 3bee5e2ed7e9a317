/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Waiting for signal cells. A waiter belongs to the wait that made it, and is
 * in the wait queue of its rank while that sleeps; nothing in it but the queue
 * entry changes meanwhile.
 */
#ifndef PLD_SIM_WAIT_H
#define PLD_SIM_WAIT_H

#include <linux/types.h>
#include <linux/wait.h>

struct pld_call;
struct pld_window;

/* Names a cell among all of one rank. */
struct pld_cell {
	u32 window;
	u64 offset;
};

/* A cell that is waited for. It lies in @memory, of which it has a reference. */
struct pld_wanted {
	struct pld_cell cell;
	struct pld_window *memory;
	const s32 *address;
	u32 cmp;	/* enum pld_sim_cmp */
	s32 expected;
};

struct pld_waiter {
	struct wait_queue_entry entry;
	u32 flags;	/* enum pld_sim_wait_flags */
	u32 bell;
	u32 nr;
	struct pld_wanted wanted[];
};

int pld_ioctl_wait(struct pld_call *call);
int pld_ioctl_ring(struct pld_call *call);

#endif
