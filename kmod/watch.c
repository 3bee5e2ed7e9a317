// SPDX-License-Identifier: GPL-2.0
/*
 * Watches. What one is, how it lives and who owns it: watch.h.
 */
#include <linux/dma-fence.h>
#include <linux/eventfd.h>
#include <linux/file.h>
#include <linux/log2.h>
#include <linux/slab.h>
#include <linux/sync_file.h>
#include <linux/workqueue.h>

#include "compat.h"
#include "domain.h"
#include "fence.h"
#include "gfp.h"
#include "ioctl.h"
#include "rank.h"
#include "trace.h"
#include "watch.h"

static LLIST_HEAD(pld_ended);

static struct pld_rank *watched_rank(const struct pld_watch *watch)
{
	return &watch->domain->ranks[watch->rank];
}

static struct pld_rank *member_rank(const struct pld_member *member)
{
	return &member->domain->ranks[member->rank];
}

/*
 * 1. Its end.
 */

static void release_watch(struct kref *ref)
{
	kfree(container_of(ref, struct pld_watch, ref));
}

/* Gives back what the watch holds. It is not in the queue, and never will be. */
static void give_back(struct pld_watch *watch)
{
	hrtimer_cancel(&watch->timer);
	pld_waiter_free(watch->waiter);
	if (watch->kind == PLD_WATCH_EVENTFD)
		eventfd_ctx_put(watch->eventfd);
	if (watch->kind == PLD_WATCH_FENCE)
		dma_fence_put(watch->fence);
	pld_domain_put(watch->domain);
	kref_put(&watch->ref, release_watch);
}

static void give_back_ended(struct work_struct *work)
{
	struct llist_node *all = llist_del_all(&pld_ended);
	struct pld_watch *watch, *next;

	llist_for_each_entry_safe(watch, next, all, ended)
		give_back(watch);
}

static DECLARE_WORK(pld_give_back, give_back_ended);

/* At the module's end, when nothing is left that a watch could end by. */
void pld_watches_flush(void)
{
	flush_work(&pld_give_back);
}

/* Takes the watch out of the queue. The caller has it given back. */
static void end_watch(struct pld_watch *watch, int result)
{
	struct pld_rank *rank = watched_rank(watch);
	struct pld_waiter *waiter = watch->waiter;

	lockdep_assert_held(&rank->waiters.lock);

	list_del_init(&waiter->entry.entry);
	pld_add_waiters(rank, -1);
	if (watch->kind == PLD_WATCH_POLL)
		watch->member->armed = NULL;
	if (watch->kind == PLD_WATCH_FENCE)
		watch->member->nr_signals--;
	watch->member = NULL;
	watch->result = result;
	trace_pld_wait_end(watch->domain->id, watch->rank,
			   &waiter->wanted[watch->look.index].cell,
			   watch->look.value, result);
}

/* The conditions hold, or never will. Whom it tells may not call back. */
static void tell(struct pld_watch *watch, int result)
{
	lockdep_assert_held(&watched_rank(watch)->waiters.lock);

	if (watch->kind == PLD_WATCH_EVENTFD)
		pld_eventfd_signal(watch->eventfd);
	if (watch->kind == PLD_WATCH_FENCE)
		pld_fence_signal(watch->fence, result);
	/* Who polls is told by pld_rank_wake_all(). */
}

/* What the look says. */
static void settle(struct pld_watch *watch, bool rung)
{
	struct pld_rank *rank = watched_rank(watch);
	int ret;

	lockdep_assert_held(&rank->waiters.lock);

	ret = pld_waiter_check(watch->waiter, watch->member, watch->deadline,
			       &watch->look);
	if (!ret && watch->kind == PLD_WATCH_POLL) {
		/* A ring may tell of news, a look without one of a change. */
		if (rung || !watch->held)
			wake_up_poll(&rank->pollers, EPOLLIN | EPOLLRDNORM);
		watch->held = true;
		return;
	}
	watch->held = false;
	if (ret == 1)
		return;
	end_watch(watch, ret);
	tell(watch, ret);
	if (llist_add(&watch->ended, &pld_ended))
		schedule_work(&pld_give_back);
}

/*
 * 2. In the queue.
 */

static int wake_watch(struct wait_queue_entry *entry, unsigned int mode,
		      int sync, void *key)
{
	struct pld_watch *watch = entry->private;

	/* No cell is named when the domain broke, or the rank ended. */
	if (!key || pld_waiter_wants(watch->waiter, key))
		settle(watch, true);
	return 0;
}

