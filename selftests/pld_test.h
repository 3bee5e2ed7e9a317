/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The kernel's test harness, and what a test does when the machine lacks
 * something: a program that can do nothing without the module ends with
 * kselftest's status for "skipped" and says why.
 */
#ifndef PLD_TEST_H
#define PLD_TEST_H

#include <kselftest_harness.h>

#include "pld_proc.h"
#include "pld_uapi.h"

static inline void skip_without_module(void)
{
	int fd = sim_open();

	if (fd < 0)
		ksft_exit_skip("%s cannot be opened: %s\n", SIM_NODE,
			       strerror(-fd));
	close(fd);
}

/* In place of TEST_HARNESS_MAIN. */
#define PLD_TEST_MAIN                                                  \
	static void __attribute__((constructor)) before_any_test(void) \
	{                                                              \
		skip_without_module();                                 \
	}                                                              \
	TEST_HARNESS_MAIN

#endif /* PLD_TEST_H */
