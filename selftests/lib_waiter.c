// SPDX-License-Identifier: GPL-2.0
/*
 * pld.system.defer_wait: a descriptor that polls readable when the conditions
 * of a waiter hold, or cannot hold any more; in poll(), epoll and GLib's main
 * loop. That a waiter can be ended at any moment and leaves nothing behind.
 */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/syscall.h>

#if __has_include(<glib-unix.h>)
#include <glib-unix.h>
#define HAVE_GLIB 1
#endif

#include "lib_fault.h"
#include "lib_left.h"
#include "lib_test.h"

#include <linux/pld_sim.h>

#define NRANKS 4
/* Of a poll that must end. */
#define HANG_MS 20000

static struct shared *shared;

FIXTURE(waiter)
{
	pld_domain *domain;
	pld_window_buffer *buffer;
};

FIXTURE_SETUP(waiter)
{
	self->domain = make_domain(NRANKS);
	ASSERT_NE(NULL, self->domain);
	ASSERT_EQ(0, pld_alloc_signal(self->domain, PLD_SHAPE(NRANKS, 16),
				      &self->buffer));
	shared = make_shared();
	ASSERT_NE(NULL, shared);
}

FIXTURE_TEARDOWN(waiter)
{
	pld_domain_destroy(self->domain);
}

static int view(void *buffer, pld_distributed_tensor *signal)
{
	return pld_window(buffer, PLD_SHAPE(NRANKS, 16), PLD_INT32, signal);
}

static int readable(int fd, int timeout_ms)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	int n = poll(&p, 1, timeout_ms);

	return n == 1 && p.revents == POLLIN;
}

#define EXPECT_PENDING(waiter)                                          \
	CHECK_REFUSED(-EAGAIN,                                          \
		      "pld_waiter_result: not all conditions hold yet", \
		      pld_waiter_result(waiter))

/* ---- when it tells ---- */

/* Rank 0's conditions, in a view that is gone when they are looked at. */
static int defer(pld_waiter *waiter, void *buffer, int32_t expected)
{
	pld_distributed_tensor signal;

	PLD_TRY(view(buffer, &signal));
	for (int peer = 1; peer < NRANKS; peer++)
		CHECK_EQ(0, pld_system_defer_wait(waiter, &signal,
						  PLD_AT(peer, peer), expected,
						  PLD_GE));
	memset(&signal, 0, sizeof(signal));
	return 0;
}

static int tell_zero(void *buffer, int me, int32_t value)
{
	pld_distributed_tensor signal;

	PLD_TRY(view(buffer, &signal));
	return pld_system_notify(&signal, 0, PLD_AT(me, me), value, PLD_SET);
}

/* The others in turn; before the last one, rank 0 sees that it is not told. */
static int one_after_the_other(pld_domain *domain, void *buffer)
{
	int me = pld_rank(domain), fd;
	pld_waiter *waiter;
	uint64_t count;

	if (me) {
		wait_for_ready(shared, me);
		return tell_zero(buffer, me, 7);
	}
	CHECK_EQ(0, pld_waiter_create(domain, &waiter));
	PLD_TRY(defer(waiter, buffer, 7));
	CHECK_REFUSED(-EAGAIN,
		      "pld_waiter_result: the waiter does not watch before pld_waiter_fd",
		      pld_waiter_result(waiter));
	fd = pld_waiter_fd(waiter);
	CHECK(fd > STDERR_FILENO);
	CHECK_EQ(fd, pld_waiter_fd(waiter));
	CHECK_EQ(FD_CLOEXEC, fcntl(fd, F_GETFD));
	for (int told = 1; told < NRANKS; told++) {
		CHECK(!readable(fd, 10));
		EXPECT_PENDING(waiter);
		say_ready(shared);
	}
	CHECK(readable(fd, HANG_MS));
	CHECK_EQ(0, pld_waiter_result(waiter));
	CHECK(readable(fd, 0));
	CHECK_EQ(8, read(fd, &count, sizeof(count)));
	CHECK_EQ(1, count);
	CHECK(!readable(fd, 10));
	CHECK_EQ(0, pld_waiter_result(waiter));
	pld_waiter_destroy(waiter);
	return 0;
}

