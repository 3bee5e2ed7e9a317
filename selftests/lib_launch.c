// SPDX-License-Identifier: GPL-2.0
/*
 * Launches: how ranks start, end, die, stop, abort, and what the others and the
 * host side are told.
 */
#include "lib_test.h"
#include "lib_fault.h"

#define NRANKS 4
#define VICTIM 2

/* Many launches, which valgrind and emulators take their time for. */
#define SLOW_TEST_F(fixture, test) TEST_F_TIMEOUT(fixture, test, 300)

/* One signal [NRANKS, 1] in every domain of this file. */
static pld_window_buffer *credits;
static struct shared *shared;

FIXTURE(launch)
{
	pld_domain *domain;
};

FIXTURE_SETUP(launch)
{
	self->domain = make_domain(NRANKS);
	ASSERT_NE(NULL, self->domain);
	ASSERT_EQ(0, pld_alloc_signal(self->domain, PLD_SHAPE(NRANKS, 1),
				      &credits));
	shared = make_shared();
	ASSERT_NE(NULL, shared);
}

FIXTURE_TEARDOWN(launch)
{
	pld_domain_destroy(self->domain);
}

static int wait_for_nobody(int timeout_s)
{
	pld_distributed_tensor signal;

	PLD_TRY(pld_window(credits, PLD_SHAPE(NRANKS, 1), PLD_INT32, &signal));
	say_ready(shared);
	return pld_system_wait_timeout(&signal, PLD_AT(0, 0), 1, PLD_GE,
				       timeout_s * 1000 * LIB_MS);
}

static int note_process(pld_domain *domain, void *arg)
{
	int rank = pld_rank(domain);

	(void)arg;
	CHECK(rank >= 0 && rank < NRANKS);
	CHECK_EQ(NRANKS, pld_nranks(domain));
	CHECK_EQ(0, shared->pids[rank]);
	shared->pids[rank] = getpid();
	return 0;
}

TEST_F(launch, every_rank_runs_once_in_a_process_of_its_own)
{
	RUN(self->domain, note_process, NULL);
	for (int rank = 0; rank < NRANKS; rank++) {
		EXPECT_LT(0, shared->pids[rank]);
		EXPECT_NE(getpid(), shared->pids[rank]);
		for (int other = 0; other < rank; other++)
			EXPECT_NE(shared->pids[other], shared->pids[rank]);
		/* and has been reaped */
		EXPECT_EQ(-1, kill(shared->pids[rank], 0));
	}
}

static int return_positive(pld_domain *domain, void *arg)
{
	(void)arg;
	return pld_rank(domain) + 1;
}

TEST_F(launch, a_positive_result_is_no_failure)
{
	RUN(self->domain, return_positive, NULL);
}

/* The victim ends in the given way, the others wait for what never comes. */
enum ending {
	BY_SIGKILL,
	BY_EXIT,
	BY_EXIT_ZERO,
	BY_ERROR,
};

struct death {
	enum ending ending;
	int victim;
	/* the victim lets the others fall asleep first */
	int delay_ms;
};

static int die(const struct death *death)
{
	wait_for_ready(shared, NRANKS - 1);
	sleep_ms(death->delay_ms);
	shared->died_at = now_ns();
	switch (death->ending) {
	case BY_SIGKILL:
		raise(SIGKILL);
		break;
	case BY_EXIT:
		_exit(3);
	case BY_EXIT_ZERO:
		_exit(0);
	case BY_ERROR:
		break;
	}
	return -EDOM;
}

static int die_or_wait(pld_domain *domain, void *arg)
{
	const struct death *death = arg;
	int rank = pld_rank(domain);
	int error;

	if (rank == death->victim)
		return die(death);
	error = wait_for_nobody(60);
	shared->told_at[rank] = now_ns();
	return error;
}

