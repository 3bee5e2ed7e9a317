// SPDX-License-Identifier: GPL-2.0
/* The module's ioctls, but for those of watches (calls_signal.c). */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <linux/pld_sim.h>

#include "cells.h"
#include "place.h"

#define ARG(name) args[name].n

static struct fuzz_answer run_open(struct fuzz_worker *worker,
				   const struct fuzz_value *args)
{
	(void)worker;
	return fuzz_result(open("/dev/pld_sim", args[0].n));
}

static struct fuzz_answer run_info(struct fuzz_worker *worker,
				   const struct fuzz_value *args)
{
	enum { FD, FLAGS, TAIL };
	struct pld_sim_info arg = { .flags = ARG(FLAGS) };

	return fuzz_result(fuzz_ioctl(worker, ARG(FD), PLD_IOC_INFO, &arg,
				      sizeof(arg), args + TAIL));
}

/* A descriptor that is made, or why not. */
static struct fuzz_answer made(int64_t ret, int64_t fd)
{
	return fuzz_result(ret ? ret : fd);
}

static struct fuzz_answer run_domain_create(struct fuzz_worker *worker,
					    const struct fuzz_value *args)
{
	enum { FD, N, FIRST, STEP, FLAGS, TAIL };
	uint32_t devices[PLD_SIM_MAX_RANKS];
	struct pld_sim_domain_create arg = {
		.flags = ARG(FLAGS),
		.devices = (uintptr_t)devices,
		.nranks = ARG(N),
		.out_fd = -1,
	};
	int64_t ret;

	for (int i = 0; i < PLD_SIM_MAX_RANKS; i++)
		devices[i] = ARG(FIRST) + i * ARG(STEP);
	ret = fuzz_ioctl(worker, ARG(FD), PLD_IOC_DOMAIN_CREATE, &arg,
			 sizeof(arg), args + TAIL);
	return made(ret, arg.out_fd);
}

static struct fuzz_answer run_join(struct fuzz_worker *worker,
				   const struct fuzz_value *args)
{
	enum { FD, DOMAIN, RANK, FLAGS, TAIL };
	struct pld_sim_join arg = {
		.flags = ARG(FLAGS),
		.domain_fd = ARG(DOMAIN),
		.rank = ARG(RANK),
	};

	return made(fuzz_ioctl(worker, ARG(FD), PLD_IOC_JOIN, &arg, sizeof(arg),
			       args + TAIL),
		    ARG(FD));
}

/* open() and join, as most do. */
static struct fuzz_answer run_member(struct fuzz_worker *worker,
				     const struct fuzz_value *args)
{
	struct pld_sim_join arg = {
		.size = sizeof(arg),
		.domain_fd = args[0].n,
		.rank = args[1].n,
	};
	int fd = open("/dev/pld_sim", O_RDWR | O_CLOEXEC);

	(void)worker;
	if (fd < 0 || !ioctl(fd, PLD_IOC_JOIN, &arg))
		return fuzz_result(fd);
	arg.code = -errno;
	close(fd);
	return fuzz_result(arg.code);
}

static struct fuzz_answer run_leave(struct fuzz_worker *worker,
				    const struct fuzz_value *args)
{
	enum { FD, FLAGS, TAIL };
	struct pld_sim_leave arg = { .flags = ARG(FLAGS) };

	return fuzz_result(fuzz_ioctl(worker, ARG(FD), PLD_IOC_LEAVE, &arg,
				      sizeof(arg), args + TAIL));
}

static struct fuzz_answer run_window_alloc(struct fuzz_worker *worker,
					   const struct fuzz_value *args)
{
	enum { DOMAIN, LENGTH, FLAGS, TAIL };
	struct pld_sim_window_alloc arg = {
		.flags = ARG(FLAGS),
		.length = ARG(LENGTH),
	};
	int64_t ret = fuzz_ioctl(worker, ARG(DOMAIN), PLD_IOC_WINDOW_ALLOC,
				 &arg, sizeof(arg), args + TAIL);

	return (struct fuzz_answer){
		.value = ret ? ret : arg.window,
		.more = { arg.mmap_offset, arg.stride },
	};
}

static struct fuzz_answer run_window_free(struct fuzz_worker *worker,
					  const struct fuzz_value *args)
{
	enum { DOMAIN, WINDOW, TAIL };
	struct pld_sim_window_free arg = { .window = ARG(WINDOW) };

	return fuzz_result(fuzz_ioctl(worker, ARG(DOMAIN), PLD_IOC_WINDOW_FREE,
				      &arg, sizeof(arg), args + TAIL));
}

