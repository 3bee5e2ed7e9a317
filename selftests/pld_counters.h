/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the kernel says about itself: numbers from files of /proc and /sys, and
 * its log. None of it is changed here.
 */
#ifndef PLD_COUNTERS_H
#define PLD_COUNTERS_H

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pld_sleep.h"

#define SIM_PARAMETERS "/sys/module/pld_sim/parameters"

/* The whole of a small file as a string, or -1. */
static inline int read_text(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, size - 1);

	if (fd >= 0)
		close(fd);
	if (n < 0)
		return -1;
	text[n] = '\0';
	return 0;
}

/* The number in a file, or -1 when there is none. */
static inline long long read_number(const char *path)
{
	char text[64], *end;
	long long value;

	if (read_text(path, text, sizeof(text)))
		return -1;
	value = strtoll(text, &end, 10);
	return end == text ? -1 : value;
}

/* Bytes of an entry of /proc/meminfo, such as "MemAvailable". */
static inline long long meminfo(const char *name)
{
	char text[4096], *line;

	if (read_text("/proc/meminfo", text, sizeof(text)))
		return -1;
	line = strstr(text, name);
	line = line ? strchr(line, ':') : NULL;
	return line ? strtoll(line + 1, NULL, 10) * 1024 : -1;
}

/*
 * Free pages that each CPU keeps for itself, in bytes: what was freed last, up to an
 * eighth of the memory since 6.7, which goes back by and by. MemAvailable lacks it.
 */
static inline long long memory_on_cpu_lists(void)
{
	FILE *file = fopen("/proc/zoneinfo", "re");
	long long pages = 0, count;
	char line[256];

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, " count: %lld", &count) == 1)
			pages += count;
	if (file)
		fclose(file);
	return pages * sysconf(_SC_PAGESIZE);
}

/* Bytes that are free or could be. */
static inline long long memory_available(void)
{
	return meminfo("MemAvailable") + memory_on_cpu_lists();
}

/*
 * Where kmemleak is, KASAN is too, which keeps what was freed for a while: there
 * memory tells nothing, and kmemleak tells what has leaked.
 */
static inline int has_kmemleak(void)
{
	return !access("/sys/kernel/debug/kmemleak", F_OK);
}

/* Window bytes of a simulated device. */
static inline long long device_memory_used(unsigned int id)
{
	char path[64];

	snprintf(path, sizeof(path),
		 "/sys/devices/platform/pld_sim.%u/memory_used", id);
	return read_number(path);
}

/* How many open files and mappings keep the module. */
static inline long long module_references(void)
{
	return read_number("/sys/module/pld_sim/refcnt");
}

/* The same, when tests before have left nothing that is yet to go. */
static inline long long steady_references(void)
{
	long long references = module_references(), before;

	do {
		before = references;
		sleep_ms(200);
		references = module_references();
	} while (references != before);
	return references;
}

/* Waits until device @id has @bytes of windows; its number at the end. */
static inline long long settled_memory(unsigned int id, long long bytes)
{
	long long used = device_memory_used(id);

	for (int i = 0; i < 1000 && used != bytes; i++) {
		sleep_ms(10);
		used = device_memory_used(id);
	}
	return used;
}

/* The same for the module's references. */
static inline long long settled_references(long long count)
{
	long long refs = module_references();

	for (int i = 0; i < 1000 && refs != count; i++) {
		sleep_ms(10);
		refs = module_references();
	}
	return refs;
}

/* The kernel's log from now on, or -1 for those who may not read it. */
static inline int kernel_log_open(void)
{
	int fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);

	if (fd >= 0)
		lseek(fd, 0, SEEK_END);
	return fd;
}

/*
 * The next record as a string: 1, or 0 when there is none yet, or a negative errno.
 * What the kernel has thrown away before it was read is passed over, and said.
 */
static inline int kernel_log_next(int fd, char *record, size_t size)
{
	ssize_t n;

	while ((n = read(fd, record, size - 1)) < 0) {
		if (errno == EPIPE)
			fprintf(stderr, "# some of the kernel's log is lost\n");
		else if (errno != EINTR)
			return errno == EAGAIN ? 0 : -errno;
	}
	record[n] = '\0';
	return n > 0;
}

static inline int kernel_log_is_splat(const char *record)
{
	static const char *const signs[] = {
		"WARNING:",   "BUG:",	       "Oops",
		"Call Trace", "Out of memory", "page allocation failure",
		"oom-kill",
	};

	for (size_t i = 0; i < sizeof(signs) / sizeof(*signs); i++)
		if (strstr(record, signs[i]))
			return 1;
	return 0;
}

/*
 * How many records since then look like trouble; they are printed. -1 when root
 * could not read them, of which nothing follows; others may not, and get 0.
 */
static inline int kernel_log_splats(int fd)
{
	char record[8192];
	int splats = 0, got;

	while ((got = kernel_log_next(fd, record, sizeof(record))) > 0) {
		if (!kernel_log_is_splat(record))
			continue;
		fprintf(stderr, "# %s", record);
		splats++;
	}
	if (got < 0 && !geteuid()) {
		fprintf(stderr, "# the kernel's log cannot be read: %s\n",
			strerror(-got));
		return -1;
	}
	return splats;
}

#endif /* PLD_COUNTERS_H */