static void expect_death(struct __test_metadata *_metadata, pld_domain *domain,
			 struct death *death, int error, const char *cause,
			 const char *told)
{
	pld_rank_report reports[NRANKS];

	shared->ready = 0;
	EXPECT_REFUSED(error, cause,
		       pld_launch(domain, die_or_wait, death, reports));
	for (int rank = 0; rank < NRANKS; rank++) {
		char message[PLD_MESSAGE_BYTES];

		if (rank == death->victim) {
			EXPECT_EQ(error, reports[rank].error);
			EXPECT_STREQ(cause, reports[rank].message);
			continue;
		}
		snprintf(message, sizeof(message), "rank %d: %s", rank, told);
		EXPECT_EQ(-EOWNERDEAD, reports[rank].error);
		EXPECT_STREQ(message, reports[rank].message);
		EXPECT_GT(deadline_ns(100),
			  shared->told_at[rank] - shared->died_at)
		TH_LOG("rank %d was told after %lld us", rank,
		       (long long)(shared->told_at[rank] - shared->died_at) /
			       1000);
	}
}

SLOW_TEST_F(launch, a_killed_rank_is_named_to_all_who_wait)
{
	for (int victim = 0; victim < NRANKS; victim++) {
		for (int delay = 0; delay <= 50; delay += 50) {
			struct death death = { BY_SIGKILL, victim, delay };
			char cause[PLD_MESSAGE_BYTES];
			char told[PLD_MESSAGE_BYTES];

			snprintf(cause, sizeof(cause),
				 "rank %d died: killed by signal 9 (Killed)",
				 victim);
			snprintf(told, sizeof(told),
				 "pld.system.wait: rank %d died", victim);
			expect_death(_metadata, self->domain, &death,
				     -EOWNERDEAD, cause, told);
			ASSERT_EQ(0, pld_domain_reset(self->domain));
		}
	}
}

TEST_F(launch, a_rank_that_exits_in_its_kernel_is_dead)
{
	struct death death = { BY_EXIT, VICTIM, 0 };

	expect_death(_metadata, self->domain, &death, -EOWNERDEAD,
		     "rank 2 died: it exited with status 3 before its kernel returned",
		     "pld.system.wait: rank 2 died");
}

TEST_F(launch, exit_status_0_in_the_kernel_is_a_death_too)
{
	struct death death = { BY_EXIT_ZERO, VICTIM, 0 };

	expect_death(_metadata, self->domain, &death, -EOWNERDEAD,
		     "rank 2 died: it exited with status 0 before its kernel returned",
		     "pld.system.wait: rank 2 died");
}

TEST_F(launch, an_error_of_one_kernel_reaches_the_others)
{
	struct death death = { BY_ERROR, VICTIM, 20 };

	expect_death(_metadata, self->domain, &death, -EDOM,
		     "rank 2: its kernel returned -33 (Numerical argument out of domain)",
		     "pld.system.wait: rank 2 failed: Numerical argument out of domain");
}

static int refuse_everything(pld_domain *domain, void *arg)
{
	pld_distributed_tensor signal;
	int32_t word = 0;
	pld_tensor x;
	pld_tile tile;

	(void)arg;
	PLD_TRY(pld_window(credits, PLD_SHAPE(NRANKS, 1), PLD_INT32, &signal));
	PLD_TRY(pld_tile_alloc(&tile, sizeof(word)));
	PLD_TRY(pld_tensor_init(&x, &word, PLD_SHAPE(1, 1), PLD_INT32));
	PLD_TRY(pld_load(&x, PLD_AT(0, 0), PLD_SHAPE(1, 1), &tile));
	if (pld_rank(domain) == VICTIM) {
		wait_for_ready(shared, NRANKS - 1);
		raise(SIGKILL);
	}
	CHECK_EQ(-EOWNERDEAD, wait_for_nobody(60));
	for (int turn = 0; turn < 2; turn++) {
		CHECK_REFUSED(-EOWNERDEAD, "pld.system.wait: rank 2 died",
			      pld_system_wait(&signal, PLD_AT(0, 0), 1, PLD_GE));
		CHECK_REFUSED(-EOWNERDEAD, "pld.system.notify: rank 2 died",
			      pld_system_notify(&signal, 0, PLD_AT(0, 0), 1,
						PLD_ATOMIC_ADD));
		CHECK_REFUSED(-EOWNERDEAD, "pld.tensor.put: rank 2 died",
			      pld_tensor_put(&signal, 0, &x, NULL));
		CHECK_REFUSED(-EOWNERDEAD, "pld.tile.remote_load: rank 2 died",
			      pld_tile_remote_load(&signal, 0, PLD_AT(0, 0),
						   PLD_SHAPE(1, 1), &tile));
		CHECK_REFUSED(-EOWNERDEAD, "pl.store: rank 2 died",
			      pld_store(&tile, PLD_AT(0, 0), &signal));
		CHECK_REFUSED(-EOWNERDEAD, "pl.load: rank 2 died",
			      pld_load(&signal, PLD_AT(0, 0), PLD_SHAPE(1, 1),
				       &tile));
	}
	shared->told_at[pld_rank(domain)] = 1;
	return 0;
}

