/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Waiting for signal cells. A waiter belongs to the wait or the watch that made
 * it, and is in the wait queue of its rank while that sleeps or is armed;
 * nothing in it but the queue entry changes meanwhile.
 */
#ifndef PLD_SIM_WAIT_H
#define PLD_SIM_WAIT_H

#include <linux/ktime.h>
#include <linux/types.h>
#include <linux/wait.h>

struct pld_call;
struct pld_member;
struct pld_rank;
struct pld_window;

/* How late a look may be, in favour of fewer timer interrupts. */
#define PLD_SLACK (50 * NSEC_PER_USEC)

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
	u64 since_ns;	/* CLOCK_MONOTONIC, when it came to the kernel */
	u32 flags;	/* enum pld_sim_wait_flags */
	u32 bell;	/* this and the next: of waits, not of watches */
	ktime_t deadline;
	u32 nr;
	struct pld_wanted wanted[];
};

/* Which condition decided, and the value of its cell. */
struct pld_look {
	u32 index;
	s32 value;
};

/* Of the @nr conditions at a user's @address. */
struct pld_waiter *pld_waiter_create(const struct pld_member *member, u32 flags,
				     u64 address, u32 nr);
void pld_waiter_free(struct pld_waiter *waiter);

/* Whether the cell is among those that it waits for. */
bool pld_waiter_wants(const struct pld_waiter *waiter,
		      const struct pld_cell *cell);
/* Whether the conditions hold. */
bool pld_waiter_look(const struct pld_waiter *waiter, struct pld_look *look);
/* 1 when there is a reason to go on waiting, otherwise the result. */
int pld_waiter_check(const struct pld_waiter *waiter,
		     const struct pld_member *member, ktime_t deadline,
		     struct pld_look *look);
/* When a watch looks without having been rung for. */
ktime_t pld_next_look(ktime_t deadline);
/* The timer that looks for waits. */
void pld_recheck_init(struct pld_rank *rank);
void pld_recheck_end(struct pld_rank *rank);
void pld_waiter_trace(const struct pld_waiter *waiter,
		      const struct pld_member *member);

/* How many more wait, or fewer. The caller holds the queue's lock. */
void pld_add_waiters(struct pld_rank *rank, int nr);

int pld_ioctl_wait(struct pld_call *call);
int pld_ioctl_ring(struct pld_call *call);

#endif