static struct fuzz_answer run_wait(struct fuzz_worker *worker,
				   const struct fuzz_value *args)
{
	enum { FD, FLAGS, WINDOW, OFFSET, CMP, EXPECTED, NR, MS, BELL, TAIL };
	struct pld_sim_condition cells[FUZZ_CELLS];
	struct pld_sim_wait arg = {
		.flags = ARG(FLAGS),
		.deadline_ns = fuzz_deadline(ARG(MS)),
		.nr_conditions = ARG(NR),
		.bell = ARG(BELL),
	};

	if (ARG(NR)) {
		fuzz_fill_cells(cells, args + WINDOW);
		arg.conditions = (uintptr_t)cells;
	} else {
		arg.window = ARG(WINDOW);
		arg.offset = ARG(OFFSET);
		arg.cmp = ARG(CMP);
		arg.expected = ARG(EXPECTED);
	}
	return fuzz_result(fuzz_ioctl(worker, ARG(FD), PLD_IOC_WAIT, &arg,
				      sizeof(arg), args + TAIL));
}

static struct fuzz_answer run_ring(struct fuzz_worker *worker,
				   const struct fuzz_value *args)
{
	enum { FD, WINDOW, RANK, OFFSET, FLAGS, TAIL };
	struct pld_sim_ring arg = {
		.flags = ARG(FLAGS),
		.offset = ARG(OFFSET),
		.window = ARG(WINDOW),
		.rank = ARG(RANK),
	};

	return fuzz_result(fuzz_ioctl(worker, ARG(FD), PLD_IOC_RING, &arg,
				      sizeof(arg), args + TAIL));
}

static struct fuzz_answer run_fail(struct fuzz_worker *worker,
				   const struct fuzz_value *args)
{
	enum { FD, REASON, RANK, CODE, FLAGS, TAIL };
	struct pld_sim_fail arg = {
		.flags = ARG(FLAGS),
		.reason = ARG(REASON),
		.rank = ARG(RANK),
		.code = ARG(CODE),
	};

	return fuzz_result(fuzz_ioctl(worker, ARG(FD), PLD_IOC_FAIL, &arg,
				      sizeof(arg), args + TAIL));
}

static struct fuzz_answer run_reset(struct fuzz_worker *worker,
				    const struct fuzz_value *args)
{
	enum { DOMAIN, FLAGS, TAIL };
	struct pld_sim_domain_reset arg = { .flags = ARG(FLAGS) };

	return fuzz_result(fuzz_ioctl(worker, ARG(DOMAIN), PLD_IOC_DOMAIN_RESET,
				      &arg, sizeof(arg), args + TAIL));
}

static struct fuzz_answer run_export(struct fuzz_worker *worker,
				     const struct fuzz_value *args)
{
	enum { FD, WINDOW, RANK, OFFSET, LENGTH, FLAGS, TAIL };
	struct pld_sim_window_export arg = {
		.flags = ARG(FLAGS),
		.window = ARG(WINDOW),
		.rank = ARG(RANK),
		.offset = ARG(OFFSET),
		.length = ARG(LENGTH),
		.out_fd = -1,
	};
	int64_t ret = fuzz_ioctl(worker, ARG(FD), PLD_IOC_WINDOW_EXPORT, &arg,
				 sizeof(arg), args + TAIL);

	return made(ret, arg.out_fd);
}

/* Rank 0's and 1's memory are named; the others' is the module's own. */
static struct fuzz_answer run_import(struct fuzz_worker *worker,
				     const struct fuzz_value *args)
{
	enum { DOMAIN, FIRST, SECOND, N, LENGTH, FLAGS, TAIL };
	int32_t fds[PLD_SIM_MAX_RANKS];
	struct pld_sim_window_import arg = {
		.flags = ARG(FLAGS),
		.length = ARG(LENGTH),
		.fds = (uintptr_t)fds,
		.nr_fds = ARG(N),
	};
	int64_t ret;

	memset(fds, 0xff, sizeof(fds));
	fds[0] = ARG(FIRST);
	fds[1] = ARG(SECOND);
	ret = fuzz_ioctl(worker, ARG(DOMAIN), PLD_IOC_WINDOW_IMPORT, &arg,
			 sizeof(arg), args + TAIL);
	return (struct fuzz_answer){
		.value = ret ? ret : arg.window,
		.more = { arg.mmap_offset, arg.stride },
	};
}

static struct fuzz_answer run_domains(struct fuzz_worker *worker,
				      const struct fuzz_value *args)
{
	enum { FD, FLAGS, TAIL };
	struct pld_sim_domains arg = { .flags = ARG(FLAGS), .out_fd = -1 };
	int64_t ret = fuzz_ioctl(worker, ARG(FD), PLD_IOC_DOMAINS, &arg,
				 sizeof(arg), args + TAIL);

	return made(ret, arg.out_fd);
}

/* Any number, with words that are all alike. */
static struct fuzz_answer run_ioctl(struct fuzz_worker *worker,
				    const struct fuzz_value *args)
{
	enum { FD, NR, TYPE, DIR, WORD, TAIL };
	uint32_t data[24];

	for (size_t i = 0; i < sizeof(data) / sizeof(*data); i++)
		data[i] = ARG(WORD);
	return fuzz_result(fuzz_ioctl(worker, ARG(FD),
				      _IOC(ARG(DIR) & 3, ARG(TYPE) & 255,
					   ARG(NR) & 255, sizeof(data)),
				      data, sizeof(data), args + TAIL));
}

