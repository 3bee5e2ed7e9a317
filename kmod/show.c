// SPDX-License-Identifier: GPL-2.0
/*
 * Domains as text: with their ranks, waits and windows, one object a line, each
 * a word and then key=value. Programs read it, doc/sysfs.md says what it means.
 * Each line is true by itself, a rank's together with those of its waits; things may
 * change from there to the next.
 *
 * Process ids are those of the reader's namespace, 0 where there is none.
 */
#include <linux/anon_inodes.h>
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/pid.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/user_namespace.h>

#include "device.h"
#include "domain.h"
#include "ioctl.h"
#include "show.h"
#include "wait.h"
#include "window.h"

/* Advances when a reader of the lines before would misunderstand. */
#define PLD_SHOW_FORMAT 1

static const char *const rank_state_names[] = {
	[PLD_RANK_ABSENT] = "absent",
	[PLD_RANK_JOINED] = "joined",
	[PLD_RANK_LEFT] = "left",
	[PLD_RANK_DEAD] = "dead",
};

static const char *const reason_names[] = {
	[PLD_FAIL_NONE] = "none",
	[PLD_FAIL_DEAD] = "dead",
	[PLD_FAIL_ERROR] = "error",
	[PLD_FAIL_TIMEOUT] = "timeout",
	[PLD_FAIL_ABORT] = "abort",
	[PLD_FAIL_OUTSIDE] = "outside",
};

/* A number outlives its process, and may be another's by now. */
static pid_t live_pid(struct pid *pid)
{
	pid_t nr = 0;

	rcu_read_lock();
	if (pid && pid_task(pid, PIDTYPE_TGID))
		nr = pid_vnr(pid);
	rcu_read_unlock();
	return nr;
}

static void show_cell(struct seq_file *seq, const struct pld_wanted *wanted)
{
	seq_printf(seq,
		   "   cell window=%u offset=%llu cmp=%s expected=%d value=%d\n",
		   wanted->cell.window, wanted->cell.offset,
		   wanted->cmp == PLD_SIM_CMP_EQ ? "eq" : "ge",
		   wanted->expected, READ_ONCE(*wanted->address));
}

static void show_waiter(struct seq_file *seq, const struct pld_waiter *waiter)
{
	u32 i;

	seq_printf(seq, "  wait any=%d cells=%u waiting_ns=%llu\n",
		   !!(waiter->flags & PLD_WAIT_ANY), waiter->nr,
		   ktime_get_ns() - waiter->since_ns);
	for (i = 0; i < waiter->nr; i++)
		show_cell(seq, &waiter->wanted[i]);
}

/* What a waiter waits for does not change, and is there while it is queued. */
static void show_waiters(struct seq_file *seq, const struct pld_rank *rank)
{
	struct pld_waiter *waiter;

	lockdep_assert_held(&rank->waiters.lock);

	list_for_each_entry(waiter, &rank->waiters.head, entry.entry)
		/* A wake-up of many leaves a mark of its own, on some kernels. */
		if (waiter->entry.func)
			show_waiter(seq, waiter);
}

static void show_rank(struct seq_file *seq, struct pld_domain *domain, u32 nr)
{
	struct pld_rank *rank = &domain->ranks[nr];
	u32 state;
	pid_t pid;

	spin_lock(&domain->state_lock);
	state = domain->status->rank_state[nr];
	pid = live_pid(rank->process);
	spin_unlock(&domain->state_lock);

	/* At one moment: no wait that is not among the waiters. */
	spin_lock_irq(&rank->waiters.lock);
	seq_printf(seq, " rank nr=%u device=%u state=%s pid=%d waiters=%u rings=%u\n",
		   nr, pld_device_id(rank->device), rank_state_names[state],
		   pid, rank->nr_waiters, rank->nr_rings);
	show_waiters(seq, rank);
	spin_unlock_irq(&rank->waiters.lock);
}

