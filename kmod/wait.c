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
 *	enter queue			(C) full barrier, user space
 *	(A, B) set_current_state()	read waiters word
 *	read cells, bell		if not zero, ring:
 *	unchanged: sleep		  (D) in the queue's lock:
 *					  advance bell
 *					  wake who is in the queue
 *
 * A with C: not both can miss the other's write, so that either the waiter
 * sees the cell changed or the notifier rings. B with D: when it rings, either
 * it finds the waiter in the queue or the waiter, which had yet to enter it
 * by the same lock, reads the cell after C and sees the change. B also does what
 * set_current_state() always does: either the waiter, who stays in the queue
 * until it has looked for the last time, sees what was written before it was
 * woken, or the wake-up, which has a barrier too, finds that it sleeps.
 *
 * A wait for several cells is in the queue once, and a ring for any of them
 * wakes it: so the above holds for each cell.
 *
 * With PLD_WAIT_BELL, a waiter goes to sleep only while the bell is as its caller
 * read it, and a ring for one of its cells wakes it. What that ringer wrote before
 * it rang needs no look by the kernel: when the caller did not see it, the bell has
 * advanced since, by B with D.
 *
 * A watch (watch.h) is in the queue without sleeping: it takes A and B in one,
 * too, when it enters, and looks inside of each wake-up.
 *
 * Failure, and leaving, use the queue in the same way: state is changed first,
 * then all are woken, and a waiter looks after B.
 *
 * A change that nobody rings for, such as a DMA engine's, is seen because a
 * timer of the rank looks at the cells of its sleeping waits every recheck_ms.
 * It runs on from one wait to the next, and a deadline that is far away has no
 * timer of its own before it is near: to start and cancel one for each sleep
 * costs about as much as all else that the wait does by itself, and more in
 * virtual machines.
 */
#include <linux/hrtimer.h>
#include <linux/ktime.h>
#include <linux/moduleparam.h>
#include <linux/nospec.h>
#include <linux/overflow.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "compat.h"
#include "device.h"
#include "domain.h"
#include "gfp.h"
#include "ioctl.h"
#include "rank.h"
#include "trace.h"
#include "wait.h"
#include "window.h"

static unsigned int recheck_ms = 20;
module_param(recheck_ms, uint, 0444);
MODULE_PARM_DESC(recheck_ms,
		 "after how many ms a sleeping wait looks at its cell by itself (default 20; 0: never)");

bool pld_waiter_wants(const struct pld_waiter *waiter,
		      const struct pld_cell *cell)
{
	u32 i;

	for (i = 0; i < waiter->nr; i++)
		if (cell->window == waiter->wanted[i].cell.window &&
		    cell->offset == waiter->wanted[i].cell.offset)
			return true;
	return false;
}

/* Of no window: the key of a wake-up by the rank's timer, which no watch wants. */
static struct pld_cell recheck_key = { .window = U32_MAX };

/*
 * Far enough for the rank's timer to come by before. Who has been told that it
 * is not any more has a whole period left to start a timer.
 */
static bool is_far(ktime_t deadline)
{
	if (!recheck_ms)
		return false;
	return deadline == KTIME_MAX ||
	       deadline > ktime_add_ms(ktime_get(), 2ULL * recheck_ms);
}

static bool is_due(const struct pld_waiter *waiter)
{
	struct pld_look look;

	return pld_waiter_look(waiter, &look) || !is_far(waiter->deadline);
}

static int wake_waiter(struct wait_queue_entry *entry, unsigned int mode,
		       int sync, void *key)
{
	const struct pld_waiter *waiter =
		container_of(entry, struct pld_waiter, entry);

	if (key == &recheck_key) {
		if (!is_due(waiter))
			return 0;
	} else if (key && !pld_waiter_wants(waiter, key)) {
		/* No cell is named when the domain broke. */
		return 0;
	}
	return default_wake_function(entry, mode, sync, key);
}

static enum hrtimer_restart recheck(struct hrtimer *timer)
{
	struct pld_rank *rank = container_of(timer, struct pld_rank, recheck);
	enum hrtimer_restart ret = HRTIMER_NORESTART;
	unsigned long flags;

