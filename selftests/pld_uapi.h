/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The module as the tests speak to it: one function per ioctl, each returning
 * 0 (or a descriptor) or a negative errno, and the mappings of a rank file.
 *
 * Nothing here keeps state. Whoever opens or maps closes and unmaps.
 */
#ifndef PLD_UAPI_H
#define PLD_UAPI_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <linux/pld_sim.h>

#define SIM_NODE "/dev/pld_sim"
#define SIM_PAGE 4096UL
#define SIM_HUGE (2UL << 20)
#define SIM_MS 1000000LL
#define SIM_SEC 1000000000LL
/* Far beyond any wait that ends as it should, even in an emulated machine. */
#define SIM_HANG (20 * SIM_SEC)

static inline __u64 sim_round_up(__u64 bytes, __u64 unit)
{
	return (bytes + unit - 1) / unit * unit;
}

static inline __s64 sim_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * SIM_SEC + t.tv_nsec;
}

static inline __s64 sim_after(__s64 ns)
{
	return sim_now() + ns;
}

static inline int sim_ioctl(int fd, unsigned long cmd, void *arg)
{
	int ret = ioctl(fd, cmd, arg);

	return ret < 0 ? -errno : ret;
}

static inline int sim_open(void)
{
	int fd = open(SIM_NODE, O_RDWR | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

static inline int sim_info(int fd, struct pld_sim_info *info)
{
	memset(info, 0, sizeof(*info));
	info->size = sizeof(*info);
	return sim_ioctl(fd, PLD_IOC_INFO, info);
}

/* A domain of @n ranks on the devices @ids; returns the domain file. */
static inline int sim_create(int fd, const __u32 *ids, __u32 n)
{
	struct pld_sim_domain_create arg = {
		.size = sizeof(arg),
		.devices = (uintptr_t)ids,
		.nranks = n,
		.out_fd = -1,
	};
	int ret = sim_ioctl(fd, PLD_IOC_DOMAIN_CREATE, &arg);

	return ret ? ret : arg.out_fd;
}

/* A domain whose rank r is on device r. */
static inline int sim_domain(__u32 nranks)
{
	__u32 ids[PLD_SIM_MAX_RANKS];
	int fd = sim_open(), ret;

	if (fd < 0)
		return fd;
	for (__u32 r = 0; r < nranks && r < PLD_SIM_MAX_RANKS; r++)
		ids[r] = r;
	ret = sim_create(fd, ids, nranks);
	close(fd);
	return ret;
}

static inline int sim_join(int fd, int domain, __u32 rank,
			   struct pld_sim_join *out)
{
	struct pld_sim_join arg = {
		.size = sizeof(arg),
		.domain_fd = domain,
		.rank = rank,
	};
	int ret = sim_ioctl(fd, PLD_IOC_JOIN, &arg);

	if (out)
		*out = arg;
	return ret;
}

/* Opens a device file and joins with it; returns the rank file. */
static inline int sim_member(int domain, __u32 rank)
{
	int fd = sim_open(), ret;

	if (fd < 0)
		return fd;
	ret = sim_join(fd, domain, rank, NULL);
	if (!ret)
		return fd;
	close(fd);
	return ret;
}

static inline int sim_leave(int fd)
{
	struct pld_sim_leave arg = { .size = sizeof(arg) };

	return sim_ioctl(fd, PLD_IOC_LEAVE, &arg);
}

static inline int sim_alloc(int domain, __u64 length, __u32 flags,
			    struct pld_sim_window_alloc *win)
{
	memset(win, 0, sizeof(*win));
	win->size = sizeof(*win);
	win->flags = flags;
	win->length = length;
	return sim_ioctl(domain, PLD_IOC_WINDOW_ALLOC, win);
}

static inline int sim_free(int domain, __u32 window)
{
	struct pld_sim_window_free arg = {
		.size = sizeof(arg),
		.window = window,
	};

	return sim_ioctl(domain, PLD_IOC_WINDOW_FREE, &arg);
}

/* @value may be NULL; otherwise it gets the cell as the kernel last saw it. */
static inline int sim_wait(int fd, __u32 window, __u64 offset, __u32 cmp,
			   __s32 expected, __s64 deadline, __s32 *value)
{
	struct pld_sim_wait arg = {
		.size = sizeof(arg),
		.offset = offset,
		.window = window,
		.cmp = cmp,
		.expected = expected,
		.value = 0x5a5a5a5a,
		.deadline_ns = deadline,
	};
	int ret = sim_ioctl(fd, PLD_IOC_WAIT, &arg);

	if (value)
		*value = arg.value;
	return ret;
}

/* Cell number @cell of a window, to be compared with @expected. */
static inline struct pld_sim_condition sim_condition(__u32 window, __u64 cell,
						     __u32 cmp, __s32 expected)
{
	return (struct pld_sim_condition){
		.offset = cell * sizeof(__s32),
		.window = window,
		.cmp = cmp,
		.expected = expected,
	};
}

/* What a wait for several cells answers. */
struct sim_answer {
	__u32 index;
	__s32 value;
};

/* @answer may be NULL. */
static inline int sim_wait_for(int fd, __u32 flags,
			       const struct pld_sim_condition *conditions,
			       __u32 nr, __s64 deadline,
			       struct sim_answer *answer)
{
	struct pld_sim_wait arg = {
		.size = sizeof(arg),
		.flags = flags,
		.value = 0x5a5a5a5a,
		.deadline_ns = deadline,
		.conditions = (uintptr_t)conditions,
		.nr_conditions = nr,
		.index = 0x5a5a5a5a,
	};
	int ret = sim_ioctl(fd, PLD_IOC_WAIT, &arg);

	if (answer)
		*answer = (struct sim_answer){ arg.index, arg.value };
	return ret;
}

static inline int sim_arm(int fd, __u32 flags,
			  const struct pld_sim_condition *conditions, __u32 nr)
{
	struct pld_sim_arm arg = {
		.size = sizeof(arg),
		.flags = flags,
		.conditions = (uintptr_t)conditions,
		.nr_conditions = nr,
	};

	return sim_ioctl(fd, PLD_IOC_ARM, &arg);
}

/* *@cookie gets the signal's name. */
static inline int sim_signal(int fd, __u32 flags,
			     const struct pld_sim_condition *conditions,
			     __u32 nr, int eventfd, __s64 deadline,
			     __u64 *cookie)
{
	struct pld_sim_signal_eventfd arg = {
		.size = sizeof(arg),
		.flags = flags,
		.conditions = (uintptr_t)conditions,
		.nr_conditions = nr,
		.eventfd = eventfd,
		.deadline_ns = deadline,
	};
	int ret = sim_ioctl(fd, PLD_IOC_SIGNAL_EVENTFD, &arg);

	*cookie = arg.cookie;
	return ret;
}

/*
 * PLD_SIGNAL_ASK or PLD_SIGNAL_END; the result of the signal, or INT32_MIN with
 * errno when there is none. @answer may be NULL.
 */
static inline __s32 sim_signal_result(int fd, __u32 how, __u64 cookie,
				      struct sim_answer *answer)
{
	struct pld_sim_signal_eventfd arg = {
		.size = sizeof(arg),
		.flags = how,
		.cookie = cookie,
	};

	if (ioctl(fd, PLD_IOC_SIGNAL_EVENTFD, &arg))
		return INT32_MIN;
	if (answer)
		*answer = (struct sim_answer){ arg.index, arg.value };
	return arg.result;
}

/* Returns the sync_file. */
static inline int sim_fence(int fd, __u32 flags,
			    const struct pld_sim_condition *conditions,
			    __u32 nr, __s64 deadline)
{
	struct pld_sim_signal_fence arg = {
		.size = sizeof(arg),
		.flags = flags,
		.conditions = (uintptr_t)conditions,
		.nr_conditions = nr,
		.out_fd = -1,
		.deadline_ns = deadline,
	};
	int ret = sim_ioctl(fd, PLD_IOC_SIGNAL_FENCE, &arg);

	return ret ? ret : arg.out_fd;
}

static inline int sim_ring(int fd, __u32 window, __u32 rank, __u64 offset)
{
	struct pld_sim_ring arg = {
		.size = sizeof(arg),
		.offset = offset,
		.window = window,
		.rank = rank,
	};

	return sim_ioctl(fd, PLD_IOC_RING, &arg);
}

static inline int sim_fail(int fd, __u32 reason, __u32 rank, __s32 code)
{
	struct pld_sim_fail arg = {
		.size = sizeof(arg),
		.reason = reason,
		.rank = rank,
		.code = code,
	};

	return sim_ioctl(fd, PLD_IOC_FAIL, &arg);
}

static inline int sim_reset(int domain)
{
	struct pld_sim_domain_reset arg = { .size = sizeof(arg) };

	return sim_ioctl(domain, PLD_IOC_DOMAIN_RESET, &arg);
}

/* A part of a rank's memory as a dma-buf; length 0 is all from offset on. */
static inline int sim_export_part(int fd, __u32 window, __u32 rank,
				  __u64 offset, __u64 length, __u32 flags)
{
	struct pld_sim_window_export arg = {
		.size = sizeof(arg),
		.flags = flags,
		.window = window,
		.rank = rank,
		.offset = offset,
		.length = length,
		.out_fd = -1,
	};
	int ret = sim_ioctl(fd, PLD_IOC_WINDOW_EXPORT, &arg);

	return ret ? ret : arg.out_fd;
}

static inline int sim_export(int fd, __u32 window, __u32 rank)
{
	return sim_export_part(fd, window, rank, 0, 0, 0);
}

/*
 * A window of dma-bufs, or of own memory where fds has -1. @win is filled as by
 * sim_alloc(); @refused may be NULL.
 */
static inline int sim_import(int domain, __u64 length, __u32 flags,
			     const __s32 *fds, __u32 nr,
			     struct pld_sim_window_alloc *win, __u32 *refused)
{
	struct pld_sim_window_import arg = {
		.size = sizeof(arg),
		.flags = flags,
		.length = length,
		.fds = (uintptr_t)fds,
		.nr_fds = nr,
	};
	int ret = sim_ioctl(domain, PLD_IOC_WINDOW_IMPORT, &arg);

	*win = (struct pld_sim_window_alloc){
		.size = sizeof(*win),
		.flags = flags,
		.length = length,
		.window = arg.window,
		.stride = arg.stride,
		.mmap_offset = arg.mmap_offset,
		.available = arg.available,
	};
	if (refused)
		*refused = arg.refused;
	return ret;
}

/* MAP_FAILED with errno, as mmap(). */
static inline void *sim_mmap(int fd, __u64 length, int prot, __u64 offset)
{
	return mmap(NULL, length, prot, MAP_SHARED, fd, offset);
}

/* Read and write the memory of @rank in a window. */
static inline void *sim_map(int fd, const struct pld_sim_window_alloc *win,
			    __u32 rank)
{
	return sim_mmap(fd, sim_round_up(win->length, SIM_PAGE),
			PROT_READ | PROT_WRITE,
			win->mmap_offset + rank * win->stride);
}

static inline int sim_unmap(void *addr, const struct pld_sim_window_alloc *win)
{
	return munmap(addr, sim_round_up(win->length, SIM_PAGE));
}

static inline const struct pld_sim_status *sim_status(int fd)
{
	return sim_mmap(fd, SIM_PAGE, PROT_READ, PLD_SIM_MMAP_STATUS);
}

static inline const struct pld_sim_doorbell *sim_doorbell(int fd, __u32 rank)
{
	return sim_mmap(fd, PLD_SIM_DOORBELL_STRIDE, PROT_READ,
			PLD_SIM_MMAP_DOORBELLS + rank * PLD_SIM_DOORBELL_STRIDE);
}

/* The kernel writes these pages while a test looks at them. */
static inline __u32 sim_load(const __u32 *word)
{
	return __atomic_load_n(word, __ATOMIC_SEQ_CST);
}

/* Waits for a word that the kernel writes; false when it takes too long. */
static inline int sim_until(const __u32 *word, __u32 value)
{
	__s64 end = sim_after(SIM_HANG);

	while (sim_load(word) != value) {
		if (sim_now() > end)
			return 0;
		usleep(200);
	}
	return 1;
}

/* The status page of a domain whose ranks stand as @states say. */
static inline struct pld_sim_status sim_status_of(__u32 epoch, __u32 nranks,
						  const __u32 *states)
{
	struct pld_sim_status want;

	memset(&want, 0, sizeof(want));
	want.epoch = epoch;
	want.nranks = nranks;
	memcpy(want.rank_state, states, nranks * sizeof(*states));
	return want;
}

#endif /* PLD_UAPI_H */
