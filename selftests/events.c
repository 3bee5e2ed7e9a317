// SPDX-License-Identifier: GPL-2.0
/*
 * Signals in event loops: conditions that are armed on a rank file, which then
 * polls, and conditions that an eventfd tells of. When they tell, that they tell
 * once, of ends of all kinds, what is refused, and that nothing is left. (That no
 * ring is lost: handshake.c.)
 *
 * This process is rank 0, whose cells are watched; peers are rank 1.
 */
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

#include "pld_counters.h"
#include "pld_watched.h"

#define DEAD (EPOLLERR | EPOLLHUP)

FIXTURE(events)
{
	struct watched w;
	int event;
	int epoll;
};

FIXTURE_SETUP(events)
{
	watched_setup(_metadata, &self->w);
	self->event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	ASSERT_LE(0, self->event);
	self->epoll = epoll_create1(EPOLL_CLOEXEC);
	ASSERT_LE(0, self->epoll);
}

FIXTURE_TEARDOWN(events)
{
	close(self->event);
	close(self->epoll);
	watched_teardown(&self->w);
}

/* What a file polls, of all there is, within that time; 0 for nothing. */
static int polls(int fd, int timeout_ms)
{
	struct pollfd p = { .fd = fd, .events = POLLIN | POLLOUT | POLLPRI };

	return poll(&p, 1, timeout_ms) < 0 ? -errno : p.revents;
}

static int add_to_epoll(int epoll, int fd, __u32 events)
{
	struct epoll_event event = { .events = events, .data.u32 = 7 };

	return epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) ? -errno : 0;
}

/* The events that epoll tells, of its one file; 0 for none. */
static int epolls(int epoll, int timeout_ms)
{
	struct epoll_event event;
	int n = epoll_wait(epoll, &event, 1, timeout_ms);

	return n < 0 ? -errno : n ? (int)event.events : 0;
}

/* The eventfd's count, which it takes; 0 for none. */
static __u64 take(int event)
{
	__u64 count;

	return read(event, &count, sizeof(count)) == sizeof(count) ? count : 0;
}

/* ---- poll ---- */

TEST_F(events, armed_condition_polls_while_it_holds)
{
	struct pld_sim_condition c = GE(3, 5);

	EXPECT_EQ(0, polls(self->w.fd, 0));
	EXPECT_EQ(0, sim_arm(self->w.fd, 0, &c, 1));
	EXPECT_EQ(1, sim_load(&self->w.bell->waiters));
	EXPECT_EQ(0, polls(self->w.fd, SHORT_MS));
	notify(&self->w, 3, 4);
	EXPECT_EQ(0, polls(self->w.fd, SHORT_MS));
	notify(&self->w, 3, 5);
	EXPECT_EQ(POLLIN, polls(self->w.fd, 0));
	EXPECT_EQ(POLLIN, polls(self->w.fd, HANG_MS));
	/* Without a ring: polling is a look. */
	self->w.cell[3] = 4;
	EXPECT_EQ(0, polls(self->w.fd, 0));
	self->w.cell[3] = 6;
	EXPECT_EQ(POLLIN, polls(self->w.fd, 0));
	EXPECT_EQ(0, sim_arm(self->w.fd, 0, NULL, 0));
	EXPECT_EQ(0, polls(self->w.fd, 0));
	EXPECT_EQ(0, sim_load(&self->w.bell->waiters));
	EXPECT_EQ(0, sim_arm(self->w.fd, 0, NULL, 0));
}

TEST_F(events, arming_again_replaces_what_was_armed)
{
	struct pld_sim_condition c[] = { EQ(0, 1), EQ(1, 0) };

	EXPECT_EQ(0, sim_arm(self->w.fd, 0, &c[0], 1));
	EXPECT_EQ(0, polls(self->w.fd, 0));
	EXPECT_EQ(0, sim_arm(self->w.fd, 0, &c[1], 1));
	EXPECT_EQ(POLLIN, polls(self->w.fd, 0));
	EXPECT_EQ(1, sim_load(&self->w.bell->waiters));
	/* One that is refused leaves things as they are. */
	c[0].cmp = 2;
	EXPECT_EQ(-EINVAL, sim_arm(self->w.fd, 0, &c[0], 1));
	EXPECT_EQ(POLLIN, polls(self->w.fd, 0));
	EXPECT_EQ(-EINVAL, sim_arm(self->w.fd, 0, c, 0));
	EXPECT_EQ(0, sim_arm(self->w.fd, 0, NULL, 0));
	EXPECT_EQ(0, sim_load(&self->w.bell->waiters));
}

