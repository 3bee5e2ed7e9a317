// SPDX-License-Identifier: GPL-2.0
/*
 * Waits on several signal cells at once, for all of them or for any, and waits
 * that end when the bell is rung: what is refused, what is answered, and that
 * no ring is lost, whichever cell it is for.
 *
 * This process is rank 0, which rings; peers wait as rank 1.
 *
 * This file is also built for 32 bit.
 */
#include <pthread.h>
#include <sys/time.h>

#include "pld_test.h"

#define NEVER INT64_MAX
#define MOST PLD_SIM_MAX_CONDITIONS

FIXTURE(several)
{
	int domain;
	int fd;
	struct pld_sim_window_alloc win;
	struct pld_sim_window_alloc other;
	/* rank 0's own cells, and those of rank 1 */
	__s32 *own;
	__s32 *cell;
	const struct pld_sim_doorbell *bell;
	const struct pld_sim_doorbell *own_bell;
};

FIXTURE_SETUP(several)
{
	self->domain = sim_domain(3);
	ASSERT_LE(0, self->domain);
	ASSERT_EQ(0, sim_alloc(self->domain, 2 * SIM_PAGE, PLD_WINDOW_SIGNAL,
			       &self->win));
	ASSERT_EQ(0, sim_alloc(self->domain, 64, 0, &self->other));
	self->fd = sim_member(self->domain, 0);
	ASSERT_LE(0, self->fd);
	self->own = sim_map(self->fd, &self->win, 0);
	ASSERT_NE(MAP_FAILED, self->own);
	self->cell = sim_map(self->fd, &self->win, 1);
	ASSERT_NE(MAP_FAILED, self->cell);
	self->bell = sim_doorbell(self->fd, 1);
	ASSERT_NE(MAP_FAILED, self->bell);
	self->own_bell = sim_doorbell(self->fd, 0);
	ASSERT_NE(MAP_FAILED, self->own_bell);
}

FIXTURE_TEARDOWN(several)
{
	close(self->fd);
	close(self->domain);
}

#define GE(_cell, _expected) \
	sim_condition(self->win.window, _cell, PLD_SIM_CMP_GE, _expected)
#define EQ(_cell, _expected) \
	sim_condition(self->win.window, _cell, PLD_SIM_CMP_EQ, _expected)

/* One look: the result, and the condition and value that decided. */
#define EXPECT_LOOK(_ret, _index, _value, _flags, ...)                     \
	do {                                                               \
		struct pld_sim_condition c_[] = { __VA_ARGS__ };           \
		struct sim_answer a_;                                      \
		EXPECT_EQ(_ret,                                            \
			  sim_wait_for(self->fd, _flags, c_,               \
				       sizeof(c_) / sizeof(*c_), 0, &a_)); \
		EXPECT_EQ((__u32)(_index), a_.index);                      \
		EXPECT_EQ(_value, a_.value);                               \
	} while (0)

TEST_F(several, any_answers_the_first_that_holds_or_0)
{
	self->own[3] = 30;
	self->own[5] = -50;
	EXPECT_LOOK(0, 1, 30, PLD_WAIT_ANY, GE(5, -49), GE(3, 30), GE(3, 1));
	EXPECT_LOOK(0, 0, -50, PLD_WAIT_ANY, EQ(5, -50), EQ(3, 30));
	EXPECT_LOOK(-ETIMEDOUT, 0, -50, PLD_WAIT_ANY, GE(5, 0), EQ(3, 31));
	EXPECT_LOOK(0, 0, 30, PLD_WAIT_ANY, GE(3, 30));
}

TEST_F(several, all_answers_the_first_that_does_not_hold_or_0)
{
	self->own[3] = 30;
	self->own[5] = -50;
	EXPECT_LOOK(0, 0, -50, 0, GE(5, -50), GE(3, 30), EQ(4, 0));
	EXPECT_LOOK(-ETIMEDOUT, 2, 0, 0, GE(5, -50), GE(3, 30), EQ(4, 1));
	EXPECT_LOOK(-ETIMEDOUT, 0, -50, 0, EQ(5, 50), GE(3, 31));
	EXPECT_LOOK(-ETIMEDOUT, 0, 30, 0, GE(3, 31));
}

TEST_F(several, one_cell_may_be_in_many_conditions)
{
	self->own[9] = 7;
	EXPECT_LOOK(0, 0, 7, 0, EQ(9, 7), GE(9, 7), EQ(9, 7));
	EXPECT_LOOK(-ETIMEDOUT, 1, 7, 0, EQ(9, 7), EQ(9, 8));
	EXPECT_LOOK(0, 1, 7, PLD_WAIT_ANY, EQ(9, 8), EQ(9, 7));
}