SLOW_TEST_F(launch, every_operation_after_a_death_is_refused)
{
	EXPECT_REFUSED(-EOWNERDEAD, "rank 2 died: killed by signal 9 (Killed)",
		       pld_launch(self->domain, refuse_everything, NULL, NULL));
	for (int rank = 0; rank < NRANKS; rank++)
		EXPECT_EQ(rank != VICTIM, shared->told_at[rank]);
}

static int find_zero(pld_domain *domain, void *arg)
{
	pld_distributed_tensor signal;

	(void)arg;
	PLD_TRY(pld_window(credits, PLD_SHAPE(NRANKS, 1), PLD_INT32, &signal));
	for (int cell = 0; cell < NRANKS; cell++)
		PLD_TRY(pld_system_wait_timeout(&signal, PLD_AT(cell, 0), 0,
						PLD_EQ, 0));
	return pld_system_notify(&signal, pld_rank(domain),
				 PLD_AT(pld_rank(domain), 0), 5, PLD_SET);
}

SLOW_TEST_F(launch, a_broken_domain_stays_broken_until_reset)
{
	struct death death = { BY_SIGKILL, VICTIM, 0 };

	ASSERT_EQ(-EOWNERDEAD,
		  pld_launch(self->domain, die_or_wait, &death, NULL));
	for (int i = 0; i < 2; i++)
		EXPECT_REFUSED(-EOWNERDEAD,
			       "rank 2 died: killed by signal 9 (Killed)",
			       pld_launch(self->domain, find_zero, NULL, NULL));
	ASSERT_EQ(0, pld_domain_reset(self->domain));
	RUN(self->domain, find_zero, NULL);
	/* and each launch starts with zeroed signals */
	RUN(self->domain, find_zero, NULL);
}

struct stop {
	int ms;
	int timeout_s;
};

/* The victim stops; rank 0 lets it go on, and all wait for its notify. */
static int stop_and_go_on(pld_domain *domain, void *arg)
{
	const struct stop *stop = arg;
	int rank = pld_rank(domain);
	pld_distributed_tensor signal;

	PLD_TRY(pld_window(credits, PLD_SHAPE(NRANKS, 1), PLD_INT32, &signal));
	if (rank == VICTIM) {
		__atomic_store_n(&shared->pids[rank], getpid(),
				 __ATOMIC_RELEASE);
		raise(SIGSTOP);
		for (int peer = 0; peer < NRANKS; peer++)
			PLD_TRY(pld_system_notify(&signal, peer,
						  PLD_AT(VICTIM, 0), 1,
						  PLD_ATOMIC_ADD));
	}
	if (rank == 0 && stop->ms) {
		sleep_ms(stop->ms);
		kill(shared->pids[VICTIM], SIGCONT);
	}
	return pld_system_wait_timeout(&signal, PLD_AT(VICTIM, 0), 1, PLD_GE,
				       stop->timeout_s * 1000 * LIB_MS);
}

TEST_F(launch, a_rank_may_stop_for_two_seconds)
{
	RUN(self->domain, stop_and_go_on, (&(struct stop){ 2000, 60 }));
}

