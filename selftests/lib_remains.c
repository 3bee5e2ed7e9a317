// SPDX-License-Identifier: GPL-2.0
/*
 * Nothing is left behind: by programs that crash in the middle and are started
 * again, and of windows by those that come after. And nothing comes too late: a
 * notify to a window that has just been made is not zeroed away.
 *
 * PLD_CRASHES and PLD_CREATES are how many crashes and windows there are; `make
 * check-storms` sets them.
 */
#include <sys/prctl.h>
#include <sys/resource.h>

#include "lib_fault.h"
#include "lib_test.h"
#include "pld_proc.h"
#include "storm_gather.h"
#include "storm_left.h"

#define NRANKS GATHER_RANKS
#define BYTES (1 << 20) /* of a window, per rank */
#define CRASHES 5
#define CRASHES_IN_A_GUEST 2
#define CREATES 1000
#define CREATES_IN_A_GUEST 40
/* made for one launch; launches in one domain */
#define AT_ONCE 20
#define LAUNCHES 25
#define HEAP_SLACK (64 << 10)
#define TIMEOUT_NS (20000 * LIB_MS)

static struct shared *shared;

/* ---- crash and restart ---- */

enum crash {
	A_RANK_IS_KILLED,
	A_RANK_CRASHES,
	THE_LAUNCHER_IS_KILLED,
	ALL_ARE_KILLED,
	CRASH_KINDS,
};

static struct gather buffers;

/* Nothing of an earlier run is in a window; then it is filled. */
static int find_zero_and_fill(pld_domain *domain, void *arg)
{
	pld_distributed_tensor window, signal;
	const unsigned char *own;

	(void)arg;
	PLD_TRY(pld_window(buffers.data, PLD_SHAPE(BYTES), PLD_UINT8, &window));
	PLD_TRY(pld_window(buffers.signal, PLD_SHAPE(NRANKS, 1), PLD_INT32,
			   &signal));
	own = window.data;
	CHECK(!own[0] && !memcmp(own, own + 1, BYTES - 1));
	PLD_TRY(pld_tensor_barrier(&signal));
	PLD_TRY(gather_once(domain, &buffers, 7));
	memset(window.data, 0xdb, BYTES);
	return 0;
}

static int gather_until_the_end(pld_domain *domain, void *arg)
{
	int rank = pld_rank(domain);

	(void)arg;
	__atomic_store_n(&shared->pids[rank], getpid(), __ATOMIC_RELEASE);
	say_ready(shared);
	for (int run = 0;; run++) {
		int error = gather_once(domain, &buffers, run);

		if (!error)
			continue;
		CHECK_EQ(-EOWNERDEAD, error);
		return error;
	}
}

static int crashing_program(struct peer *self, void *arg)
{
	pld_domain *domain = make_domain(NRANKS);

	(void)self;
	(void)arg;
	NEED(domain != NULL);
	NEED(!gather_alloc(domain, BYTES, &buffers));
	NEED(!run_ranks(domain, find_zero_and_fill, NULL));
	NEED(pld_launch(domain, gather_until_the_end, NULL, NULL) == -EOWNERDEAD);
	return 0;
}

static void crash(enum crash kind, pid_t launcher, int victim)
{
	switch (kind) {
	case A_RANK_IS_KILLED:
		kill(shared->pids[victim], SIGKILL);
		break;
	case A_RANK_CRASHES:
		kill(shared->pids[victim], SIGSEGV);
		break;
	case THE_LAUNCHER_IS_KILLED:
		kill(launcher, SIGKILL);
		break;
	default:
		for (int rank = 0; rank < NRANKS; rank++)
			kill(shared->pids[rank], SIGKILL);
		kill(launcher, SIGKILL);
	}
}

/* Whoever has lost its launcher is this process's to reap. */
static bool is_gone(pid_t pid)
{
	for (int i = 0; i < 10000; i++) {
		if (waitpid(pid, NULL, WNOHANG) == pid || kill(pid, 0))
			return true;
		sleep_ms(1);
	}
	return false;
}

/* A program that runs, crashes, and leaves no process. */
static int run_and_crash(int number)
{
	enum crash kind = (enum crash)(number % CRASH_KINDS);
	bool launcher_ends = kind < THE_LAUNCHER_IS_KILLED;
	struct peer program;
	int status;

	shared->ready = 0;
	if (peer_start(&program, crashing_program, NULL))
		return -EAGAIN;
	for (int i = 0; shared->ready < NRANKS; i++) {
		if (i == 20000 || waitpid(program.pid, NULL, WNOHANG))
			return check_failed(__FILE__, __LINE__,
					    "the program did not start");
		sleep_ms(1);
	}
	sleep_ms(number % 5);
	crash(kind, program.pid, number / CRASH_KINDS % NRANKS);
	status = peer_reap(&program);
	/* Killed itself, it may all the same have heard of its ranks first. */
	if (launcher_ends || (kind == ALL_ARE_KILLED && !status))
		CHECK_EQ(0, status);
	else
		CHECK_EQ(128 + SIGKILL, status);
	for (int rank = 0; rank < NRANKS; rank++)
		CHECK(is_gone(shared->pids[rank]));
	return 0;
}

FIXTURE(remains)
{
	struct left before;
	bool own_folders;
};