TEST_F(several, cells_of_several_windows)
{
	struct pld_sim_condition c[] = {
		GE(2047, 0),
		{ .offset = 60, .window = self->other.window, .expected = 1 },
	};
	struct sim_answer answer;

	EXPECT_EQ(-ETIMEDOUT, sim_wait_for(self->fd, 0, c, 2, 0, &answer));
	EXPECT_EQ(1, answer.index);
	EXPECT_EQ(0, answer.value);
	EXPECT_EQ(0, sim_wait_for(self->fd, PLD_WAIT_ANY, c, 2, 0, &answer));
	EXPECT_EQ(0, answer.index);
}

TEST_F(several, sixty_four_conditions_are_the_most)
{
	struct pld_sim_condition c[MOST + 1];
	struct sim_answer answer;

	for (int i = 0; i <= MOST; i++)
		c[i] = GE(i, 0);
	EXPECT_EQ(0, sim_wait_for(self->fd, 0, c, MOST, 0, NULL));
	c[MOST - 1].expected = 1;
	EXPECT_EQ(-ETIMEDOUT, sim_wait_for(self->fd, 0, c, MOST, 0, &answer));
	EXPECT_EQ(MOST - 1, answer.index);
	EXPECT_EQ(-EINVAL, sim_wait_for(self->fd, 0, c, MOST + 1, 0, NULL));
	EXPECT_EQ(-EINVAL, sim_wait_for(self->fd, 0, c, ~0U, 0, NULL));
}

TEST_F(several, a_bad_condition_is_refused_wherever_it_is)
{
	const struct {
		int error;
		struct pld_sim_condition c;
	} bad[] = {
		{ -EINVAL, sim_condition(self->win.window, 0, 2, 0) },
		{ -EINVAL, { .offset = 2, .window = self->win.window } },
		{ -EINVAL, { .window = self->win.window, .__reserved = 1 } },
		{ -ERANGE, GE(2048, 0) },
		{ -ERANGE, { .offset = 64, .window = self->other.window } },
		{ -ERANGE, { .offset = -4ULL, .window = self->win.window } },
		{ -ENOENT, { .window = self->other.window + 1 } },
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		for (int place = 0; place < 3; place++) {
			struct pld_sim_condition c[] = { GE(0, 0), GE(1, 0),
							 GE(2, 0) };

			c[place] = bad[i].c;
			EXPECT_EQ(bad[i].error,
				  sim_wait_for(self->fd, 0, c, 3, 0, NULL))
			TH_LOG("condition %zu at %d", i, place);
			EXPECT_EQ(bad[i].error,
				  sim_wait_for(self->fd, PLD_WAIT_ANY, c, 3,
					       NEVER, NULL));
		}
	}
	EXPECT_EQ(0, sim_load(&self->own_bell->waiters));
}

TEST_F(several, conditions_are_read_as_a_whole_or_EFAULT)
{
	struct pld_sim_condition *c;
	unsigned char *map;

	map = mmap(NULL, 2 * SIM_PAGE, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, map);
	ASSERT_EQ(0, munmap(map + SIM_PAGE, SIM_PAGE));
	c = (void *)(map + SIM_PAGE - 2 * sizeof(*c));
	c[0] = GE(0, 0);
	c[1] = GE(1, 0);
	EXPECT_EQ(0, sim_wait_for(self->fd, 0, c, 2, 0, NULL));
	EXPECT_EQ(-EFAULT, sim_wait_for(self->fd, 0, c, 3, 0, NULL));
	EXPECT_EQ(-EFAULT, sim_wait_for(self->fd, 0, NULL, 1, 0, NULL));
	/* They are only read. */
	ASSERT_EQ(0, mprotect(map, SIM_PAGE, PROT_READ));
	EXPECT_EQ(0, sim_wait_for(self->fd, 0, c, 2, 0, NULL));
}

/* A wait in which some field is as it must not be. */
TEST_F(several, fields_that_are_not_used_must_be_zero)
{
	struct pld_sim_condition c = GE(0, 0);
	struct pld_sim_wait good = {
		.size = sizeof(good),
		.conditions = (uintptr_t)&c,
		.nr_conditions = 1,
	};
	struct pld_sim_wait bad[5];

	for (int i = 0; i < 5; i++)
		bad[i] = good;
	bad[0].offset = 4;
	bad[1].window = 1;
	bad[2].cmp = 1;
	bad[3].expected = -1;
	bad[4].bell = 1;
	for (int i = 0; i < 5; i++) {
		EXPECT_EQ(-EINVAL, sim_ioctl(self->fd, PLD_IOC_WAIT, &bad[i]))
		TH_LOG("field %d", i);
	}
	EXPECT_EQ(0, sim_ioctl(self->fd, PLD_IOC_WAIT, &good));
	/* An address without a number. */
	good.nr_conditions = 0;
	EXPECT_EQ(-EINVAL, sim_ioctl(self->fd, PLD_IOC_WAIT, &good));
}