TEST_F(waiter, tells_when_the_last_condition_holds_and_once)
{
	RUN(self->domain, one_after_the_other, self->buffer);
}

static int holds_already(pld_domain *domain, void *buffer)
{
	int me = pld_rank(domain), fd;
	pld_distributed_tensor signal;
	pld_waiter *waiter;

	PLD_TRY(view(buffer, &signal));
	CHECK_EQ(0, pld_waiter_create(domain, &waiter));
	/* The most there may be. */
	for (int i = 0; i < PLD_MAX_CONDITIONS; i++)
		CHECK_EQ(0,
			 pld_system_defer_wait(waiter, &signal,
					       PLD_AT(i / 16, i % 16),
					       i == 9 ? INT32_MAX : 0, PLD_GE));
	CHECK_REFUSED(-ENOSPC,
		      "pld.system.defer_wait: the waiter has 64 conditions, and takes no further one",
		      pld_system_defer_wait(waiter, &signal, PLD_AT(0, 0), 0,
					    PLD_GE));
	CHECK_EQ(0, pld_system_notify(&signal, me, PLD_AT(0, 9), INT32_MAX,
				      PLD_SET));
	fd = pld_waiter_fd(waiter);
	CHECK(readable(fd, HANG_MS));
	CHECK_EQ(0, pld_waiter_result(waiter));
	CHECK_REFUSED(-EBUSY,
		      "pld.system.defer_wait: the waiter watches already, and takes no further condition",
		      pld_system_defer_wait(waiter, &signal, PLD_AT(0, 0), 0,
					    PLD_GE));
	pld_waiter_destroy(waiter);
	return 0;
}

TEST_F(waiter, tells_at_once_what_holds_already)
{
	RUN(self->domain, holds_already, self->buffer);
}

/* What was seen counts, not what the cell is when the result is asked for. */
static int keeps_its_result(pld_domain *domain, void *buffer)
{
	pld_distributed_tensor signal;
	pld_waiter *waiter;

	if (pld_rank(domain))
		return 0;
	PLD_TRY(view(buffer, &signal));
	CHECK_EQ(0, pld_waiter_create(domain, &waiter));
	CHECK_EQ(0, pld_system_defer_wait(waiter, &signal, PLD_AT(1, 1), 5,
					  PLD_GE));
	CHECK(pld_waiter_fd(waiter) > STDERR_FILENO);
	EXPECT_PENDING(waiter);
	CHECK_EQ(0, pld_system_notify(&signal, 0, PLD_AT(1, 1), 5, PLD_SET));
	CHECK(readable(pld_waiter_fd(waiter), HANG_MS));
	CHECK_EQ(0, pld_system_notify(&signal, 0, PLD_AT(1, 1), -5,
				      PLD_ATOMIC_ADD));
	for (int i = 0; i < 2; i++)
		CHECK_EQ(0, pld_waiter_result(waiter));
	/* Ending it leaves the caller's last sentence. */
	CHECK_REFUSED(-EINVAL, "pld_waiter_result: waiter must not be NULL",
		      pld_waiter_result(NULL));
	pld_waiter_destroy(waiter);
	CHECK(strstr(pld_last_error(), "must not be NULL"));
	return 0;
}

TEST_F(waiter, keeps_its_result)
{
	RUN(self->domain, keeps_its_result, self->buffer);
}

#define MANY 100

static int count_threads(void)
{
	DIR *dir = opendir("/proc/self/task");
	int count = 0;

	while (dir && readdir(dir))
		count++;
	if (dir)
		closedir(dir);
	return count;
}

