// SPDX-License-Identifier: GPL-2.0
/*
 * Ranks that come in by themselves: how they start, end, die, stop and abort,
 * what the server and the others are told, and that nothing is left behind.
 */
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/time.h>

#include "lib_join.h"

#define NRANKS 4
#define VICTIM 2

FIXTURE(join)
{
	struct served *served;
	struct peer server;
	struct joiner joiners[NRANKS];
	char folder[40];
};

FIXTURE_SETUP(join)
{
	strcpy(self->folder, "/tmp/lib_join.XXXXXX");
	ASSERT_NE(NULL, mkdtemp(self->folder));
	self->served = make_served(NRANKS);
	ASSERT_NE(NULL, self->served);
	snprintf(self->served->path, sizeof(self->served->path), "%s/s",
		 self->folder);
}

FIXTURE_TEARDOWN(join)
{
	unlink(self->served->path);
	EXPECT_EQ(0, rmdir(self->folder));
	munmap(self->served, sizeof(*self->served));
}

#define ALL_COME_IN(kernel)                                                  \
	do {                                                                 \
		for (int r = 0; r < NRANKS; r++)                             \
			ASSERT_EQ(0, start_joiner(&self->joiners[r],         \
						  self->served, r, kernel)); \
	} while (0)
#define ALL_END(status)                                                       \
	do {                                                                  \
		for (int r = 0; r < NRANKS; r++)                              \
			EXPECT_EQ(status, peer_reap(&self->joiners[r].peer)); \
	} while (0)
#define SERVER_ENDS(result, sentence)                          \
	do {                                                   \
		EXPECT_EQ(0, peer_reap(&self->server));        \
		EXPECT_EQ(result, self->served->error);        \
		EXPECT_STREQ(sentence, self->served->message); \
	} while (0)

/* ---- all is well ---- */

TEST_F(join, all_ranks_come_in)
{
	struct stat stat;

	ASSERT_EQ(0, start_server(&self->server, self->served));
	ASSERT_EQ(0, lstat(self->served->path, &stat));
	EXPECT_EQ(S_IFSOCK | 0600, stat.st_mode);
	ALL_COME_IN(gather);
	ALL_END(0);
	SERVER_ENDS(0, "");
	EXPECT_EQ(NRANKS, (int)self->served->came);
	EXPECT_EQ(1, (int)self->served->started);
	for (int rank = 0; rank < NRANKS; rank++)
		EXPECT_EQ(0, self->served->reports[rank].error);
	EXPECT_EQ(-1, lstat(self->served->path, &stat));
}

TEST_F(join, one_comes_in_and_the_others_are_forked)
{
	self->served->ranks[0] = VICTIM;
	self->served->nr_joined = 1;
	ASSERT_EQ(0, start_server(&self->server, self->served));
	ASSERT_EQ(0,
		  start_joiner(&self->joiners[0], self->served, VICTIM, gather));
	EXPECT_EQ(0, peer_reap(&self->joiners[0].peer));
	SERVER_ENDS(0, "");
}

/* Signals are zeroed, and nothing is left, from one serving to the next. */
TEST_F(join, a_domain_is_served_again)
{
	self->served->again = 2;
	ASSERT_EQ(0, start_server(&self->server, self->served));
	for (int i = 1; i <= 3; i++) {
		ASSERT_TRUE(reaches(&self->served->listening, i));
		ALL_COME_IN(gather);
		ALL_END(0);
		ASSERT_TRUE(reaches(&self->served->over, i));
		EXPECT_EQ(0, self->served->error);
		self->served->go_on = i;
	}
	SERVER_ENDS(0, "");
	EXPECT_EQ(0, self->served->reset_error);
	EXPECT_EQ(0, self->served->left_files);
	EXPECT_GE(OWN_MAPPINGS, self->served->left_mappings);
}

