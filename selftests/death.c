// SPDX-License-Identifier: GPL-2.0
/*
 * Ends of ranks and domains: what counts as a death and what does not, what
 * everybody else gets to know of it, failures that ranks report themselves,
 * and that nothing hangs or is left over.
 *
 * This process is rank 0 and stays alive; peers are the other ranks.
 */
#include <pthread.h>

#include "pld_counters.h"
#include "pld_test.h"

#define NRANKS 4
#define VICTIM 2

/* What a peer needs in order to join and to wait for what never comes. */
struct member {
	int domain;
	__u32 rank;
	__u32 window;
};

FIXTURE(death)
{
	int domain;
	int fd;
	struct pld_sim_window_alloc win;
	const struct pld_sim_status *status;
	const struct pld_sim_doorbell *bell;
	__u32 epoch;
	struct member member[NRANKS];
	struct peer peer[NRANKS];
};

FIXTURE_SETUP(death)
{
	self->domain = sim_domain(NRANKS);
	ASSERT_LE(0, self->domain);
	ASSERT_EQ(0, sim_alloc(self->domain, SIM_PAGE, PLD_WINDOW_SIGNAL,
			       &self->win));
	self->fd = sim_member(self->domain, 0);
	ASSERT_LE(0, self->fd);
	self->status = sim_status(self->fd);
	ASSERT_NE(MAP_FAILED, self->status);
	self->bell = sim_mmap(self->fd, NRANKS * PLD_SIM_DOORBELL_STRIDE,
			      PROT_READ, PLD_SIM_MMAP_DOORBELLS);
	ASSERT_NE(MAP_FAILED, self->bell);
	self->epoch = self->status->epoch;
	for (__u32 r = 0; r < NRANKS; r++)
		self->member[r] = (struct member){
			.domain = self->domain,
			.rank = r,
			.window = self->win.window,
		};
}

FIXTURE_TEARDOWN(death)
{
	close(self->fd);
	close(self->domain);
}

static int wait_long(int fd, __u32 window)
{
	return sim_wait(fd, window, 0, PLD_SIM_CMP_EQ, 1,
			sim_after(5 * SIM_HANG), NULL);
}

static const __u32 *waiters_of(FIXTURE_DATA(death) * self, __u32 rank)
{
	return (const __u32 *)((const char *)self->bell +
			       rank * PLD_SIM_DOORBELL_STRIDE);
}

/* Joins, says so, waits for what never comes, and tells how that ended. */
static int join_and_wait(struct peer *self, void *arg)
{
	struct member *m = arg;
	int fd = sim_member(m->domain, m->rank);

	NEED(fd >= 0);
	peer_tell(self, 0);
	peer_tell(self, wait_long(fd, m->window));
	return sim_leave(fd);
}

/* Joins, says so, and does nothing. */
static int join_and_sleep(struct peer *self, void *arg)
{
	struct member *m = arg;

	NEED(sim_member(m->domain, m->rank) >= 0);
	peer_tell(self, 0);
	return peer_sleep();
}

/* Starts @fn as @rank and returns when it has joined. */
static void start(struct __test_metadata *_metadata, FIXTURE_DATA(death) * self,
		  __u32 rank, peer_fn fn)
{
	ASSERT_EQ(0, peer_start(&self->peer[rank], fn, &self->member[rank]));
	ASSERT_EQ(0, peer_hear(&self->peer[rank]));
}

/* Starts a rank that waits, and returns when it sleeps. */
static void start_waiter(struct __test_metadata *_metadata,
			 FIXTURE_DATA(death) * self, __u32 rank)
{
	start(_metadata, self, rank, join_and_wait);
	ASSERT_TRUE(sim_until(waiters_of(self, rank), 1));
}

/*
 * The whole status page after the first failure; @states as letters: a rank
 * that is absent, joined, left or dead.
 */