TEST_F(events, any_and_all_of_many_conditions)
{
	struct pld_sim_condition c[MOST + 1];

	for (int i = 0; i <= MOST; i++)
		c[i] = GE(i, i);
	EXPECT_EQ(0, sim_arm(self->w.fd, PLD_WAIT_ANY, c + 1, MOST));
	EXPECT_EQ(0, polls(self->w.fd, 0));
	notify(&self->w, MOST, MOST);
	EXPECT_EQ(POLLIN, polls(self->w.fd, 0));
	EXPECT_EQ(0, sim_arm(self->w.fd, 0, c + 1, MOST));
	for (int i = 1; i < MOST; i++) {
		EXPECT_EQ(0, polls(self->w.fd, 0));
		notify(&self->w, i, i);
	}
	EXPECT_EQ(POLLIN, polls(self->w.fd, 0));
	EXPECT_EQ(-EINVAL, sim_arm(self->w.fd, 0, c, MOST + 1));
	EXPECT_EQ(-EINVAL, sim_arm(self->w.fd, 0, c, ~0U));
}

/* A peer that changes and rings when told to, until it is told 0. */
struct ringer {
	int domain;
	struct pld_sim_window_alloc win;
};

static int ring_when_told(struct peer *self, void *arg)
{
	struct ringer *r = arg;
	int fd = sim_member(r->domain, 1), value;
	__s32 *cell;

	NEED(fd >= 0);
	cell = sim_map(fd, &r->win, 0);
	NEED(cell != MAP_FAILED);
	peer_tell(self, 0);
	while ((value = peer_hear(self)) > 0) {
		usleep(5000);
		__atomic_store_n(cell, value, __ATOMIC_SEQ_CST);
		NEED(sim_ring(fd, r->win.window, 0, 0) == 0);
	}
	return sim_leave(fd);
}

static void start_ringer(struct __test_metadata *_metadata,
			 FIXTURE_DATA(events) * self, struct peer *p)
{
	struct ringer r = { self->w.domain, self->w.win };

	ASSERT_EQ(0, peer_start(p, ring_when_told, &r));
	ASSERT_EQ(0, peer_hear(p));
}

TEST_F(events, ring_wakes_who_polls)
{
	struct pld_sim_condition c = GE(0, 3);
	struct peer p;

	start_ringer(_metadata, self, &p);
	EXPECT_EQ(0, sim_arm(self->w.fd, 0, &c, 1));
	EXPECT_EQ(0, add_to_epoll(self->epoll, self->w.fd, EPOLLIN));
	peer_tell(&p, 2);
	EXPECT_EQ(0, polls(self->w.fd, SHORT_MS));
	peer_tell(&p, 3);
	EXPECT_EQ(POLLIN, polls(self->w.fd, HANG_MS));
	EXPECT_EQ(EPOLLIN, epolls(self->epoll, HANG_MS));
	c.expected = 4;
	EXPECT_EQ(0, sim_arm(self->w.fd, 0, &c, 1));
	EXPECT_EQ(0, epolls(self->epoll, 0));
	peer_tell(&p, 4);
	EXPECT_EQ(EPOLLIN, epolls(self->epoll, HANG_MS));
	peer_tell(&p, 0);
	EXPECT_EQ(0, peer_reap(&p));
}

TEST_F(events, level_triggered_epoll_tells_as_long_as_it_holds)
{
	struct pld_sim_condition c = EQ(9, -1);

	EXPECT_EQ(0, add_to_epoll(self->epoll, self->w.fd, EPOLLIN));
	EXPECT_EQ(0, sim_arm(self->w.fd, 0, &c, 1));
	EXPECT_EQ(0, epolls(self->epoll, 0));
	notify(&self->w, 9, -1);
	for (int i = 0; i < 3; i++)
		EXPECT_EQ(EPOLLIN, epolls(self->epoll, HANG_MS));
	notify(&self->w, 9, 0);
	EXPECT_EQ(0, epolls(self->epoll, SHORT_MS));
}