static int look_around(pld_domain *domain, void *arg)
{
	const void *note;
	size_t bytes;

	CHECK_EQ(2, pld_domain_buffers(domain));
	CHECK(!pld_domain_buffer(domain, 2));
	CHECK(!strcmp("pld_domain_buffer: index is 2, the domain has 2 buffers",
		      pld_last_error()));
	CHECK(!pld_domain_buffer(domain, -1));
	CHECK_EQ(NRANKS, pld_nranks(domain));
	CHECK_EQ(lib_here, pld_rank(domain));
	note = pld_domain_note(domain, &bytes);
	CHECK_EQ(7, bytes);
	CHECK(!memcmp("a note", note, bytes));
	if (lib_here == 3)
		CHECK_REFUSED(-EPERM,
			      "pld_domain_reset: only the host side can do this, not rank 3",
			      pld_domain_reset(domain));
	pld_domain_destroy(domain);
	return gather(domain, arg);
}

TEST_F(join, who_came_in_sees_what_was_made)
{
	ASSERT_EQ(0, start_server(&self->server, self->served));
	ALL_COME_IN(look_around);
	ALL_END(0);
	SERVER_ENDS(0, "");
}

/* Its windows are unmapped and its descriptors closed: in the same process. */
TEST_F(join, a_process_comes_in_again_and_again)
{
	int files, mappings = 0;
	pld_domain *domain;

	self->served->nranks = 1;
	self->served->again = 3;
	ASSERT_EQ(0, start_server(&self->server, self->served));
	files = count_files();
	for (int i = 1; i <= 4; i++) {
		ASSERT_TRUE(reaches(&self->served->listening, i));
		ASSERT_EQ(0, pld_domain_connect(self->served->path, 0, &domain))
		{
			TH_LOG("%s", pld_last_error());
		}
		EXPECT_EQ(0, pld_rank(domain));
		EXPECT_EQ(0, pld_domain_disconnect(domain, 1));
		EXPECT_EQ(files, count_files());
		/* The first one leaves the thread's stack in glibc's cache. */
		if (i == 1)
			mappings = count_mappings();
		EXPECT_GE(mappings + OWN_MAPPINGS, count_mappings());
		ASSERT_TRUE(reaches(&self->served->over, i));
		EXPECT_EQ(0, self->served->error);
		self->served->go_on = i;
	}
	SERVER_ENDS(0, "");
}

/* On memfd they come over the socket too; the module has them. */
TEST_F(join, windows_of_dma_bufs_have_them_in_every_rank)
{
	int fd = make_dmabuf(1);

	if (fd < 0)
		SKIP(return, "%s", pld_last_error());
	close(fd);
	self->served->imports = 1;
	self->served->ranks[0] = 0;
	self->served->ranks[1] = VICTIM;
	self->served->ranks[2] = 1;
	self->served->nr_joined = 3;
	ASSERT_EQ(0, start_server(&self->server, self->served));
	for (int r = 0; r < 3; r++)
		ASSERT_EQ(0, start_joiner(&self->joiners[r], self->served, r,
					  gather));
	for (int r = 0; r < 3; r++)
		EXPECT_EQ(0, peer_reap(&self->joiners[r].peer));
	SERVER_ENDS(0, "");
}

/* ---- failures ---- */

/* What the victim does comes when the others are about to wait. */
static void let_others_wait(struct served *served)
{
	reaches(&served->ready, NRANKS - 1);
	usleep(20000);
}

static int fail_alone(pld_domain *domain, void *served)
{
	if (pld_rank(domain) != VICTIM)
		return wait_long(domain, served);
	let_others_wait(served);
	return -EIO;
}

TEST_F(join, an_error_of_one_reaches_all)
{
	ASSERT_EQ(0, start_server(&self->server, self->served));
	ALL_COME_IN(fail_alone);
	ALL_END(0);
	SERVER_ENDS(-EIO, "rank 2: its kernel returned -5 (Input/output error)");
	EXPECT_EQ(-EOWNERDEAD, self->served->reports[0].error);
	EXPECT_STREQ("rank 0: pld.system.wait: rank 2 failed: Input/output error",
		     self->served->reports[0].message);
}

static int expect_death(pld_domain *domain, void *served)
{
	int error = wait_long(domain, served);

	CHECK_REFUSED(-EOWNERDEAD, "pld.system.wait: rank 2 died", error);
	return error;
}