/* ---- sleeping ---- */

struct job {
	int domain;
	__u32 flags;
	struct pld_sim_condition c[MOST];
	__u32 nr;
};

static int wait_and_tell(struct peer *self, void *arg)
{
	struct job *j = arg;
	int fd = sim_member(j->domain, 1);
	struct sim_answer answer;

	NEED(fd >= 0);
	peer_tell(self, sim_wait_for(fd, j->flags, j->c, j->nr, NEVER, &answer));
	peer_tell(self, answer.index);
	peer_tell(self, answer.value);
	return sim_leave(fd);
}

static struct job job_of(FIXTURE_DATA(several) * self, __u32 flags)
{
	struct job job = { .domain = self->domain, .flags = flags, .nr = MOST };

	for (int i = 0; i < MOST; i++)
		job.c[i] = GE(32 * i, 1);
	return job;
}

static int change(FIXTURE_DATA(several) * self, __u64 cell, __s32 value)
{
	__atomic_store_n(&self->cell[cell], value, __ATOMIC_SEQ_CST);
	return sim_ring(self->fd, self->win.window, 1, cell * sizeof(__s32));
}

TEST_F(several, ring_for_any_of_the_cells_ends_a_sleeping_wait_for_any)
{
	struct job job = job_of(self, PLD_WAIT_ANY);
	static const __u32 chosen[] = { 0, 17, MOST - 1 };

	for (size_t i = 0; i < sizeof(chosen) / sizeof(*chosen); i++) {
		struct peer p;

		ASSERT_EQ(0, peer_start(&p, wait_and_tell, &job));
		ASSERT_TRUE(sim_until(&self->bell->waiters, 1));
		/* A cell that nobody waits for. */
		EXPECT_EQ(0, change(self, 1, 5));
		EXPECT_EQ(1, sim_load(&self->bell->waiters));
		EXPECT_EQ(0, change(self, 32 * chosen[i], 4));
		EXPECT_EQ(0, peer_hear(&p));
		EXPECT_EQ((int)chosen[i], peer_hear(&p));
		EXPECT_EQ(4, peer_hear(&p));
		EXPECT_EQ(0, peer_reap(&p));
		EXPECT_EQ(0, sim_load(&self->bell->waiters));
		ASSERT_EQ(0, sim_leave(self->fd));
		close(self->fd);
		ASSERT_EQ(0, sim_reset(self->domain));
		self->fd = sim_member(self->domain, 0);
		ASSERT_LE(0, self->fd);
	}
}

TEST_F(several, wait_for_all_sleeps_until_the_last_cell)
{
	struct job job = job_of(self, 0);
	struct peer p;

	ASSERT_EQ(0, peer_start(&p, wait_and_tell, &job));
	ASSERT_TRUE(sim_until(&self->bell->waiters, 1));
	for (int i = MOST - 1; i >= 0; i--) {
		EXPECT_EQ(1, sim_load(&self->bell->waiters));
		EXPECT_EQ(0, change(self, 32 * i, 100 + i));
	}
	EXPECT_EQ(0, peer_hear(&p));
	EXPECT_EQ(0, peer_hear(&p));
	EXPECT_EQ(100, peer_hear(&p));
	EXPECT_EQ(0, peer_reap(&p));
}

TEST_F(several, failure_ends_a_sleeping_wait)
{
	struct job job = job_of(self, 0);
	struct peer p;

	/* Before: whether a wait looks between a ring and a failure is its luck. */
	EXPECT_EQ(0, change(self, 0, 1));
	ASSERT_EQ(0, peer_start(&p, wait_and_tell, &job));
	ASSERT_TRUE(sim_until(&self->bell->waiters, 1));
	EXPECT_EQ(0, sim_fail(self->fd, PLD_FAIL_ERROR, 2, -EIO));
	EXPECT_EQ(-EOWNERDEAD, peer_hear(&p));
	/* The first one that did not hold. */
	EXPECT_EQ(1, peer_hear(&p));
	EXPECT_EQ(0, peer_hear(&p));
	EXPECT_EQ(0, peer_reap(&p));
}

/* ---- the bell ---- */

