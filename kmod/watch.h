/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Watches: conditions that are looked at for somebody who does not sleep in a
 * wait, but polls the rank file, polls an eventfd, or waits for a fence.
 *
 * A watch has a waiter in its rank's queue, like that of a wait, and counts in
 * the doorbell's waiters word, so that notifiers ring: barriers A to D of
 * wait.c hold for it. In place of sleeping, its function in the queue looks at
 * the cells and tells whom it has to. It looks by itself when its timer runs
 * out: every recheck_ms, and at its deadline.
 *
 * Its life: made by an ioctl, which has it enter the queue as its last step. It
 * ends, once, inside of the queue's lock: when its conditions hold (one for
 * poll goes on then), at its deadline, when the domain breaks or the rank ends,
 * or because it is taken back. What it holds is given back afterwards, where one may
 * sleep. It holds its domain and, by its waiter, windows, but not its member:
 * a member that ends wakes the queue, which no watch of its survives.
 */
#ifndef PLD_SIM_WATCH_H
#define PLD_SIM_WATCH_H

#include <linux/hrtimer.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/llist.h>
#include <linux/poll.h>
#include <linux/types.h>

#include "wait.h"

struct dma_fence;
struct eventfd_ctx;
struct file;
struct pld_call;
struct pld_domain;
struct pld_member;

enum pld_watch_kind {
	PLD_WATCH_POLL,
	PLD_WATCH_EVENTFD,
	PLD_WATCH_FENCE,
};

/*
 * Its own reference ends with what it holds; a watch for an eventfd has one
 * more, of its member's list, where one can ask how it stands.
 */
struct pld_watch {
	struct kref ref;
	enum pld_watch_kind kind;
	struct pld_domain *domain;	/* a reference */
	u32 rank;
	struct pld_waiter *waiter;
	struct hrtimer timer;
	ktime_t deadline;
	union {
		struct eventfd_ctx *eventfd;
		struct dma_fence *fence;
	};
	struct llist_node ended;	/* of those to be given back */

	/* The rest is protected by the lock of the rank's queue. */

	struct pld_member *member;	/* NULL when not in the queue */
	struct list_head node;		/* of pld_member.signals */
	u64 cookie;
	bool held;			/* at the last look */
	int result;			/* -EAGAIN until it has ended */
	struct pld_look look;		/* the last one */
};

void pld_watches_flush(void);

void pld_member_init_watches(struct pld_member *member);
void pld_member_destroy_watches(struct pld_member *member);
__poll_t pld_member_poll(struct pld_member *member, struct file *file,
			 struct poll_table_struct *table);

int pld_ioctl_arm(struct pld_call *call);
int pld_ioctl_signal_eventfd(struct pld_call *call);
int pld_ioctl_signal_fence(struct pld_call *call);
void pld_finish_signal_eventfd(struct pld_call *call, bool copied);
void pld_finish_signal_fence(struct pld_call *call, bool copied);

#endif