TEST_F(events, edge_triggered_epoll_tells_at_each_ring_while_it_holds)
{
	struct pld_sim_condition c = GE(9, 1), other = EQ(10, 0);

	EXPECT_EQ(0, add_to_epoll(self->epoll, self->w.fd, EPOLLIN | EPOLLET));
	EXPECT_EQ(0, sim_arm(self->w.fd, 0, &c, 1));
	EXPECT_EQ(0, epolls(self->epoll, SHORT_MS));
	for (int i = 1; i < 4; i++) {
		notify(&self->w, 9, i);
		EXPECT_EQ(EPOLLIN, epolls(self->epoll, HANG_MS));
		EXPECT_EQ(0, epolls(self->epoll, SHORT_MS));
	}
	/* A ring for another cell is none. */
	EXPECT_EQ(0, sim_ring(self->w.peer_fd, self->w.win.window, 0, 40));
	EXPECT_EQ(0, epolls(self->epoll, SHORT_MS));
	notify(&self->w, 9, 0);
	EXPECT_EQ(0, epolls(self->epoll, SHORT_MS));
	/* Arming what holds is news. */
	EXPECT_EQ(0, sim_arm(self->w.fd, 0, &other, 1));
	EXPECT_EQ(EPOLLIN, epolls(self->epoll, HANG_MS));
	EXPECT_EQ(0, epolls(self->epoll, SHORT_MS));
}

/* What a device writes: needs recheck_ms, which is 20 by default. */
TEST_F(events, write_without_a_ring_is_seen_too)
{
	struct pld_sim_condition c = GE(9, 1);
	__u64 cookie;

	if (read_number(SIM_PARAMETERS "/recheck_ms") == 0)
		SKIP(return, "recheck_ms is 0");
	EXPECT_EQ(0, add_to_epoll(self->epoll, self->w.fd, EPOLLIN | EPOLLET));
	EXPECT_EQ(0, sim_arm(self->w.fd, 0, &c, 1));
	EXPECT_EQ(0,
		  sim_signal(self->w.fd, 0, &c, 1, self->event, NEVER, &cookie));
	for (int i = 0; i < 3; i++) {
		EXPECT_EQ(0, epolls(self->epoll, SHORT_MS));
		__atomic_store_n(&self->w.cell[9], 1, __ATOMIC_SEQ_CST);
		EXPECT_EQ(EPOLLIN, epolls(self->epoll, HANG_MS));
		EXPECT_EQ(POLLIN, readable(self->event, HANG_MS));
		__atomic_store_n(&self->w.cell[9], 0, __ATOMIC_SEQ_CST);
		usleep(100000);
	}
	EXPECT_EQ(1, take(self->event));
	EXPECT_EQ(0,
		  sim_signal_result(self->w.fd, PLD_SIGNAL_END, cookie, NULL));
}

TEST_F(events, before_joining_and_in_a_fork_it_polls_EPOLLERR)
{
	struct pld_sim_condition c = EQ(0, 0);
	int device = sim_open(), status;
	pid_t pid;

	EXPECT_EQ(POLLERR, polls(device, 0));
	close(device);
	EXPECT_EQ(0, sim_arm(self->w.fd, 0, &c, 1));
	fflush(NULL);
	pid = fork();
	if (!pid)
		_exit(polls(self->w.fd, 0) == POLLERR &&
				      sim_arm(self->w.fd, 0, NULL, 0) == -EPERM
			      ? 0
			      : 1);
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
	EXPECT_EQ(POLLIN, polls(self->w.fd, 0));
}

TEST_F(events, duplicate_polls_too_and_its_close_is_a_death)
{
	struct pld_sim_condition c = EQ(0, 0);
	int copy = dup(self->w.fd);

	EXPECT_EQ(0, sim_arm(copy, 0, &c, 1));
	EXPECT_EQ(POLLIN, polls(copy, 0));
	EXPECT_EQ(POLLIN, polls(self->w.fd, 0));
	EXPECT_EQ(0, add_to_epoll(self->epoll, copy, EPOLLIN));
	EXPECT_EQ(EPOLLIN, epolls(self->epoll, 0));
	close(copy);
	/* epoll knows the open file, not the descriptor. */
	EXPECT_EQ(DEAD, epolls(self->epoll, 0));
	EXPECT_EQ(POLLERR | POLLHUP, polls(self->w.fd, 0));
}

/* ---- ends ---- */

static int join_and_die(struct peer *self, void *arg)
{
	struct ringer *r = arg;

	NEED(sim_member(r->domain, 1) >= 0);
	peer_tell(self, 0);
	return peer_hear(self);
}

