// SPDX-License-Identifier: GPL-2.0
/*
 * Conditions that are armed on a rank file, which then polls: when it does, in
 * poll() and in epoll, and what arming again replaces. (Beside eventfds: events.c.)
 *
 * This process is rank 0, whose cells are watched; peers are rank 1.
 */
#include "pld_events.h"

FIXTURE(poll)
{
	struct watched w;
	int epoll;
};

FIXTURE_SETUP(poll)
{
	watched_setup(_metadata, &self->w);
	self->epoll = epoll_create1(EPOLL_CLOEXEC);
	ASSERT_LE(0, self->epoll);
}

FIXTURE_TEARDOWN(poll)
{
	close(self->epoll);
	watched_teardown(&self->w);
}

TEST_F(poll, armed_condition_polls_while_it_holds)
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

TEST_F(poll, arming_again_replaces_what_was_armed)
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

TEST_F(poll, any_and_all_of_many_conditions)
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
			 FIXTURE_DATA(poll) * self, struct peer *p)
{
	struct ringer r = { self->w.domain, self->w.win };

	ASSERT_EQ(0, peer_start(p, ring_when_told, &r));
	ASSERT_EQ(0, peer_hear(p));
}

TEST_F(poll, ring_wakes_who_polls)
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

TEST_F(poll, level_triggered_epoll_tells_as_long_as_it_holds)
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

TEST_F(poll, edge_triggered_epoll_tells_at_each_ring_while_it_holds)
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

TEST_F(poll, before_joining_and_in_a_fork_it_polls_EPOLLERR)
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

TEST_F(poll, duplicate_polls_too_and_its_close_is_a_death)
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

PLD_TEST_MAIN
