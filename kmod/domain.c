// SPDX-License-Identifier: GPL-2.0
/*
 * Domains: life, failure and reset. What one is, who owns it and which lock
 * protects what: domain.h.
 */
#include <linux/anon_inodes.h>
#include <linux/bitmap.h>
#include <linux/cred.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/poll.h>
#include <linux/slab.h>

#include "device.h"
#include "domain.h"
#include "gfp.h"
#include "ioctl.h"
#include "trace.h"
#include "wait.h"
#include "window.h"

/* Protects pld_domains, and keeps those in it from being freed. */
DEFINE_MUTEX(pld_domains_lock);
LIST_HEAD(pld_domains);

static atomic_t pld_next_domain = ATOMIC_INIT(0);

static void free_domain(struct pld_domain *domain)
{
	u32 rank;

	for (rank = 0; rank < domain->nr_ranks; rank++)
		free_page((unsigned long)domain->ranks[rank].doorbell);
	free_page((unsigned long)domain->status);
	put_pid(domain->maker);
	kvfree(domain);
}

static void release_domain(struct kref *ref)
{
	struct pld_domain *domain = container_of(ref, struct pld_domain, ref);
	u32 rank;

	mutex_lock(&pld_domains_lock);
	list_del(&domain->node);
	mutex_unlock(&pld_domains_lock);

	for (rank = 0; rank < domain->nr_ranks; rank++)
		pld_recheck_end(&domain->ranks[rank]);
	pld_windows_destroy(domain);
	trace_pld_domain_destroy(domain->id, domain->nr_ranks);
	free_domain(domain);
}

void pld_domain_get(struct pld_domain *domain)
{
	kref_get(&domain->ref);
}

void pld_domain_put(struct pld_domain *domain)
{
	kref_put(&domain->ref, release_domain);
}

static int init_rank(struct pld_rank *rank, struct pld_device *device)
{
	rank->device = device;
	init_waitqueue_head(&rank->waiters);
	init_waitqueue_head(&rank->pollers);
	pld_recheck_init(rank);
	rank->doorbell = (void *)get_zeroed_page(PLD_GFP);
	if (!rank->doorbell)
		return -ENOMEM;
	return 0;
}

static struct pld_domain *alloc_domain(u32 nr_ranks)
{
	struct pld_domain *domain;

	domain = kvzalloc(struct_size(domain, ranks, nr_ranks), PLD_GFP);
	if (!domain)
		return NULL;
	kref_init(&domain->ref);
	mutex_init(&domain->lock);
	spin_lock_init(&domain->state_lock);
	pld_windows_init(domain);
	domain->id = atomic_inc_return(&pld_next_domain);
	domain->nr_ranks = nr_ranks;
	domain->owner = current_euid();
	domain->maker = get_pid(task_tgid(current));

	domain->status = (void *)get_zeroed_page(PLD_GFP);
	if (!domain->status) {
		free_domain(domain);
		return NULL;
	}
	domain->status->epoch = 1;
	domain->status->nranks = nr_ranks;
	return domain;
}

static int add_ranks(struct pld_domain *domain, const u32 *ids)
{
	DECLARE_BITMAP(seen, PLD_SIM_MAX_RANKS) = { };
	struct pld_device *device;
	u32 rank;
	int ret;

	for (rank = 0; rank < domain->nr_ranks; rank++) {
		device = pld_device_find(ids[rank]);
		if (!device)
			return -ENOENT;
		if (__test_and_set_bit(pld_device_id(device), seen))
			return -EINVAL;
		ret = init_rank(&domain->ranks[rank], device);
		if (ret)
			return ret;
	}
	return 0;
}

static struct pld_domain *create_domain(const u32 *ids, u32 nr_ranks)
{
	struct pld_domain *domain;
	int ret;

	domain = alloc_domain(nr_ranks);
	if (!domain)
		return ERR_PTR(-ENOMEM);
	ret = add_ranks(domain, ids);
	if (ret) {
		free_domain(domain);
		return ERR_PTR(ret);
	}
	mutex_lock(&pld_domains_lock);
	list_add_tail(&domain->node, &pld_domains);
	mutex_unlock(&pld_domains_lock);

	trace_pld_domain_create(domain->id, nr_ranks);
	return domain;
}

/* The errno of why the domain is broken, or 0. */
int pld_domain_error(const struct pld_domain *domain)
{
	switch (READ_ONCE(domain->status->reason)) {
	case PLD_FAIL_NONE:
		return 0;
	case PLD_FAIL_TIMEOUT:
		return -ETIMEDOUT;
	case PLD_FAIL_ABORT:
		return -ECANCELED;
	default:
		return -EOWNERDEAD;
	}
}

static void advance_epoch(struct pld_domain *domain)
{
	lockdep_assert_held(&domain->state_lock);

	/* Pairs with the acquire of ranks that poll their status page. */
	smp_store_release(&domain->status->epoch, domain->status->epoch + 1);
}

/* True when the domain was whole. The caller wakes all after unlocking. */
bool pld_domain_break(struct pld_domain *domain,
		      enum pld_sim_fail_reason reason, u32 rank, s32 code)
{
	struct pld_sim_status *status = domain->status;

	lockdep_assert_held(&domain->state_lock);

	if (status->reason != PLD_FAIL_NONE)
		return false;
	WRITE_ONCE(status->rank, rank);
	WRITE_ONCE(status->code, code);
	WRITE_ONCE(status->reason, reason);
	advance_epoch(domain);
	trace_pld_domain_fail(domain->id, reason, rank, code);
	return true;
}