	spin_lock_irqsave(&rank->waiters.lock, flags);
	__wake_up_locked_key(&rank->waiters, TASK_NORMAL, &recheck_key);
	rank->rechecking = rank->nr_sleepers;
	if (rank->rechecking) {
		hrtimer_set_expires_range_ns(timer, pld_next_look(KTIME_MAX),
					     PLD_SLACK);
		ret = HRTIMER_RESTART;
	}
	spin_unlock_irqrestore(&rank->waiters.lock, flags);
	return ret;
}

void pld_recheck_init(struct pld_rank *rank)
{
	pld_hrtimer_setup(&rank->recheck, recheck, CLOCK_MONOTONIC,
			  HRTIMER_MODE_ABS_SOFT);
}

/* Nobody waits, nor will. */
void pld_recheck_end(struct pld_rank *rank)
{
	hrtimer_cancel(&rank->recheck);
}

static void begin_recheck(struct pld_rank *rank)
{
	lockdep_assert_held(&rank->waiters.lock);

	if (!recheck_ms || rank->rechecking)
		return;
	rank->rechecking = true;
	hrtimer_start_range_ns(&rank->recheck, pld_next_look(KTIME_MAX),
			       PLD_SLACK, HRTIMER_MODE_ABS_SOFT);
}

void pld_add_waiters(struct pld_rank *rank, int nr)
{
	lockdep_assert_held(&rank->waiters.lock);

	rank->nr_waiters += nr;
	WRITE_ONCE(rank->doorbell->waiters, rank->nr_waiters);
	atomic_add(nr, &rank->device->waiters);
}

static void enter_queue(struct pld_rank *rank, struct pld_waiter *waiter)
{
	spin_lock_irq(&rank->waiters.lock);
	rank->nr_sleepers++;
	pld_add_waiters(rank, 1);
	__add_wait_queue(&rank->waiters, &waiter->entry);
	begin_recheck(rank);
	spin_unlock_irq(&rank->waiters.lock);
}

static void leave_queue(struct pld_rank *rank, struct pld_waiter *waiter)
{
	spin_lock_irq(&rank->waiters.lock);
	rank->nr_sleepers--;
	pld_add_waiters(rank, -1);
	__remove_wait_queue(&rank->waiters, &waiter->entry);
	spin_unlock_irq(&rank->waiters.lock);
}

static bool holds(const struct pld_wanted *wanted, s32 value)
{
	if (wanted->cmp == PLD_SIM_CMP_EQ)
		return value == wanted->expected;
	return value >= wanted->expected;
}

bool pld_waiter_look(const struct pld_waiter *waiter, struct pld_look *look)
{
	bool any = waiter->flags & PLD_WAIT_ANY;
	u32 i;

	for (i = 0; i < waiter->nr; i++) {
		const struct pld_wanted *wanted = &waiter->wanted[i];
		s32 value = READ_ONCE(*wanted->address);
		bool decides = holds(wanted, value) == any;

		if (decides || !i) {
			look->index = i;
			look->value = value;
		}
		if (decides)
			return any;
	}
	return !any;
}

ktime_t pld_next_look(ktime_t deadline)
{
	if (!recheck_ms)
		return deadline;
	return min(deadline, ktime_add_ms(ktime_get(), recheck_ms));
}

static void sleep_until(ktime_t deadline)
{
	if (is_far(deadline))
		schedule();
	else
		schedule_hrtimeout_range_clock(&deadline, PLD_SLACK,
					       HRTIMER_MODE_ABS,
					       CLOCK_MONOTONIC);
}

int pld_waiter_check(const struct pld_waiter *waiter,
		     const struct pld_member *member, ktime_t deadline,
		     struct pld_look *look)
{
	bool done = pld_waiter_look(waiter, look);
	int ret = pld_domain_error(member->domain);

	if (ret)
		return ret;
	if (!pld_member_joined(member))
		return -ENOTCONN;
	if (done)
		return 0;
	if (deadline != KTIME_MAX && ktime_get() >= deadline)
		return -ETIMEDOUT;
	return 1;
}

static int check_wait(const struct pld_member *member,
		      const struct pld_rank *rank,
		      const struct pld_waiter *waiter,
		      struct pld_sim_wait *args)
{
	struct pld_look look;
	int ret = pld_waiter_check(waiter, member, waiter->deadline, &look);