static int be_the_victim(pld_domain *domain, void *served)
{
	return pld_rank(domain) == VICTIM ? wait_long(domain, served)
					  : expect_death(domain, served);
}

#define OTHERS_END(status)                                                    \
	do {                                                                  \
		for (int r = 0; r < NRANKS; r++)                              \
			if (r != VICTIM)                                      \
				EXPECT_EQ(status,                             \
					  peer_reap(&self->joiners[r].peer)); \
	} while (0)
#define OTHERS_REPORT(number)                                              \
	do {                                                               \
		for (int r = 0; r < NRANKS; r++)                           \
			if (r != VICTIM)                                   \
				EXPECT_EQ(number,                          \
					  self->served->reports[r].error); \
	} while (0)

TEST_F(join, a_killed_rank_is_dead_for_all)
{
	char sentence[100];

	ASSERT_EQ(0, start_server(&self->server, self->served));
	ALL_COME_IN(be_the_victim);
	ASSERT_TRUE(reaches(&self->served->ready, NRANKS));
	snprintf(sentence, sizeof(sentence),
		 "rank 2 died: process %d ended before pld_domain_disconnect",
		 self->joiners[VICTIM].peer.pid);
	EXPECT_EQ(128 + SIGKILL, peer_kill(&self->joiners[VICTIM].peer));
	OTHERS_END(0);
	SERVER_ENDS(-EOWNERDEAD, sentence);
	OTHERS_REPORT(-EOWNERDEAD);
}

/* Forked ranks hear of it in the same way. */
TEST_F(join, the_only_one_that_came_in_is_killed)
{
	self->served->ranks[0] = VICTIM;
	self->served->nr_joined = 1;
	served_kernel = expect_death;
	ASSERT_EQ(0, start_server(&self->server, self->served));
	ASSERT_EQ(0, start_joiner(&self->joiners[0], self->served, VICTIM,
				  wait_long));
	ASSERT_TRUE(reaches(&self->served->ready, NRANKS));
	EXPECT_EQ(128 + SIGKILL, peer_kill(&self->joiners[0].peer));
	EXPECT_EQ(0, peer_reap(&self->server));
	EXPECT_EQ(-EOWNERDEAD, self->served->error);
	OTHERS_REPORT(-EOWNERDEAD);
}

/* A grandchild that has all its descriptors does not hide it. */
static int fork_and_end(pld_domain *domain, void *arg)
{
	struct served *served = arg;

	if (pld_rank(domain) != VICTIM)
		return expect_death(domain, served);
	let_others_wait(served);
	if (!fork()) {
		prctl(PR_SET_PDEATHSIG, 0);
		reaches(&served->over, 1);
		served->go_on = 1;
		_exit(0);
	}
	_exit(3);
}

TEST_F(join, a_grandchild_does_not_hide_a_death)
{
	char sentence[100];

	ASSERT_EQ(0, start_server(&self->server, self->served));
	ALL_COME_IN(fork_and_end);
	snprintf(sentence, sizeof(sentence),
		 "rank 2 died: process %d ended before pld_domain_disconnect",
		 self->joiners[VICTIM].peer.pid);
	EXPECT_EQ(3, peer_reap(&self->joiners[VICTIM].peer));
	OTHERS_END(0);
	SERVER_ENDS(-EOWNERDEAD, sentence);
	OTHERS_REPORT(-EOWNERDEAD);
	EXPECT_TRUE(reaches(&self->served->go_on, 1));
}

static int run_another_program(pld_domain *domain, void *served)
{
	if (pld_rank(domain) != VICTIM)
		return expect_death(domain, served);
	let_others_wait(served);
	execl("/bin/sleep", "sleep", "60", NULL);
	return -errno;
}