/* More than the kernel wakes in one go; where it waits, no thread does. */
static int many(pld_domain *domain, void *buffer)
{
	int count = getenv("PLD_VALGRIND") ? 10 : MANY;
	bool kernel_waits = !strcmp(pld_domain_platform(domain), "kmod");
	int ready = 0, threads = count_threads();
	pld_distributed_tensor signal;
	pld_waiter *waiters[MANY];

	if (pld_rank(domain))
		return 0;
	PLD_TRY(view(buffer, &signal));
	for (int i = 0; i < count; i++) {
		CHECK_EQ(0, pld_waiter_create(domain, &waiters[i]));
		CHECK_EQ(0, pld_system_defer_wait(waiters[i], &signal,
						  PLD_AT(0, 1), i / 2 + 1,
						  PLD_GE));
		CHECK(pld_waiter_fd(waiters[i]) > STDERR_FILENO);
	}
	if (kernel_waits)
		CHECK_EQ(threads, count_threads());
	for (int value = 1; value <= count / 2; value++) {
		CHECK_EQ(0, pld_system_notify(&signal, 0, PLD_AT(0, 1), 1,
					      PLD_ATOMIC_ADD));
		for (; ready < 2 * value; ready++)
			CHECK(readable(pld_waiter_fd(waiters[ready]), HANG_MS));
		for (int i = ready; i < count; i++)
			CHECK(!readable(pld_waiter_fd(waiters[i]), 0));
	}
	for (int i = 0; i < count; i++) {
		CHECK_EQ(0, pld_waiter_result(waiters[i]));
		pld_waiter_destroy(waiters[i]);
	}
	return 0;
}

TEST_F(waiter, many_at_once_tell_each_its_own)
{
	RUN(self->domain, many, self->buffer);
}

/* On kmod the kernel's limit, which is told; elsewhere there is none. */
static int too_many(pld_domain *domain, void *buffer)
{
	static const char limit[] =
		"platform kmod: the rank has 256 waiters and fences that wait, and takes no further one";
	pld_waiter *waiters[PLD_SIM_MAX_SIGNALS], *extra;
	pld_distributed_tensor signal;

	if (pld_rank(domain))
		return 0;
	PLD_TRY(view(buffer, &signal));
	for (int i = 0; i < PLD_SIM_MAX_SIGNALS; i++) {
		CHECK_EQ(0, pld_waiter_create(domain, &waiters[i]));
		PLD_TRY(defer(waiters[i], buffer, 1));
		CHECK(pld_waiter_fd(waiters[i]) > STDERR_FILENO);
	}
	CHECK_EQ(0, pld_waiter_create(domain, &extra));
	PLD_TRY(defer(extra, buffer, 1));
	CHECK_REFUSED(-ENOSPC, limit, pld_waiter_fd(extra));
	pld_waiter_destroy(waiters[7]);
	CHECK(pld_waiter_fd(extra) > STDERR_FILENO);
	EXPECT_PENDING(extra);
	return 0;
}

TEST_F(waiter, too_many_are_refused_by_the_kernel)
{
	if (strcmp(pld_domain_platform(self->domain), "kmod"))
		SKIP(return, "the platform has no such limit");
	RUN(self->domain, too_many, self->buffer);
}

/* ---- event loops ---- */

#define WAITERS (NRANKS - 1)

/* Rank 0's waiters, one for each peer. */
static int make_waiters(pld_domain *domain, void *buffer,
			pld_waiter *waiters[WAITERS], int32_t expected)
{
	pld_distributed_tensor signal;

	PLD_TRY(view(buffer, &signal));
	for (int i = 0; i < WAITERS; i++) {
		CHECK_EQ(0, pld_waiter_create(domain, &waiters[i]));
		CHECK_EQ(0, pld_system_defer_wait(waiters[i], &signal,
						  PLD_AT(i + 1, i + 1),
						  expected, PLD_GE));
	}
	return 0;
}

/* Peers tell in the order 3, 1, 2, each when the one before was heard. */
static int tell_in_turn(void *buffer, int me)
{
	wait_for_ready(shared, (int[]){ 0, 2, 3, 1 }[me]);
	return tell_zero(buffer, me, me);
}

static const int turns[WAITERS] = { 2, 0, 1 };