	args->index = look.index;
	args->value = look.value;
	if (ret == 1 && waiter->flags & PLD_WAIT_BELL &&
	    READ_ONCE(rank->nr_rings) != waiter->bell)
		return -EAGAIN;
	return ret;
}

static int wait_loop(const struct pld_member *member, struct pld_rank *rank,
		     const struct pld_waiter *waiter, struct pld_sim_wait *args)
{
	int ret;

	for (;;) {
		/* Barriers A and B. From here to sleep nothing else may sleep. */
		set_current_state(TASK_INTERRUPTIBLE);
		ret = check_wait(member, rank, waiter, args);
		if (ret <= 0)
			break;
		if (signal_pending(current)) {
			/* The deadline is absolute: just do it again. */
			ret = -ERESTARTSYS;
			break;
		}
		sleep_until(waiter->deadline);
	}
	__set_current_state(TASK_RUNNING);
	return ret;
}

void pld_waiter_trace(const struct pld_waiter *waiter,
		      const struct pld_member *member)
{
	u32 id = member->domain->id, i;

	trace_pld_wait_begin(id, member->rank, waiter, 0);
	for (i = 1; i < waiter->nr; i++)
		trace_pld_wait_also(id, member->rank, waiter, i);
}

static int wait_for_cells(const struct pld_member *member,
			  struct pld_waiter *waiter, struct pld_sim_wait *args)
{
	struct pld_rank *rank = &member->domain->ranks[member->rank];
	int ret;

	waiter->bell = args->bell;
	waiter->deadline = args->deadline_ns;
	pld_waiter_trace(waiter, member);
	atomic64_inc(&rank->device->waits);
	enter_queue(rank, waiter);
	ret = wait_loop(member, rank, waiter, args);
	leave_queue(rank, waiter);
	trace_pld_wait_end(member->domain->id, member->rank,
			   &waiter->wanted[args->index].cell, args->value, ret);
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

static int take_condition(const struct pld_member *member,
			  const struct pld_sim_condition *condition,
			  struct pld_wanted *wanted)
{
	struct pld_window *window;
	const s32 *address;
	int ret;

