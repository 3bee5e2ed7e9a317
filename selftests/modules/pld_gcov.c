// SPDX-License-Identifier: GPL-2.0
/*
 * Counts of gcov (GCC 12 or later) for pld_sim, on kernels that have none of it.
 *
 * A pld_sim built with GCOV=y exports one symbol, the bounds of its table of
 * files (kmod/gcov_end.c). Here the counts of each are added up over all times
 * that it was loaded, and given as gcov's own files, *.gcda in debugfs. All
 * counts are the module's, whatever context they come from.
 */
#include <linux/debugfs.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/notifier.h>
#include <linux/seq_file.h>
#include <linux/slab.h>

/* What the compiler makes; the layout is gcc's, see its libgcov.h. */
struct gcov_counts {
	unsigned int nr;
	u64 *values;
};

struct gcov_function {
	const void *key;
	unsigned int ident;
	unsigned int lineno_checksum;
	unsigned int cfg_checksum;
	struct gcov_counts arcs;
};

struct gcov_file {
	unsigned int version;
	struct gcov_file *next;
	unsigned int stamp;
	unsigned int checksum;
	const char *name;
	void *merge[8];
	unsigned int nr_functions;
	const struct gcov_function *const *functions;
};

#define GCDA_MAGIC 0x67636461
#define GCDA_FUNCTION 0x01000000
#define GCDA_ARCS 0x01a10000

/* A file over all times; its head and functions as they were the first time. */
struct total {
	struct total *next;
	char *name;
	u32 version;
	u32 stamp;
	u32 checksum;
	unsigned int nr;
	struct {
		u32 ident;
		u32 lineno_checksum;
		u32 cfg_checksum;
		u32 nr;
		u64 *values;
	} functions[];
};

static struct total *totals;
static struct dentry *folder;

/* The table of a pld_sim that is loaded. With the lock, as are the totals. */
static const struct gcov_file *const *begin, *const *end;
static DEFINE_MUTEX(lock);

static struct total *find_total(const struct gcov_file *file)
{
	struct total *total;

	for (total = totals; total; total = total->next)
		if (!strcmp(total->name, file->name))
			return total;
	return NULL;
}

static int show_gcda(struct seq_file *seq, void *unused);

static int open_gcda(struct inode *inode, struct file *file)
{
	return single_open_size(file, show_gcda, inode->i_private, 1 << 16);
}

static const struct file_operations gcda_fops = {
	.owner = THIS_MODULE,
	.open = open_gcda,
	.read = seq_read,
	.llseek = seq_lseek,
	.release = single_release,
};

/* Memory that is short here makes a report short: nothing is given back. */
static struct total *make_total(const struct gcov_file *file)
{
	unsigned int i, nr = file->nr_functions;
	const struct gcov_function *function;
	struct total *total;

	total = kzalloc(struct_size(total, functions, nr), GFP_KERNEL);
	if (!total)
		return NULL;
	total->name = kstrdup(file->name, GFP_KERNEL);
	total->version = file->version;
	total->stamp = file->stamp;
	total->checksum = file->checksum;
	total->nr = nr;
	for (i = 0; i < nr; i++) {
		function = file->functions[i];
		total->functions[i].ident = function->ident;
		total->functions[i].lineno_checksum = function->lineno_checksum;
		total->functions[i].cfg_checksum = function->cfg_checksum;
		total->functions[i].nr = function->arcs.nr;
		total->functions[i].values =
			kcalloc(function->arcs.nr, sizeof(u64), GFP_KERNEL);
		if (!total->functions[i].values)
			total->functions[i].nr = 0;
	}
	total->next = totals;
	totals = total;
	debugfs_create_file(kbasename(total->name), 0400, folder, total,
			    &gcda_fops);
	return total;
}

/* The loaded module's counts begin anew when they have been added. */
static void add_file(const struct gcov_file *file)
{
	struct total *total = find_total(file);
	const struct gcov_function *function;
	unsigned int i, j;

	if (!total)
		total = make_total(file);
	for (i = 0; total && i < total->nr && i < file->nr_functions; i++) {
		function = file->functions[i];
		for (j = 0; j < total->functions[i].nr; j++) {
			total->functions[i].values[j] +=
				function->arcs.values[j];
			function->arcs.values[j] = 0;
		}
	}
}

static void add_all(void)
{
	const struct gcov_file *const *file;

	lockdep_assert_held(&lock);
	for (file = begin; file < end; file++)
		add_file(*file);
}

static void put(struct seq_file *seq, u32 word)
{
	seq_write(seq, &word, sizeof(word));
}

static int show_gcda(struct seq_file *seq, void *unused)
{
	const struct total *total = seq->private;
	unsigned int i;

	mutex_lock(&lock);
	add_all();
	put(seq, GCDA_MAGIC);
	put(seq, total->version);
	put(seq, total->stamp);
	put(seq, total->checksum);
	for (i = 0; i < total->nr; i++) {
		put(seq, GCDA_FUNCTION);
		put(seq, 3 * sizeof(u32));
		put(seq, total->functions[i].ident);
		put(seq, total->functions[i].lineno_checksum);
		put(seq, total->functions[i].cfg_checksum);
		put(seq, GCDA_ARCS);
		put(seq, total->functions[i].nr * sizeof(u64));
		seq_write(seq, total->functions[i].values,
			  total->functions[i].nr * sizeof(u64));
	}
	mutex_unlock(&lock);
	return 0;
}

/*
 * The one symbol that it exports; symbol_get() knows none of a module that is
 * coming or that could not be initialised.
 */
struct exported {
	int value_offset;
};

static int on_module(struct notifier_block *block, unsigned long state,
		     void *data)
{
	const struct gcov_file *const *const *bounds;
	const struct exported *symbol;
	struct module *module = data;

	if (strcmp(module->name, "pld_sim"))
		return NOTIFY_DONE;
	mutex_lock(&lock);
	if (state == MODULE_STATE_COMING && module->num_gpl_syms == 1) {
		symbol = (const void *)module->gpl_syms;
		bounds = offset_to_ptr(&symbol->value_offset);
		begin = bounds[0];
		end = bounds[1];
		add_all();
	} else if (state == MODULE_STATE_GOING && begin) {
		add_all();
		begin = NULL;
		end = NULL;
	}
	mutex_unlock(&lock);
	return NOTIFY_DONE;
}

static struct notifier_block notifier = { .notifier_call = on_module };

/* It is loaded before pld_sim, and stays until the machine goes down. */
static int __init gcov_init(void)
{
	/* So are symbols laid out that on_module() looks at. */
	BUILD_BUG_ON(!IS_ENABLED(CONFIG_HAVE_ARCH_PREL32_RELOCATIONS));

	folder = debugfs_create_dir("pld_gcov", NULL);
	return register_module_notifier(&notifier);
}
module_init(gcov_init);

MODULE_DESCRIPTION("Counts of gcov for pld_sim");
MODULE_LICENSE("GPL");
