// SPDX-License-Identifier: GPL-2.0
/*
 * Joining, leaving and dying. What a member is and who owns it: rank.h.
 */
#include <linux/file.h>
#include <linux/nospec.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "chardev.h"
#include "device.h"
#include "domain.h"
#include "gfp.h"
#include "ioctl.h"
#include "rank.h"
#include "trace.h"
#include "watch.h"

static void set_rank_state(struct pld_member *member,
			   enum pld_sim_rank_state state)
{
	struct pld_domain *domain = member->domain;

	lockdep_assert_held(&domain->state_lock);

	WRITE_ONCE(domain->status->rank_state[member->rank], state);
	WRITE_ONCE(member->joined, state == PLD_RANK_JOINED);
}

/* Who holds the rank now: @process, a reference, or nobody. */
static void set_holder(struct pld_member *member, struct pid *process)
{
	struct pld_rank *rank = &member->domain->ranks[member->rank];

	lockdep_assert_held(&member->domain->state_lock);

	put_pid(rank->process);
	rank->process = process;
	if (process)
		atomic_inc(&rank->device->ranks);
	else
		atomic_dec(&rank->device->ranks);
}

/* False when the member had gone before. */
static bool end_membership(struct pld_member *member,
			   enum pld_sim_rank_state state)
{
	struct pld_domain *domain = member->domain;
	bool was_joined;

	spin_lock(&domain->state_lock);
	was_joined = member->joined;
	if (was_joined) {
		set_rank_state(member, state);
		set_holder(member, NULL);
		if (state == PLD_RANK_DEAD)
			pld_domain_break(domain, PLD_FAIL_DEAD, member->rank,
					 0);
	}
	spin_unlock(&domain->state_lock);
	return was_joined;
}

void pld_member_died(struct pld_member *member)
{
	struct pld_domain *domain = member->domain;

	if (!end_membership(member, PLD_RANK_DEAD))
		return;
	trace_pld_rank_dead(domain->id, member->rank);
	pld_domain_wake_all(domain);
}

static void mm_released(struct mmu_notifier *notifier, struct mm_struct *mm)
{
	pld_member_died(container_of(notifier, struct pld_member, notifier));
}

static const struct mmu_notifier_ops pld_notifier_ops = {
	.release = mm_released,
};

/* Also a death, when nothing ended the membership before. */
void pld_member_destroy(struct pld_member *member)
{
	pld_member_died(member);
	mmu_notifier_unregister(&member->notifier, member->notifier.mm);
	pld_member_destroy_watches(member);
	pld_domain_put(member->domain);
	kfree(member);
}

static struct pld_member *create_member(struct pld_domain *domain, u32 rank)
{
	struct pld_member *member;
	int ret;

	member = kzalloc(sizeof(*member), PLD_GFP);
	if (!member)
		return ERR_PTR(-ENOMEM);
	member->files = current->files;
	member->rank = rank;
	member->notifier.ops = &pld_notifier_ops;
	pld_member_init_watches(member);
	member->domain = domain;
	pld_domain_get(domain);

	ret = mmu_notifier_register(&member->notifier, current->mm);
	if (ret) {
		pld_domain_put(domain);
		kfree(member);
		if (ret == -EINTR)
			ret = -ERESTARTSYS;
		return ERR_PTR(ret);
	}
	return member;
}

/* One who comes too late has no status page to read it from. */
static void answer_why_broken(const struct pld_domain *domain,
			      struct pld_sim_join *args)
{
	lockdep_assert_held(&domain->state_lock);

	args->reason = domain->status->reason;
	args->failed_rank = domain->status->rank;
	args->code = domain->status->code;
}

static int begin_membership(struct pld_member *member,
			    struct pld_sim_join *args)
{
	struct pld_domain *domain = member->domain;
	int ret;

	mutex_lock(&domain->lock);
	spin_lock(&domain->state_lock);
	answer_why_broken(domain, args);
	ret = pld_domain_error(domain);
	if (!ret && (domain->resetting ||
		     domain->status->rank_state[member->rank]))
		ret = -EBUSY;
	if (!ret) {
		set_rank_state(member, PLD_RANK_JOINED);
		set_holder(member, get_pid(task_tgid(current)));
		args->epoch = domain->status->epoch;
	}
	spin_unlock(&domain->state_lock);
	mutex_unlock(&domain->lock);
	return ret;
}

static int join_domain(struct pld_call *call, struct pld_domain *domain)
{
	struct pld_sim_join *args = &call->args.join;
	struct pld_member *member;
	int ret;

	if (args->rank >= domain->nr_ranks)
		return -ERANGE;
	member = create_member(domain, array_index_nospec(args->rank,
							  domain->nr_ranks));
	if (IS_ERR(member))
		return PTR_ERR(member);
	ret = begin_membership(member, args);
	if (ret) {
		pld_member_destroy(member);
		return ret;
	}
	args->nranks = domain->nr_ranks;
	call->new_member = member;
	return 0;
}

static int join_file(struct pld_call *call, struct file *file)
{
	struct pld_domain *domain = pld_domain_from_file(file);

	if (!domain)
		return -EBADF;
	return join_domain(call, domain);
}

int pld_ioctl_join(struct pld_call *call)
{
	struct file *file;
	int ret;

	call->args.join.reason = PLD_FAIL_NONE;
	if (!pld_file_begin_join(call->file))
		return -EISCONN;
	file = fget(call->args.join.domain_fd);
	if (file) {
		ret = join_file(call, file);
		fput(file);
	} else {
		ret = -EBADF;
	}
	if (ret)
		pld_file_end_join(call->file, NULL);
	return ret;
}

/* A rank that its process was not told of is as if it had not been joined. */
void pld_finish_join(struct pld_call *call, bool copied)
{
	struct pld_member *member = call->new_member;

	if (copied) {
		trace_pld_rank_join(member->domain->id, member->rank);
		pld_file_end_join(call->file, member);
		return;
	}
	end_membership(member, PLD_RANK_ABSENT);
	pld_member_destroy(member);
	pld_file_end_join(call->file, NULL);
}

int pld_ioctl_leave(struct pld_call *call)
{
	struct pld_member *member = call->member;
	struct pld_domain *domain = member->domain;

	if (!end_membership(member, PLD_RANK_LEFT))
		return -ENOTCONN;
	trace_pld_rank_leave(domain->id, member->rank);
	/* Its other threads may be waiting. */
	pld_rank_wake_all(&domain->ranks[member->rank]);
	return 0;
}