	if (condition->__reserved || (condition->cmp != PLD_SIM_CMP_EQ &&
				      condition->cmp != PLD_SIM_CMP_GE))
		return -EINVAL;
	window = pld_window_find(member->domain, condition->window);
	if (!window)
		return -ENOENT;
	ret = check_cell(window, condition->offset);
	if (ret) {
		pld_window_put(window);
		return ret;
	}
	address = pld_memory_address(&window->memory[member->rank],
				     condition->offset);
	if (IS_ERR(address)) {
		pld_window_put(window);
		return PTR_ERR(address);
	}
	*wanted = (struct pld_wanted){
		.cell = {
			.window = condition->window,
			.offset = condition->offset,
		},
		.memory = window,
		.address = address,
		.cmp = condition->cmp,
		.expected = condition->expected,
	};
	return 0;
}

static void put_conditions(struct pld_waiter *waiter)
{
	while (waiter->nr)
		pld_window_put(waiter->wanted[--waiter->nr].memory);
}

void pld_waiter_free(struct pld_waiter *waiter)
{
	put_conditions(waiter);
	kfree(waiter);
}

/* @waiter has room for @nr conditions. */
static int init_waiter(struct pld_waiter *waiter,
		       const struct pld_member *member, u32 flags,
		       const struct pld_sim_condition *conditions, u32 nr)
{
	int ret;

	*waiter = (struct pld_waiter){
		.flags = flags,
		.since_ns = ktime_get_ns(),
	};
	init_wait_entry(&waiter->entry, 0);
	waiter->entry.func = wake_waiter;
	while (waiter->nr < nr) {
		ret = take_condition(member, &conditions[waiter->nr],
				     &waiter->wanted[waiter->nr]);
		if (ret) {
			put_conditions(waiter);
			return ret;
		}
		waiter->nr++;
	}
	return 0;
}

static struct pld_waiter *
create_waiter(const struct pld_member *member, u32 flags,
	      const struct pld_sim_condition *conditions, u32 nr)
{
	struct pld_waiter *waiter;
	int ret;

	waiter = kmalloc(struct_size(waiter, wanted, nr), PLD_GFP);
	if (!waiter)
		return ERR_PTR(-ENOMEM);
	ret = init_waiter(waiter, member, flags, conditions, nr);
	if (ret) {
		kfree(waiter);
		return ERR_PTR(ret);
	}
	return waiter;
}

struct pld_waiter *pld_waiter_create(const struct pld_member *member, u32 flags,
				     u64 address, u32 nr)
{
	struct pld_sim_condition *conditions;
	struct pld_waiter *waiter;

	if (!nr || nr > PLD_SIM_MAX_CONDITIONS)
		return ERR_PTR(-EINVAL);
	conditions = memdup_user(u64_to_user_ptr(address),
				 array_size(nr, sizeof(*conditions)));
	if (IS_ERR(conditions))
		return ERR_CAST(conditions);
	waiter = create_waiter(member, flags, conditions, nr);
	kfree(conditions);
	return waiter;
}

static int wait_for_several(struct pld_call *call)
{
	struct pld_sim_wait *args = &call->args.wait;
	struct pld_waiter *waiter;
	int ret;

	if (args->offset || args->window || args->cmp || args->expected)
		return -EINVAL;
	waiter = pld_waiter_create(call->member, args->flags, args->conditions,
				   args->nr_conditions);
	if (IS_ERR(waiter))
		return PTR_ERR(waiter);
	ret = wait_for_cells(call->member, waiter, args);
	pld_waiter_free(waiter);
	return ret;
}

/* Most waits. Nothing is allocated for it. */
static int wait_for_one(struct pld_call *call)
{
	struct pld_sim_wait *args = &call->args.wait;
	struct pld_sim_condition condition = {
		.offset = args->offset,
		.window = args->window,
		.cmp = args->cmp,
		.expected = args->expected,
	};
	union {
		struct pld_waiter waiter;
		u8 room[sizeof(struct pld_waiter) + sizeof(struct pld_wanted)];
	} one;
	int ret;

	if (args->conditions)
		return -EINVAL;
	ret = init_waiter(&one.waiter, call->member, args->flags, &condition,
			  1);
	if (ret)
		return ret;
	ret = wait_for_cells(call->member, &one.waiter, args);
	put_conditions(&one.waiter);
	return ret;
}

int pld_ioctl_wait(struct pld_call *call)
{
	const struct pld_sim_wait *args = &call->args.wait;
	int ret;

	ret = pld_domain_error(call->domain);
	if (ret)
		return ret;
	if (args->__reserved || (args->bell && !(args->flags & PLD_WAIT_BELL)))
		return -EINVAL;
	return args->nr_conditions ? wait_for_several(call) :
				     wait_for_one(call);
}

static void ring(struct pld_domain *domain, u32 nr, struct pld_cell *cell)
{
	struct pld_rank *rank =
		&domain->ranks[array_index_nospec(nr, domain->nr_ranks)];

	trace_pld_ring(domain->id, nr, cell->window, cell->offset);
	atomic64_inc(&rank->device->rings);
	/* It is barrier D that this is one hold of the lock. */
	spin_lock_irq(&rank->waiters.lock);
	WRITE_ONCE(rank->nr_rings, rank->nr_rings + 1);
	WRITE_ONCE(rank->doorbell->bell, rank->nr_rings);
	__wake_up_locked_key(&rank->waiters, TASK_NORMAL, cell);
	spin_unlock_irq(&rank->waiters.lock);
}

/* The window needs no reference: nothing but its length is looked at. */
static int check_named(struct pld_domain *domain, const struct pld_cell *cell)
{
	const struct pld_window *window;
	int ret;

	xa_lock(&domain->windows);
	window = xa_load(&domain->windows, cell->window);
	ret = window ? check_cell(window, cell->offset) : -ENOENT;
	xa_unlock(&domain->windows);
	return ret;
}

int pld_ioctl_ring(struct pld_call *call)
{
	const struct pld_sim_ring *args = &call->args.ring;
	struct pld_cell cell = {
		.window = args->window,
		.offset = args->offset,
	};
	int ret;

	ret = pld_domain_error(call->domain);
	if (ret)
		return ret;
	if (args->rank >= call->domain->nr_ranks)
		return -ERANGE;
	ret = check_named(call->domain, &cell);
	if (!ret)
		ring(call->domain, args->rank, &cell);
	return ret;
}
