// SPDX-License-Identifier: GPL-2.0
/*
 * Waits on signal cells: comparisons, deadlines, signals, the waiters word of
 * the doorbell, and rings. (That no ring is lost: handshake.c.)
 *
 * This process is rank 0, the one whose cells are waited on or rung; peers are
 * processes that join as other ranks.
 */
#include <pthread.h>
#include <sys/time.h>

#include "pld_watched.h"

FIXTURE(wait)
{
	struct watched w;
};

FIXTURE_SETUP(wait)
{
	watched_setup(_metadata, &self->w);
}

FIXTURE_TEARDOWN(wait)
{
	watched_teardown(&self->w);
}

/* The outcome of a wait: what it returned and the value it saw. */
struct outcome {
	int ret;
	__s32 value;
};

static struct outcome look(FIXTURE_DATA(wait) * self, __u32 cmp, __s32 expected,
			   __s64 deadline)
{
	struct outcome o;

	o.ret = sim_wait(self->w.fd, self->w.win.window, 0, cmp, expected,
			 deadline, &o.value);
	return o;
}

#define EXPECT_OUTCOME(_ret, _value, _call)  \
	do {                                 \
		struct outcome o_ = (_call); \
		EXPECT_EQ(_ret, o_.ret);     \
		EXPECT_EQ(_value, o_.value); \
	} while (0)

TEST_F(wait, satisfied_comparison_returns_at_once)
{
	*self->w.cell = 5;
	EXPECT_OUTCOME(0, 5, look(self, PLD_SIM_CMP_EQ, 5, NEVER));
	EXPECT_OUTCOME(0, 5, look(self, PLD_SIM_CMP_GE, 5, NEVER));
	EXPECT_OUTCOME(0, 5, look(self, PLD_SIM_CMP_GE, 4, NEVER));
	EXPECT_OUTCOME(0, 5, look(self, PLD_SIM_CMP_GE, INT32_MIN, NEVER));
}

TEST_F(wait, comparison_is_signed)
{
	*self->w.cell = -3;
	EXPECT_OUTCOME(0, -3, look(self, PLD_SIM_CMP_EQ, -3, NEVER));
	EXPECT_OUTCOME(0, -3, look(self, PLD_SIM_CMP_GE, -4, NEVER));
	EXPECT_OUTCOME(-ETIMEDOUT, -3, look(self, PLD_SIM_CMP_GE, 0, 0));
	EXPECT_OUTCOME(-ETIMEDOUT, -3, look(self, PLD_SIM_CMP_EQ, 3, 0));
	*self->w.cell = INT32_MAX;
	EXPECT_OUTCOME(0, INT32_MAX,
		       look(self, PLD_SIM_CMP_GE, INT32_MIN, NEVER));
	*self->w.cell = INT32_MIN;
	EXPECT_OUTCOME(-ETIMEDOUT, INT32_MIN,
		       look(self, PLD_SIM_CMP_GE, INT32_MAX, 0));
}

TEST_F(wait, deadline_in_the_past_looks_once)
{
	static const __s64 past[] = { 0, 1, -1, INT64_MIN };

	for (unsigned int i = 0; i < ARRAY_SIZE(past); i++) {
		*self->w.cell = 8;
		EXPECT_OUTCOME(0, 8, look(self, PLD_SIM_CMP_EQ, 8, past[i]));
		EXPECT_OUTCOME(-ETIMEDOUT, 8,
			       look(self, PLD_SIM_CMP_EQ, 9, past[i]));
	}
	EXPECT_OUTCOME(-ETIMEDOUT, 8, look(self, PLD_SIM_CMP_GE, 9, sim_now()));
}

TEST_F(wait, deadline_that_passes_is_ETIMEDOUT_with_the_value)
{
	__s64 deadline = sim_after(50 * SIM_MS);

	*self->w.cell = 41;
	EXPECT_OUTCOME(-ETIMEDOUT, 41, look(self, PLD_SIM_CMP_GE, 42, deadline));
	EXPECT_LE(deadline, sim_now());
	EXPECT_EQ(0, sim_load(&self->w.bell->waiters));
}