static int status_is(FIXTURE_DATA(death) * self, __u32 reason, __u32 rank,
		     __s32 code, const char *states)
{
	struct pld_sim_status want;

	memset(&want, 0, sizeof(want));
	want.epoch = self->epoch + (reason != PLD_FAIL_NONE);
	want.reason = reason;
	want.rank = rank;
	want.code = code;
	want.nranks = NRANKS;
	for (__u32 r = 0; r < NRANKS; r++)
		want.rank_state[r] = strchr("ajld", states[r]) - "ajld";
	if (!memcmp(&want, self->status, sizeof(want)))
		return 1;
	fprintf(stderr, "# epoch %u reason %u rank %u code %d states %u%u%u%u\n",
		self->status->epoch, self->status->reason, self->status->rank,
		self->status->code, self->status->rank_state[0],
		self->status->rank_state[1], self->status->rank_state[2],
		self->status->rank_state[3]);
	return 0;
}

TEST_F(death, killed_rank_ends_the_waits_of_all_others)
{
	for (__u32 r = 1; r < NRANKS; r++)
		start_waiter(_metadata, self, r);
	ASSERT_EQ(128 + SIGKILL, peer_kill(&self->peer[VICTIM]));
	EXPECT_EQ(-EOWNERDEAD, wait_long(self->fd, self->win.window));
	EXPECT_TRUE(sim_until(&self->status->epoch, self->epoch + 1));
	for (__u32 r = 1; r < NRANKS; r++) {
		if (r == VICTIM)
			continue;
		EXPECT_EQ(-EOWNERDEAD, peer_hear(&self->peer[r]));
		EXPECT_EQ(0, peer_reap(&self->peer[r]));
	}
	EXPECT_TRUE(status_is(self, PLD_FAIL_DEAD, VICTIM, 0, "jldl"));
	for (__u32 r = 0; r < NRANKS; r++)
		EXPECT_EQ(0, sim_load(waiters_of(self, r)));
}

TEST_F(death, dead_domain_refuses_wait_ring_and_join_until_reset)
{
	start(_metadata, self, 1, join_and_sleep);
	ASSERT_EQ(128 + SIGKILL, peer_kill(&self->peer[1]));
	for (int i = 0; i < 3; i++) {
		EXPECT_EQ(-EOWNERDEAD, wait_long(self->fd, self->win.window));
		EXPECT_EQ(-EOWNERDEAD,
			  sim_ring(self->fd, self->win.window, 3, 0));
		EXPECT_EQ(-EOWNERDEAD,
			  sim_join(sim_open(), self->domain, 3, NULL));
	}
	EXPECT_TRUE(status_is(self, PLD_FAIL_DEAD, 1, 0, "jdaa"));
	EXPECT_EQ(-EBUSY, sim_reset(self->domain));
	ASSERT_EQ(0, sim_leave(self->fd));
	EXPECT_TRUE(status_is(self, PLD_FAIL_DEAD, 1, 0, "ldaa"));
	ASSERT_EQ(0, sim_reset(self->domain));
	for (__u32 r = 0; r < NRANKS; r++)
		EXPECT_LE(0, sim_member(self->domain, r));
}

/* A satisfied cell is no excuse: what the domain says comes first. */
TEST_F(death, satisfied_wait_on_a_dead_domain_fails_all_the_same)
{
	start(_metadata, self, 1, join_and_sleep);
	ASSERT_EQ(128 + SIGKILL, peer_kill(&self->peer[1]));
	EXPECT_EQ(-EOWNERDEAD, sim_wait(self->fd, self->win.window, 0,
					PLD_SIM_CMP_EQ, 0, 0, NULL));
}

static int join_and_exit(struct peer *self, void *arg)
{
	struct member *m = arg;

	NEED(sim_member(m->domain, m->rank) >= 0);
	return 0;
}

TEST_F(death, exit_without_leaving_is_a_death)
{
	EXPECT_EQ(0, peer_call(join_and_exit, &self->member[3]));
	EXPECT_TRUE(status_is(self, PLD_FAIL_DEAD, 3, 0, "jaad"));
	EXPECT_EQ(-EOWNERDEAD, wait_long(self->fd, self->win.window));
}

