// SPDX-License-Identifier: GPL-2.0
/*
 * /sys/kernel/debug/pld_sim/domains, for root: every domain with its ranks,
 * windows and waiters, one object a line. Each line is true by itself; things
 * may change from one line to the next.
 *
 * /sys/kernel/debug/pld_sim/exports: every dma-buf that was made of a window,
 * whose domain may have ended.
 */
#include <linux/debugfs.h>
#include <linux/module.h>
#include <linux/seq_file.h>

#include "debugfs.h"
#include "device.h"
#include "domain.h"
#include "export.h"
#include "wait.h"
#include "window.h"

static struct dentry *pld_debugfs_dir;

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

static void show_waiter(struct seq_file *seq, const struct pld_waiter *waiter)
{
	const char *join = waiter->flags & PLD_WAIT_ANY ? " or" : " and";
	u32 i;

	seq_puts(seq, "  waiter");
	for (i = 0; i < waiter->nr; i++) {
		const struct pld_wanted *wanted = &waiter->wanted[i];

		seq_printf(seq, "%s window %u offset %llu cell%s%d",
			   i ? join : "", wanted->cell.window,
			   wanted->cell.offset,
			   wanted->cmp == PLD_SIM_CMP_EQ ? "==" : ">=",
			   wanted->expected);
	}
	seq_putc(seq, '\n');
}

static void show_waiters(struct seq_file *seq, struct pld_rank *rank)
{
	struct pld_waiter *waiter;

	spin_lock_irq(&rank->waiters.lock);
	list_for_each_entry(waiter, &rank->waiters.head, entry.entry)
		/* A wake-up of many leaves a mark of its own, on some kernels. */
		if (waiter->entry.func)
			show_waiter(seq, waiter);
	spin_unlock_irq(&rank->waiters.lock);
}

static void show_rank(struct seq_file *seq, struct pld_domain *domain, u32 nr)
{
	struct pld_rank *rank = &domain->ranks[nr];
	u32 state = READ_ONCE(domain->status->rank_state[nr]);

	seq_printf(seq, " rank %u device %u %s waiters %u\n", nr,
		   pld_device_id(rank->device), rank_state_names[state],
		   READ_ONCE(rank->nr_waiters));
	show_waiters(seq, rank);
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
			   " window %u length %llu stride %llu offset %#llx flags %#x segments %u users %u imported %u\n",
			   window->id, window->length, window->stride,
			   window->offset, window->flags,
			   window->memory[0].sgt.orig_nents,
			   kref_read(&window->ref) - 1, nr_imported(window));
	mutex_unlock(&domain->lock);
}

static void show_domain(struct seq_file *seq, struct pld_domain *domain)
{
	u32 rank;

	spin_lock(&domain->state_lock);
	seq_printf(seq, "domain %u ranks %u epoch %u reason %s rank %u code %d\n",
		   domain->id, domain->nr_ranks, domain->status->epoch,
		   reason_names[domain->status->reason], domain->status->rank,
		   domain->status->code);
	spin_unlock(&domain->state_lock);

	for (rank = 0; rank < domain->nr_ranks; rank++)
		show_rank(seq, domain, rank);
	show_windows(seq, domain);
}

static int domains_show(struct seq_file *seq, void *unused)
{
	struct pld_domain *domain;

	mutex_lock(&pld_domains_lock);
	list_for_each_entry(domain, &pld_domains, node)
		show_domain(seq, domain);
	mutex_unlock(&pld_domains_lock);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(domains);

static void show_export(struct seq_file *seq, struct pld_export *export)
{
	mutex_lock(&export->lock);
	seq_printf(seq,
		   "export domain %u window %u rank %u offset %llu length %llu attachments %u mappings %u\n",
		   export->domain, export->window->id, export->rank,
		   (u64)export->first << PAGE_SHIFT,
		   (u64)export->nr_pages << PAGE_SHIFT, export->nr_attachments,
		   export->nr_mappings);
	mutex_unlock(&export->lock);
}

static int exports_show(struct seq_file *seq, void *unused)
{
	struct pld_export *export;

	mutex_lock(&pld_exports_lock);
	list_for_each_entry(export, &pld_exports, node)
		show_export(seq, export);
	mutex_unlock(&pld_exports_lock);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(exports);

/* A module without it works as well: errors are nobody's business. */
void pld_debugfs_create(void)
{
	pld_debugfs_dir = debugfs_create_dir("pld_sim", NULL);
	debugfs_create_file("domains", 0400, pld_debugfs_dir, NULL,
			    &domains_fops);
	debugfs_create_file("exports", 0400, pld_debugfs_dir, NULL,
			    &exports_fops);
}

void pld_debugfs_destroy(void)
{
	debugfs_remove_recursive(pld_debugfs_dir);
}