TEST_F(wait, only_an_aligned_cell_of_the_window_can_be_waited_on)
{
	__u32 win = self->w.win.window;

	for (int i = 1; i < 4; i++)
		EXPECT_EQ(-EINVAL, sim_wait(self->w.fd, win, i, PLD_SIM_CMP_EQ,
					    0, 0, NULL));
	EXPECT_EQ(0, sim_wait(self->w.fd, win, SIM_PAGE - 4, PLD_SIM_CMP_EQ, 0,
			      0, NULL));
	EXPECT_EQ(-ERANGE, sim_wait(self->w.fd, win, SIM_PAGE, PLD_SIM_CMP_EQ,
				    0, 0, NULL));
	EXPECT_EQ(-ERANGE, sim_wait(self->w.fd, win, 1ULL << 32, PLD_SIM_CMP_EQ,
				    0, 0, NULL));
	EXPECT_EQ(-ERANGE,
		  sim_wait(self->w.fd, win, -4ULL, PLD_SIM_CMP_EQ, 0, 0, NULL));
}

TEST_F(wait, cell_that_crosses_the_end_of_the_window_is_refused)
{
	struct pld_sim_window_alloc odd;

	ASSERT_EQ(0, sim_alloc(self->w.domain, 10, 0, &odd));
	EXPECT_EQ(0, sim_wait(self->w.fd, odd.window, 4, PLD_SIM_CMP_EQ, 0, 0,
			      NULL));
	EXPECT_EQ(-ERANGE, sim_wait(self->w.fd, odd.window, 8, PLD_SIM_CMP_EQ,
				    0, 0, NULL));
	EXPECT_EQ(-ERANGE, sim_wait(self->w.fd, odd.window, 12, PLD_SIM_CMP_EQ,
				    0, 0, NULL));
}

TEST_F(wait, unknown_comparison_and_window_are_refused)
{
	__u32 win = self->w.win.window;

	EXPECT_EQ(-EINVAL, sim_wait(self->w.fd, win, 0, 2, 0, 0, NULL));
	EXPECT_EQ(-EINVAL, sim_wait(self->w.fd, win, 0, 0xffffffff, 0, 0, NULL));
	EXPECT_EQ(-ENOENT,
		  sim_wait(self->w.fd, win + 1, 0, PLD_SIM_CMP_EQ, 0, 0, NULL));
	EXPECT_EQ(-ENOENT, sim_wait(self->w.fd, 0xffffffff, 0, PLD_SIM_CMP_EQ,
				    0, 0, NULL));
	ASSERT_EQ(0, sim_free(self->w.domain, win));
	EXPECT_EQ(-ENOENT,
		  sim_wait(self->w.fd, win, 0, PLD_SIM_CMP_EQ, 0, 0, NULL));
}

TEST_F(wait, ring_of_what_is_not_there_is_refused)
{
	__u32 win = self->w.win.window;

	EXPECT_EQ(0, sim_ring(self->w.fd, win, 2, SIM_PAGE - 4));
	EXPECT_EQ(-ENOENT, sim_ring(self->w.fd, win + 1, 0, 0));
	EXPECT_EQ(-ERANGE, sim_ring(self->w.fd, win, 3, 0));
	EXPECT_EQ(-ERANGE, sim_ring(self->w.fd, win, 0xffffffff, 0));
	EXPECT_EQ(-ERANGE, sim_ring(self->w.fd, win, 0, SIM_PAGE));
	EXPECT_EQ(-ERANGE, sim_ring(self->w.fd, win, 0, -4ULL));
	EXPECT_EQ(-EINVAL, sim_ring(self->w.fd, win, 0, 2));
}

/* A wait of a peer, which joins as rank and then tells how the wait ended. */
struct job {
	int domain;
	__u32 rank;
	__u32 window;
	__u64 offset;
	__u32 cmp;
	__s32 expected;
	__s64 deadline;
};

static int wait_and_tell(struct peer *self, void *arg)
{
	struct job *j = arg;
	int fd = sim_member(j->domain, j->rank), ret;
	__s32 value;

	NEED(fd >= 0);
	ret = sim_wait(fd, j->window, j->offset, j->cmp, j->expected,
		       j->deadline, &value);
	peer_tell(self, ret);
	peer_tell(self, value);
	return sim_leave(fd);
}

static struct job job_of(FIXTURE_DATA(wait) * self, __u64 offset, __u32 cmp,
			 __s32 expected)
{
	return (struct job){
		.domain = self->w.domain,
		.rank = 1,
		.window = self->w.win.window,
		.offset = offset,
		.cmp = cmp,
		.expected = expected,
		.deadline = NEVER,
	};
}