TEST_F(events, death_polls_EPOLLHUP_and_tells_every_eventfd)
{
	struct ringer r = { self->w.domain, self->w.win };
	struct pld_sim_condition c = EQ(0, 1);
	__u64 cookie;
	struct peer p;

	ASSERT_EQ(0, peer_start(&p, join_and_die, &r));
	ASSERT_EQ(0, peer_hear(&p));
	EXPECT_EQ(0, add_to_epoll(self->epoll, self->w.fd, EPOLLET));
	EXPECT_EQ(0, sim_arm(self->w.fd, 0, &c, 1));
	EXPECT_EQ(0,
		  sim_signal(self->w.fd, 0, &c, 1, self->event, NEVER, &cookie));
	EXPECT_EQ(2, sim_load(&self->w.bell->waiters));
	EXPECT_EQ(0, epolls(self->epoll, SHORT_MS));
	EXPECT_EQ(137, peer_kill(&p));
	EXPECT_EQ(DEAD, epolls(self->epoll, HANG_MS));
	EXPECT_EQ(POLLIN, readable(self->event, HANG_MS));
	EXPECT_EQ(1, take(self->event));
	EXPECT_EQ(POLLERR | POLLHUP, polls(self->w.fd, 0));
	EXPECT_EQ(0, sim_load(&self->w.bell->waiters));
	EXPECT_EQ(-EOWNERDEAD,
		  sim_signal_result(self->w.fd, PLD_SIGNAL_ASK, cookie, NULL));
	EXPECT_EQ(-EOWNERDEAD, sim_arm(self->w.fd, 0, &c, 1));
	EXPECT_EQ(-EOWNERDEAD,
		  sim_signal(self->w.fd, 0, &c, 1, self->event, NEVER, &cookie));
	EXPECT_EQ(-EOWNERDEAD,
		  sim_fence(self->w.fd, 0, &c, 1, sim_after(SIM_SEC)));
}

TEST_F(events, failure_polls_and_tells_of_its_reason)
{
	static const struct {
		__u32 reason;
		__s32 result;
	} fails[] = {
		{ PLD_FAIL_ERROR, -EOWNERDEAD },
		{ PLD_FAIL_TIMEOUT, -ETIMEDOUT },
		{ PLD_FAIL_ABORT, -ECANCELED },
		{ PLD_FAIL_OUTSIDE, -EOWNERDEAD },
	};

	for (size_t i = 0; i < ARRAY_SIZE(fails); i++) {
		int domain = sim_domain(1), fd = sim_member(domain, 0);
		struct pld_sim_window_alloc win;
		struct pld_sim_condition c = { .expected = 1 };
		__u64 cookie;

		ASSERT_LE(0, fd);
		ASSERT_EQ(0, sim_alloc(domain, 64, 0, &win));
		c.window = win.window;
		EXPECT_EQ(0,
			  sim_signal(fd, 0, &c, 1, self->event, NEVER, &cookie));
		EXPECT_EQ(0, polls(fd, 0));
		EXPECT_EQ(0, sim_fail(domain, fails[i].reason, 0, 0));
		EXPECT_EQ(POLLERR | POLLHUP, polls(fd, 0));
		EXPECT_EQ(1, take(self->event));
		EXPECT_EQ(fails[i].result,
			  sim_signal_result(fd, PLD_SIGNAL_END, cookie, NULL));
		close(fd);
		close(domain);
	}
}

TEST_F(events, leaving_polls_EPOLLHUP_and_tells_every_eventfd)
{
	struct pld_sim_condition c = EQ(0, 1);
	__u64 cookie;

	EXPECT_EQ(0, add_to_epoll(self->epoll, self->w.fd, EPOLLET));
	EXPECT_EQ(0, sim_arm(self->w.fd, 0, &c, 1));
	EXPECT_EQ(0,
		  sim_signal(self->w.fd, 0, &c, 1, self->event, NEVER, &cookie));
	EXPECT_EQ(0, sim_leave(self->w.fd));
	EXPECT_EQ(DEAD, epolls(self->epoll, HANG_MS));
	EXPECT_EQ(1, take(self->event));
	EXPECT_EQ(0, sim_load(&self->w.bell->waiters));
	EXPECT_EQ(-ENOTCONN, sim_arm(self->w.fd, 0, NULL, 0));
	/* The domain is whole, and others use it. */
	EXPECT_EQ(0, polls(self->w.peer_fd, 0));
	EXPECT_EQ(0, sim_ring(self->w.peer_fd, self->w.win.window, 0, 0));
}