static int join_and_close(struct peer *self, void *arg)
{
	struct member *m = arg;
	int fd = sim_member(m->domain, m->rank);

	NEED(fd >= 0);
	peer_tell(self, 0);
	NEED(close(fd) == 0);
	peer_tell(self, 1);
	return peer_sleep();
}

TEST_F(death, closing_the_rank_file_is_a_death)
{
	start(_metadata, self, 1, join_and_close);
	EXPECT_EQ(1, peer_hear(&self->peer[1]));
	EXPECT_TRUE(status_is(self, PLD_FAIL_DEAD, 1, 0, "jdaa"));
	EXPECT_EQ(128 + SIGKILL, peer_kill(&self->peer[1]));
}

static int join_map_and_close(struct peer *self, void *arg)
{
	struct member *m = arg;
	int fd = sim_member(m->domain, m->rank);

	NEED(fd >= 0 && sim_status(fd) != MAP_FAILED);
	peer_tell(self, 0);
	NEED(close(fd) == 0);
	peer_tell(self, 1);
	return peer_sleep();
}

TEST_F(death, closing_the_rank_file_is_a_death_though_it_is_mapped)
{
	start(_metadata, self, 1, join_map_and_close);
	EXPECT_EQ(1, peer_hear(&self->peer[1]));
	EXPECT_TRUE(status_is(self, PLD_FAIL_DEAD, 1, 0, "jdaa"));
	EXPECT_EQ(128 + SIGKILL, peer_kill(&self->peer[1]));
}

static int join_and_close_duplicate(struct peer *self, void *arg)
{
	struct member *m = arg;
	int fd = sim_member(m->domain, m->rank);

	NEED(fd >= 0);
	peer_tell(self, 0);
	NEED(close(dup(fd)) == 0);
	peer_tell(self, 1);
	return peer_sleep();
}

TEST_F(death, closing_a_duplicate_of_the_rank_file_is_a_death)
{
	start(_metadata, self, 1, join_and_close_duplicate);
	EXPECT_EQ(1, peer_hear(&self->peer[1]));
	EXPECT_TRUE(status_is(self, PLD_FAIL_DEAD, 1, 0, "jdaa"));
	EXPECT_EQ(128 + SIGKILL, peer_kill(&self->peer[1]));
}

static int join_and_exec(struct peer *self, void *arg)
{
	struct member *m = arg;
	int fd = sim_member(m->domain, m->rank);

	NEED(fd >= 0);
	/* Even the new program has the file. */
	NEED(fcntl(fd, F_SETFD, 0) == 0);
	execl("/proc/self/exe", "death", "sleep", (char *)NULL);
	return 1;
}

TEST_F(death, exec_is_a_death)
{
	ASSERT_EQ(0,
		  peer_start(&self->peer[3], join_and_exec, &self->member[3]));
	EXPECT_TRUE(sim_until(&self->status->epoch, self->epoch + 1));
	EXPECT_TRUE(status_is(self, PLD_FAIL_DEAD, 3, 0, "jaad"));
	EXPECT_EQ(128 + SIGKILL, peer_kill(&self->peer[3]));
}

static int join_and_leave(struct peer *self, void *arg)
{
	struct member *m = arg;
	int fd = sim_member(m->domain, m->rank);

	NEED(fd >= 0);
	return sim_leave(fd);
}

TEST_F(death, leaving_is_no_death)
{
	EXPECT_EQ(0, peer_call(join_and_leave, &self->member[1]));
	EXPECT_TRUE(status_is(self, PLD_FAIL_NONE, 0, 0, "jlaa"));
	EXPECT_EQ(0, sim_ring(self->fd, self->win.window, 1, 0));
}

static void *join_in_thread(void *arg)
{
	struct member *m = arg;

	return (void *)(long)sim_member(m->domain, m->rank);
}

TEST_F(death, end_of_the_thread_that_joined_is_no_death)
{
	pthread_t thread;
	void *fd;

	ASSERT_EQ(0, pthread_create(&thread, NULL, join_in_thread,
				    &self->member[1]));
	ASSERT_EQ(0, pthread_join(thread, &fd));
	ASSERT_LE(0, (long)fd);
	EXPECT_TRUE(status_is(self, PLD_FAIL_NONE, 0, 0, "jjaa"));
	EXPECT_EQ(0, sim_ring((long)fd, self->win.window, 0, 0));
	EXPECT_EQ(0, sim_leave((long)fd));
}

