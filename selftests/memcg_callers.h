/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Who has called the OOM killer, by the kernel's log.
 *
 * A group that is full is met first by who happens to need the next page. That may
 * be the kernel on its own account: it makes a file or a page table for what the
 * module is asked, charges the group with plain GFP_KERNEL, and that calls the OOM
 * killer. What the module itself allocates must not. The log's traces tell one from
 * the other.
 */
#ifndef PLD_MEMCG_CALLERS_H
#define PLD_MEMCG_CALLERS_H

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <kselftest.h>

#include "pld_counters.h"

/* Between the charge and the module, where the allocation is the kernel's own. */
static bool is_the_kernels_own(const char *frame)
{
	static const char *const functions[] = {
		"alloc_empty_file", "__d_alloc",    "alloc_inode",
		"alloc_fdtable",    "expand_files", "vm_area_alloc",
		"vm_area_dup",	    "__pte_alloc",  "pte_alloc_one",
		"__pmd_alloc",	    "__pud_alloc",  "__p4d_alloc",
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(functions); i++) {
		size_t length = strlen(functions[i]);

		if (!strncmp(frame, functions[i], length) &&
		    (frame[length] == '+' || frame[length] == '.'))
			return true;
	}
	return false;
}

/* Who has called the OOM killer, how often, and what else the log complains of. */
struct callers {
	int kernel;
	int others;
	int splats;
	char who[64];
};

/* What of a record is the message, without the indentation of a trace. */
static const char *message(const char *record)
{
	const char *text = strchr(record, ';');

	return text ? text + 1 + strspn(text + 1, " ") : record;
}

/* A report of the OOM killer, from its first line to the end of its trace. */
static void read_report(int log, struct callers *callers)
{
	bool module = false, kernel = false;
	char record[8192];

	while (kernel_log_next(log, record, sizeof(record)) > 0) {
		const char *text = message(record);

		if (!strncmp(text, "</TASK>", strlen("</TASK>")))
			break;
		if (text[0] == '?' || module || kernel)
			continue;
		module = strstr(text, "[pld_sim]");
		kernel = is_the_kernels_own(text);
		if (module || kernel)
			snprintf(callers->who, sizeof(callers->who), "%.*s",
				 (int)strcspn(text, "+\n"), text);
	}
	if (kernel)
		callers->kernel++;
	else
		callers->others++;
}

/* "oom-kill:" and "Memory cgroup out of memory" belong to a report that was read. */
static struct callers read_callers(int log)
{
	struct callers callers = { .who = "nobody known" };
	char record[8192];

	while (kernel_log_next(log, record, sizeof(record)) > 0) {
		if (strstr(record, "invoked oom-killer:"))
			read_report(log, &callers);
		else if (!strstr(record, "oom-kill:") &&
			 kernel_log_is_splat(record))
			callers.splats += fprintf(stderr, "# %s", record) > 0;
	}
	return callers;
}

#endif /* PLD_MEMCG_CALLERS_H */