/* In whatever order they are closed, what is left works. */
TEST_F(events, files_may_be_closed_in_any_order)
{
	struct pld_sim_condition c = GE(0, 1);
	__u64 cookie;

	EXPECT_EQ(0, add_to_epoll(self->epoll, self->w.fd, EPOLLIN));
	EXPECT_EQ(0, add_to_epoll(self->epoll, self->event, EPOLLIN));
	EXPECT_EQ(0, sim_arm(self->w.fd, 0, &c, 1));
	EXPECT_EQ(0,
		  sim_signal(self->w.fd, 0, &c, 1, self->event, NEVER, &cookie));
	/* Its descriptor and the window are gone, the signal is there. */
	close(self->event);
	EXPECT_EQ(0, sim_free(self->w.domain, self->w.win.window));
	__atomic_store_n(self->w.cell, 1, __ATOMIC_SEQ_CST);
	EXPECT_EQ(POLLIN, polls(self->w.fd, 0));
	close(self->w.fd);
	/* The mapping keeps the file, as what it is now. */
	EXPECT_EQ(DEAD, epolls(self->epoll, 0));
	EXPECT_EQ(POLLERR | POLLHUP, polls(self->w.peer_fd, HANG_MS));
}

/* ---- eventfds ---- */

TEST_F(events, eventfd_is_told_once_when_the_conditions_hold)
{
	struct pld_sim_condition c[] = { GE(1, 10), EQ(2, 20) };
	struct sim_answer answer;
	__u64 cookie;

	EXPECT_EQ(0,
		  sim_signal(self->w.fd, 0, c, 2, self->event, NEVER, &cookie));
	EXPECT_NE(0, cookie);
	EXPECT_EQ(1, sim_load(&self->w.bell->waiters));
	notify(&self->w, 2, 20);
	EXPECT_EQ(0, take(self->event));
	EXPECT_EQ(-EAGAIN, sim_signal_result(self->w.fd, PLD_SIGNAL_ASK, cookie,
					     &answer));
	EXPECT_EQ(0, answer.index);
	EXPECT_EQ(0, answer.value);
	notify(&self->w, 1, 11);
	EXPECT_EQ(1, take(self->event));
	EXPECT_EQ(0, sim_load(&self->w.bell->waiters));
	/* What it saw is not forgotten. */
	notify(&self->w, 1, 0);
	notify(&self->w, 1, 12);
	sim_ring(self->w.peer_fd, self->w.win.window, 0, 4);
	EXPECT_EQ(0, take(self->event));
	for (int i = 0; i < 2; i++) {
		EXPECT_EQ(0, sim_signal_result(self->w.fd, PLD_SIGNAL_ASK,
					       cookie, &answer));
		EXPECT_EQ(0, answer.index);
		EXPECT_EQ(11, answer.value);
	}
	EXPECT_EQ(0,
		  sim_signal_result(self->w.fd, PLD_SIGNAL_END, cookie, NULL));
	EXPECT_EQ(INT32_MIN,
		  sim_signal_result(self->w.fd, PLD_SIGNAL_ASK, cookie, NULL));
	EXPECT_EQ(ENOENT, errno);
}

TEST_F(events, eventfd_is_told_at_once_of_what_holds)
{
	struct pld_sim_condition c[] = { GE(1, 1), EQ(2, 0) };
	struct sim_answer answer;
	__u64 cookie;

	EXPECT_EQ(0, sim_signal(self->w.fd, PLD_WAIT_ANY, c, 2, self->event,
				NEVER, &cookie));
	EXPECT_EQ(1, take(self->event));
	EXPECT_EQ(0, sim_signal_result(self->w.fd, PLD_SIGNAL_END, cookie,
				       &answer));
	EXPECT_EQ(1, answer.index);
	EXPECT_EQ(0, sim_load(&self->w.bell->waiters));
}

