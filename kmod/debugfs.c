// SPDX-License-Identifier: GPL-2.0
/*
 * /sys/kernel/debug/pld_sim/domains, for root: every domain there is.
 *
 * /sys/kernel/debug/pld_sim/exports: every dma-buf that was made of a window,
 * whose domain may have ended.
 */
#include <linux/debugfs.h>
#include <linux/module.h>
#include <linux/seq_file.h>

#include "debugfs.h"
#include "export.h"
#include "show.h"
#include "window.h"

static struct dentry *pld_debugfs_dir;

DEFINE_SHOW_ATTRIBUTE(pld_domains);

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
	/* Its data says that the reader may see all. */
	debugfs_create_file("domains", 0400, pld_debugfs_dir, &pld_debugfs_dir,
			    &pld_domains_fops);
	debugfs_create_file("exports", 0400, pld_debugfs_dir, NULL,
			    &exports_fops);
}

void pld_debugfs_destroy(void)
{
	debugfs_remove_recursive(pld_debugfs_dir);
}
