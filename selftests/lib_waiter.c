// SPDX-License-Identifier: GPL-2.0
/*
 * pld.system.defer_wait: a descriptor that polls readable when the conditions
 * of a waiter hold, or cannot hold any more, and what is refused.
 */
#include <fcntl.h>
#include <stdlib.h>

#include <linux/pld_sim.h>

#include "lib_left.h"
#include "lib_waiter.h"

/* ---- when it tells ---- */

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
	int result;

	CHECK_EQ(0, pld_waiter_create(domain, &waiter));
	PLD_TRY(defer(waiter, buffer, 3));
	CHECK(readable(pld_waiter_fd(waiter), HANG_MS));
	result = pld_waiter_result(waiter);
	pld_waiter_destroy(waiter);
	return result;
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
