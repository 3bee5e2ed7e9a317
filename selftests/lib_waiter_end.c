// SPDX-License-Identifier: GPL-2.0
/*
 * The end of waiters of pld.system.defer_wait: at any moment, by a rank that
 * returns, in a forked child; that it leaves nothing behind, and that a waiter
 * takes none of its process's signals.
 */
#include <pthread.h>
#include <stdlib.h>
#include <sys/syscall.h>

#include "lib_left.h"
#include "lib_waiter.h"

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
	CHECK_EQ(pid, TEMP_FAILURE_RETRY(waitpid(pid, &status, 0)));
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

LIB_TEST_MAIN