static int close_descriptor(struct peer *self, void *arg)
{
	return close(*(int *)arg);
}

TEST_F(death, forked_child_that_closes_or_exits_is_no_death)
{
	EXPECT_EQ(0, peer_call(close_descriptor, &self->fd));
	EXPECT_TRUE(status_is(self, PLD_FAIL_NONE, 0, 0, "jaaa"));
	EXPECT_EQ(0, sim_ring(self->fd, self->win.window, 0, 0));
}

/* Joins and forks a child that has the rank file too and lives on. */
static int join_and_fork(struct peer *self, void *arg)
{
	struct member *m = arg;
	int fd = sim_member(m->domain, m->rank);
	pid_t child;

	NEED(fd >= 0);
	child = fork();
	NEED(child >= 0);
	if (!child) {
		prctl(PR_SET_PDEATHSIG, 0);
		peer_tell(self, getpid());
		peer_tell(self, sim_leave(fd));
		return peer_sleep();
	}
	return peer_sleep();
}

TEST_F(death, forked_child_does_not_keep_the_rank_alive)
{
	struct peer *p = &self->peer[1];
	pid_t child;

	ASSERT_EQ(0, peer_start(p, join_and_fork, &self->member[1]));
	child = peer_hear(p);
	ASSERT_LT(1, child);
	EXPECT_EQ(-EPERM, peer_hear(p));
	EXPECT_TRUE(status_is(self, PLD_FAIL_NONE, 0, 0, "jjaa"));

	EXPECT_EQ(128 + SIGKILL, peer_kill(p));
	EXPECT_EQ(-EOWNERDEAD, wait_long(self->fd, self->win.window));
	EXPECT_TRUE(status_is(self, PLD_FAIL_DEAD, 1, 0, "jdaa"));
	EXPECT_EQ(0, kill(child, SIGKILL));
}

struct passer {
	struct member *member;
	int sock;
};

static int join_and_pass(struct peer *self, void *arg)
{
	struct passer *p = arg;
	int fd = sim_member(p->member->domain, p->member->rank);

	NEED(fd >= 0);
	NEED(fd_send(p->sock, fd) == 0);
	peer_tell(self, 0);
	return peer_sleep();
}

TEST_F(death, passed_descriptor_does_not_keep_the_rank_alive)
{
	struct peer *p = &self->peer[1];
	struct passer passer = { .member = &self->member[1] };
	int sock[2], fd;

	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM, 0, sock));
	passer.sock = sock[1];
	ASSERT_EQ(0, peer_start(p, join_and_pass, &passer));
	ASSERT_EQ(0, peer_hear(p));
	fd = fd_receive(sock[0]);
	ASSERT_LE(0, fd);
	EXPECT_EQ(-EPERM, sim_ring(fd, self->win.window, 0, 0));

	EXPECT_EQ(128 + SIGKILL, peer_kill(p));
	EXPECT_EQ(-EOWNERDEAD, wait_long(self->fd, self->win.window));
	EXPECT_TRUE(status_is(self, PLD_FAIL_DEAD, 1, 0, "jdaa"));
	EXPECT_EQ(0, close(fd));
	EXPECT_TRUE(status_is(self, PLD_FAIL_DEAD, 1, 0, "jdaa"));
}

TEST_F(death, death_while_stopped_is_noticed)
{
	start_waiter(_metadata, self, 1);
	ASSERT_EQ(0, kill(self->peer[1].pid, SIGSTOP));
	EXPECT_EQ(128 + SIGKILL, peer_kill(&self->peer[1]));
	EXPECT_EQ(-EOWNERDEAD, wait_long(self->fd, self->win.window));
	EXPECT_TRUE(status_is(self, PLD_FAIL_DEAD, 1, 0, "jdaa"));
}

