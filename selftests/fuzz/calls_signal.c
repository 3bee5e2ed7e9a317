// SPDX-License-Identifier: GPL-2.0
/* The module's ioctls of watches, and what is done with fences. */
#include <errno.h>
#include <fcntl.h>
#include <linux/sync_file.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <linux/pld_sim.h>

#include "cells.h"
#include "place.h"

#define ARG(name) args[name].n

static struct fuzz_answer run_arm(struct fuzz_worker *worker,
				  const struct fuzz_value *args)
{
	enum { FD, FLAGS, WINDOW, OFFSET, CMP, EXPECTED, NR, TAIL };
	struct pld_sim_condition cells[FUZZ_CELLS];
	struct pld_sim_arm arg = {
		.flags = ARG(FLAGS),
		.conditions = ARG(NR) ? (uintptr_t)cells : 0,
		.nr_conditions = ARG(NR),
	};

	fuzz_fill_cells(cells, args + WINDOW);
	return fuzz_result(fuzz_ioctl(worker, ARG(FD), PLD_IOC_ARM, &arg,
				      sizeof(arg), args + TAIL));
}

static struct fuzz_answer run_signal_eventfd(struct fuzz_worker *worker,
					     const struct fuzz_value *args)
{
	enum {
		FD,
		FLAGS,
		WINDOW,
		OFFSET,
		CMP,
		EXPECTED,
		NR,
		EVENTFD,
		MS,
		TAIL
	};
	struct pld_sim_condition cells[FUZZ_CELLS];
	struct pld_sim_signal_eventfd arg = {
		.flags = ARG(FLAGS),
		.conditions = (uintptr_t)cells,
		.nr_conditions = ARG(NR) + 1,
		.eventfd = ARG(EVENTFD),
		.deadline_ns = fuzz_deadline(ARG(MS)),
	};
	int64_t ret;

	fuzz_fill_cells(cells, args + WINDOW);
	ret = fuzz_ioctl(worker, ARG(FD), PLD_IOC_SIGNAL_EVENTFD, &arg,
			 sizeof(arg), args + TAIL);
	return fuzz_result(ret ? ret : (int64_t)arg.cookie);
}

static struct fuzz_answer run_signal_ask(struct fuzz_worker *worker,
					 const struct fuzz_value *args)
{
	enum { FD, COOKIE, HOW, TAIL };
	struct pld_sim_signal_eventfd arg = {
		.flags = ARG(HOW),
		.cookie = ARG(COOKIE),
	};
	int64_t ret = fuzz_ioctl(worker, ARG(FD), PLD_IOC_SIGNAL_EVENTFD, &arg,
				 sizeof(arg), args + TAIL);

	return (struct fuzz_answer){ .value = ret,
				     .more = { (uint32_t)arg.result } };
}

static struct fuzz_answer run_signal_fence(struct fuzz_worker *worker,
					   const struct fuzz_value *args)
{
	enum { FD, FLAGS, WINDOW, OFFSET, CMP, EXPECTED, NR, MS, TAIL };
	struct pld_sim_condition cells[FUZZ_CELLS];
	struct pld_sim_signal_fence arg = {
		.flags = ARG(FLAGS),
		.conditions = (uintptr_t)cells,
		.nr_conditions = ARG(NR) + 1,
		.out_fd = -1,
		.deadline_ns = fuzz_deadline(ARG(MS)),
	};
	int64_t ret;

	fuzz_fill_cells(cells, args + WINDOW);
	ret = fuzz_ioctl(worker, ARG(FD), PLD_IOC_SIGNAL_FENCE, &arg,
			 sizeof(arg), args + TAIL);
	return fuzz_result(ret ? ret : arg.out_fd);
}

static struct fuzz_answer run_eventfd(struct fuzz_worker *worker,
				      const struct fuzz_value *args)
{
	(void)worker;
	return fuzz_result(eventfd(ARG(0), ARG(1)));
}

static struct fuzz_answer run_fence_merge(struct fuzz_worker *worker,
					  const struct fuzz_value *args)
{
	struct sync_merge_data arg = { .name = "fuzz", .fd2 = ARG(1) };

	(void)worker;
	if (ioctl(ARG(0), SYNC_IOC_MERGE, &arg))
		return fuzz_result(-1);
	return fuzz_result(arg.fence);
}

