// SPDX-License-Identifier: GPL-2.0
/*
 * Waiting for signal cells, and ringing for those who wait.
 *
 * Why no wake-up is lost. A notifier changes a cell by itself, in user space,
 * and rings only when it sees waiters; a waiter sleeps only when it sees the
 * cell unchanged. Each writes one word and then reads the other's, with a full
 * barrier between the two:
 *
 *	waiter				notifier
 *	raise waiters word		change cell
 *	(A) smp_mb()			(C) full barrier, user space
 *	enter queue			read waiters word
 *	(B) set_current_state()		if not zero, ring:
 *	read cell			  (D) smp_mb() in wq_has_sleeper()
 *	unchanged: sleep		  wake who is in the queue
 *
 * A with C: not both can miss the other's write, so that either the waiter
 * sees the cell changed or the notifier rings. B with D: when it rings, either
 * it finds the waiter in the queue or the waiter, which had yet to enter it,
 * reads the cell after C and sees the change.
 *
 * Failure, and leaving, use the queue in the same way: state is changed first,
 * then all are woken, and a waiter looks after B.
 *
 * A change that nobody rings for, such as a DMA engine's, is seen because
 * sleepers look again every recheck_ms.
 */
#include <linux/hrtimer.h>
#include <linux/ktime.h>
#include <linux/moduleparam.h>
#include <linux/nospec.h>
#include <linux/overflow.h>
#include <linux/sched/signal.h>

#include "domain.h"
#include "ioctl.h"
#include "rank.h"
#include "trace.h"
#include "wait.h"
#include "window.h"

static unsigned int recheck_ms = 20;
module_param(recheck_ms, uint, 0444);
MODULE_PARM_DESC(recheck_ms,
		 "after how many ms a sleeping wait looks at its cell by itself (default 20; 0: never)");

/* By how much a sleep may end late, in favour of fewer timer interrupts. */
#define PLD_SLACK (50 * NSEC_PER_USEC)

static int wake_waiter(struct wait_queue_entry *entry, unsigned int mode,
		       int sync, void *key)
{
	struct pld_waiter *waiter =
		container_of(entry, struct pld_waiter, entry);
	const struct pld_cell *cell = key;

	/* No cell is named when the domain broke. */
	if (cell && (cell->window != waiter->cell.window ||
		     cell->offset != waiter->cell.offset))
		return 0;
	return autoremove_wake_function(entry, mode, sync, key);
}

static void add_waiters(struct pld_rank *rank, int nr)
{
	spin_lock_irq(&rank->waiters.lock);
	rank->nr_waiters += nr;
	WRITE_ONCE(rank->doorbell->waiters, rank->nr_waiters);
	spin_unlock_irq(&rank->waiters.lock);
}

static bool satisfied(const struct pld_waiter *waiter, s32 value)
{
	if (waiter->cmp == PLD_SIM_CMP_EQ)
		return value == waiter->expected;
	return value >= waiter->expected;
}

static void sleep_until(ktime_t deadline)
{
	ktime_t until = deadline;

	if (recheck_ms)
		until = min(until, ktime_add_ms(ktime_get(), recheck_ms));
	schedule_hrtimeout_range_clock(&until, PLD_SLACK, HRTIMER_MODE_ABS,
				       CLOCK_MONOTONIC);
}

/* 1 when there is a reason to go on waiting, otherwise the wait's result. */
static int check_wait(const struct pld_member *member,
		      const struct pld_waiter *waiter, s32 value,
		      ktime_t deadline)
{
	int ret = pld_domain_error(member->domain);

	if (ret)
		return ret;
	if (!pld_member_joined(member))
		return -ENOTCONN;
	if (satisfied(waiter, value))
		return 0;
	if (ktime_get() >= deadline)
		return -ETIMEDOUT;
	return 1;
}

/* Nothing between prepare and sleep may sleep by itself. */
static int wait_loop(const struct pld_member *member, struct pld_rank *rank,
		     struct pld_waiter *waiter, const s32 *cell,
		     struct pld_sim_wait *args)
{
	int ret, interrupted;

	for (;;) {
		/* Barrier B. */
		interrupted = prepare_to_wait_event(&rank->waiters,
						    &waiter->entry,
						    TASK_INTERRUPTIBLE);
		args->value = READ_ONCE(*cell);
		ret = check_wait(member, waiter, args->value,
				 args->deadline_ns);
		if (ret <= 0)
			break;
		if (interrupted) {
			/* The deadline is absolute: just do it again. */
			ret = -ERESTARTSYS;
			break;
		}
		sleep_until(args->deadline_ns);
	}
	finish_wait(&rank->waiters, &waiter->entry);
	return ret;
}

static int wait_for_cell(const struct pld_member *member,
			 struct pld_window *window, struct pld_sim_wait *args)
{
	struct pld_rank *rank = &member->domain->ranks[member->rank];
	struct pld_waiter waiter = {
		.cell = { .window = args->window, .offset = args->offset },
		.cmp = args->cmp,
		.expected = args->expected,
	};
	const s32 *cell = pld_memory_address(&window->memory[member->rank],
					     args->offset);
	int ret;

	init_wait_entry(&waiter.entry, 0);
	waiter.entry.func = wake_waiter;

	trace_pld_wait_begin(member->domain->id, member->rank, args);
	add_waiters(rank, 1);
	/* Barrier A. */
	smp_mb();
	ret = wait_loop(member, rank, &waiter, cell, args);
	add_waiters(rank, -1);
	trace_pld_wait_end(member->domain->id, member->rank, args, ret);
	return ret;
}

static int check_cell(const struct pld_window *window, u64 offset)
{
	u64 end;

	if (!IS_ALIGNED(offset, sizeof(s32)))
		return -EINVAL;
	if (check_add_overflow(offset, (u64)sizeof(s32), &end) ||
	    end > window->length)
		return -ERANGE;
	return 0;
}

int pld_ioctl_wait(struct pld_call *call)
{
	struct pld_sim_wait *args = &call->args.wait;
	struct pld_window *window;
	int ret;

	ret = pld_domain_error(call->domain);
	if (ret)
		return ret;
	if (args->cmp != PLD_SIM_CMP_EQ && args->cmp != PLD_SIM_CMP_GE)
		return -EINVAL;
	window = pld_window_find(call->domain, args->window);
	if (!window)
		return -ENOENT;
	ret = check_cell(window, args->offset);
	if (!ret)
		ret = wait_for_cell(call->member, window, args);
	pld_window_put(window);
	return ret;
}

static void ring(struct pld_domain *domain, u32 nr, struct pld_cell *cell)
{
	struct pld_rank *rank =
		&domain->ranks[array_index_nospec(nr, domain->nr_ranks)];

	trace_pld_ring(domain->id, nr, cell->window, cell->offset);
	/* Barrier D is in here. */
	if (wq_has_sleeper(&rank->waiters))
		__wake_up(&rank->waiters, TASK_NORMAL, 0, cell);
}

int pld_ioctl_ring(struct pld_call *call)
{
	const struct pld_sim_ring *args = &call->args.ring;
	struct pld_cell cell = {
		.window = args->window,
		.offset = args->offset,
	};
	struct pld_window *window;
	int ret;

	ret = pld_domain_error(call->domain);
	if (ret)
		return ret;
	if (args->rank >= call->domain->nr_ranks)
		return -ERANGE;
	window = pld_window_find(call->domain, args->window);
	if (!window)
		return -ENOENT;
	ret = check_cell(window, args->offset);
	pld_window_put(window);
	if (!ret)
		ring(call->domain, args->rank, &cell);
	return ret;
}