/* How a domain ends when a rank, or who holds the domain, says so. */
FIXTURE(failure)
{
	FIXTURE_DATA(death) death;
};

FIXTURE_VARIANT(failure)
{
	__u32 reason;
	__s32 code;
	int error;
};

#define FAILURE(_name, _reason, _code, _error)                          \
	FIXTURE_VARIANT_ADD(failure, _name)                             \
	{                                                               \
		.reason = (_reason), .code = (_code), .error = (_error) \
	}

FAILURE(dead, PLD_FAIL_DEAD, 9, -EOWNERDEAD);
FAILURE(error, PLD_FAIL_ERROR, -EIO, -EOWNERDEAD);
FAILURE(timeout, PLD_FAIL_TIMEOUT, 0, -ETIMEDOUT);
FAILURE(abort, PLD_FAIL_ABORT, INT32_MIN, -ECANCELED);
FAILURE(outside, PLD_FAIL_OUTSIDE, -EIO, -EOWNERDEAD);

FIXTURE_SETUP(failure)
{
	death_setup(_metadata, &self->death, NULL);
}

FIXTURE_TEARDOWN(failure)
{
	death_teardown(_metadata, &self->death, NULL);
}

/* Everybody waits; the one who breaks the domain is @fd's. */
static void fail_all(struct __test_metadata *_metadata, FIXTURE_DATA(death) * d,
		     int fd, const FIXTURE_VARIANT(failure) * v)
{
	struct pld_sim_join late;

	for (__u32 r = 1; r < NRANKS; r++)
		start_waiter(_metadata, d, r);
	ASSERT_EQ(0, sim_fail(fd, v->reason, 3, v->code));
	EXPECT_EQ(d->epoch + 1, sim_load(&d->status->epoch));
	for (__u32 r = 1; r < NRANKS; r++) {
		EXPECT_EQ(v->error, peer_hear(&d->peer[r]));
		EXPECT_EQ(0, peer_reap(&d->peer[r]));
	}
	EXPECT_TRUE(status_is(d, v->reason, 3, v->code, "jlll"));
	EXPECT_EQ(v->error, wait_long(d->fd, d->win.window));
	EXPECT_EQ(v->error, sim_ring(d->fd, d->win.window, 1, 0));
	EXPECT_EQ(v->error, sim_join(sim_open(), d->domain, 1, &late));
	EXPECT_EQ(v->reason, late.reason);
	EXPECT_EQ(3, late.failed_rank);
	EXPECT_EQ(v->code, late.code);
}

TEST_F(failure, reported_by_a_rank_ends_all_waits)
{
	fail_all(_metadata, &self->death, self->death.fd, variant);
}

TEST_F(failure, reported_by_the_domains_holder_ends_all_waits)
{
	fail_all(_metadata, &self->death, self->death.domain, variant);
}

TEST_F(failure, first_one_stays)
{
	FIXTURE_DATA(death) *d = &self->death;

	ASSERT_EQ(0, sim_fail(d->fd, variant->reason, 1, variant->code));
	for (__u32 reason = PLD_FAIL_DEAD; reason <= PLD_FAIL_OUTSIDE; reason++) {
		EXPECT_EQ(0, sim_fail(d->fd, reason, 2, 55));
		EXPECT_EQ(0, sim_fail(d->domain, reason, 0, 56));
	}
	EXPECT_TRUE(status_is(d, variant->reason, 1, variant->code, "jaaa"));
}

TEST_F(failure, death_after_it_changes_only_the_ranks_state)
{
	FIXTURE_DATA(death) *d = &self->death;

	start(_metadata, d, 2, join_and_sleep);
	ASSERT_EQ(0, sim_fail(d->fd, variant->reason, 1, variant->code));
	EXPECT_EQ(128 + SIGKILL, peer_kill(&d->peer[2]));
	EXPECT_TRUE(sim_until(&d->status->rank_state[2], PLD_RANK_DEAD));
	EXPECT_TRUE(status_is(d, variant->reason, 1, variant->code, "jada"));
	EXPECT_EQ(variant->error, wait_long(d->fd, d->win.window));
}

