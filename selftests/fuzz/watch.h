/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a program must not leave behind: a line of the kernel's log that fits a
 * list of patterns, a reference of the module, window memory of a device.
 */
#ifndef FUZZ_WATCH_H
#define FUZZ_WATCH_H

#include <stdbool.h>
#include <stddef.h>

/* @patterns: a file with one a line. Holds the module until the end. */
bool fuzz_watch_open(const char *patterns);
/* False, with why in @text, when something is left. */
bool fuzz_watch(char *text, size_t size);
/* The kernel is to look for memory that nobody knows of when told, and only then. */
bool fuzz_watch_leaks_open(void);
/* Tells it, where that was opened; the log has what it finds. False when it refuses. */
bool fuzz_watch_leaks(void);

#endif /* FUZZ_WATCH_H */