static enum hrtimer_restart look_by_itself(struct hrtimer *timer)
{
	struct pld_watch *watch = container_of(timer, struct pld_watch, timer);
	struct pld_rank *rank = watched_rank(watch);
	enum hrtimer_restart ret = HRTIMER_NORESTART;
	unsigned long flags;

	spin_lock_irqsave(&rank->waiters.lock, flags);
	if (watch->member)
		settle(watch, false);
	if (watch->member) {
		hrtimer_set_expires_range_ns(timer,
					     pld_next_look(watch->deadline),
					     PLD_SLACK);
		ret = HRTIMER_RESTART;
	}
	spin_unlock_irqrestore(&rank->waiters.lock, flags);
	return ret;
}

static void start_timer(struct pld_watch *watch)
{
	ktime_t first = pld_next_look(watch->deadline);

	if (first != KTIME_MAX)
		hrtimer_start_range_ns(&watch->timer, first, PLD_SLACK,
				       HRTIMER_MODE_ABS_SOFT);
}

static void enter_queue(struct pld_watch *watch, struct pld_member *member)
{
	struct pld_rank *rank = watched_rank(watch);

	lockdep_assert_held(&rank->waiters.lock);

	watch->member = member;
	if (watch->kind == PLD_WATCH_POLL)
		member->armed = watch;
	pld_add_waiters(rank, 1);
	__add_wait_queue(&rank->waiters, &watch->waiter->entry);
	/* Barriers A and B: the word and the queue before the cells. */
	smp_mb();
	settle(watch, false);
	if (watch->member)
		start_timer(watch);
}

static void begin_watch(struct pld_watch *watch, struct pld_member *member)
{
	struct pld_rank *rank = watched_rank(watch);

	pld_waiter_trace(watch->waiter, member);
	spin_lock_irq(&rank->waiters.lock);
	enter_queue(watch, member);
	spin_unlock_irq(&rank->waiters.lock);
}

static struct pld_watch *create_watch(const struct pld_member *member,
				      enum pld_watch_kind kind, u32 flags,
				      u64 conditions, u32 nr)
{
	struct pld_watch *watch;

	watch = kzalloc(sizeof(*watch), PLD_GFP);
	if (!watch)
		return ERR_PTR(-ENOMEM);
	watch->waiter = pld_waiter_create(member, flags, conditions, nr);
	if (IS_ERR(watch->waiter)) {
		int ret = PTR_ERR(watch->waiter);

		kfree(watch);
		return ERR_PTR(ret);
	}
	watch->waiter->entry.private = watch;
	watch->waiter->entry.func = wake_watch;
	kref_init(&watch->ref);
	watch->kind = kind;
	pld_domain_get(member->domain);
	watch->domain = member->domain;
	watch->rank = member->rank;
	watch->deadline = KTIME_MAX;
	watch->result = -EAGAIN;
	pld_hrtimer_setup(&watch->timer, look_by_itself, CLOCK_MONOTONIC,
			  HRTIMER_MODE_ABS_SOFT);
	return watch;
}

/*
 * 3. Polling the rank file.
 */

int pld_ioctl_arm(struct pld_call *call)
{
	const struct pld_sim_arm *args = &call->args.arm;
	struct pld_member *member = call->member;
	struct pld_rank *rank = member_rank(member);
	struct pld_watch *watch = NULL, *before;
	int ret;

	ret = pld_domain_error(call->domain);
	if (ret)
		return ret;
	if (args->__reserved ||
	    (!args->nr_conditions && (args->conditions || args->flags)))
		return -EINVAL;
	if (args->nr_conditions) {
		watch = create_watch(member, PLD_WATCH_POLL, args->flags,
				     args->conditions, args->nr_conditions);
		if (IS_ERR(watch))
			return PTR_ERR(watch);
		pld_waiter_trace(watch->waiter, member);
	}

	spin_lock_irq(&rank->waiters.lock);
	before = member->armed;
	if (before)
		end_watch(before, -ECANCELED);
	if (watch)
		enter_queue(watch, member);
	spin_unlock_irq(&rank->waiters.lock);
	if (before)
		give_back(before);
	return 0;
}

static bool armed_holds(const struct pld_member *member)
{
	struct pld_rank *rank = member_rank(member);
	struct pld_look look;
	bool holds;

	spin_lock_irq(&rank->waiters.lock);
	holds = member->armed && pld_waiter_look(member->armed->waiter, &look);
	spin_unlock_irq(&rank->waiters.lock);
	return holds;
}

