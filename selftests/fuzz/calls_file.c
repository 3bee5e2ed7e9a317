// SPDX-License-Identifier: GPL-2.0
/* What is done with descriptors, whatever they are. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "worker.h"

#define ARG(name) args[name].n

static struct fuzz_answer run_close(struct fuzz_worker *worker,
				    const struct fuzz_value *args)
{
	(void)worker;
	return fuzz_result(close(ARG(0)));
}

/* What it makes is the same thing, with what belongs to it. */
static struct fuzz_answer run_dup(struct fuzz_worker *worker,
				  const struct fuzz_value *args)
{
	(void)worker;
	return fuzz_result(fcntl(ARG(0), F_DUPFD_CLOEXEC, 3));
}

static struct fuzz_answer run_read(struct fuzz_worker *worker,
				   const struct fuzz_value *args)
{
	char buffer[4096];
	size_t n = ARG(1) < 0 || ARG(1) > 4096 ? sizeof(buffer) : (size_t)ARG(1);

	(void)worker;
	return fuzz_result(read(ARG(0), buffer, n));
}

static struct fuzz_answer run_write(struct fuzz_worker *worker,
				    const struct fuzz_value *args)
{
	char buffer[16] = "1\n";
	size_t n = ARG(1) < 0 || ARG(1) > 16 ? sizeof(buffer) : (size_t)ARG(1);

	(void)worker;
	return fuzz_result(write(ARG(0), buffer, n));
}

static struct fuzz_answer run_lseek(struct fuzz_worker *worker,
				    const struct fuzz_value *args)
{
	(void)worker;
	return fuzz_result(lseek(ARG(0), ARG(1), ARG(2)));
}

static struct fuzz_answer run_poll(struct fuzz_worker *worker,
				   const struct fuzz_value *args)
{
	struct pollfd at = { .fd = ARG(0), .events = ARG(1) };
	int ret = poll(&at, 1, ARG(2));

	(void)worker;
	return fuzz_result(ret <= 0 ? ret : at.revents);
}

static struct fuzz_answer run_epoll(struct fuzz_worker *worker,
				    const struct fuzz_value *args)
{
	(void)worker;
	(void)args;
	return fuzz_result(epoll_create1(EPOLL_CLOEXEC));
}

static struct fuzz_answer run_epoll_ctl(struct fuzz_worker *worker,
					const struct fuzz_value *args)
{
	enum { EPOLL, OP, FD, EVENTS };
	struct epoll_event event = { .events = ARG(EVENTS) };

	(void)worker;
	return fuzz_result(epoll_ctl(ARG(EPOLL), ARG(OP), ARG(FD), &event));
}

static struct fuzz_answer run_epoll_wait(struct fuzz_worker *worker,
					 const struct fuzz_value *args)
{
	struct epoll_event events[4];

	(void)worker;
	return fuzz_result(epoll_wait(ARG(0), events, 4, ARG(1)));
}

static struct fuzz_answer run_fcntl(struct fuzz_worker *worker,
				    const struct fuzz_value *args)
{
	(void)worker;
	return fuzz_result(fcntl(ARG(0), ARG(1), ARG(2)));
}

static struct fuzz_answer run_fstat(struct fuzz_worker *worker,
				    const struct fuzz_value *args)
{
	struct stat st;

	(void)worker;
	return fuzz_result(fstat(ARG(0), &st));
}

/* What the kernel shows of a descriptor; or it is opened again by that. */
static struct fuzz_answer run_fdinfo(struct fuzz_worker *worker,
				     const struct fuzz_value *args)
{
	char path[64], text[1024];
	int fd, n;

	(void)worker;
	snprintf(path, sizeof(path), "/proc/thread-self/%s/%d",
		 ARG(1) ? "fd" : "fdinfo", (int)ARG(0));
	fd = open(path, (ARG(1) ? O_RDWR : O_RDONLY) | O_CLOEXEC);
	if (fd < 0 || ARG(1))
		return fuzz_result(fd);
	n = read(fd, text, sizeof(text));
	close(fd);
	return fuzz_result(n);
}