static int in_epoll(pld_domain *domain, void *buffer)
{
	pld_waiter *waiters[WAITERS];
	int me = pld_rank(domain), epoll;

	if (me)
		return tell_in_turn(buffer, me);
	epoll = epoll_create1(EPOLL_CLOEXEC);
	PLD_TRY(make_waiters(domain, buffer, waiters, 1));
	for (int i = 0; i < WAITERS; i++) {
		struct epoll_event event = { .events = EPOLLIN | EPOLLET,
					     .data.u32 = (uint32_t)i };

		CHECK_EQ(0, epoll_ctl(epoll, EPOLL_CTL_ADD,
				      pld_waiter_fd(waiters[i]), &event));
	}
	for (int turn = 0; turn < WAITERS; turn++) {
		struct epoll_event event;

		CHECK_EQ(0, epoll_wait(epoll, &event, 1, 10));
		say_ready(shared);
		CHECK_EQ(1, epoll_wait(epoll, &event, 1, HANG_MS));
		CHECK_EQ(EPOLLIN, event.events);
		CHECK_EQ(turns[turn], event.data.u32);
		CHECK_EQ(0, pld_waiter_result(waiters[event.data.u32]));
	}
	for (int i = 0; i < WAITERS; i++)
		pld_waiter_destroy(waiters[i]);
	return 0;
}

TEST_F(waiter, works_in_epoll)
{
	RUN(self->domain, in_epoll, self->buffer);
}

#ifdef HAVE_GLIB
struct loop {
	GMainLoop *loop;
	pld_waiter *waiters[WAITERS];
	int order[WAITERS];
	int told;
	int ticks;
};

static gboolean on_told(gint fd, GIOCondition condition, gpointer data)
{
	struct loop *loop = data;

	(void)condition;
	for (int i = 0; i < WAITERS; i++)
		if (pld_waiter_fd(loop->waiters[i]) == fd &&
		    !pld_waiter_result(loop->waiters[i]))
			loop->order[loop->told++] = i;
	if (loop->told == WAITERS)
		g_main_loop_quit(loop->loop);
	else
		say_ready(shared);
	return G_SOURCE_REMOVE;
}

static gboolean on_tick(gpointer data)
{
	struct loop *loop = data;

	if (!loop->ticks++)
		say_ready(shared);
	return G_SOURCE_CONTINUE;
}

static gboolean on_hang(gpointer data)
{
	struct loop *loop = data;

	g_main_loop_quit(loop->loop);
	return G_SOURCE_REMOVE;
}

static int in_glib(pld_domain *domain, void *buffer)
{
	struct loop loop = { .told = 0 };
	int me = pld_rank(domain);

	if (me)
		return tell_in_turn(buffer, me);
	loop.loop = g_main_loop_new(NULL, FALSE);
	PLD_TRY(make_waiters(domain, buffer, loop.waiters, 1));
	for (int i = 0; i < WAITERS; i++)
		g_unix_fd_add(pld_waiter_fd(loop.waiters[i]), G_IO_IN, on_told,
			      &loop);
	g_timeout_add(1, on_tick, &loop);
	g_timeout_add(HANG_MS, on_hang, &loop);
	g_main_loop_run(loop.loop);
	g_main_loop_unref(loop.loop);
	CHECK_EQ(WAITERS, loop.told);
	CHECK(loop.ticks > 0);
	for (int i = 0; i < WAITERS; i++) {
		CHECK_EQ(turns[i], loop.order[i]);
		pld_waiter_destroy(loop.waiters[i]);
	}
	return 0;
}
#endif

TEST_F(waiter, works_in_a_main_loop_of_GLib)
{
#ifdef HAVE_GLIB
	RUN(self->domain, in_glib, self->buffer);
#else
	SKIP(return, "built without GLib's headers (libglib2.0-dev)");
#endif
}

/* ---- failures ---- */

static int victim_dies(pld_domain *domain, void *buffer)
{
	static const char message[] = "pld.system.defer_wait: rank 2 died";
	int me = pld_rank(domain), fd;
	pld_waiter *waiter;

	if (me == 2) {
		wait_for_ready(shared, NRANKS - 1);
		sleep_ms(20);
		shared->died_at = now_ns();
		raise(SIGKILL);
	}
	CHECK_EQ(0, pld_waiter_create(domain, &waiter));
	PLD_TRY(defer(waiter, buffer, 1));
	fd = pld_waiter_fd(waiter);
	EXPECT_PENDING(waiter);
	say_ready(shared);
	CHECK(readable(fd, HANG_MS));
	shared->told_at[me] = now_ns();
	for (int i = 0; i < 2; i++)
		CHECK_REFUSED(-EOWNERDEAD, message, pld_waiter_result(waiter));
	CHECK_REFUSED(-EOWNERDEAD, "pld_waiter_create: rank 2 died",
		      pld_waiter_create(domain, &waiter));
	pld_waiter_destroy(waiter);
	return 0;
}