/*
 * No barrier of its own: who tells of a change takes the lock of the pollers'
 * queue after it has seen it, and who polls looks after having taken it.
 */
__poll_t pld_member_poll(struct pld_member *member, struct file *file,
			 struct poll_table_struct *table)
{
	poll_wait(file, &member_rank(member)->pollers, table);
	if (!pld_member_is_current(member))
		return EPOLLERR;
	if (pld_domain_error(member->domain) || !pld_member_joined(member))
		return EPOLLERR | EPOLLHUP;
	return armed_holds(member) ? EPOLLIN | EPOLLRDNORM : 0;
}

/*
 * 4. Eventfds and fences: a member's signals.
 */

void pld_member_init_watches(struct pld_member *member)
{
	INIT_LIST_HEAD(&member->signals);
}

/* The member has ended, and so have its watches: it has been told of them. */
void pld_member_destroy_watches(struct pld_member *member)
{
	struct pld_watch *watch, *next;

	list_for_each_entry_safe(watch, next, &member->signals, node)
		kref_put(&watch->ref, release_watch);
}

static int reserve_signal(struct pld_member *member, u64 *cookie)
{
	struct pld_rank *rank = member_rank(member);
	int ret = 0;

	spin_lock_irq(&rank->waiters.lock);
	if (member->nr_signals == PLD_SIM_MAX_SIGNALS) {
		ret = -ENOSPC;
	} else {
		member->nr_signals++;
		*cookie = ++member->last_cookie;
	}
	spin_unlock_irq(&rank->waiters.lock);
	return ret;
}

static void unreserve_signal(struct pld_member *member)
{
	struct pld_rank *rank = member_rank(member);

	spin_lock_irq(&rank->waiters.lock);
	member->nr_signals--;
	spin_unlock_irq(&rank->waiters.lock);
}

static struct pld_watch *find_signal(const struct pld_member *member,
				     u64 cookie)
{
	struct pld_watch *watch;

	lockdep_assert_held(&member_rank(member)->waiters.lock);

	list_for_each_entry(watch, &member->signals, node)
		if (watch->cookie == cookie)
			return watch;
	return NULL;
}

/* For as long as its caller is not told, there is still room for it. */
static void take_signal(struct pld_call *call, struct pld_watch *watch)
{
	lockdep_assert_held(&watched_rank(watch)->waiters.lock);

	list_del(&watch->node);
	call->old_watch = watch;
	call->old_waited = watch->member;
	if (call->old_waited)
		end_watch(watch, -ECANCELED);
}

static int ask_signal(struct pld_call *call)
{
	struct pld_sim_signal_eventfd *args = &call->args.signal_eventfd;
	struct pld_member *member = call->member;
	struct pld_rank *rank = member_rank(member);
	struct pld_watch *watch;

	spin_lock_irq(&rank->waiters.lock);
	watch = find_signal(member, args->cookie);
	if (watch) {
		args->result = watch->result;
		args->index = watch->look.index;
		args->value = watch->look.value;
		if (args->flags & PLD_SIGNAL_END)
			take_signal(call, watch);
	}
	spin_unlock_irq(&rank->waiters.lock);
	if (!watch)
		return -ENOENT;
	return 0;
}

static int add_eventfd(struct pld_call *call)
{
	struct pld_sim_signal_eventfd *args = &call->args.signal_eventfd;
	struct eventfd_ctx *eventfd;
	struct pld_watch *watch;
	int ret;

	eventfd = eventfd_ctx_fdget(args->eventfd);
	if (IS_ERR(eventfd))
		return PTR_ERR(eventfd);
	watch = create_watch(call->member, PLD_WATCH_EVENTFD, args->flags,
			     args->conditions, args->nr_conditions);
	if (IS_ERR(watch)) {
		eventfd_ctx_put(eventfd);
		return PTR_ERR(watch);
	}
	watch->eventfd = eventfd;
	watch->deadline = args->deadline_ns;
	ret = reserve_signal(call->member, &watch->cookie);
	if (ret) {
		give_back(watch);
		return ret;
	}
	args->cookie = watch->cookie;
	call->new_watch = watch;
	return 0;
}