TEST_F(events, several_signals_of_one_rank_tell_each_its_own)
{
	__u64 cookie[MOST];
	int event[MOST];

	for (int i = 0; i < MOST; i++) {
		struct pld_sim_condition c = GE(i, 1);

		event[i] = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
		ASSERT_LE(0, event[i]);
		ASSERT_EQ(0, sim_signal(self->w.fd, 0, &c, 1, event[i], NEVER,
					&cookie[i]));
		EXPECT_NE(cookie[0], cookie[i] + !i);
	}
	EXPECT_EQ(MOST, sim_load(&self->w.bell->waiters));
	for (int n = 0; n < MOST; n++) {
		int i = n * 37 % MOST;

		notify(&self->w, i, 1);
		EXPECT_EQ(MOST - n - 1, (int)sim_load(&self->w.bell->waiters));
		for (int k = 0; k < MOST; k++) {
			ASSERT_EQ(k == i, take(event[k]))
			TH_LOG("eventfd %d of %d", k, i);
		}
	}
	for (int i = 0; i < MOST; i++) {
		EXPECT_EQ(0, sim_signal_result(self->w.fd, PLD_SIGNAL_END,
					       cookie[i], NULL));
		close(event[i]);
	}
}

/* More than a kernel wakes in one go, on one cell and one eventfd. */
TEST_F(events, most_signals_are_limited_and_one_ring_tells_all)
{
	struct pld_sim_condition c = GE(0, 1);
	__u64 cookie[PLD_SIM_MAX_SIGNALS], extra;

	for (int i = 0; i < PLD_SIM_MAX_SIGNALS; i++)
		ASSERT_EQ(0, sim_signal(self->w.fd, 0, &c, 1, self->event,
					NEVER, &cookie[i]));
	EXPECT_EQ(-ENOSPC,
		  sim_signal(self->w.fd, 0, &c, 1, self->event, NEVER, &extra));
	EXPECT_EQ(-ENOSPC, sim_fence(self->w.fd, 0, &c, 1, sim_after(SIM_SEC)));
	/* Arming is none of them. */
	EXPECT_EQ(0, sim_arm(self->w.fd, 0, &c, 1));
	EXPECT_EQ(PLD_SIM_MAX_SIGNALS + 1,
		  (int)sim_load(&self->w.bell->waiters));
	notify(&self->w, 0, 1);
	EXPECT_EQ(PLD_SIM_MAX_SIGNALS, (int)take(self->event));
	EXPECT_EQ(POLLIN, polls(self->w.fd, 0));
	EXPECT_EQ(1, sim_load(&self->w.bell->waiters));
	EXPECT_EQ(-ENOSPC,
		  sim_signal(self->w.fd, 0, &c, 1, self->event, NEVER, &extra));
	EXPECT_EQ(0, sim_signal_result(self->w.fd, PLD_SIGNAL_END, cookie[100],
				       NULL));
	EXPECT_EQ(0,
		  sim_signal(self->w.fd, 0, &c, 1, self->event, NEVER, &extra));
	EXPECT_EQ(1, take(self->event));
}

TEST_F(events, signal_that_is_taken_back_tells_nothing)
{
	struct pld_sim_condition c = GE(0, 1);
	__u64 cookie[2];

	for (int i = 0; i < 2; i++)
		EXPECT_EQ(0, sim_signal(self->w.fd, 0, &c, 1, self->event,
					NEVER, &cookie[i]));
	EXPECT_EQ(-EAGAIN, sim_signal_result(self->w.fd, PLD_SIGNAL_END,
					     cookie[0], NULL));
	EXPECT_EQ(1, sim_load(&self->w.bell->waiters));
	EXPECT_EQ(0, take(self->event));
	notify(&self->w, 0, 1);
	EXPECT_EQ(1, take(self->event));
	/* Not those of another rank file. */
	EXPECT_EQ(INT32_MIN, sim_signal_result(self->w.peer_fd, PLD_SIGNAL_END,
					       cookie[1], NULL));
	EXPECT_EQ(ENOENT, errno);
	EXPECT_EQ(0, sim_signal_result(self->w.fd, PLD_SIGNAL_END, cookie[1],
				       NULL));
}