TEST_F(join, a_rank_that_runs_another_program_is_dead)
{
	char sentence[100];

	ASSERT_EQ(0, start_server(&self->server, self->served));
	ALL_COME_IN(run_another_program);
	snprintf(sentence, sizeof(sentence),
		 "rank 2 died: process %d runs another program, or has closed its files",
		 self->joiners[VICTIM].peer.pid);
	OTHERS_END(0);
	SERVER_ENDS(-EOWNERDEAD, sentence);
	OTHERS_REPORT(-EOWNERDEAD);
	EXPECT_EQ(128 + SIGKILL, peer_kill(&self->joiners[VICTIM].peer));
}

static int miss_the_stopped(pld_domain *domain, void *arg)
{
	struct served *served = arg;
	pld_distributed_tensor signal;

	PLD_TRY(pld_window(pld_domain_buffer(domain, 1), PLD_SHAPE(NRANKS, 1),
			   PLD_INT32, &signal));
	served->ready++;
	if (pld_rank(domain) == VICTIM)
		raise(SIGSTOP);
	else
		CHECK(reaches(&served->ready, NRANKS));
	return pld_system_wait_timeout(&signal, PLD_AT(VICTIM, 0), 1, PLD_GE,
				       50 * LIB_MS);
}

/* It is cut off, not killed; the domain waits for it to go. */
TEST_F(join, a_stopped_rank_is_cut_off)
{
	char sentence[100];
	int victim;

	self->served->again = 2;
	ASSERT_EQ(0, start_server(&self->server, self->served));
	ALL_COME_IN(miss_the_stopped);
	victim = self->joiners[VICTIM].peer.pid;
	OTHERS_END(0);
	ASSERT_TRUE(reaches(&self->served->over, 1));
	EXPECT_EQ(-ETIMEDOUT, self->served->error);
	EXPECT_NE(NULL, strstr(self->served->message,
			       "timed out after 0.050 s: cell [2, 0] of rank"));
	EXPECT_EQ(-ECANCELED, self->served->reports[VICTIM].error);
	snprintf(sentence, sizeof(sentence),
		 "rank 2 was cut off: process %d went on after the failure",
		 victim);
	EXPECT_STREQ(sentence, self->served->reports[VICTIM].message);

	self->served->go_on = 1;
	ASSERT_TRUE(reaches(&self->served->over, 2));
	EXPECT_EQ(-EBUSY, self->served->reset_error);
	snprintf(sentence, sizeof(sentence),
		 "pld_domain_reset: process %d, which was cut off as rank 2, has not left yet",
		 victim);
	EXPECT_STREQ(sentence, self->served->reset_message);
	EXPECT_EQ(-ETIMEDOUT, self->served->error);

	/* It goes on, hears of it, and leaves by itself. */
	kill(victim, SIGCONT);
	EXPECT_EQ(2, peer_reap(&self->joiners[VICTIM].peer));
	self->served->go_on = 2;
	ASSERT_TRUE(reaches(&self->served->listening, 2));
	EXPECT_EQ(0, self->served->reset_error);
	ALL_COME_IN(gather);
	ALL_END(0);
	SERVER_ENDS(0, "");
}

static int hear_of_its_end(pld_domain *domain, void *served)
{
	CHECK_REFUSED(-EOWNERDEAD, "pld.system.wait: the server has gone away",
		      wait_long(domain, served));
	CHECK_REFUSED(-ECONNRESET,
		      "pld_domain_disconnect: the server has gone away",
		      pld_domain_disconnect(domain, 0));
	return 0;
}

/* There is nobody who would tell what it returns. */
static int outlive_the_server(pld_domain *domain, void *served)
{
	_exit(hear_of_its_end(domain, served) ? 1 : 0);
}

/* Its socket is left in the folder; the next server takes the place. */
TEST_F(join, a_killed_server_is_gone_for_all)
{
	struct stat stat;

	ASSERT_EQ(0, start_server(&self->server, self->served));
	ALL_COME_IN(outlive_the_server);
	ASSERT_TRUE(reaches(&self->served->ready, NRANKS));
	EXPECT_EQ(128 + SIGKILL, peer_kill(&self->server));
	ALL_END(0);
	EXPECT_EQ(0, lstat(self->served->path, &stat));
	ASSERT_EQ(0, start_server(&self->server, self->served));
	ALL_COME_IN(gather);
	ALL_END(0);
	SERVER_ENDS(0, "");
}

