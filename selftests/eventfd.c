// SPDX-License-Identifier: GPL-2.0
/*
 * Conditions that an eventfd tells of: that it tells once, each its own, what a
 * signal keeps, how many there may be and what is refused. (Beside rank files that
 * poll: events.c.)
 *
 * This process is rank 0, whose cells are watched.
 */
#include "pld_events.h"

FIXTURE(eventfd)
{
	struct watched w;
	int event;
};

FIXTURE_SETUP(eventfd)
{
	watched_setup(_metadata, &self->w);
	self->event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	ASSERT_LE(0, self->event);
}

FIXTURE_TEARDOWN(eventfd)
{
	close(self->event);
	watched_teardown(&self->w);
}

TEST_F(eventfd, eventfd_is_told_once_when_the_conditions_hold)
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

TEST_F(eventfd, eventfd_is_told_at_once_of_what_holds)
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

TEST_F(eventfd, several_signals_of_one_rank_tell_each_its_own)
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
TEST_F(eventfd, most_signals_are_limited_and_one_ring_tells_all)
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

TEST_F(eventfd, signal_that_is_taken_back_tells_nothing)
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

/* The end of a signal, asked for in memory that the answer cannot be written to. */
static int end_untold(int fd, __u64 cookie)
{
	struct pld_sim_signal_eventfd *args =
		mmap(NULL, SIM_PAGE, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int ret;

	if (args == MAP_FAILED)
		return -ENOMEM;
	args->size = sizeof(*args);
	args->flags = PLD_SIGNAL_END;
	args->cookie = cookie;
	mprotect(args, SIM_PAGE, PROT_READ);
	ret = sim_ioctl(fd, PLD_IOC_SIGNAL_EVENTFD, args);
	munmap(args, SIM_PAGE);
	return ret;
}

TEST_F(eventfd, signal_whose_end_could_not_be_told_waits_on)
{
	struct pld_sim_condition c = GE(0, 1);
	__s64 deadline = sim_after(60 * SIM_MS);
	struct sim_answer answer;
	__u64 cookie, late;

	EXPECT_EQ(0,
		  sim_signal(self->w.fd, 0, &c, 1, self->event, NEVER, &cookie));
	EXPECT_EQ(-EFAULT, end_untold(self->w.fd, cookie));
	EXPECT_EQ(-EAGAIN,
		  sim_signal_result(self->w.fd, PLD_SIGNAL_ASK, cookie, NULL));
	EXPECT_EQ(1, sim_load(&self->w.bell->waiters));
	EXPECT_EQ(0, take(self->event));
	notify(&self->w, 0, 7);
	EXPECT_EQ(1, take(self->event));
	/* What has ended tells nothing twice, and keeps what it saw. */
	EXPECT_EQ(-EFAULT, end_untold(self->w.fd, cookie));
	EXPECT_EQ(0, take(self->event));
	EXPECT_EQ(0, sim_signal_result(self->w.fd, PLD_SIGNAL_END, cookie,
				       &answer));
	EXPECT_EQ(7, answer.value);
	notify(&self->w, 0, 0);
	EXPECT_EQ(0, sim_signal(self->w.fd, 0, &c, 1, self->event, deadline,
				&late));
	end_untold(self->w.fd, late);
	EXPECT_EQ(POLLIN, readable(self->event, HANG_MS));
	EXPECT_LE(deadline, sim_now());
	EXPECT_EQ(-ETIMEDOUT,
		  sim_signal_result(self->w.fd, PLD_SIGNAL_END, late, NULL));
}

TEST_F(eventfd, deadline_tells_the_eventfd_of_a_timeout)
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

TEST_F(eventfd, what_is_no_eventfd_or_no_signal_is_refused)
{
	struct pld_sim_condition c = GE(0, 1), bad = GE(0, 1);
	struct pld_sim_signal_eventfd arg = {
		.size = sizeof(arg),
		.conditions = (uintptr_t)&c,
		.nr_conditions = 1,
		.eventfd = self->event,
		.cookie = 1,
	};
	int epoll = epoll_create1(EPOLL_CLOEXEC);
	__u64 cookie;

	ASSERT_LE(0, epoll);
	EXPECT_EQ(-EBADF, sim_signal(self->w.fd, 0, &c, 1, -1, NEVER, &cookie));
	EXPECT_EQ(-EBADF,
		  sim_signal(self->w.fd, 0, &c, 1, 1000, NEVER, &cookie));
	EXPECT_EQ(-EINVAL,
		  sim_signal(self->w.fd, 0, &c, 1, self->w.fd, NEVER, &cookie));
	EXPECT_EQ(-EINVAL,
		  sim_signal(self->w.fd, 0, &c, 1, epoll, NEVER, &cookie));
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
	close(epoll);
}

PLD_TEST_MAIN
