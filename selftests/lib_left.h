/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a process has open, mapped and running, to see that nothing is left behind.
 */
#ifndef PLD_LIB_LEFT_H
#define PLD_LIB_LEFT_H

#include <dirent.h>
#include <malloc.h>
#include <stdio.h>

/* gcc's and clang's ways to say that a sanitizer is at work */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#define SANITIZED \
	(__has_feature(address_sanitizer) || __has_feature(thread_sanitizer))
#else
#define SANITIZED 0
#endif

/* Mappings that a sanitizer makes for itself while a test runs. */
#define OWN_MAPPINGS (SANITIZED ? 50 : 0)

static inline int count_entries(const char *folder)
{
	DIR *dir = opendir(folder);
	int count = 0;

	while (dir && readdir(dir))
		count++;
	if (dir)
		closedir(dir);
	return count;
}

static inline int count_files(void)
{
	return count_entries("/proc/self/fd");
}

static inline int count_threads(void)
{
	return count_entries("/proc/self/task");
}

static inline int count_mappings(void)
{
	FILE *file = fopen("/proc/self/maps", "r");
	int count = 0, c;

	while (file && (c = fgetc(file)) != EOF)
		count += c == '\n';
	if (file)
		fclose(file);
	return count;
}

/* Bytes that malloc() has given out; 0 where a checker has its own. */
static inline size_t count_heap(void)
{
	return mallinfo2().uordblks;
}

/* Bytes of addresses that are in use. */
static inline long long count_bytes(void)
{
	FILE *file = fopen("/proc/self/statm", "r");
	long long pages = -1;

	if (file && fscanf(file, "%lld", &pages) != 1)
		pages = -1;
	if (file)
		fclose(file);
	return pages * 4096;
}

#endif /* PLD_LIB_LEFT_H */