/* Descriptors travel by one pair of sockets, which all workers have. */
static struct fuzz_answer run_send(struct fuzz_worker *worker,
				   const struct fuzz_value *args)
{
	char byte = 0, control[CMSG_SPACE(sizeof(int))] = { 0 };
	struct iovec data = { &byte, 1 };
	struct msghdr msg = { .msg_iov = &data,
			      .msg_iovlen = 1,
			      .msg_control = control,
			      .msg_controllen = sizeof(control) };
	struct cmsghdr *header = CMSG_FIRSTHDR(&msg);
	int fd = ARG(0);

	header->cmsg_level = SOL_SOCKET;
	header->cmsg_type = SCM_RIGHTS;
	header->cmsg_len = CMSG_LEN(sizeof(fd));
	memcpy(CMSG_DATA(header), &fd, sizeof(fd));
	return fuzz_result(
		sendmsg(worker->shared->sockets[0], &msg, MSG_DONTWAIT));
}

static struct fuzz_answer run_receive(struct fuzz_worker *worker,
				      const struct fuzz_value *args)
{
	char byte, control[CMSG_SPACE(sizeof(int))] = { 0 };
	struct iovec data = { &byte, 1 };
	struct msghdr msg = { .msg_iov = &data,
			      .msg_iovlen = 1,
			      .msg_control = control,
			      .msg_controllen = sizeof(control) };
	struct cmsghdr *header;
	int fd = -ENOMSG;

	(void)args;
	if (recvmsg(worker->shared->sockets[1], &msg,
		    MSG_DONTWAIT | MSG_CMSG_CLOEXEC) < 0)
		return fuzz_result(-1);
	header = CMSG_FIRSTHDR(&msg);
	if (header)
		memcpy(&fd, CMSG_DATA(header), sizeof(fd));
	return fuzz_result(fd);
}

/* How many descriptors there may be. */
static struct fuzz_answer run_limit(struct fuzz_worker *worker,
				    const struct fuzz_value *args)
{
	struct rlimit limit = { ARG(0), 1024 };

	(void)worker;
	return fuzz_result(setrlimit(RLIMIT_NOFILE, &limit));
}

static const char *const texts[] = {
	"/sys/kernel/debug/pld_sim/domains",
	"/sys/kernel/debug/pld_sim/exports",
	"/sys/kernel/debug/dma_buf/bufinfo",
	"/sys/kernel/debug/sync/info",
	"/sys/devices/platform/pld_sim.0/memory_used",
	"/sys/devices/platform/pld_sim.0/memory_limit",
	"/sys/devices/platform/pld_sim.0/ranks",
	"/sys/devices/platform/pld_sim.0/windows",
	"/sys/devices/platform/pld_sim.0/waiters",
	"/sys/devices/platform/pld_sim.0/waits",
	"/sys/devices/platform/pld_sim.0/rings",
	"/sys/devices/platform/pld_sim.0/uevent",
	"/sys/module/pld_sim/parameters/recheck_ms",
	"/sys/module/pld_sim/parameters/devices",
	"/sys/module/pld_sim/parameters/gid",
	"/sys/devices/platform/pld_sim.0/driver_override",
	"/sys/bus/platform/drivers_probe",
	"/proc/self/maps",
	"/proc/self/smaps",
	"/proc/self/pagemap",
};

#define NR_TEXTS (sizeof(texts) / sizeof(*texts))