/* After a failure, or the rank's end: there is no more to wait for. */
void pld_rank_wake_all(struct pld_rank *rank)
{
	wake_up_all(&rank->waiters);
	wake_up_poll(&rank->pollers, EPOLLERR | EPOLLHUP);
}

void pld_domain_wake_all(struct pld_domain *domain)
{
	u32 rank;

	for (rank = 0; rank < domain->nr_ranks; rank++)
		pld_rank_wake_all(&domain->ranks[rank]);
}

int pld_ioctl_fail(struct pld_call *call)
{
	const struct pld_sim_fail *args = &call->args.fail;
	struct pld_domain *domain = call->domain;
	bool broke;

	if (args->__reserved || args->reason == PLD_FAIL_NONE ||
	    args->reason > PLD_FAIL_OUTSIDE)
		return -EINVAL;
	if (args->rank >= domain->nr_ranks)
		return -ERANGE;

	spin_lock(&domain->state_lock);
	broke = pld_domain_break(domain, args->reason, args->rank, args->code);
	spin_unlock(&domain->state_lock);
	if (broke)
		pld_domain_wake_all(domain);
	return 0;
}

static bool anybody_joined(struct pld_domain *domain)
{
	bool joined = false;
	u32 rank;

	spin_lock(&domain->state_lock);
	for (rank = 0; rank < domain->nr_ranks && !joined; rank++)
		joined = domain->status->rank_state[rank] == PLD_RANK_JOINED;
	spin_unlock(&domain->state_lock);
	return joined;
}

static void reset_status(struct pld_domain *domain)
{
	struct pld_sim_status *status = domain->status;
	u32 rank;

	spin_lock(&domain->state_lock);
	for (rank = 0; rank < domain->nr_ranks; rank++)
		WRITE_ONCE(status->rank_state[rank], PLD_RANK_ABSENT);
	WRITE_ONCE(status->reason, PLD_FAIL_NONE);
	WRITE_ONCE(status->rank, 0);
	WRITE_ONCE(status->code, 0);
	advance_epoch(domain);
	spin_unlock(&domain->state_lock);
}

static int begin_reset(struct pld_domain *domain)
{
	int ret = 0;

	mutex_lock(&domain->lock);
	if (domain->resetting || anybody_joined(domain))
		ret = -EBUSY;
	else
		domain->resetting = true;
	mutex_unlock(&domain->lock);
	return ret;
}

/* After an error the domain is as it was, but for cells that are zero now. */
static void end_reset(struct pld_domain *domain, bool done)
{
	mutex_lock(&domain->lock);
	domain->resetting = false;
	if (done) {
		reset_status(domain);
		trace_pld_domain_reset(domain->id, domain->nr_ranks);
	}
	mutex_unlock(&domain->lock);
}

int pld_ioctl_domain_reset(struct pld_call *call)
{
	struct pld_domain *domain = call->domain;
	int ret;

	ret = begin_reset(domain);
	if (ret)
		return ret;
	ret = pld_windows_zero_signals(domain);
	end_reset(domain, !ret);
	return ret;
}

static long domain_file_ioctl(struct file *file, unsigned int cmd,
			      unsigned long arg)
{
	struct pld_call call = {
		.kind = PLD_DOMAIN_FILE,
		.domain = file->private_data,
	};

	return pld_ioctl(&call, cmd, arg);
}

static int domain_file_release(struct inode *inode, struct file *file)
{
	pld_domain_put(file->private_data);
	return 0;
}

static const struct file_operations pld_domain_fops = {
	.owner = THIS_MODULE,
	.unlocked_ioctl = domain_file_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.release = domain_file_release,
	.llseek = noop_llseek,
};

/* NULL when it is not a domain file. The file's reference covers the answer. */
struct pld_domain *pld_domain_from_file(struct file *file)
{
	return file->f_op == &pld_domain_fops ? file->private_data : NULL;
}

static int open_domain_file(struct pld_domain *domain, struct pld_call *call)
{
	int fd = get_unused_fd_flags(O_CLOEXEC);

	if (fd < 0)
		return fd;
	call->new_file = anon_inode_getfile("[pld_domain]", &pld_domain_fops,
					    domain, O_RDWR);
	if (IS_ERR(call->new_file)) {
		put_unused_fd(fd);
		return PTR_ERR(call->new_file);
	}
	call->args.domain_create.out_fd = fd;
	return 0;
}

int pld_ioctl_domain_create(struct pld_call *call)
{
	struct pld_sim_domain_create *args = &call->args.domain_create;
	struct pld_domain *domain;
	u32 *ids;
	int ret;

	if (!args->nranks || args->nranks > PLD_SIM_MAX_RANKS)
		return -EINVAL;
	ids = memdup_user(u64_to_user_ptr(args->devices),
			  array_size(args->nranks, sizeof(*ids)));
	if (IS_ERR(ids))
		return PTR_ERR(ids);
	domain = create_domain(ids, args->nranks);
	kfree(ids);
	if (IS_ERR(domain))
		return PTR_ERR(domain);

	ret = open_domain_file(domain, call);
	if (ret)
		pld_domain_put(domain);
	return ret;
}

void pld_finish_domain_create(struct pld_call *call, bool copied)
{
	pld_call_publish(call, call->args.domain_create.out_fd, copied);
}