SLOW_TEST_F(launch, a_rank_that_stops_for_too_long_is_named)
{
	pld_rank_report reports[NRANKS];
	int timeouts = 0;

	EXPECT_EQ(-ETIMEDOUT, pld_launch(self->domain, stop_and_go_on,
					 &(struct stop){ 0, 1 }, reports));
	EXPECT_NE(NULL, strstr(pld_last_error(),
			       "timed out after 1.000 s: cell [2, 0] of rank "));
	EXPECT_NE(NULL,
		  strstr(pld_last_error(),
			 " is 0, expected >= 1; rank 2 should have notified it"));
	for (int rank = 0; rank < NRANKS; rank++) {
		if (rank == VICTIM)
			continue;
		EXPECT_EQ(-ETIMEDOUT, reports[rank].error);
		EXPECT_NE(NULL, strstr(reports[rank].message, "rank 2 "));
		timeouts += !!strstr(reports[rank].message, "timed out");
	}
	EXPECT_LE(1, timeouts);
	/* the stopped one did not survive the launch */
	EXPECT_EQ(-1, kill(shared->pids[VICTIM], 0));
	EXPECT_EQ(-ECANCELED, reports[VICTIM].error);
}

enum abort_from {
	ABORT_WHILE_OTHERS_WAIT,
	ABORT_WHILE_OTHERS_COMPUTE,
	ABORT_IN_SIGNAL_HANDLER,
	ABORT_AND_IGNORE,
};

static pld_domain *handler_domain;

static void abort_in_handler(int number)
{
	(void)number;
	pld_abort(handler_domain, -7);
}

_Noreturn static void compute(void)
{
	for (;;)
		__asm__ volatile("" ::: "memory");
}

static int abort_all(pld_domain *domain, void *arg)
{
	enum abort_from from = *(enum abort_from *)arg;

	if (pld_rank(domain) != VICTIM) {
		if (from != ABORT_WHILE_OTHERS_COMPUTE)
			return wait_for_nobody(60);
		say_ready(shared);
		compute();
	}
	wait_for_ready(shared, NRANKS - 1);
	shared->died_at = now_ns();
	if (from == ABORT_IN_SIGNAL_HANDLER) {
		handler_domain = domain;
		signal(SIGUSR1, abort_in_handler);
		raise(SIGUSR1);
		return wait_for_nobody(60);
	}
	CHECK_EQ(-ECANCELED, pld_abort(domain, -7));
	if (from == ABORT_AND_IGNORE)
		compute();
	return -ECANCELED;
}

SLOW_TEST_F(launch, abort_ends_all_with_its_code)
{
	for (enum abort_from from = ABORT_WHILE_OTHERS_WAIT;
	     from <= ABORT_AND_IGNORE; from++) {
		pld_rank_report reports[NRANKS];

		shared->ready = 0;
		EXPECT_REFUSED(-ECANCELED, "rank 2 aborted with code -7",
			       pld_launch(self->domain, abort_all, &from,
					  reports));
		EXPECT_GT(deadline_ns(1000), now_ns() - shared->died_at);
		EXPECT_EQ(-7, pld_abort_code(self->domain));
		for (int rank = 0; rank < NRANKS; rank++)
			EXPECT_EQ(-ECANCELED, reports[rank].error);
		if (from == ABORT_WHILE_OTHERS_WAIT)
			EXPECT_STREQ("rank 0: pld.system.wait: rank 2 aborted with code -7",
				     reports[0].message);
		ASSERT_EQ(0, pld_domain_reset(self->domain));
		EXPECT_EQ(0, pld_abort_code(self->domain));
	}
	RUN(self->domain, return_positive, NULL);
	EXPECT_EQ(0, pld_abort_code(self->domain));
}

TEST_F(launch, abort_on_the_host_side_is_refused)
{
	EXPECT_REFUSED(-ENOTCONN,
		       "pld_abort: only a launched kernel can do this, not the host side",
		       pld_abort(self->domain, 1));
}

/* The victim leaves a child behind that has inherited all it can. */
static int die_with_a_child(pld_domain *domain, void *arg)
{
	pid_t child;

	(void)arg;
	if (pld_rank(domain) != VICTIM)
		return wait_for_nobody(60);
	child = fork();
	if (!child) {
		sleep_ms(20000);
		_exit(0);
	}
	shared->pids[VICTIM] = child;
	raise(SIGKILL);
	return 0;
}

TEST_F(launch, a_child_of_a_dead_rank_does_not_keep_it_alive)
{
	EXPECT_REFUSED(-EOWNERDEAD, "rank 2 died: killed by signal 9 (Killed)",
		       pld_launch(self->domain, die_with_a_child, NULL, NULL));
	ASSERT_LT(0, shared->pids[VICTIM]);
	EXPECT_EQ(0, kill(shared->pids[VICTIM], SIGKILL));
}

