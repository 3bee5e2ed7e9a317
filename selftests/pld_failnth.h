/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Making the nth step of a system call fail that can: /proc/thread-self/fail-nth
 * of a kernel with fault injection. Steps are allocations of the slab, of pages,
 * and copies from and to user space.
 *
 * Which of them count, and how much is said about it, files of debugfs decide;
 * struct fault_settings is how they were before. The kernel's log gets a line for
 * each copy that failed, from which fault_was_copy() learns that it was one. It would
 * not get one for each allocation: for none with __GFP_NOWARN. Page faults count as
 * steps too, so that who arms keeps to memory that is there.
 */
#ifndef PLD_FAILNTH_H
#define PLD_FAILNTH_H

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pld_counters.h"

/* More than any call has. */
#define FAILNTH_NEVER 1000000U

static const struct {
	const char *path;
	const char *value;
} fault_files[] = {
	{ "/sys/kernel/debug/failslab/ignore-gfp-wait", "N" },
	{ "/sys/kernel/debug/failslab/cache-filter", "N" },
	{ "/sys/kernel/debug/failslab/verbose", "0" },
	{ "/sys/kernel/debug/fail_page_alloc/ignore-gfp-wait", "N" },
	{ "/sys/kernel/debug/fail_page_alloc/ignore-gfp-highmem", "N" },
	{ "/sys/kernel/debug/fail_page_alloc/min-order", "0" },
	{ "/sys/kernel/debug/fail_page_alloc/verbose", "1" },
	{ "/sys/kernel/debug/fail_page_alloc/verbose_ratelimit_interval_ms",
	  "0" },
	{ "/sys/kernel/debug/fail_usercopy/verbose", "1" },
	{ "/sys/kernel/debug/fail_usercopy/verbose_ratelimit_interval_ms", "0" },
};

#define FAULT_FILES (sizeof(fault_files) / sizeof(*fault_files))

struct fault_settings {
	char before[FAULT_FILES][16];
};

static inline int fault_write(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC), ret;

	if (fd < 0)
		return -errno;
	ret = write(fd, text, strlen(text)) < 0 ? -errno : 0;
	close(fd);
	return ret;
}

/* The name of a file that the kernel lacks or refuses, or NULL. */
static inline const char *fault_settings_change(struct fault_settings *s)
{
	for (size_t i = 0; i < FAULT_FILES; i++)
		if (read_text(fault_files[i].path, s->before[i],
			      sizeof(s->before[i])))
			return fault_files[i].path;
	for (size_t i = 0; i < FAULT_FILES; i++)
		if (fault_write(fault_files[i].path, fault_files[i].value))
			return fault_files[i].path;
	return NULL;
}

static inline void fault_settings_restore(const struct fault_settings *s)
{
	for (size_t i = 0; i < FAULT_FILES; i++)
		fault_write(fault_files[i].path, s->before[i]);
}

/* For the calling thread; -1 where the kernel has none. */
static inline int failnth_open(void)
{
	return open("/proc/thread-self/fail-nth", O_RDWR | O_CLOEXEC);
}

/* The nth step from now on fails. */
static inline void failnth_arm(int fd, unsigned int nth)
{
	char text[16];
	int length = snprintf(text, sizeof(text), "%u", nth);

	/* The step that fails may be the copy of this very number. */
	while (pwrite(fd, text, length, 0) != length)
		;
}

/* Disarms; how many steps were yet to go, 0 when it has come. */
static inline unsigned int failnth_disarm(int fd)
{
	char text[16] = "";
	ssize_t n = pread(fd, text, sizeof(text) - 1, 0);

	failnth_arm(fd, 0);
	/* Otherwise reading was the step. */
	return n > 0 ? (unsigned int)strtoul(text, NULL, 10) : 1;
}

/* That a copy has failed, as the kernel's log has told since it was read. */
static inline int fault_was_copy(int log)
{
	char record[8192];
	int was = 0;

	while (kernel_log_next(log, record, sizeof(record)) > 0)
		if (strstr(record, "name fail_usercopy,"))
			was = 1;
	return was;
}

#endif /* PLD_FAILNTH_H */
