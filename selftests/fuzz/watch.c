// SPDX-License-Identifier: GPL-2.0
/* What a program must not leave behind: watch.h. */
#include <errno.h>
#include <fcntl.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "watch.h"

#define DEVICES 4
#define PATTERNS 64

/* What ends later than its last user, such as a fence, has so long. */
#define TRIES 600
#define TRY_MS 20

#define KMEMLEAK "/sys/kernel/debug/kmemleak"
/* It does not look at what is younger than 5 s. */
#define LEAK_AGE 6

static regex_t patterns[PATTERNS];
static int nr_patterns, log_fd = -1, references_fd = -1, leaks_fd = -1;
static int memory_fds[DEVICES];
static long references;

static bool read_patterns(const char *path)
{
	FILE *file = fopen(path, "r");
	char line[256];

	if (!file) {
		perror(path);
		return false;
	}
	while (nr_patterns < PATTERNS && fgets(line, sizeof(line), file)) {
		line[strcspn(line, "\n")] = '\0';
		if (*line && *line != '#' &&
		    !regcomp(&patterns[nr_patterns], line,
			     REG_EXTENDED | REG_NOSUB))
			nr_patterns++;
	}
	fclose(file);
	return nr_patterns > 0;
}

static long number_in(int fd)
{
	char text[32] = "";

	return pread(fd, text, sizeof(text) - 1, 0) > 0 ? atol(text) : -1;
}

static int open_path(const char *path, int flags)
{
	int fd = open(path, flags | O_CLOEXEC);

	if (fd < 0)
		perror(path);
	return fd;
}

bool fuzz_watch_open(const char *path)
{
	char memory[64];

	if (!read_patterns(path))
		return false;
	log_fd = open_path("/dev/kmsg", O_RDONLY | O_NONBLOCK);
	references_fd = open_path("/sys/module/pld_sim/refcnt", O_RDONLY);
	if (log_fd < 0 || references_fd < 0 ||
	    open_path("/dev/pld_sim", O_RDWR) < 0)
		return false;
	for (int i = 0; i < DEVICES; i++) {
		snprintf(memory, sizeof(memory),
			 "/sys/devices/platform/pld_sim.%d/memory_used", i);
		memory_fds[i] = open_path(memory, O_RDONLY);
		if (memory_fds[i] < 0)
			return false;
	}
	lseek(log_fd, 0, SEEK_END);
	references = number_in(references_fd);
	return true;
}

static bool log_is_clean(char *text, size_t size)
{
	char record[8192];
	bool clean = true;
	ssize_t n;

	for (;;) {
		n = read(log_fd, record, sizeof(record) - 1);
		if (n < 0 && errno == EPIPE)
			continue;
		if (n <= 0)
			return clean;
		record[n] = '\0';
		for (int i = 0; clean && i < nr_patterns; i++) {
			if (regexec(&patterns[i], record, 0, NULL, 0))
				continue;
			snprintf(text, size, "kernel log: %s", record);
			clean = false;
		}
	}
}

static bool all_is_given_back(char *text, size_t size)
{
	long now = number_in(references_fd), memory;

	if (now != references) {
		snprintf(text, size, "%ld references of the module, not %ld",
			 now, references);
		return false;
	}
	for (int i = 0; i < DEVICES; i++) {
		memory = number_in(memory_fds[i]);
		if (memory) {
			snprintf(text, size, "device %d has %ld bytes", i,
				 memory);
			return false;
		}
	}
	return true;
}

bool fuzz_watch(char *text, size_t size)
{
	struct timespec t = { 0, TRY_MS * 1000000 };

	for (int i = 0; !all_is_given_back(text, size); i++) {
		if (i == TRIES)
			return false;
		nanosleep(&t, NULL);
	}
	return log_is_clean(text, size);
}

static bool tell_kmemleak(const char *what)
{
	size_t length = strlen(what);

	if (write(leaks_fd, what, length) == (ssize_t)length)
		return true;
	perror(KMEMLEAK);
	return false;
}

/*
 * The looks of its own, the first a minute after the start, take a processor for as
 * long again. Where kmemleak is off the file is there too, but refuses to be told so.
 */
bool fuzz_watch_leaks_open(void)
{
	leaks_fd = open_path(KMEMLEAK, O_WRONLY);
	return leaks_fd >= 0 && tell_kmemleak("scan=off");
}

bool fuzz_watch_leaks(void)
{
	if (leaks_fd < 0)
		return true;
	/* What is on its way is no leak: the second look counts. */
	for (int i = 0; i < 2; i++) {
		sleep(LEAK_AGE);
		if (!tell_kmemleak("scan"))
			return false;
	}
	return true;
}