/* Starts a peer's wait and returns when it sleeps. */
static void start_waiting(struct __test_metadata *_metadata,
			  FIXTURE_DATA(wait) * self, struct peer *p,
			  struct job *job)
{
	const struct pld_sim_doorbell *bell =
		sim_doorbell(self->w.fd, job->rank);

	ASSERT_NE(MAP_FAILED, bell);
	ASSERT_EQ(0, sim_load(&bell->waiters));
	ASSERT_EQ(0, peer_start(p, wait_and_tell, job));
	ASSERT_TRUE(sim_until(&bell->waiters, 1));
	ASSERT_EQ(0, munmap((void *)bell, SIM_PAGE));
}

static void store(__s32 *cell, __s32 value)
{
	__atomic_store_n(cell, value, __ATOMIC_SEQ_CST);
}

TEST_F(wait, ring_ends_a_sleeping_wait)
{
	struct job job = job_of(self, 8, PLD_SIM_CMP_EQ, -2);
	__s32 *cell = sim_map(self->w.fd, &self->w.win, 1);
	struct peer p;

	start_waiting(_metadata, self, &p, &job);
	store(&cell[2], -2);
	EXPECT_EQ(0, sim_ring(self->w.fd, self->w.win.window, 1, 8));
	EXPECT_EQ(0, peer_hear(&p));
	EXPECT_EQ(-2, peer_hear(&p));
	EXPECT_EQ(0, peer_reap(&p));
}

TEST_F(wait, write_without_a_ring_ends_a_sleeping_wait_too)
{
	struct job job = job_of(self, 4, PLD_SIM_CMP_GE, 100);
	__s32 *cell = sim_map(self->w.fd, &self->w.win, 1);
	struct peer p;

	start_waiting(_metadata, self, &p, &job);
	store(&cell[1], 101);
	EXPECT_EQ(0, peer_hear(&p));
	EXPECT_EQ(101, peer_hear(&p));
	EXPECT_EQ(0, peer_reap(&p));
}

TEST_F(wait, ring_without_a_change_ends_no_wait)
{
	struct job job = job_of(self, 0, PLD_SIM_CMP_EQ, 1);
	const struct pld_sim_doorbell *bell = sim_doorbell(self->w.fd, 1);
	__s32 *cell = sim_map(self->w.fd, &self->w.win, 1);
	struct peer p;

	start_waiting(_metadata, self, &p, &job);
	for (int i = 0; i < 100; i++)
		ASSERT_EQ(0, sim_ring(self->w.fd, self->w.win.window, 1, 0));
	EXPECT_EQ(1, sim_load(&bell->waiters));
	store(cell, 1);
	EXPECT_EQ(0, sim_ring(self->w.fd, self->w.win.window, 1, 0));
	EXPECT_EQ(0, peer_hear(&p));
	EXPECT_EQ(1, peer_hear(&p));
	EXPECT_EQ(0, peer_reap(&p));
}

TEST_F(wait, waiters_word_is_one_while_asleep_and_zero_after)
{
	struct job job = job_of(self, 0, PLD_SIM_CMP_EQ, 1);
	const struct pld_sim_doorbell *bell = sim_doorbell(self->w.fd, 1);
	__s32 *cell = sim_map(self->w.fd, &self->w.win, 1);
	struct peer p;

	EXPECT_EQ(0, sim_load(&bell->waiters));
	start_waiting(_metadata, self, &p, &job);
	usleep(20000);
	EXPECT_EQ(1, sim_load(&bell->waiters));
	EXPECT_EQ(0, sim_load(&self->w.bell->waiters));
	store(cell, 1);
	EXPECT_EQ(0, sim_ring(self->w.fd, self->w.win.window, 1, 0));
	EXPECT_EQ(0, peer_hear(&p));
	EXPECT_EQ(0, sim_load(&bell->waiters));
	EXPECT_EQ(1, peer_hear(&p));
	EXPECT_EQ(0, peer_reap(&p));
	EXPECT_EQ(0, sim_load(&bell->waiters));
}

/* Waits of two threads of this process, on rank 0's own cells. */
struct thread_wait {
	FIXTURE_DATA(wait) * self;
	__u64 offset;
	pthread_t thread;
	struct outcome o;
};