TEST_F(events, deadline_tells_the_eventfd_of_a_timeout)
{
	struct pld_sim_condition c = GE(0, 1);
	__s64 deadline = sim_after(60 * SIM_MS);
	struct sim_answer answer;
	__u64 cookie;

	self->w.cell[0] = -4;
	EXPECT_EQ(0, sim_signal(self->w.fd, 0, &c, 1, self->event, deadline,
				&cookie));
	EXPECT_EQ(POLLIN, readable(self->event, HANG_MS));
	EXPECT_LE(deadline, sim_now());
	EXPECT_EQ(1, take(self->event));
	EXPECT_EQ(-ETIMEDOUT, sim_signal_result(self->w.fd, PLD_SIGNAL_END,
						cookie, &answer));
	EXPECT_EQ(-4, answer.value);
	/* One look. */
	EXPECT_EQ(0, sim_signal(self->w.fd, 0, &c, 1, self->event, 0, &cookie));
	EXPECT_EQ(1, take(self->event));
	EXPECT_EQ(-ETIMEDOUT,
		  sim_signal_result(self->w.fd, PLD_SIGNAL_END, cookie, NULL));
	EXPECT_EQ(0, sim_load(&self->w.bell->waiters));
}

TEST_F(events, what_is_no_eventfd_or_no_signal_is_refused)
{
	struct pld_sim_condition c = GE(0, 1), bad = GE(0, 1);
	struct pld_sim_signal_eventfd arg = {
		.size = sizeof(arg),
		.conditions = (uintptr_t)&c,
		.nr_conditions = 1,
		.eventfd = self->event,
		.cookie = 1,
	};
	__u64 cookie;

	EXPECT_EQ(-EBADF, sim_signal(self->w.fd, 0, &c, 1, -1, NEVER, &cookie));
	EXPECT_EQ(-EBADF,
		  sim_signal(self->w.fd, 0, &c, 1, 1000, NEVER, &cookie));
	EXPECT_EQ(-EINVAL,
		  sim_signal(self->w.fd, 0, &c, 1, self->w.fd, NEVER, &cookie));
	EXPECT_EQ(-EINVAL,
		  sim_signal(self->w.fd, 0, &c, 1, self->epoll, NEVER, &cookie));
	EXPECT_EQ(-EINVAL,
		  sim_signal(self->w.fd, 0, &c, 0, self->event, NEVER, &cookie));
	EXPECT_EQ(-EINVAL, sim_signal(self->w.fd, 0, &c, MOST + 1, self->event,
				      NEVER, &cookie));
	EXPECT_EQ(-EFAULT, sim_signal(self->w.fd, 0, NULL, 1, self->event,
				      NEVER, &cookie));
	bad.window++;
	EXPECT_EQ(-ENOENT, sim_signal(self->w.fd, 0, &bad, 1, self->event,
				      NEVER, &cookie));
	bad = GE(1024, 0);
	EXPECT_EQ(-ERANGE, sim_signal(self->w.fd, 0, &bad, 1, self->event,
				      NEVER, &cookie));
	EXPECT_EQ(-ERANGE, sim_arm(self->w.fd, 0, &bad, 1));
	EXPECT_EQ(-EINVAL, sim_arm(self->w.fd, PLD_WAIT_ANY, NULL, 0));
	/* Who sets a signal has no cookie, who asks has nothing else. */
	EXPECT_EQ(-EINVAL, sim_ioctl(self->w.fd, PLD_IOC_SIGNAL_EVENTFD, &arg));
	arg.flags = PLD_SIGNAL_ASK;
	EXPECT_EQ(-EINVAL, sim_ioctl(self->w.fd, PLD_IOC_SIGNAL_EVENTFD, &arg));
	arg = (struct pld_sim_signal_eventfd){
		.size = sizeof(arg),
		.flags = PLD_SIGNAL_ASK | PLD_SIGNAL_END,
		.cookie = 1,
	};
	EXPECT_EQ(-EINVAL, sim_ioctl(self->w.fd, PLD_IOC_SIGNAL_EVENTFD, &arg));
	EXPECT_EQ(0, sim_load(&self->w.bell->waiters));
	EXPECT_EQ(0, take(self->event));
}

/* ---- nothing is left ---- */

