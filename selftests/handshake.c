// SPDX-License-Identifier: GPL-2.0
/*
 * That no wake-up is lost: two ranks change each other's cells by turns. It
 * tells something when the module was loaded with recheck_ms=0, where only a
 * ring ends a wait that sleeps; recheck.sh loads it so and runs this.
 *
 * This process is rank 0, and a peer is rank 1.
 */
#include "pld_test.h"

#define HANDSHAKES 5000

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
};

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
	};
	return s->bell == MAP_FAILED || s->cell == MAP_FAILED;
}

/* A wait that only its deadline has ended, with the answer there, has failed. */
static int await_answer(struct side *s, int i)
{
	__s64 start = sim_now();
	__s64 pause = s->took ? rand_r(&s->seed) % s->took : 0;
	__s64 deadline;
	int ret;

	while (sim_now() - start < pause)
		;
	deadline = sim_after(SIM_HANG);
	ret = sim_wait(s->fd, s->win->window, 0, PLD_SIM_CMP_EQ, i, deadline,
		       NULL);
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
	struct pld_sim_window_alloc win;
};

static int answer_handshakes(struct peer *self, void *arg)
{
	struct pong *job = arg;
	struct side side;

	NEED(open_side(&side, sim_member(job->domain, 1), 0, &job->win) == 0);
	for (int i = 1; i <= HANDSHAKES; i++) {
		NEED(await_answer(&side, i) == 0);
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

FIXTURE_SETUP(handshake)
{
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

TEST_F_TIMEOUT(handshake, none_of_five_thousand_is_lost, 300)
{
	struct side side;
	struct peer p;

	ASSERT_EQ(0, open_side(&side, self->fd, 1, &self->job.win));
	ASSERT_EQ(0, peer_start(&p, answer_handshakes, &self->job));
	for (int i = 1; i <= HANDSHAKES; i++) {
		ASSERT_EQ(0, notify(&side));
		ASSERT_EQ(0, await_answer(&side, i));
	}
	EXPECT_EQ(0, peer_reap(&p));
	EXPECT_EQ(HANDSHAKES, *side.cell);
	EXPECT_EQ(HANDSHAKES, *self->cell);
}

PLD_TEST_MAIN
