// SPDX-License-Identifier: GPL-2.0
/*
 * How much memory there is, by what files of /proc and of cgroups say. Input: the
 * text of each file that is opened, one after the other, with a zero between.
 */
#include <stdbool.h>
#include <stdio.h>

#include "bytes.h"
#include "platform/memory_limit.h"

/* A chain of groups is as long as a path: no more files than that are read. */
#define MOST_FILES 4096

FILE *__wrap_fopen(const char *path, const char *mode);
FILE *__real_fopen(const char *path, const char *mode);

static struct bytes in;
static bool reading;
static int files;

FILE *__wrap_fopen(const char *path, const char *mode)
{
	size_t length = 0;
	FILE *file;

	if (!reading)
		return __real_fopen(path, mode);
	while (length < in.left && in.at[length])
		length++;
	if (files++ > MOST_FILES || !length)
		return NULL;
	file = fmemopen((void *)(uintptr_t)in.at, length, "r");
	in.at += length;
	in.left -= length;
	if (in.left) {
		in.at++;
		in.left--;
	}
	return file;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	in = (struct bytes){ data, size };
	files = 0;
	reading = true;
	pld_memory_available();
	reading = false;
	return 0;
}