static int child_returns(pld_domain *domain, void *arg)
{
	pid_t child;
	int status;

	(void)arg;
	child = fork();
	if (!child) {
		/* all the way back to where no child belongs */
		CHECK_EQ(-EPERM, wait_for_nobody(0));
		return 0;
	}
	CHECK_EQ(child, TEMP_FAILURE_RETRY(waitpid(child, &status, 0)));
	CHECK_EQ(0, status);
	/* the rank is none the worse for it */
	CHECK_EQ(-ETIMEDOUT, wait_for_nobody(0));
	return pld_rank(domain) < 0;
}

TEST_F(launch, a_child_that_returns_from_the_kernel_is_no_rank)
{
	RUN(self->domain, child_returns, NULL);
}

static int launch_again(pld_domain *domain, void *arg)
{
	(void)arg;
	CHECK_EQ(-EPERM, pld_launch(domain, find_zero, NULL, NULL));
	CHECK_EQ(-EPERM, pld_domain_reset(domain));
	return 0;
}

TEST_F(launch, a_rank_cannot_launch_or_reset)
{
	RUN(self->domain, launch_again, NULL);
}

static int note_and_compute(pld_domain *domain, void *arg)
{
	(void)arg;
	__atomic_store_n(&shared->pids[pld_rank(domain)], getpid(),
			 __ATOMIC_RELEASE);
	compute();
}

SLOW_TEST_F(launch, ranks_end_with_their_launcher)
{
	pid_t launcher = fork();

	ASSERT_LE(0, launcher);
	if (!launcher) {
		pld_launch(make_domain(NRANKS), note_and_compute, NULL, NULL);
		_exit(0);
	}
	for (int rank = 0; rank < NRANKS; rank++)
		while (!__atomic_load_n(&shared->pids[rank], __ATOMIC_ACQUIRE))
			sleep_ms(1);
	kill(launcher, SIGKILL);
	ASSERT_EQ(launcher, TEMP_FAILURE_RETRY(waitpid(launcher, NULL, 0)));
	for (int rank = 0; rank < NRANKS; rank++)
		EXPECT_TRUE(ends(shared->pids[rank]));
}

/* Allgathers until something happens; the victim dies at a random moment. */
static int work_until_death(pld_domain *domain, void *arg)
{
	const struct death *death = arg;
	pld_distributed_tensor signal;
	struct itimerval timer = {
		.it_value.tv_usec = death->delay_ms * 37 + 1,
	};

	if (pld_rank(domain) == death->victim)
		setitimer(ITIMER_REAL, &timer, NULL);
	PLD_TRY(pld_window(credits, PLD_SHAPE(NRANKS, 1), PLD_INT32, &signal));
	for (int32_t round = 1;; round++) {
		for (int peer = 0; peer < NRANKS; peer++)
			PLD_TRY(pld_system_notify(&signal, peer,
						  PLD_AT(pld_rank(domain), 0),
						  1, PLD_ATOMIC_ADD));
		for (int src = 0; src < NRANKS; src++)
			PLD_TRY(pld_system_wait(&signal, PLD_AT(src, 0), round,
						PLD_GE));
	}
}

SLOW_TEST_F(launch, death_at_any_moment_is_seen_by_all)
{
	for (int round = 0; round < 40; round++) {
		struct death death = { .victim = round % NRANKS,
				       .delay_ms = round };
		pld_rank_report reports[NRANKS];
		char cause[PLD_MESSAGE_BYTES];

		snprintf(cause, sizeof(cause),
			 "rank %d died: killed by signal 14 (Alarm clock)",
			 death.victim);
		EXPECT_REFUSED(-EOWNERDEAD, cause,
			       pld_launch(self->domain, work_until_death,
					  &death, reports));
		snprintf(cause, sizeof(cause), ": rank %d died", death.victim);
		for (int rank = 0; rank < NRANKS; rank++) {
			EXPECT_EQ(-EOWNERDEAD, reports[rank].error);
			if (rank != death.victim)
				EXPECT_NE(NULL,
					  strstr(reports[rank].message, cause));
		}
		ASSERT_EQ(0, pld_domain_reset(self->domain));
	}
}