TEST_F(death, failure_that_makes_no_sense_is_refused)
{
	EXPECT_EQ(-EINVAL, sim_fail(self->fd, PLD_FAIL_NONE, 0, 0));
	EXPECT_EQ(-EINVAL, sim_fail(self->fd, PLD_FAIL_OUTSIDE + 1, 0, 0));
	EXPECT_EQ(-EINVAL, sim_fail(self->domain, 0xffffffff, 0, 0));
	EXPECT_EQ(-ERANGE, sim_fail(self->fd, PLD_FAIL_ABORT, NRANKS, 0));
	EXPECT_EQ(-ERANGE, sim_fail(self->domain, PLD_FAIL_DEAD, ~0U, 0));
	EXPECT_TRUE(status_is(self, PLD_FAIL_NONE, 0, 0, "jaaa"));
}

struct waiting_thread {
	FIXTURE_DATA(death) * death;
	int ret;
};

static void *wait_in_thread(void *arg)
{
	struct waiting_thread *t = arg;

	t->ret = wait_long(t->death->fd, t->death->win.window);
	return NULL;
}

TEST_F(death, leaving_ends_the_waits_of_other_threads)
{
	struct waiting_thread t = { .death = self };
	pthread_t thread;

	ASSERT_EQ(0, pthread_create(&thread, NULL, wait_in_thread, &t));
	ASSERT_TRUE(sim_until(waiters_of(self, 0), 1));
	EXPECT_EQ(0, sim_leave(self->fd));
	EXPECT_EQ(0, pthread_join(thread, NULL));
	EXPECT_EQ(-ENOTCONN, t.ret);
	EXPECT_EQ(0, sim_load(waiters_of(self, 0)));
}

#define CYCLES 50

/* A domain, all of whose other ranks wait when one of them is killed. */
static void kill_cycle(struct __test_metadata *_metadata,
		       FIXTURE_DATA(death) * self, __u32 victim)
{
	for (__u32 r = 1; r < NRANKS; r++)
		start_waiter(_metadata, self, r);
	ASSERT_EQ(128 + SIGKILL, peer_kill(&self->peer[victim]));
	for (__u32 r = 1; r < NRANKS; r++) {
		if (r == victim)
			continue;
		ASSERT_EQ(-EOWNERDEAD, peer_hear(&self->peer[r]));
		ASSERT_EQ(0, peer_reap(&self->peer[r]));
	}
}

TEST_F_TIMEOUT(death, fifty_kills_leave_nothing_behind, 300)
{
	long long used = device_memory_used(VICTIM) - SIM_PAGE;
	long long refs = module_references();

	for (int i = 0; i < CYCLES; i++) {
		kill_cycle(_metadata, self, 1 + i % (NRANKS - 1));
		death_teardown(_metadata, self, NULL);
		ASSERT_EQ(0, munmap((void *)self->status, SIM_PAGE));
		ASSERT_EQ(0, munmap((void *)self->bell,
				    NRANKS * PLD_SIM_DOORBELL_STRIDE));
		EXPECT_EQ(used, settled_memory(VICTIM, used));
		death_setup(_metadata, self, NULL);
	}
	EXPECT_EQ(refs, settled_references(refs));
}

/* Whoever is killed in a wait is gone, not stuck in the kernel. */
TEST_F_TIMEOUT(death, killed_waiters_are_reaped, 300)
{
	for (int i = 0; i < CYCLES; i++) {
		start_waiter(_metadata, self, 1);
		ASSERT_EQ(128 + SIGKILL, peer_kill(&self->peer[1]));
		ASSERT_EQ(0, sim_leave(self->fd));
		ASSERT_EQ(0, close(self->fd));
		ASSERT_EQ(0, sim_reset(self->domain));
		self->fd = sim_member(self->domain, 0);
		ASSERT_LE(0, self->fd);
	}
}

static void __attribute__((constructor))
sleep_when_told_to(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "sleep"))
		peer_sleep();
}

PLD_TEST_MAIN