static struct fuzz_answer run_fence_info(struct fuzz_worker *worker,
					 const struct fuzz_value *args)
{
	struct sync_fence_info fences[4] = { 0 };
	struct sync_file_info arg = {
		.num_fences = ARG(1),
		.sync_fence_info = (uintptr_t)fences,
	};

	(void)worker;
	return fuzz_result(ioctl(ARG(0), SYNC_IOC_FILE_INFO, &arg));
}

/* A timeline of sw_sync, whose fences signal when it is told to go on. */
static struct fuzz_answer run_timeline(struct fuzz_worker *worker,
				       const struct fuzz_value *args)
{
	(void)worker;
	(void)args;
	return fuzz_result(
		open("/sys/kernel/debug/sync/sw_sync", O_RDWR | O_CLOEXEC));
}

struct sw_sync_create_fence_data {
	__u32 value;
	char name[32];
	__s32 fence;
};

#define SW_SYNC_CREATE _IOWR('W', 0, struct sw_sync_create_fence_data)
#define SW_SYNC_INC _IOW('W', 1, __u32)

static struct fuzz_answer run_timeline_fence(struct fuzz_worker *worker,
					     const struct fuzz_value *args)
{
	struct sw_sync_create_fence_data arg = { .value = ARG(1) };

	(void)worker;
	if (ioctl(ARG(0), SW_SYNC_CREATE, &arg))
		return fuzz_result(-1);
	return fuzz_result(arg.fence);
}

static struct fuzz_answer run_timeline_go(struct fuzz_worker *worker,
					  const struct fuzz_value *args)
{
	__u32 by = ARG(1);

	(void)worker;
	return fuzz_result(ioctl(ARG(0), SW_SYNC_INC, &by));
}

const struct fuzz_call fuzz_signal_calls[] = {
	{ "arm",
	  KIND_NUMBER,
	  6,
	  run_arm,
	  { THING("fd", KIND_RANK), NUMBER("flags", 0, 1, 2, -1), CELL_PARAMS,
	    PLACE_PARAMS } },
	/* Of CELL_PARAMS, "nr" is one less here than what the module gets. */
	{ "signal_eventfd",
	  KIND_COOKIE,
	  7,
	  run_signal_eventfd,
	  { THING("fd", KIND_RANK),
	    NUMBER("flags", 0, 1, 2, 1 << 16, 1 << 17, 3 << 16), CELL_PARAMS,
	    THING("eventfd", KIND_EVENTFD),
	    NUMBER("ms", 60000, 10, 1, 0, INT64_MAX), PLACE_PARAMS } },
	{ "signal_ask",
	  KIND_NUMBER,
	  4,
	  run_signal_ask,
	  { THING("fd", KIND_RANK), THING("cookie", KIND_COOKIE),
	    NUMBER("how", 1 << 17, 1 << 16, 3 << 16, 1 << 17 | 1),
	    PLACE_PARAMS } },
	{ "signal_fence",
	  KIND_FENCE,
	  7,
	  run_signal_fence,
	  { THING("fd", KIND_RANK), NUMBER("flags", 0, 1, 2), CELL_PARAMS,
	    NUMBER("ms", 9000, 10, 1, 0, 20000, INT64_MAX, INT64_MIN),
	    PLACE_PARAMS } },
	{ "eventfd",
	  KIND_EVENTFD,
	  2,
	  run_eventfd,
	  { NUMBER("count", 0, 1, 0xfffffffe), NUMBER("flags", 04000, 0, 1) } },
	{ "fence_merge",
	  KIND_FENCE,
	  2,
	  run_fence_merge,
	  { THING("fd", KIND_FENCE), THING("other", KIND_FENCE) } },
	{ "fence_info",
	  KIND_NUMBER,
	  2,
	  run_fence_info,
	  { THING("fd", KIND_FENCE), NUMBER("n", 4, 0, 1) } },
	{ "timeline", KIND_TIMELINE, 1, run_timeline, { { 0 } } },
	{ "timeline_fence",
	  KIND_FENCE,
	  1,
	  run_timeline_fence,
	  { THING("timeline", KIND_TIMELINE), NUMBER("at", 1, 0, 2) } },
	{ "timeline_go",
	  KIND_NUMBER,
	  1,
	  run_timeline_go,
	  { THING("timeline", KIND_TIMELINE), NUMBER("by", 1, 2, 0) } },
	{ 0 },
};
