// SPDX-License-Identifier: GPL-2.0
/*
 * That no wake-up is lost: two ranks change each other's cells by turns. It
 * tells something when the module was loaded with recheck_ms=0, where only a
 * ring ends a wait that sleeps; recheck.sh loads it so and runs this.
 *
 * This process is rank 0, which waits in some way, and a peer that waits in the
 * plain one is rank 1.
 */
#include <sys/eventfd.h>

#include "pld_poll.h"
#include "pld_test.h"

#define HANG_MS (SIM_HANG / SIM_MS)

/*
 * One side of the handshakes: its own cell, the peer's cell and doorbell. The
 * pauses before its waits are drawn at random up to the time that the last
 * answer took, so that answers come before, after and in the very moment when
 * it goes to sleep.
 */
struct side {
	int fd;
	__u32 peer;
	const struct pld_sim_window_alloc *win;
	const struct pld_sim_doorbell *bell;
	__s32 *cell;
	unsigned int seed;
	__s64 took;
	/* for some ways of waiting */
	int epoll;
	int event;
};

typedef int wait_fn(struct side *s, const struct pld_sim_condition *condition);

static int by_wait(struct side *s, const struct pld_sim_condition *condition)
{
	return sim_wait_for(s->fd, 0, condition, 1, sim_after(SIM_HANG), NULL);
}

static int readable(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return poll_one(&p, HANG_MS) == 1 && p.revents == POLLIN;
}

static int by_epoll(struct side *s, const struct pld_sim_condition *condition)
{
	struct epoll_event event = { 0 };
	int ret = sim_arm(s->fd, 0, condition, 1);

	if (ret)
		return ret;
	if (epoll_one(s->epoll, &event, HANG_MS) != 1)
		return -ETIMEDOUT;
	return event.events == EPOLLIN ? 0 : -EIO;
}

static int by_eventfd(struct side *s, const struct pld_sim_condition *condition)
{
	eventfd_t count;
	__u64 cookie;
	int ret;

	ret = sim_signal(s->fd, 0, condition, 1, s->event, INT64_MAX, &cookie);
	if (ret)
		return ret;
	if (!readable(s->event) || eventfd_read(s->event, &count) || count != 1)
		return -ETIMEDOUT;
	return sim_signal_result(s->fd, PLD_SIGNAL_END, cookie, NULL);
}

/* Its deadline is before that of the hang: the cell tells who was first. */
static int by_fence(struct side *s, const struct pld_sim_condition *condition)
{
	__s64 deadline = sim_after(PLD_SIM_MAX_FENCE_NS);
	int fence, told;

	fence = sim_fence(s->fd, 0, condition, 1, deadline);
	if (fence < 0)
		return fence;
	told = readable(fence);
	close(fence);
	return told && sim_now() < deadline ? 0 : -ETIMEDOUT;
}

static int open_side(struct side *s, int fd, __u32 peer,
		     const struct pld_sim_window_alloc *win)
{
	*s = (struct side){
		.fd = fd,
		.peer = peer,
		.win = win,
		.bell = sim_doorbell(fd, peer),
		.cell = sim_map(fd, win, peer),
		.seed = peer,
		.epoll = epoll_create1(EPOLL_CLOEXEC),
		.event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK),
	};
	struct epoll_event event = { .events = EPOLLIN };

	return s->bell == MAP_FAILED || s->cell == MAP_FAILED ||
	       epoll_ctl(s->epoll, EPOLL_CTL_ADD, fd, &event);
}

/* A wait that only its deadline has ended, with the answer there, has failed. */
static int await_answer(struct side *s, wait_fn *wait, int i)
{
	struct pld_sim_condition condition =
		sim_condition(s->win->window, 0, PLD_SIM_CMP_EQ, i);
	__s64 start = sim_now();
	__s64 pause = s->took ? rand_r(&s->seed) % s->took : 0;
	__s64 deadline;
	int ret;

	while (sim_now() - start < pause)
		;
	deadline = sim_after(SIM_HANG);
	ret = wait(s, &condition);
	if (!ret && sim_now() >= deadline)
		return -ETIMEDOUT;
	s->took = sim_now() - start;
	if (s->took > 2 * SIM_MS)
		s->took = 2 * SIM_MS;
	return ret;
}

/* Rings only when the peer's waiters word says that it sleeps. */
static int notify(struct side *s)
{
	__atomic_fetch_add(s->cell, 1, __ATOMIC_SEQ_CST);
	if (!sim_load(&s->bell->waiters))
		return 0;
	return sim_ring(s->fd, s->win->window, s->peer, 0);
}

struct pong {
	int domain;
	int turns;
	struct pld_sim_window_alloc win;
};

static int answer_handshakes(struct peer *self, void *arg)
{
	struct pong *job = arg;
	struct side side;

	NEED(open_side(&side, sim_member(job->domain, 1), 0, &job->win) == 0);
	for (int i = 1; i <= job->turns; i++) {
		NEED(await_answer(&side, by_wait, i) == 0);
		NEED(notify(&side) == 0);
	}
	return sim_leave(side.fd);
}

FIXTURE(handshake)
{
	struct pong job;
	int fd;
	__s32 *cell;
};

FIXTURE_VARIANT(handshake)
{
	wait_fn *wait;
	int turns;
};

FIXTURE_VARIANT_ADD(handshake, by_wait){
	.wait = by_wait,
	.turns = 5000,
};

FIXTURE_VARIANT_ADD(handshake, by_epoll){
	.wait = by_epoll,
	.turns = 500,
};

FIXTURE_VARIANT_ADD(handshake, by_eventfd){
	.wait = by_eventfd,
	.turns = 500,
};

FIXTURE_VARIANT_ADD(handshake, by_fence){
	.wait = by_fence,
	.turns = 500,
};

FIXTURE_SETUP(handshake)
{
	self->job.turns = variant->turns;
	self->job.domain = sim_domain(2);
	ASSERT_LE(0, self->job.domain);
	ASSERT_EQ(0, sim_alloc(self->job.domain, SIM_PAGE, PLD_WINDOW_SIGNAL,
			       &self->job.win));
	self->fd = sim_member(self->job.domain, 0);
	ASSERT_LE(0, self->fd);
	self->cell = sim_map(self->fd, &self->job.win, 0);
	ASSERT_NE(MAP_FAILED, self->cell);
}

FIXTURE_TEARDOWN(handshake)
{
	close(self->fd);
	close(self->job.domain);
}

TEST_F_TIMEOUT(handshake, none_of_thousands_is_lost, 300)
{
	struct side side;
	struct peer p;

	ASSERT_EQ(0, open_side(&side, self->fd, 1, &self->job.win));
	ASSERT_EQ(0, peer_start(&p, answer_handshakes, &self->job));
	for (int i = 1; i <= variant->turns; i++) {
		ASSERT_EQ(0, notify(&side));
		ASSERT_EQ(0, await_answer(&side, variant->wait, i));
	}
	EXPECT_EQ(0, peer_reap(&p));
	EXPECT_EQ(variant->turns, *side.cell);
	EXPECT_EQ(variant->turns, *self->cell);
}

PLD_TEST_MAIN