TEST_F(several, every_ring_advances_the_bell)
{
	for (__u32 i = 1; i < 4; i++) {
		EXPECT_EQ(0, sim_ring(self->fd, self->win.window, 1, 4 * i));
		EXPECT_EQ(i, sim_load(&self->bell->bell));
	}
	EXPECT_EQ(0, sim_load(&self->own_bell->bell));
	EXPECT_EQ(-ERANGE, sim_ring(self->fd, self->win.window, 3, 0));
	EXPECT_EQ(3, sim_load(&self->bell->bell));
}

static int wait_with_bell(int fd, const struct pld_sim_condition *c, __u32 bell,
			  __s64 deadline)
{
	struct pld_sim_wait arg = {
		.size = sizeof(arg),
		.flags = PLD_WAIT_BELL,
		.deadline_ns = deadline,
		.conditions = (uintptr_t)c,
		.nr_conditions = 1,
		.bell = bell,
	};

	return sim_ioctl(fd, PLD_IOC_WAIT, &arg);
}

TEST_F(several, wait_with_a_bell_that_was_rung_is_EAGAIN)
{
	struct pld_sim_condition c = GE(0, 1);

	EXPECT_EQ(-EAGAIN, wait_with_bell(self->fd, &c, 1, NEVER));
	EXPECT_EQ(-ETIMEDOUT, wait_with_bell(self->fd, &c, 0, 0));
	ASSERT_EQ(0, sim_ring(self->fd, self->win.window, 0, 100));
	EXPECT_EQ(-EAGAIN, wait_with_bell(self->fd, &c, 0, NEVER));
	self->own[0] = 1;
	/* What holds, holds. */
	EXPECT_EQ(0, wait_with_bell(self->fd, &c, 0, NEVER));
	EXPECT_EQ(0, sim_load(&self->own_bell->waiters));
}

struct belled {
	FIXTURE_DATA(several) * self;
	pthread_t thread;
	int stop;
	int ret;
};

static void *wait_until_stopped(void *arg)
{
	struct belled *b = arg;
	struct pld_sim_condition c =
		sim_condition(b->self->win.window, 0, PLD_SIM_CMP_GE, 1);

	do {
		__u32 bell = sim_load(&b->self->own_bell->bell);

		if (__atomic_load_n(&b->stop, __ATOMIC_ACQUIRE))
			return NULL;
		b->ret = wait_with_bell(b->self->fd, &c, bell,
					sim_after(SIM_HANG));
	} while (b->ret == -EAGAIN);
	return NULL;
}

/* The stop comes before, after and in the moment of going to sleep. */
TEST_F_TIMEOUT(several, no_stop_by_a_ring_is_lost, 120)
{
	unsigned int seed = 3;

	for (int i = 0; i < 500; i++) {
		struct belled b = { .self = self };
		__s64 until;

		ASSERT_EQ(0, pthread_create(&b.thread, NULL, wait_until_stopped,
					    &b));
		until = sim_now() + rand_r(&seed) % (i % 2 ? 20000 : 400000);
		while (sim_now() < until)
			;
		__atomic_store_n(&b.stop, 1, __ATOMIC_SEQ_CST);
		ASSERT_EQ(0, sim_ring(self->fd, self->win.window, 0, 0));
		ASSERT_EQ(0, pthread_join(b.thread, NULL));
		ASSERT_NE(-ETIMEDOUT, b.ret);
	}
	EXPECT_EQ(0, sim_load(&self->own_bell->waiters));
}

static volatile sig_atomic_t alarms;

static void count_alarm(int sig)
{
	alarms = alarms + 1;
}

TEST_F(several, deadline_survives_restarts_after_signals)
{
	struct sigaction act = { .sa_handler = count_alarm,
				 .sa_flags = SA_RESTART };
	struct itimerval every = { { 0, 1000 }, { 0, 1000 } }, never = { 0 };
	struct pld_sim_condition c[] = { GE(0, 0), GE(1, 1) };
	__s64 deadline = sim_after(SIM_SEC), end;
	struct sim_answer answer;
	int ret;

	sigaction(SIGALRM, &act, NULL);
	setitimer(ITIMER_REAL, &every, NULL);
	ret = sim_wait_for(self->fd, 0, c, 2, deadline, &answer);
	end = sim_now();
	setitimer(ITIMER_REAL, &never, NULL);
	EXPECT_EQ(-ETIMEDOUT, ret);
	EXPECT_EQ(1, answer.index);
	EXPECT_LT(1, alarms);
	EXPECT_LE(deadline, end);
	EXPECT_GT(deadline + SIM_HANG, end);
}

PLD_TEST_MAIN