int pld_ioctl_signal_eventfd(struct pld_call *call)
{
	const struct pld_sim_signal_eventfd *args = &call->args.signal_eventfd;
	int ret;

	if (args->__reserved)
		return -EINVAL;
	if (args->flags & (PLD_SIGNAL_ASK | PLD_SIGNAL_END)) {
		/* One of the two, and nothing else. */
		if (!is_power_of_2(args->flags) || args->conditions ||
		    args->nr_conditions || args->eventfd || args->deadline_ns)
			return -EINVAL;
		return ask_signal(call);
	}
	if (args->cookie)
		return -EINVAL;
	ret = pld_domain_error(call->domain);
	return ret ? ret : add_eventfd(call);
}

static void list_signal(struct pld_member *member, struct pld_watch *watch,
			bool waits)
{
	struct pld_rank *rank = member_rank(member);

	if (waits)
		pld_waiter_trace(watch->waiter, member);
	spin_lock_irq(&rank->waiters.lock);
	list_add_tail(&watch->node, &member->signals);
	if (waits)
		enter_queue(watch, member);
	spin_unlock_irq(&rank->waiters.lock);
}

/* What its caller was not told of must not come to life. */
static void finish_new(struct pld_member *member, struct pld_watch *watch,
		       bool copied)
{
	if (!copied) {
		unreserve_signal(member);
		give_back(watch);
		return;
	}
	kref_get(&watch->ref);
	list_signal(member, watch, true);
}

/*
 * Nor must what its caller was not told of be lost: it waits again. Its timer may
 * yet be about to find that it does not.
 */
static void finish_old(struct pld_member *member, struct pld_watch *watch,
		       bool waited, bool copied)
{
	if (!copied) {
		if (waited) {
			hrtimer_cancel(&watch->timer);
			watch->result = -EAGAIN;
		}
		list_signal(member, watch, waited);
		return;
	}
	unreserve_signal(member);
	if (waited)
		give_back(watch);
	kref_put(&watch->ref, release_watch);
}

void pld_finish_signal_eventfd(struct pld_call *call, bool copied)
{
	if (call->new_watch)
		finish_new(call->member, call->new_watch, copied);
	else if (call->old_watch)
		finish_old(call->member, call->old_watch, call->old_waited, copied);
}

static int check_fence_deadline(s64 deadline)
{
	if (deadline <= 0)
		return -EINVAL;
	if (deadline > ktime_get() + PLD_SIM_MAX_FENCE_NS)
		return -ERANGE;
	return 0;
}

static int open_fence_file(struct pld_call *call, struct dma_fence *fence)
{
	int fd = get_unused_fd_flags(O_CLOEXEC);
	struct sync_file *sync_file;

	if (fd < 0)
		return fd;
	sync_file = sync_file_create(fence);
	if (!sync_file) {
		put_unused_fd(fd);
		return -ENOMEM;
	}
	call->new_file = sync_file->file;
	call->args.signal_fence.out_fd = fd;
	return 0;
}

static int add_fence(struct pld_call *call, struct pld_watch *watch)
{
	int ret;

	watch->fence = pld_fence_create(call->domain->id, watch->rank);
	if (!watch->fence)
		return -ENOMEM;
	watch->deadline = call->args.signal_fence.deadline_ns;
	ret = reserve_signal(call->member, &watch->cookie);
	if (ret)
		return ret;
	ret = open_fence_file(call, watch->fence);
	if (ret)
		unreserve_signal(call->member);
	return ret;
}

int pld_ioctl_signal_fence(struct pld_call *call)
{
	const struct pld_sim_signal_fence *args = &call->args.signal_fence;
	struct pld_watch *watch;
	int ret;

	ret = pld_domain_error(call->domain);
	if (!ret)
		ret = check_fence_deadline(args->deadline_ns);
	if (ret)
		return ret;
	watch = create_watch(call->member, PLD_WATCH_FENCE, args->flags,
			     args->conditions, args->nr_conditions);
	if (IS_ERR(watch))
		return PTR_ERR(watch);
	ret = add_fence(call, watch);
	if (ret) {
		give_back(watch);
		return ret;
	}
	call->new_watch = watch;
	return 0;
}

/* Nobody sees a fence that nothing will signal: first it is watched for. */
void pld_finish_signal_fence(struct pld_call *call, bool copied)
{
	if (copied) {
		begin_watch(call->new_watch, call->member);
	} else {
		unreserve_signal(call->member);
		give_back(call->new_watch);
	}
	pld_call_publish(call, call->args.signal_fence.out_fd, copied);
}