static u32 nr_imported(const struct pld_window *window)
{
	u32 rank, nr = 0;

	for (rank = 0; rank < window->nr_ranks; rank++)
		nr += !!window->memory[rank].import;
	return nr;
}

/* The table's reference is not counted among the users. */
static void show_windows(struct seq_file *seq, struct pld_domain *domain)
{
	struct pld_window *window;

	mutex_lock(&domain->lock);
	list_for_each_entry(window, &domain->windows_by_offset, by_offset)
		seq_printf(seq,
			   " window id=%u bytes=%llu stride=%llu signal=%d segments=%u users=%u imported=%u\n",
			   window->id, window->length, window->stride,
			   !!(window->flags & PLD_WINDOW_SIGNAL),
			   window->memory[0].sgt.orig_nents,
			   kref_read(&window->ref) - 1, nr_imported(window));
	mutex_unlock(&domain->lock);
}

static void show_domain(struct seq_file *seq, struct pld_domain *domain)
{
	struct pld_sim_status *status = domain->status;
	u32 rank;

	spin_lock(&domain->state_lock);
	seq_printf(seq,
		   "domain id=%u owner=%u maker=%d ranks=%u epoch=%u reason=%s culprit=%u code=%d\n",
		   domain->id,
		   from_kuid_munged(seq_user_ns(seq), domain->owner),
		   live_pid(domain->maker), domain->nr_ranks, status->epoch,
		   reason_names[status->reason], status->rank, status->code);
	spin_unlock(&domain->state_lock);

	for (rank = 0; rank < domain->nr_ranks; rank++)
		show_rank(seq, domain, rank);
	show_windows(seq, domain);
}

static bool may_see(const struct seq_file *seq, const struct pld_domain *domain)
{
	return seq->private || uid_eq(seq->file->f_cred->euid, domain->owner);
}

int pld_domains_show(struct seq_file *seq, void *unused)
{
	struct pld_domain *domain;

	seq_printf(seq, "format=%d\n", PLD_SHOW_FORMAT);
	mutex_lock(&pld_domains_lock);
	list_for_each_entry(domain, &pld_domains, node)
		if (may_see(seq, domain))
			show_domain(seq, domain);
	mutex_unlock(&pld_domains_lock);
	return 0;
}

/* Nothing hangs on a file whose single_open() failed. */
static int domains_file_release(struct inode *inode, struct file *file)
{
	return file->private_data ? single_release(inode, file) : 0;
}

static const struct file_operations pld_domains_file_fops = {
	.owner = THIS_MODULE,
	.read = seq_read,
	.llseek = seq_lseek,
	.release = domains_file_release,
};

/* What may be seen is decided here: whoever is given the file sees no more. */
static struct file *open_domains_file(void)
{
	void *all = NULL;
	struct file *file;
	int ret;

	if (ns_capable_noaudit(&init_user_ns, CAP_SYS_ADMIN))
		all = &pld_domains_lock;
	file = anon_inode_getfile("[pld_domains]", &pld_domains_file_fops,
				  NULL, O_RDONLY);
	if (IS_ERR(file))
		return file;
	ret = single_open(file, pld_domains_show, all);
	if (ret) {
		fput(file);
		return ERR_PTR(ret);
	}
	return file;
}

int pld_ioctl_domains(struct pld_call *call)
{
	struct pld_sim_domains *args = &call->args.domains;
	int fd;

	if (args->__reserved)
		return -EINVAL;
	fd = get_unused_fd_flags(O_CLOEXEC);
	if (fd < 0)
		return fd;
	call->new_file = open_domains_file();
	if (IS_ERR(call->new_file)) {
		put_unused_fd(fd);
		return PTR_ERR(call->new_file);
	}
	args->out_fd = fd;
	return 0;
}

void pld_finish_domains(struct pld_call *call, bool copied)
{
	int fd = call->args.domains.out_fd;

	if (copied) {
		fd_install(fd, call->new_file);
	} else {
		put_unused_fd(fd);
		fput(call->new_file);
	}
}