const struct fuzz_call fuzz_ioctl_calls[] = {
	{ "open", KIND_DEVICE, 4, run_open, { NUMBER("flags", 02, 0, 04002) } },
	{ "info",
	  KIND_NUMBER,
	  1,
	  run_info,
	  { THING("fd", KIND_DEVICE), NUMBER("flags", 0, 1), PLACE_PARAMS } },
	{ "domain_create",
	  KIND_DOMAIN,
	  4,
	  run_domain_create,
	  { THING("fd", KIND_DEVICE), NUMBER("n", 2, 1, 3, 4, 0, 5, 256, 257, -1),
	    NUMBER("first", 0, 1, 3, -1), NUMBER("step", 1, 0, -1),
	    NUMBER("flags", 0, 1), PLACE_PARAMS } },
	{ "join",
	  KIND_RANK,
	  5,
	  run_join,
	  { THING("fd", KIND_DEVICE), THING("domain", KIND_DOMAIN),
	    NUMBER("rank", 0, 1, 2, 3, 256, -1), NUMBER("flags", 0, 1),
	    PLACE_PARAMS } },
	{ "member",
	  KIND_RANK,
	  10,
	  run_member,
	  { THING("domain", KIND_DOMAIN), NUMBER("rank", 0, 1, 2, 3) } },
	{ "leave",
	  KIND_NUMBER,
	  4,
	  run_leave,
	  { THING("fd", KIND_RANK), NUMBER("flags", 0, 1), PLACE_PARAMS } },
	{ "window_alloc",
	  KIND_WINDOW,
	  8,
	  run_window_alloc,
	  { THING("domain", KIND_DOMAIN),
	    NUMBER("length", 4096, 4, 8192, 65536, 0x200000, 0x201000, 0x400000,
		   0, 1, 4097, 0x1fffff, 1LL << 40, -1, -4096, 1LL << 62),
	    NUMBER("flags", 0, 1, 2, -1), PLACE_PARAMS } },
	{ "window_free",
	  KIND_NUMBER,
	  5,
	  run_window_free,
	  { THING("domain", KIND_DOMAIN), THING("window", KIND_WINDOW),
	    PLACE_PARAMS } },
	{ "wait",
	  KIND_NUMBER,
	  8,
	  run_wait,
	  { THING("fd", KIND_RANK), NUMBER("flags", 0, 1, 2, 3, 4, -1),
	    CELL_PARAMS, NUMBER("ms", 0, 1, 10, 60000, -1, INT64_MAX, INT64_MIN),
	    NUMBER("bell", 0, 1, 2, -1), PLACE_PARAMS } },
	{ "ring",
	  KIND_NUMBER,
	  6,
	  run_ring,
	  { THING("fd", KIND_RANK), THING("window", KIND_WINDOW),
	    NUMBER("rank", 0, 1, 2, 4, -1), NUMBER("offset", CELL_OFFSETS),
	    NUMBER("flags", 0, 1), PLACE_PARAMS } },
	{ "fail",
	  KIND_NUMBER,
	  4,
	  run_fail,
	  { THING("fd", KIND_RANK), NUMBER("reason", 1, 2, 3, 4, 5, 0, 6, -1),
	    NUMBER("rank", 0, 1, 4, -1), NUMBER("code", 0, -5, INT32_MIN),
	    NUMBER("flags", 0, 1), PLACE_PARAMS } },
	{ "reset",
	  KIND_NUMBER,
	  4,
	  run_reset,
	  { THING("domain", KIND_DOMAIN), NUMBER("flags", 0, 1), PLACE_PARAMS } },
	{ "export",
	  KIND_DMABUF,
	  6,
	  run_export,
	  { THING("fd", KIND_DOMAIN), THING("window", KIND_WINDOW),
	    NUMBER("rank", 0, 1, 2, 4, -1),
	    NUMBER("offset", 0, 4096, 1, 0x200000, -4096),
	    NUMBER("length", 0, 4096, 8192, 1, 0x200000, -4096),
	    NUMBER("flags", 0, 1, 2), PLACE_PARAMS } },
	{ "import",
	  KIND_WINDOW,
	  6,
	  run_import,
	  { THING("domain", KIND_DOMAIN), THING("first", KIND_DMABUF),
	    THING("second", KIND_DMABUF), NUMBER("n", 2, 1, 3, 4, 0, 257, -1),
	    NUMBER("length", 4096, 8192, 65536, 0x200000, 4, 1, 0, -1),
	    NUMBER("flags", 0, 1, 2), PLACE_PARAMS } },
	{ "domains",
	  KIND_FD,
	  2,
	  run_domains,
	  { THING("fd", KIND_DEVICE), NUMBER("flags", 0, 1), PLACE_PARAMS } },
	{ "ioctl",
	  KIND_NUMBER,
	  2,
	  run_ioctl,
	  { THING("fd", KIND_FD),
	    NUMBER("nr", 16, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14,
		   15, 17, 255),
	    NUMBER("type", 0xb9, 0, 'b'), NUMBER("dir", 0, 1, 2, 3),
	    NUMBER("word", 0, -1, 1), PLACE_PARAMS } },
	{ 0 },
};
