/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What tests of watched cells ask files that tell of them: what they poll, what
 * epoll and an eventfd say.
 */
#ifndef PLD_EVENTS_H
#define PLD_EVENTS_H

#include <sys/eventfd.h>

#include "pld_poll.h"
#include "pld_watched.h"

#define DEAD (EPOLLERR | EPOLLHUP)

/* For a peer, which joins by itself. */
struct ringer {
	int domain;
	struct pld_sim_window_alloc win;
};

/* What a file polls, of all there is, within that time; 0 for nothing. */
static inline int polls(int fd, int timeout_ms)
{
	struct pollfd p = { .fd = fd, .events = POLLIN | POLLOUT | POLLPRI };

	return poll_one(&p, timeout_ms) < 0 ? -errno : p.revents;
}

static inline int add_to_epoll(int epoll, int fd, __u32 events)
{
	struct epoll_event event = { .events = events, .data.u32 = 7 };

	return epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) ? -errno : 0;
}

/* The events that epoll tells, of its one file; 0 for none. */
static inline int epolls(int epoll, int timeout_ms)
{
	struct epoll_event event;
	int n = epoll_one(epoll, &event, timeout_ms);

	return n < 0 ? -errno : n ? (int)event.events : 0;
}

/* The eventfd's count, which it takes; 0 for none. */
static inline __u64 take(int event)
{
	__u64 count;

	return read(event, &count, sizeof(count)) == sizeof(count) ? count : 0;
}

#endif /* PLD_EVENTS_H */
