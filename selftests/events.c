// SPDX-License-Identifier: GPL-2.0
/*
 * Rank files that poll, eventfds and fences of one rank at once: that all of them
 * tell of ends of all kinds, and that nothing is left. (Each alone: poll.c,
 * eventfd.c, fence.c. That no ring is lost: handshake.c.)
 *
 * This process is rank 0, whose cells are watched; peers are rank 1.
 */
#include <pthread.h>

#include "pld_counters.h"
#include "pld_events.h"

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
		/* Of closed ones there are many, if the thread does not run. */
		for (int j = 0; j < 2000 && fence == -ENOSPC; j++) {
			usleep(1000);
			fence = sim_fence(self->w.fd, 0, &c, 1,
					  sim_after(SIM_SEC));
		}
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