/* A child of the server holds its end of rank 0's connection so long after it. */
#define HELD_US 20000

static void hold_the_first(void *arg, pld_serve_event event, int rank, int pid)
{
	static pid_t first;
	pid_t server = getpid();
	struct ucred peer;

	on_progress(arg, event, rank, pid);
	if (event == PLD_SERVE_CAME && rank == 0)
		first = pid;
	if (event != PLD_SERVE_STARTED || fork())
		return;
	for (int fd = STDERR_FILENO + 1; fd < 1024; fd++) {
		socklen_t size = sizeof(peer);

		if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) ||
		    peer.pid != first)
			close(fd);
	}
	while (getppid() == server)
		usleep(1000);
	usleep(HELD_US);
	_exit(0);
}

static void ignore(int signal)
{
	(void)signal;
}

static int outlive_it_among_signals(pld_domain *domain, void *served)
{
	static const struct itimerval every = { { 0, 1000 }, { 0, 1000 } };

	signal(SIGALRM, ignore);
	CHECK_EQ(0, setitimer(ITIMER_REAL, &every, NULL));
	return outlive_the_server(domain, served);
}

/* Who hears of it from another rank first waits for the end of its own connection. */
TEST_F(join, signals_do_not_end_the_look_for_the_server)
{
	served_progress = hold_the_first;
	ASSERT_EQ(0, start_server(&self->server, self->served));
	ALL_COME_IN(outlive_it_among_signals);
	ASSERT_TRUE(reaches(&self->served->ready, NRANKS));
	EXPECT_EQ(128 + SIGKILL, peer_kill(&self->server));
	ALL_END(0);
}

static int abort_all(pld_domain *domain, void *served)
{
	int error;

	if (pld_rank(domain) == VICTIM) {
		let_others_wait(served);
		return pld_abort(domain, 42);
	}
	error = wait_long(domain, served);
	CHECK_REFUSED(-ECANCELED,
		      "pld.system.wait: rank 2 aborted with code 42", error);
	return error;
}

TEST_F(join, an_abort_ends_all)
{
	ASSERT_EQ(0, start_server(&self->server, self->served));
	ALL_COME_IN(abort_all);
	ALL_END(0);
	SERVER_ENDS(-ECANCELED, "rank 2 aborted with code 42");
	EXPECT_EQ(42, self->served->abort_code);
	OTHERS_REPORT(-ECANCELED);
}

static int leave_in_a_child(pld_domain *domain, void *served)
{
	static const char refused[] =
		"pld_domain_disconnect: this process was forked by the rank and is not a rank itself";
	int status = 0;

	if (!fork())
		_exit(pld_nranks(domain) != -EPERM ||
		      pld_domain_disconnect(domain, 0) != -EPERM ||
		      strcmp(refused, pld_last_error()));
	wait(&status);
	CHECK_EQ(0, status);
	return gather(domain, served);
}

TEST_F(join, a_child_of_a_rank_is_no_rank)
{
	ASSERT_EQ(0, start_server(&self->server, self->served));
	ALL_COME_IN(leave_in_a_child);
	ALL_END(0);
	SERVER_ENDS(0, "");
}

/* ---- before the start ---- */

TEST_F(join, who_goes_before_the_start_leaves_its_place)
{
	ASSERT_EQ(0, start_server(&self->server, self->served));
	for (int i = 1; i <= 3; i++) {
		ASSERT_EQ(0, start_joiner(&self->joiners[0], self->served, 1,
					  gather));
		ASSERT_TRUE(reaches(&self->served->came, i));
		EXPECT_EQ(128 + SIGKILL, peer_kill(&self->joiners[0].peer));
		ASSERT_TRUE(reaches(&self->served->went, i));
	}
	ALL_COME_IN(gather);
	ALL_END(0);
	SERVER_ENDS(0, "");
}