TEST_F(waiter, tells_of_a_death_within_100_ms)
{
	int64_t latest = deadline_ns(100);
	pld_rank_report reports[NRANKS];

	EXPECT_EQ(-EOWNERDEAD,
		  pld_launch(self->domain, victim_dies, self->buffer, reports));
	for (int rank = 0; rank < NRANKS; rank++) {
		if (rank == 2)
			continue;
		EXPECT_STREQ("", reports[rank].message);
		EXPECT_GT(latest, shared->told_at[rank] - shared->died_at);
	}
}

/* The waiter's failure is the kernel's, as if it had waited itself. */
static int return_result(pld_domain *domain, void *buffer)
{
	pld_waiter *waiter;

	CHECK_EQ(0, pld_waiter_create(domain, &waiter));
	PLD_TRY(defer(waiter, buffer, 3));
	CHECK(readable(pld_waiter_fd(waiter), HANG_MS));
	return pld_waiter_result(waiter);
}

TEST(times_out_after_the_domains_timeout)
{
	static const char message[] =
		"rank 0: pld.system.defer_wait: timed out after 0.100 s: conditions[0]: cell [1, 1] of rank 0 is 0, expected >= 3";
	pld_domain_options options = { .timeout_ns = 100 * LIB_MS };
	pld_window_buffer *buffer;
	pld_domain *domain;

	ASSERT_EQ(0, pld_domain_create((int[]){ 0 }, 1, &options, &domain));
	ASSERT_EQ(0, pld_alloc_signal(domain, PLD_SHAPE(NRANKS, 16), &buffer));
	EXPECT_REFUSED(-ETIMEDOUT, message,
		       pld_launch(domain, return_result, buffer, NULL));
	pld_domain_destroy(domain);
}

/* ---- its end ---- */

/*
 * Ended in every state and at any moment: before and in the moment of falling
 * asleep, asleep, in the moment of being told, and after.
 */
static int end_anywhen(pld_domain *domain, void *buffer)
{
	int turns = getenv("PLD_VALGRIND") ? 50 : 400;
	pld_distributed_tensor signal;
	int me = pld_rank(domain);
	unsigned int seed = 5;
	int files = 0, mappings = 0;

	if (me)
		return 0;
	PLD_TRY(view(buffer, &signal));
	for (int i = 1; i <= turns; i++) {
		int64_t until = now_ns() + rand_r(&seed) % 300000;
		pld_waiter *waiter;

		CHECK_EQ(0, pld_waiter_create(domain, &waiter));
		CHECK_EQ(0, pld_system_defer_wait(waiter, &signal, PLD_AT(2, 3),
						  i, PLD_GE));
		if (i % 8)
			CHECK(pld_waiter_fd(waiter) > STDERR_FILENO);
		while (i % 4 && now_ns() < until)
			;
		if (i % 3)
			CHECK_EQ(0, pld_system_notify(&signal, 0, PLD_AT(2, 3),
						      i, PLD_SET));
		pld_waiter_destroy(waiter);
		if (i == 20) {
			files = count_files();
			mappings = count_mappings();
		}
	}
	CHECK_EQ(files, count_files());
	CHECK(count_mappings() <= mappings + 4);
	pld_waiter_destroy(NULL);
	return 0;
}

TEST_F_TIMEOUT(waiter, can_be_ended_at_any_moment_and_leaves_nothing, 120)
{
	RUN(self->domain, end_anywhen, self->buffer);
}

/* Not as late as the domain's timeout. */
static int end_asleep(pld_domain *domain, void *buffer)
{
	pld_waiter *waiters[WAITERS];
	int64_t begun;

	PLD_TRY(make_waiters(domain, buffer, waiters, 1));
	for (int i = 0; i < WAITERS; i++)
		CHECK(pld_waiter_fd(waiters[i]) > STDERR_FILENO);
	sleep_ms(30);
	begun = now_ns();
	for (int i = 0; i < WAITERS; i++)
		pld_waiter_destroy(waiters[i]);
	CHECK(now_ns() - begun < 20000 * LIB_MS);
	return 0;
}