static int exec_program(pld_domain *domain, void *arg)
{
	(void)arg;
	if (pld_rank(domain) != VICTIM)
		return wait_for_nobody(60);
	wait_for_ready(shared, NRANKS - 1);
	shared->died_at = now_ns();
	execlp("sleep", "sleep", "60", NULL);
	return -ENOEXEC;
}

TEST_F(launch, a_rank_that_runs_another_program_is_dead)
{
	pld_rank_report reports[NRANKS];

	EXPECT_REFUSED(-EOWNERDEAD,
		       "rank 2 died: it runs another program, or has closed its files",
		       pld_launch(self->domain, exec_program, NULL, reports));
	EXPECT_EQ(-EOWNERDEAD, reports[0].error);
	EXPECT_STREQ("rank 0: pld.system.wait: rank 2 died", reports[0].message);
}

/* The victim writes over all memory that it can share with anybody. */
static int scribble(pld_domain *domain, void *arg)
{
	char line[256], permissions[8];
	unsigned long start, end;
	FILE *maps;

	if (pld_rank(domain) == 0) {
		say_ready(shared);
		for (;;)
			pause();
	}
	wait_for_ready(shared, 1);
	if (pld_rank(domain) == VICTIM) {
		maps = fopen("/proc/self/maps", "r");
		CHECK(maps);
		while (fgets(line, sizeof(line), maps)) {
			CHECK_EQ(3, sscanf(line, "%lx-%lx %7s", &start, &end,
					   permissions));
			if (!strcmp(permissions, "rw-s") &&
			    start != (unsigned long)shared)
				memset((void *)start, *(int *)arg, end - start);
		}
		shared->died_at = 1;
		_exit(0);
	}
	return wait_for_nobody(60);
}

TEST_F(launch, a_rank_that_scribbles_makes_no_success)
{
	for (int byte = 0; byte <= 255; byte += 85) {
		pld_rank_report reports[NRANKS];

		shared->ready = 0;
		shared->died_at = 0;
		EXPECT_EQ(-EOWNERDEAD,
			  pld_launch(self->domain, scribble, &byte, reports));
		EXPECT_EQ(1, shared->died_at);
		EXPECT_STREQ("rank 2 died: it exited with status 0 before its kernel returned",
			     reports[VICTIM].message);
		/* The others' cells may hold what they wait for by now. */
		EXPECT_EQ(-ECANCELED, reports[0].error);
		ASSERT_EQ(0, pld_domain_reset(self->domain));
	}
}

/* One after the other, the ranks hear of the end when they next ask. */
static int abort_while_others_are_slow(pld_domain *domain, void *arg)
{
	(void)arg;
	if (pld_rank(domain) == 0) {
		wait_for_ready(shared, NRANKS - 1);
		shared->died_at = now_ns();
		return pld_abort(domain, 7);
	}
	say_ready(shared);
	sleep_ms(150 * pld_rank(domain));
	return wait_for_nobody(60);
}

TEST_F(launch, abort_does_not_wait_longer_for_more_ranks)
{
	EXPECT_REFUSED(-ECANCELED, "rank 0 aborted with code 7",
		       pld_launch(self->domain, abort_while_others_are_slow,
				  NULL, NULL));
	EXPECT_GT(deadline_ns(1000), now_ns() - shared->died_at);
}

static int fail_then_abort(pld_domain *domain, void *arg)
{
	(void)arg;
	if (pld_rank(domain) == 0) {
		wait_for_ready(shared, 1);
		return -EIO;
	}
	if (pld_rank(domain) != 1)
		return 0;
	say_ready(shared);
	CHECK_EQ(-EOWNERDEAD, wait_for_nobody(60));
	return pld_abort(domain, 9);
}

TEST_F(launch, abort_after_a_failure_has_the_last_word)
{
	EXPECT_REFUSED(-ECANCELED, "rank 1 aborted with code 9",
		       pld_launch(self->domain, fail_then_abort, NULL, NULL));
	EXPECT_EQ(9, pld_abort_code(self->domain));
}

LIB_TEST_MAIN