TEST_F(join, ranks_that_never_come_are_named)
{
	self->served->patience_ns = 300 * LIB_MS;
	self->served->again = 1;
	ASSERT_EQ(0, start_server(&self->server, self->served));
	ASSERT_EQ(0, start_joiner(&self->joiners[0], self->served, 2, gather));
	EXPECT_EQ(1, peer_reap(&self->joiners[0].peer));
	ASSERT_TRUE(reaches(&self->served->over, 1));
	EXPECT_EQ(-ETIMEDOUT, self->served->error);
	EXPECT_STREQ("pld_domain_serve: timed out: ranks 0, 1, 3 never came",
		     self->served->message);

	self->served->patience_ns = LONG;
	self->served->go_on = 1;
	ASSERT_TRUE(reaches(&self->served->listening, 2));
	ALL_COME_IN(gather);
	ALL_END(0);
	SERVER_ENDS(0, "");
}

TEST_F(join, a_server_is_stopped_before_the_start)
{
	struct stat stat;

	ASSERT_EQ(0, start_server(&self->server, self->served));
	ASSERT_EQ(0, start_joiner(&self->joiners[0], self->served, 2, gather));
	ASSERT_TRUE(reaches(&self->served->came, 1));
	kill(self->server.pid, SIGUSR1);
	SERVER_ENDS(-ECANCELED,
		    "pld_domain_serve: stopped before all ranks had come");
	EXPECT_EQ(1, peer_reap(&self->joiners[0].peer));
	EXPECT_EQ(-1, lstat(self->served->path, &stat));
}

TEST_F(join, a_server_is_stopped_later)
{
	self->served->ranks[0] = VICTIM;
	self->served->nr_joined = 1;
	served_kernel = wait_long;
	ASSERT_EQ(0, start_server(&self->server, self->served));
	ASSERT_EQ(0, start_joiner(&self->joiners[0], self->served, VICTIM,
				  wait_long));
	ASSERT_TRUE(reaches(&self->served->ready, NRANKS));
	kill(self->server.pid, SIGUSR1);
	SERVER_ENDS(-ECANCELED, "pld_domain_serve: stopped");
	/* One may hear of another's end before its own comes. */
	for (int rank = 0; rank < NRANKS; rank++)
		EXPECT_NE(0, self->served->reports[rank].error);
	EXPECT_GE(2, peer_reap(&self->joiners[0].peer));
}

/* ---- at random ---- */

static int gather_much(pld_domain *domain, void *served)
{
	for (int i = 0; i < 100000; i++)
		PLD_TRY(gather(domain, served));
	return 0;
}

/* 1 to 2^24 from a seed, the same everywhere. */
static unsigned int draw(unsigned int *seed)
{
	*seed = *seed * 1664525u + 1013904223u;
	return *seed >> 8;
}

/* Whoever is killed when: all end by themselves, and the next server serves. */
TEST_F(join, anybody_is_killed_at_any_time)
{
	int rounds = times(20, 4), started;
	unsigned int seed = 12345;

	self->served->patience_ns = 1000 * LIB_MS;
	for (int i = 0; i < rounds; i++) {
		unsigned int who = draw(&seed) % (NRANKS + 1);
		unsigned int delay = draw(&seed) % 30000;
		struct peer *peer = who < NRANKS ? &self->joiners[who].peer
						 : &self->server;

		started = self->served->started;
		ASSERT_EQ(0, start_server(&self->server, self->served));
		ALL_COME_IN(gather_much);
		if (i % 2)
			EXPECT_TRUE(reaches(&self->served->started, started + 1));
		usleep(delay);
		EXPECT_EQ(128 + SIGKILL, peer_kill(peer))
		{
			TH_LOG("round %d", i);
		}
		for (unsigned int r = 0; r < NRANKS; r++)
			if (r != who)
				EXPECT_GE(2, peer_reap(&self->joiners[r].peer));
		if (who < NRANKS)
			EXPECT_EQ(0, peer_reap(&self->server));
	}
	ASSERT_EQ(0, start_server(&self->server, self->served));
	ALL_COME_IN(gather);
	ALL_END(0);
	SERVER_ENDS(0, "");
}

LIB_TEST_MAIN
