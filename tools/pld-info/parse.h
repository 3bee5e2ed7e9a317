/* SPDX-License-Identifier: GPL-2.0 */
/*
 * From bytes that nobody vouches for to the model. Pure functions: what they
 * are given is all they look at.
 */
#ifndef PLD_INFO_PARSE_H
#define PLD_INFO_PARSE_H

#include "model.h"

/*
 * The module's text of domains (doc/sysfs.md). Adds them; false, with why, when
 * something in it is not as that says: those before it are there.
 */
bool parse_domains(const char *text, size_t length, struct info *info,
		   char why[SENTENCE_BYTES]);

/* What a memfd's control pages say besides the domain. */
struct control {
	struct domain domain;
	/* in the pid namespace of who made it */
	uint32_t host;
	/* of each rank, in its own */
	uint32_t *pids;
};

/*
 * The control pages of platform memfd (lib/platform/control.h). now_ns is
 * CLOCK_MONOTONIC. False, with why, when they are no domain's.
 */
bool parse_control(const void *bytes, size_t length, int64_t now_ns,
		   struct control *control, char why[SENTENCE_BYTES]);

/* What the name of a window's memfd says. */
struct window_name {
	uint32_t id;
	uint64_t bytes;
	bool signal;
	uint64_t control;
};

/* A link of /proc/PID/fd; false when it is no window's. */
bool parse_window_name(const char *link, struct window_name *name);
/* The same for control pages. */
bool is_control_name(const char *link);

#endif