/* What the kernel says in a file, or is told there. */
static struct fuzz_answer run_text(struct fuzz_worker *worker,
				   const struct fuzz_value *args)
{
	enum { FILE, WRITE };
	const char *path = texts[(uint64_t)ARG(FILE) % NR_TEXTS];
	char buffer[8192];
	int fd = open(path, (ARG(WRITE) ? O_WRONLY : O_RDONLY) | O_CLOEXEC);
	int64_t ret, all = 0;

	(void)worker;
	if (fd < 0)
		return fuzz_result(-1);
	if (ARG(WRITE))
		all = write(fd, ARG(WRITE) == 1 ? "pld_sim.0\n" : "-1\n",
			    ARG(WRITE) == 1 ? 10 : 3);
	else
		for (int i = 0; i < 64; i++) {
			ret = read(fd, buffer, sizeof(buffer));
			if (ret <= 0)
				break;
			all += ret;
		}
	all = all < 0 ? -errno : all;
	close(fd);
	return fuzz_result(all);
}

const struct fuzz_call fuzz_file_calls[] = {
	{ "close", KIND_NUMBER, 12, run_close, { THING("fd", KIND_FD) } },
	{ "dup_device", KIND_DEVICE, 1, run_dup, { THING("fd", KIND_DEVICE) } },
	{ "dup_rank", KIND_RANK, 2, run_dup, { THING("fd", KIND_RANK) } },
	{ "dup_domain", KIND_DOMAIN, 2, run_dup, { THING("fd", KIND_DOMAIN) } },
	{ "dup_dmabuf", KIND_DMABUF, 1, run_dup, { THING("fd", KIND_DMABUF) } },
	{ "read",
	  KIND_NUMBER,
	  2,
	  run_read,
	  { THING("fd", KIND_FD), NUMBER("n", 4096, 8, 0, 1) } },
	{ "write",
	  KIND_NUMBER,
	  1,
	  run_write,
	  { THING("fd", KIND_FD), NUMBER("n", 2, 8, 0) } },
	{ "lseek",
	  KIND_NUMBER,
	  2,
	  run_lseek,
	  { THING("fd", KIND_FD), NUMBER("to", 0, 1, -1, 4096),
	    NUMBER("whence", 2, 0, 1, 3, 4, 5) } },
	{ "poll",
	  KIND_NUMBER,
	  5,
	  run_poll,
	  { THING("fd", KIND_FD), NUMBER("events", 1, 4, 5, 0, 0x2000),
	    NUMBER("ms", 0, 10, -1) } },
	{ "epoll", KIND_EPOLL, 2, run_epoll, { { 0 } } },
	{ "epoll_ctl",
	  KIND_NUMBER,
	  4,
	  run_epoll_ctl,
	  { THING("epoll", KIND_EPOLL), NUMBER("op", 1, 2, 3, 0),
	    THING("fd", KIND_FD),
	    NUMBER("events", 1, 0x80000001, 0x40000001, 0x10000001, 5) } },
	{ "epoll_wait",
	  KIND_NUMBER,
	  3,
	  run_epoll_wait,
	  { THING("epoll", KIND_EPOLL), NUMBER("ms", 0, 10, -1) } },
	{ "fcntl",
	  KIND_NUMBER,
	  1,
	  run_fcntl,
	  { THING("fd", KIND_FD), NUMBER("cmd", 4, 2, 3, 1, 1033, 1034),
	    NUMBER("to", 04000, 0, 020000) } },
	{ "fstat", KIND_NUMBER, 1, run_fstat, { THING("fd", KIND_FD) } },
	{ "fdinfo",
	  KIND_FD,
	  2,
	  run_fdinfo,
	  { THING("fd", KIND_FD), NUMBER("again", 0, 1) } },
	{ "send", KIND_NUMBER, 3, run_send, { THING("fd", KIND_FD) } },
	{ "receive", KIND_FD, 3, run_receive, { { 0 } } },
	{ "limit", KIND_NUMBER, 1, run_limit, { NUMBER("n", 0, 3, 20, 1024) } },
	{ "text",
	  KIND_NUMBER,
	  4,
	  run_text,
	  { NUMBER("file", 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15,
		   16, 17, 18, 19),
	    NUMBER("write", 0, 1, 2) } },
	{ 0 },
};