static void *thread_waits(void *arg)
{
	struct thread_wait *t = arg;

	t->o.ret = sim_wait(t->self->w.fd, t->self->w.win.window, t->offset,
			    PLD_SIM_CMP_EQ, 1, sim_after(SIM_HANG), &t->o.value);
	return NULL;
}

TEST_F(wait, two_threads_of_a_rank_wait_on_two_cells)
{
	struct thread_wait t[2] = { { .self = self, .offset = 0 },
				    { .self = self, .offset = 128 } };

	for (int i = 0; i < 2; i++)
		ASSERT_EQ(0, pthread_create(&t[i].thread, NULL, thread_waits,
					    &t[i]));
	ASSERT_TRUE(sim_until(&self->w.bell->waiters, 2));
	store(self->w.cell + 32, 1);
	EXPECT_EQ(0, sim_ring(self->w.fd, self->w.win.window, 0, 128));
	EXPECT_EQ(0, pthread_join(t[1].thread, NULL));
	EXPECT_EQ(1, sim_load(&self->w.bell->waiters));
	store(self->w.cell, 1);
	EXPECT_EQ(0, sim_ring(self->w.fd, self->w.win.window, 0, 0));
	EXPECT_EQ(0, pthread_join(t[0].thread, NULL));
	EXPECT_EQ(0, sim_load(&self->w.bell->waiters));
	for (int i = 0; i < 2; i++) {
		EXPECT_EQ(0, t[i].o.ret);
		EXPECT_EQ(1, t[i].o.value);
	}
}

TEST_F(wait, one_ring_ends_all_waits_on_the_cell)
{
	struct thread_wait t[4];

	for (int i = 0; i < 4; i++) {
		t[i] = (struct thread_wait){ .self = self };
		ASSERT_EQ(0, pthread_create(&t[i].thread, NULL, thread_waits,
					    &t[i]));
	}
	ASSERT_TRUE(sim_until(&self->w.bell->waiters, 4));
	store(self->w.cell, 1);
	EXPECT_EQ(0, sim_ring(self->w.fd, self->w.win.window, 0, 0));
	for (int i = 0; i < 4; i++) {
		EXPECT_EQ(0, pthread_join(t[i].thread, NULL));
		EXPECT_EQ(0, t[i].o.ret);
		EXPECT_EQ(1, t[i].o.value);
	}
	EXPECT_EQ(0, sim_load(&self->w.bell->waiters));
}

static volatile sig_atomic_t alarms;

static void count_alarm(int sig)
{
	alarms = alarms + 1;
}

/* A timer at 1 kHz, whose handler restarts system calls or does not. */
static void alarm_every_ms(int flags)
{
	struct sigaction act = { .sa_handler = count_alarm, .sa_flags = flags };
	struct itimerval every = { { 0, 1000 }, { 0, 1000 } };

	alarms = 0;
	sigaction(SIGALRM, &act, NULL);
	setitimer(ITIMER_REAL, &every, NULL);
}

static void alarm_stop(void)
{
	struct itimerval never = { { 0, 0 }, { 0, 0 } };

	setitimer(ITIMER_REAL, &never, NULL);
}

TEST_F(wait, deadline_survives_restarts_after_signals)
{
	__s64 deadline = sim_after(SIM_SEC), end;
	struct outcome o;

	*self->w.cell = 3;
	alarm_every_ms(SA_RESTART);
	o = look(self, PLD_SIM_CMP_EQ, 4, deadline);
	end = sim_now();
	alarm_stop();
	EXPECT_EQ(-ETIMEDOUT, o.ret);
	EXPECT_EQ(3, o.value);
	EXPECT_LT(1, alarms);
	EXPECT_LE(deadline, end);
	EXPECT_GT(deadline + SIM_HANG, end);
	EXPECT_EQ(0, sim_load(&self->w.bell->waiters));
}

TEST_F(wait, signal_without_restart_is_EINTR)
{
	struct outcome o;

	alarm_every_ms(0);
	o = look(self, PLD_SIM_CMP_EQ, 4, sim_after(SIM_HANG));
	alarm_stop();
	EXPECT_EQ(-EINTR, o.ret);
	EXPECT_LE(1, alarms);
	EXPECT_EQ(0, sim_load(&self->w.bell->waiters));
}

PLD_TEST_MAIN