FIXTURE_SETUP(remains)
{
	struct rlimit none = { 0, 0 };

	ASSERT_TRUE(!in_a_guest() || left_has_module());
	self->own_folders = left_own_folders();
	setrlimit(RLIMIT_CORE, &none);
	ASSERT_EQ(0, prctl(PR_SET_CHILD_SUBREAPER, 1));
	shared = make_shared();
	ASSERT_NE(NULL, shared);
}

FIXTURE_TEARDOWN(remains)
{
}

/*
 * A 64th of the windows is much: it is less than one rank's of one kind of crash.
 * Outside of a guest others' memory comes and goes, and only shared memory, of which
 * memfd's windows are, tells something.
 */
static bool memory_is_back(long long available, long long shmem, int crashes)
{
	long long much = (16 << 20) + (long long)crashes * NRANKS * BYTES / 64;

	if (!in_a_guest())
		available = 0;
	for (int i = 0; i < 1000; i++) {
		if (memory_available() >= available - much &&
		    meminfo("Shmem:") <= shmem + much)
			return true;
		sleep_ms(10);
	}
	fprintf(stderr,
		"# MemAvailable was %lld, is %lld; Shmem was %lld, is %lld\n",
		available, memory_available(), shmem, meminfo("Shmem:"));
	return false;
}

TEST_F_TIMEOUT(remains, crashes_leave_nothing_behind, 1800)
{
	int n = (int)from_environment("PLD_CRASHES",
				      in_a_guest() ? CRASHES_IN_A_GUEST
						   : CRASHES);
	long long available, shmem;

	/* what stays open from now on */
	for (int kind = 0; kind < CRASH_KINDS; kind++) {
		ASSERT_EQ(0, run_and_crash(kind));
	}
	self->before = left_now();
	available = memory_available();
	shmem = meminfo("Shmem:");
	for (int i = 0; i < n; i++) {
		ASSERT_EQ(0, run_and_crash(i));
	}
	EXPECT_TRUE(left_as_before(&self->before, HEAP_SLACK));
	EXPECT_TRUE(memory_is_back(available, shmem, n));
	EXPECT_FALSE(left_stuck());
	TH_LOG("%d crashes", n);
}

/* ---- a notify as soon as the window is there ---- */

static pld_window_buffer *fresh[AT_ONCE];

/*
 * The other rank may not even have been forked, or be about to map the window.
 * Rank 0 is forked first, and so the first launch's rank 1 comes after it.
 */
static int notify_at_once(pld_domain *domain, void *arg)
{
	int me = pld_rank(domain), peer = 1 - me;

	(void)arg;
	for (int i = 0; i < AT_ONCE; i++) {
		pld_distributed_tensor signal;

		PLD_TRY(pld_window(fresh[i], PLD_SHAPE(2, 1), PLD_INT32,
				   &signal));
		PLD_TRY(pld_system_notify(&signal, peer, PLD_AT(me, 0), 1 + i,
					  i % 2 ? PLD_SET : PLD_ATOMIC_ADD));
	}
	for (int i = 0; i < AT_ONCE; i++) {
		pld_distributed_tensor signal;
		int32_t own;

		PLD_TRY(pld_window(fresh[i], PLD_SHAPE(2, 1), PLD_INT32,
				   &signal));
		PLD_TRY(pld_system_wait(&signal, PLD_AT(peer, 0), 1 + i, PLD_EQ));
		PLD_TRY(pld_read(&signal, PLD_AT(me, 0), &own));
		CHECK_EQ(0, own);
	}
	return 0;
}

static int create_and_notify(pld_domain *domain)
{
	int error = 0;

	for (int i = 0; i < AT_ONCE && !error; i++)
		error = pld_alloc_signal(domain, PLD_SHAPE(2, 1), &fresh[i]);
	if (!error)
		error = run_ranks(domain, notify_at_once, NULL);
	for (int i = 0; i < AT_ONCE; i++) {
		pld_free_window_buffer(fresh[i]);
		fresh[i] = NULL;
	}
	return error;
}

static int create_domain_and_notify(int launches)
{
	const int devices[] = { 0, 1 };
	pld_domain_options options = { .timeout_ns = TIMEOUT_NS };
	pld_domain *domain = NULL;
	int error;

	error = pld_domain_create(devices, 2, &options, &domain);
	for (int i = 0; i < launches && !error; i++)
		error = create_and_notify(domain);
	pld_domain_destroy(domain);
	return error;
}

TEST_F_TIMEOUT(remains, no_notify_to_a_fresh_window_is_lost, 1800)
{
	int n = (int)from_environment("PLD_CREATES",
				      in_a_guest() ? CREATES_IN_A_GUEST
						   : CREATES);

	ASSERT_EQ(0, create_domain_and_notify(2));
	self->before = left_now();
	for (int made = 0; made < n;) {
		int launches = (n - made + AT_ONCE - 1) / AT_ONCE;

		if (launches > LAUNCHES)
			launches = LAUNCHES;
		ASSERT_EQ(0, create_domain_and_notify(launches));
		made += launches * AT_ONCE;
	}
	EXPECT_TRUE(left_as_before(&self->before, HEAP_SLACK));
	TH_LOG("%d windows", n);
}

LIB_TEST_MAIN
