/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Polling that signals do not end: the kernel restarts neither poll() nor
 * epoll_wait() after a handler, whatever it was installed with.
 */
#ifndef PLD_POLL_H
#define PLD_POLL_H

#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <time.h>

static inline int64_t poll_now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* As poll() of one descriptor. */
static inline int poll_one(struct pollfd *p, int timeout_ms)
{
	int64_t end = poll_now_ms() + timeout_ms, left = timeout_ms;
	int ret;

	while ((ret = poll(p, 1, (int)left)) < 0 && errno == EINTR) {
		left = end - poll_now_ms();
		if (left < 0)
			left = 0;
	}
	return ret;
}

/* As epoll_wait() for one event. */
static inline int epoll_one(int epoll, struct epoll_event *event, int timeout_ms)
{
	int64_t end = poll_now_ms() + timeout_ms, left = timeout_ms;
	int ret;

	while ((ret = epoll_wait(epoll, event, 1, (int)left)) < 0 &&
	       errno == EINTR) {
		left = end - poll_now_ms();
		if (left < 0)
			left = 0;
	}
	return ret;
}

#endif /* PLD_POLL_H */