/* A rank that keeps making and taking back signals of all kinds. */
static int churn(struct peer *self, void *arg)
{
	struct ringer *r = arg;
	int fd = sim_member(r->domain, 1);
	__s32 *cell = sim_map(fd, &r->win, 1);
	int event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	struct pld_sim_condition c[2] = { { .window = r->win.window } };
	unsigned int seed = getpid();
	__u64 cookie[8] = { 0 };
	int fence[8];

	NEED(fd >= 0 && cell != MAP_FAILED && event >= 0);
	c[1] = c[0];
	c[1].offset = 4;
	memset(fence, -1, sizeof(fence));
	peer_tell(self, 0);
	while (fd >= 0) {
		int i = rand_r(&seed) % 8;

		c[0].expected = rand_r(&seed) % 4;
		c[1].expected = rand_r(&seed) % 4;
		__atomic_store_n(cell, rand_r(&seed) % 4, __ATOMIC_SEQ_CST);
		sim_arm(fd, rand_r(&seed) % 2, c, 2);
		if (cookie[i])
			sim_signal_result(fd, PLD_SIGNAL_END, cookie[i], NULL);
		sim_signal(fd, rand_r(&seed) % 2, c, 2, event,
			   sim_after(rand_r(&seed) % SIM_MS), &cookie[i]);
		sim_ring(fd, r->win.window, 1, 0);
		if (fence[i] >= 0)
			close(fence[i]);
		fence[i] = sim_fence(fd, 0, c, 2,
				     sim_after(rand_r(&seed) % SIM_SEC));
		polls(fence[i], 0);
	}
	return 0;
}

TEST_F_TIMEOUT(events, killed_ranks_leave_nothing, 120)
{
	long long references = steady_references();
	unsigned int seed = 11;
	const struct pld_sim_doorbell *bell = sim_doorbell(self->w.fd, 1);
	int log = kernel_log_open();

	ASSERT_NE(MAP_FAILED, bell);
	for (int i = 0; i < 6; i++) {
		int domain = sim_domain(2);
		struct ringer r = { .domain = domain };
		struct peer p;

		ASSERT_LE(0, domain);
		ASSERT_EQ(0, sim_alloc(domain, SIM_PAGE, PLD_WINDOW_SIGNAL,
				       &r.win));
		ASSERT_EQ(0, peer_start(&p, churn, &r));
		ASSERT_EQ(0, peer_hear(&p));
		usleep(rand_r(&seed) % 60000);
		EXPECT_EQ(137, peer_kill(&p));
		close(domain);
	}
	EXPECT_EQ(references, settled_references(references));
	EXPECT_EQ((long long)SIM_PAGE, settled_memory(1, SIM_PAGE));
	if (log >= 0)
		EXPECT_EQ(0, kernel_log_splats(log));
}

/* The doorbell of a killed rank, as its peer sees it. */
TEST_F(events, killed_ranks_waiters_are_none)
{
	const struct pld_sim_doorbell *bell = sim_doorbell(self->w.fd, 1);
	struct ringer r = { self->w.domain, self->w.win };
	struct peer p;

	ASSERT_NE(MAP_FAILED, bell);
	ASSERT_EQ(0, peer_start(&p, churn, &r));
	ASSERT_EQ(0, peer_hear(&p));
	usleep(30000);
	EXPECT_EQ(137, peer_kill(&p));
	EXPECT_TRUE(sim_until(&bell->waiters, 0));
}

/* Two threads at one rank file: signals made and ended while others are told. */
static void *ring_all_the_time(void *arg)
{
	FIXTURE_DATA(events) *self = arg;

	for (int i = 0; !sim_load((__u32 *)&self->w.cell[100]); i++)
		notify(&self->w, 0, i % 3);
	return NULL;
}

TEST_F(events, threads_ring_while_signals_come_and_go)
{
	struct pld_sim_condition c = EQ(0, 2);
	pthread_t thread;
	__u64 cookie;

	ASSERT_EQ(0, pthread_create(&thread, NULL, ring_all_the_time, self));
	for (int i = 0; i < 300; i++) {
		int fence;

		ASSERT_EQ(0, sim_arm(self->w.fd, 0, &c, 1));
		ASSERT_EQ(0, sim_signal(self->w.fd, 0, &c, 1, self->event,
					NEVER, &cookie));
		fence = sim_fence(self->w.fd, 0, &c, 1, sim_after(SIM_SEC));
		ASSERT_LE(0, fence);
		close(fence);
		ASSERT_NE(INT32_MIN,
			  sim_signal_result(self->w.fd, PLD_SIGNAL_END, cookie,
					    NULL));
	}
	__atomic_store_n(&self->w.cell[100], 1, __ATOMIC_SEQ_CST);
	ASSERT_EQ(0, pthread_join(thread, NULL));
	EXPECT_EQ(0, sim_arm(self->w.fd, 0, NULL, 0));
	/* Closed fences wait on for their conditions. */
	notify(&self->w, 0, 2);
	EXPECT_TRUE(sim_until(&self->w.bell->waiters, 0));
}

PLD_TEST_MAIN