TEST_F(waiter, ends_while_asleep)
{
	RUN(self->domain, end_asleep, self->buffer);
}

/* A kernel may return without ending its waiters. */
static int leave_behind(pld_domain *domain, void *buffer)
{
	pld_waiter *waiters[WAITERS];

	PLD_TRY(make_waiters(domain, buffer, waiters, 1));
	for (int i = 0; i < WAITERS; i++)
		CHECK(pld_waiter_fd(waiters[i]) > STDERR_FILENO);
	return 0;
}

TEST_F(waiter, does_not_keep_its_rank)
{
	for (int i = 0; i < 3; i++)
		RUN(self->domain, leave_behind, self->buffer);
}

static int in_child(pld_waiter *waiter, const pld_view *signal)
{
	static const char op[] =
		"this process was forked by rank 0 and is not a rank itself";
	char message[PLD_MESSAGE_BYTES];

	snprintf(message, sizeof(message), "pld_waiter_result: %s", op);
	CHECK_REFUSED(-EPERM, message, pld_waiter_result(waiter));
	snprintf(message, sizeof(message), "pld.system.defer_wait: %s", op);
	CHECK_REFUSED(-EPERM, message,
		      pld_system_defer_wait(waiter, signal, PLD_AT(1, 1), 1,
					    PLD_GE));
	pld_waiter_destroy(waiter);
	return 0;
}

static int fork_with_waiter(pld_domain *domain, void *buffer)
{
	int me = pld_rank(domain), fd, status;
	pld_distributed_tensor signal;
	pld_waiter *waiter;
	pid_t pid;

	if (me) {
		wait_for_ready(shared, 1);
		return tell_zero(buffer, me, 1);
	}
	PLD_TRY(view(buffer, &signal));
	CHECK_EQ(0, pld_waiter_create(domain, &waiter));
	PLD_TRY(defer(waiter, buffer, 1));
	fd = pld_waiter_fd(waiter);
	pid = fork();
	if (!pid)
		_exit(in_child(waiter, &signal) ? 1 : 0);
	CHECK_EQ(pid, waitpid(pid, &status, 0));
	CHECK_EQ(0, status);
	EXPECT_PENDING(waiter);
	say_ready(shared);
	CHECK(readable(fd, HANG_MS));
	CHECK_EQ(0, pld_waiter_result(waiter));
	pld_waiter_destroy(waiter);
	return 0;
}

TEST_F(waiter, is_not_disturbed_by_a_fork_that_ends_it)
{
	RUN(self->domain, fork_with_waiter, self->buffer);
}

static volatile pid_t handled_in;

static void note_thread(int sig)
{
	(void)sig;
	handled_in = (pid_t)syscall(SYS_gettid);
}

/* Signals of the process go to the threads that it made itself. */
static int signalled(pld_domain *domain, void *buffer)
{
	pld_waiter *waiter;
	sigset_t set, old;

	if (pld_rank(domain))
		return 0;
	signal(SIGUSR1, note_thread);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	CHECK_EQ(0, pld_waiter_create(domain, &waiter));
	PLD_TRY(defer(waiter, buffer, 1));
	CHECK(pld_waiter_fd(waiter) > STDERR_FILENO);
	/* While this thread takes none, the waiter's could. */
	pthread_sigmask(SIG_BLOCK, &set, &old);
	kill(getpid(), SIGUSR1);
	sleep_ms(20);
	CHECK_EQ(0, handled_in);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	CHECK_EQ(getpid(), handled_in);
	pld_waiter_destroy(waiter);
	return 0;
}

TEST_F(waiter, takes_no_signals_of_the_process)
{
	RUN(self->domain, signalled, self->buffer);
}

/* ---- what is refused ---- */

struct refused {
	pld_window_buffer *buffer;
	pld_window_buffer *elsewhere;
	pld_domain *sub;
};

