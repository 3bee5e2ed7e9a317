// SPDX-License-Identifier: GPL-2.0
/*
 * loadnth FILE [STEPS]
 *
 * Loads the module, which must not be there, again and again, with one of the
 * last STEPS steps of that (default 200) failing, from the last one on: those are
 * its own, after those of loading as such. A load that fails says so with ENOMEM
 * and leaves nothing; one that works all the same, since debugfs is nobody's
 * business, can be unloaded. Says how many did what; the exit status is 1 when
 * one was not so, 4 where the kernel has no fault injection.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "pld_failnth.h"
#include "pld_uapi.h"

#define PARAMETERS "devices=2"

static const char *const traces[] = {
	SIM_NODE,
	"/sys/module/pld_sim",
	"/sys/class/pld_sim",
	"/sys/kernel/debug/pld_sim",
	"/sys/devices/platform/pld_sim.0",
	"/sys/devices/platform/pld_sim.1",
};

static int load(int file)
{
	return syscall(SYS_finit_module, file, PARAMETERS, 0) ? -errno : 0;
}

static int unload(void)
{
	return syscall(SYS_delete_module, "pld_sim", O_NONBLOCK) ? -errno : 0;
}

/* The first trace of the module that is there, or NULL. */
static const char *trace_of_module(void)
{
	for (size_t i = 0; i < sizeof(traces) / sizeof(*traces); i++)
		if (!access(traces[i], F_OK))
			return traces[i];
	return NULL;
}

/* The steps of a load that works; 0 when it does not. */
static unsigned int count_steps(int file, int nth)
{
	unsigned int steps;
	int ret;

	failnth_arm(nth, FAILNTH_NEVER);
	ret = load(file);
	steps = FAILNTH_NEVER - failnth_disarm(nth);
	return ret || unload() ? 0 : steps;
}

/* 1 when the load failed as it should, 0 when it worked, -1 otherwise. */
static int try_step(int file, int nth, unsigned int step)
{
	const char *trace;
	int ret;

	failnth_arm(nth, step);
	ret = load(file);
	failnth_disarm(nth);
	if (ret && ret != -ENOMEM)
		printf("# step %u: %s\n", step, strerror(-ret));
	else if (!ret && unload())
		printf("# step %u: cannot be unloaded\n", step);
	else if ((trace = trace_of_module()))
		printf("# step %u: %s is left\n", step, trace);
	else
		return !!ret;
	return -1;
}

static int sweep(int file, int nth, unsigned int most)
{
	unsigned int steps = count_steps(file, nth), failed = 0, bad = 0;

	if (!steps) {
		printf("# the module cannot be loaded and unloaded\n");
		return 1;
	}
	if (most > steps)
		most = steps;
	for (unsigned int i = 0; i < most; i++) {
		int ret = try_step(file, nth, steps - i);

		failed += ret == 1;
		bad += ret < 0;
	}
	printf("# load: %u steps, of the last %u %u failed it\n", steps, most,
	       failed);
	return bad || !failed || !count_steps(file, nth);
}

int main(int argc, char **argv)
{
	int file = argc > 1 ? open(argv[1], O_RDONLY | O_CLOEXEC) : -1;
	int nth = failnth_open(), ret;
	struct fault_settings settings;

	if (file < 0) {
		fprintf(stderr, "usage: loadnth FILE [STEPS]\n");
		return 1;
	}
	if (nth < 0 || fault_settings_change(&settings))
		return 4;
	ret = sweep(file, nth, argc > 2 ? atoi(argv[2]) : 200);
	fault_settings_restore(&settings);
	return ret;
}
