// SPDX-License-Identifier: GPL-2.0
/*
 * Who is killed while telling the others of a failure: they hear of it all the
 * same. On memfd, where processes tell each other; the module cannot be killed.
 *
 * The library's own system calls come by here: a process is killed at the one
 * that a test names.
 */
#include <dlfcn.h>
#include <linux/futex.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/syscall.h>

#include "lib_join.h"

#define NRANKS 3
#define VICTIM 0
#define SERVER (-1)

/* Who is killed, and when. Shared by all. */
static struct plan {
	int victim;
	/* before this one of its rings for all; or when its result is sent */
	int ring;
	int on_result;
	atomic_int rings, told;
} * plan;

/* In place of libc's, whose callers all pass six. */
long syscall(long number, ...)
{
	long (*libc)(long, ...) =
		(long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
	long args[6];
	va_list list;

	va_start(list, number);
	for (int i = 0; i < 6; i++)
		args[i] = va_arg(list, long);
	va_end(list);
	if (plan && lib_here == plan->victim && number == SYS_futex &&
	    (int)args[1] == FUTEX_WAKE_BITSET &&
	    (uint32_t)args[5] == FUTEX_BITSET_MATCH_ANY &&
	    plan->rings++ == plan->ring)
		raise(SIGKILL);
	return libc(number, args[0], args[1], args[2], args[3], args[4],
		    args[5]);
}

ssize_t send(int fd, const void *data, size_t bytes, int flags)
{
	ssize_t sent = sendto(fd, data, bytes, flags, NULL, 0);

	if (plan && lib_here == plan->victim && plan->on_result)
		raise(SIGKILL);
	return sent;
}

FIXTURE(telling)
{
	struct served *served;
	struct peer server;
	struct joiner joiners[NRANKS];
	char folder[40];
};

FIXTURE_SETUP(telling)
{
	pld_domain *domain = make_domain(1);
	bool memfd = domain && !strcmp(pld_domain_platform(domain), "memfd");

	pld_domain_destroy(domain);
	if (!memfd)
		return;
	plan = mmap(NULL, sizeof(*plan), PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, plan);
	strcpy(self->folder, "/tmp/lib_telling.XXXXXX");
	ASSERT_NE(NULL, mkdtemp(self->folder));
	self->served = make_served(NRANKS);
	ASSERT_NE(NULL, self->served);
	snprintf(self->served->path, sizeof(self->served->path), "%s/s",
		 self->folder);
}

FIXTURE_TEARDOWN(telling)
{
	if (!self->served)
		return;
	unlink(self->served->path);
	EXPECT_EQ(0, rmdir(self->folder));
}

/* The harness runs a test whose fixture skips. */
#define NEED_MEMFD(_self)                                                         \
	do {                                                                      \
		if (!(_self)->served)                                             \
			SKIP(return,                                              \
				   "only on memfd do processes tell each other"); \
	} while (0)

static void let_others_sleep(struct served *served)
{
	reaches(&served->ready, NRANKS - 1);
	nanosleep(&(struct timespec){ .tv_nsec = 50000000 }, NULL);
}

static int fail_or_wait(pld_domain *domain, void *arg)
{
	struct served *served = arg;
	int error;

	if (pld_rank(domain) == VICTIM) {
		let_others_sleep(served);
		return -EIO;
	}
	error = wait_long(domain, served);
	CHECK_REFUSED(-EOWNERDEAD,
		      "pld.system.wait: rank 0 failed: Input/output error",
		      error);
	return error;
}

static void expect_told(struct __test_metadata *_metadata,
			const pld_rank_report *reports)
{
	for (int rank = 0; rank < NRANKS; rank++)
		if (rank != VICTIM)
			EXPECT_STREQ(rank == 1
					     ? "rank 1: pld.system.wait: rank 0 failed: Input/output error"
					     : "rank 2: pld.system.wait: rank 0 failed: Input/output error",
				     reports[rank].message);
}

TEST_F(telling, a_forked_rank_is_killed_between_its_rings)
{
	struct lib_job job = { .kernel = fail_or_wait, .arg = self->served };
	pld_rank_report reports[NRANKS];
	pld_domain *domain;

	NEED_MEMFD(self);
	plan->victim = VICTIM;
	plan->ring = 1;
	ASSERT_EQ(0, make_served_domain(self->served, &domain));
	EXPECT_REFUSED(-EOWNERDEAD, "rank 0 died: killed by signal 9 (Killed)",
		       pld_launch(domain, lib_start, &job, reports));
	expect_told(_metadata, reports);
	pld_domain_destroy(domain);
}

static void all_come_in(struct __test_metadata *_metadata,
			FIXTURE_DATA(telling) * self, pld_kernel *kernel)
{
	ASSERT_EQ(0, start_server(&self->server, self->served));
	for (int rank = 0; rank < NRANKS; rank++)
		ASSERT_EQ(0, start_joiner(&self->joiners[rank], self->served,
					  rank, kernel));
}

static void expect_end(struct __test_metadata *_metadata,
		       FIXTURE_DATA(telling) * self)
{
	EXPECT_EQ(128 + SIGKILL, peer_reap(&self->joiners[VICTIM].peer));
	EXPECT_EQ(0, peer_reap(&self->joiners[1].peer));
	EXPECT_EQ(0, peer_reap(&self->joiners[2].peer));
	EXPECT_EQ(0, peer_reap(&self->server));
	EXPECT_EQ(-EIO, self->served->error);
	expect_told(_metadata, self->served->reports);
}

TEST_F(telling, a_rank_that_came_in_is_killed_between_its_rings)
{
	NEED_MEMFD(self);
	plan->victim = VICTIM;
	plan->ring = 1;
	all_come_in(_metadata, self, fail_or_wait);
	expect_end(_metadata, self);
}

TEST_F(telling, a_rank_that_came_in_is_killed_when_only_the_server_was_told)
{
	NEED_MEMFD(self);
	plan->victim = VICTIM;
	plan->on_result = 1;
	all_come_in(_metadata, self, fail_or_wait);
	expect_end(_metadata, self);
}

static int die_or_wait(pld_domain *domain, void *arg)
{
	struct served *served = arg;

	if (pld_rank(domain) == VICTIM) {
		let_others_sleep(served);
		raise(SIGKILL);
	}
	CHECK_REFUSED(-EOWNERDEAD, "pld.system.wait: rank 0 died",
		      wait_long(domain, served));
	plan->told++;
	return 0;
}

TEST_F(telling, the_server_is_killed_between_its_rings)
{
	NEED_MEMFD(self);
	plan->victim = SERVER;
	plan->ring = 1;
	all_come_in(_metadata, self, die_or_wait);
	EXPECT_EQ(128 + SIGKILL, peer_reap(&self->joiners[VICTIM].peer));
	EXPECT_EQ(128 + SIGKILL, peer_reap(&self->server));
	/* Whether they leave before or after they find it gone. */
	EXPECT_GE(2, peer_reap(&self->joiners[1].peer));
	EXPECT_GE(2, peer_reap(&self->joiners[2].peer));
	EXPECT_EQ(2, (int)plan->told);
}

LIB_TEST_MAIN