static int refuse(pld_domain *domain, void *arg)
{
	struct refused *r = arg;
	pld_distributed_tensor signal, floats, other;
	pld_waiter *waiter, *empty;
	pld_dims at = PLD_AT(1, 2);

	PLD_TRY(view(r->buffer, &signal));
	floats = signal;
	floats.dtype = PLD_FP32;
	CHECK_REFUSED(-EINVAL,
		      "pld_waiter_create: domain and waiter must not be NULL",
		      pld_waiter_create(NULL, &waiter));
	CHECK_REFUSED(-EINVAL,
		      "pld_waiter_create: domain and waiter must not be NULL",
		      pld_waiter_create(domain, NULL));
	CHECK_EQ(0, pld_waiter_create(domain, &waiter));
	CHECK_REFUSED(-EINVAL, "pld.system.defer_wait: waiter must not be NULL",
		      pld_system_defer_wait(NULL, &signal, at, 1, PLD_GE));
	CHECK_REFUSED(-EINVAL,
		      "pld.system.defer_wait: signal must be a DistributedTensor, got NULL",
		      pld_system_defer_wait(waiter, NULL, at, 1, PLD_GE));
	CHECK_REFUSED(-EINVAL,
		      "pld.system.defer_wait: dtype of signal is fp32, wanted int32",
		      pld_system_defer_wait(waiter, &floats, at, 1, PLD_GE));
	CHECK_REFUSED(-ERANGE,
		      "pld.system.defer_wait: offsets [4, 0] with shape [1, 1] lie outside signal [4, 16]",
		      pld_system_defer_wait(waiter, &signal, PLD_AT(4, 0), 1,
					    PLD_GE));
	CHECK_REFUSED(-EINVAL, "pld.system.defer_wait: cmp is 0, wanted Ge (1)",
		      pld_system_defer_wait(waiter, &signal, at, 1, PLD_EQ));
	CHECK_REFUSED(-EINVAL, "pld.system.defer_wait: cmp is 2, wanted Ge (1)",
		      pld_system_defer_wait(waiter, &signal, at, 1, (pld_cmp)2));
	CHECK_REFUSED(-EINVAL,
		      "pld.system.defer_wait: expected is -1, wanted 0 to 2147483647",
		      pld_system_defer_wait(waiter, &signal, at, -1, PLD_GE));
	PLD_TRY(pld_window(r->elsewhere, PLD_SHAPE(1, 16), PLD_INT32, &other));
	CHECK_REFUSED(-EINVAL,
		      "pld.system.defer_wait: signal is of another domain than the waiter",
		      pld_system_defer_wait(waiter, &other, PLD_AT(0, 0), 1,
					    PLD_GE));
	CHECK_REFUSED(-EINVAL, "pld_waiter_fd: waiter must not be NULL",
		      pld_waiter_fd(NULL));
	CHECK_REFUSED(-EINVAL, "pld_waiter_fd: the waiter has no condition",
		      pld_waiter_fd(waiter));
	CHECK_REFUSED(-EINVAL, "pld_waiter_result: waiter must not be NULL",
		      pld_waiter_result(NULL));
	pld_waiter_destroy(waiter);
	/* In the sub-domain it is the other way round. */
	CHECK_EQ(0, pld_waiter_create(r->sub, &empty));
	CHECK_EQ(0,
		 pld_system_defer_wait(empty, &other, PLD_AT(0, 0), 0, PLD_GE));
	CHECK(readable(pld_waiter_fd(empty), HANG_MS));
	CHECK_EQ(0, pld_waiter_result(empty));
	pld_waiter_destroy(empty);
	return 0;
}

TEST_F(waiter, bad_arguments_are_refused)
{
	struct refused r = { .buffer = self->buffer };

	ASSERT_EQ(0, pld_subdomain_create(self->domain, (int[]){ 2, 0, 1, 3 },
					  NRANKS, &r.sub));
	ASSERT_EQ(0, pld_alloc_signal(r.sub, PLD_SHAPE(1, 16), &r.elsewhere));
	RUN(self->domain, refuse, &r);
}

TEST_F(waiter, is_for_ranks_only)
{
	pld_waiter *waiter;

	EXPECT_REFUSED(-ENOTCONN,
		       "pld_waiter_create: only a launched kernel can do this, not the host side",
		       pld_waiter_create(self->domain, &waiter));
}

LIB_TEST_MAIN
