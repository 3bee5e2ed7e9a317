/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What is there before a storm and must be there after it: open files, mappings
 * and heap of this process, its process group, /tmp and /dev/shm, and what the
 * module counts.
 */
#ifndef PLD_STORM_LEFT_H
#define PLD_STORM_LEFT_H

#include <sched.h>
#include <sys/mount.h>

#include "lib_left.h"
#include "pld_counters.h"

#define LEFT_DEVICES 8

struct left {
	int files;
	int mappings;
	long long heap;
	/* entries, the folder itself included */
	int in_tmp;
	int in_shm;
	/* of this process group */
	int processes;
	/* open files and mappings of the module; -1 without it */
	long long references;
	/* of the first devices, in all */
	long long memory;
	long long windows;
	long long ranks;
	long long waiters;
};

/*
 * An empty /tmp and /dev/shm of its own for this process and its children, in
 * which nobody else makes files. Needs root; others see the common ones.
 */
static inline bool left_own_folders(void)
{
	return !unshare(CLONE_NEWNS) &&
	       !mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) &&
	       !mount("tmpfs", "/tmp", "tmpfs", 0, NULL) &&
	       !mount("tmpfs", "/dev/shm", "tmpfs", 0, NULL);
}

/*
 * The state of a process of our group, or 0. One that has ended and has lost its
 * parent is gone: when init notes that is its own affair.
 */
static inline char left_state(const char *pid)
{
	char path[64], text[512], *end, state;
	int parent, group;

	snprintf(path, sizeof(path), "/proc/%.16s/stat", pid);
	if (read_text(path, text, sizeof(text)))
		return 0;
	end = strrchr(text, ')');
	if (!end || sscanf(end + 1, " %c %d %d", &state, &parent, &group) != 3)
		return 0;
	if (state == 'Z' && getpgid(parent) != getpgrp())
		return 0;
	return group == getpgrp() ? state : 0;
}

/* How many of the group there are, or only of those in that state. */
static inline int left_processes(char state)
{
	DIR *dir = opendir("/proc");
	struct dirent *entry;
	int count = 0;
	char is;

	while (dir && (entry = readdir(dir))) {
		if (entry->d_name[0] < '0' || entry->d_name[0] > '9')
			continue;
		is = left_state(entry->d_name);
		count += state ? is == state : is != 0;
	}
	if (dir)
		closedir(dir);
	return count;
}

/*
 * Is a process of the group in state D and stays there? Most are only for the
 * moment in which they wait for a page or a lock.
 */
static inline bool left_stuck(void)
{
	for (int i = 0; i < 1000; i++) {
		if (!left_processes('D'))
			return false;
		sleep_ms(1);
	}
	return true;
}

/* Without it there is nothing of it to read, and nothing to be left. */
static inline bool left_has_module(void)
{
	return !access(SIM_PARAMETERS, F_OK);
}

/* Has who runs this the right to read all of the module's files? */
static inline bool left_may_read(void)
{
	return !geteuid();
}

/*
 * One number of the first devices together; 0 without the module, and -1 where it
 * cannot be read.
 */
static inline long long left_of_devices(const char *name)
{
	long long sum = 0, value, devices;
	char path[80];

	if (!left_has_module())
		return 0;
	devices = read_number(SIM_PARAMETERS "/devices");
	for (int id = 0; id < LEFT_DEVICES && id < devices; id++) {
		snprintf(path, sizeof(path),
			 "/sys/devices/platform/pld_sim.%d/%s", id, name);
		value = read_number(path);
		if (value >= 0)
			sum += value;
		else if (left_may_read())
			return -1;
	}
	return devices > 0 ? sum : -1;
}

static inline struct left left_now(void)
{
	return (struct left){
		.files = count_files(),
		.mappings = count_mappings(),
		.heap = (long long)count_heap(),
		.in_tmp = count_entries("/tmp"),
		.in_shm = count_entries("/dev/shm"),
		.processes = left_processes(0),
		.references = module_references(),
		.memory = left_of_devices("memory_used"),
		.windows = left_of_devices("windows"),
		.ranks = left_of_devices("ranks"),
		.waiters = left_of_devices("waiters"),
	};
}

static inline void left_print(const char *when, const struct left *left)
{
	fprintf(stderr,
		"# %s: %d files, %d mappings, %lld bytes of heap, %d and %d entries in /tmp and /dev/shm, %d processes; the module: %lld references, %lld bytes, %lld windows, %lld ranks, %lld waits\n",
		when, left->files, left->mappings, left->heap, left->in_tmp,
		left->in_shm, left->processes, left->references, left->memory,
		left->windows, left->ranks, left->waiters);
}

/* What could not be read is not the same as before. */
static inline bool left_is_known(const struct left *left)
{
	return !left_has_module() ||
	       (left->references >= 0 && left->memory >= 0 &&
		left->windows >= 0 && left->ranks >= 0 && left->waiters >= 0);
}

static inline bool left_same(const struct left *a, const struct left *b)
{
	return left_is_known(a) && left_is_known(b) && a->files == b->files &&
	       abs(a->mappings - b->mappings) <= OWN_MAPPINGS &&
	       a->in_tmp == b->in_tmp && a->in_shm == b->in_shm &&
	       a->processes == b->processes && a->references == b->references &&
	       a->memory == b->memory && a->windows == b->windows &&
	       a->ranks == b->ranks && a->waiters == b->waiters;
}

/*
 * Is all as it was before? The module gives back a moment later. The heap may
 * not have grown by more than that many bytes.
 */
static inline bool left_as_before(const struct left *before, long long more_heap)
{
	struct left now;

	for (int i = 0; i < 1000; i++) {
		now = left_now();
		if (left_same(&now, before) &&
		    now.heap - before->heap <= more_heap)
			return true;
		usleep(10000);
	}
	left_print("before", before);
	left_print("after ", &now);
	return false;
}

#endif /* PLD_STORM_LEFT_H */
