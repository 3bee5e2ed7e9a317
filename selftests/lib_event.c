// SPDX-License-Identifier: GPL-2.0
/*
 * Signals as sync_files: pld_signal_fence where the platform has them, and what
 * it says where not.
 */
#include <fcntl.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <linux/sync_file.h>
#include <pld_event.h>

#define NRANKS 3
#include "lib_polled.h"

FIXTURE(event)
{
	pld_domain *domain;
	pld_window_buffer *buffer;
};

FIXTURE_SETUP(event)
{
	make_signals(_metadata, &self->domain, &self->buffer);
}

FIXTURE_TEARDOWN(event)
{
	pld_domain_destroy(self->domain);
}

static int status_of(int fence)
{
	struct sync_file_info info = { 0 };

	return ioctl(fence, SYNC_IOC_FILE_INFO, &info) ? -1000 : info.status;
}

static bool has_fences(const pld_domain *domain)
{
	return !strcmp(pld_domain_platform(domain), "kmod");
}

static int has_none(pld_domain *domain, void *buffer)
{
	pld_distributed_tensor signal;
	int fd = -7;

	(void)domain;
	PLD_TRY(view(buffer, &signal));
	CHECK_REFUSED(-EOPNOTSUPP,
		      "pld_signal_fence: platform memfd has no sync_file; use pld.system.defer_wait, and the eventfd of pld_waiter_fd",
		      pld_signal_fence(&signal, PLD_AT(1, 2), 1, PLD_GE, LIB_MS,
				       &fd));
	CHECK_EQ(-7, fd);
	return 0;
}

TEST_F(event, memfd_says_what_to_use_instead)
{
	if (has_fences(self->domain))
		SKIP(return, "the platform has sync_files");
	RUN(self->domain, has_none, self->buffer);
}

static int one_tells(pld_domain *domain, void *buffer)
{
	pld_distributed_tensor signal;
	int fence;

	PLD_TRY(view(buffer, &signal));
	if (pld_rank(domain)) {
		wait_for_ready(shared, 1);
		return pld_system_notify(&signal, 0, PLD_AT(pld_rank(domain), 0),
					 1, PLD_ATOMIC_ADD);
	}
	CHECK_EQ(0, pld_signal_fence(&signal, PLD_AT(1, 0), 1, PLD_EQ,
				     PLD_MAX_FENCE_NS, &fence));
	CHECK(fence > STDERR_FILENO);
	CHECK_EQ(FD_CLOEXEC, fcntl(fence, F_GETFD));
	CHECK_EQ(0, status_of(fence));
	say_ready(shared);
	CHECK(readable(fence, HANG_MS));
	CHECK_EQ(1, status_of(fence));
	CHECK_EQ(0, pld_system_wait(&signal, PLD_AT(1, 0), 1, PLD_EQ));
	close(fence);
	/* The one that nobody notifies. */
	CHECK_EQ(0, pld_signal_fence(&signal, PLD_AT(1, 1), 1, PLD_GE,
				     30 * LIB_MS, &fence));
	CHECK(readable(fence, HANG_MS));
	CHECK_EQ(-ETIMEDOUT, status_of(fence));
	close(fence);
	return 0;
}

TEST_F(event, fence_signals_by_a_notify_or_by_its_timeout)
{
	if (!has_fences(self->domain))
		SKIP(return, "platform memfd has no sync_files");
	RUN(self->domain, one_tells, self->buffer);
}

static int one_dies(pld_domain *domain, void *buffer)
{
	pld_distributed_tensor signal;
	int fence;

	if (pld_rank(domain) == 2) {
		wait_for_ready(shared, NRANKS - 1);
		raise(SIGKILL);
	}
	PLD_TRY(view(buffer, &signal));
	CHECK_EQ(0, pld_signal_fence(&signal, PLD_AT(2, 0), 1, PLD_GE,
				     PLD_MAX_FENCE_NS, &fence));
	say_ready(shared);
	CHECK(readable(fence, HANG_MS));
	CHECK_EQ(-EOWNERDEAD, status_of(fence));
	close(fence);
	CHECK_REFUSED(-EOWNERDEAD, "pld_signal_fence: rank 2 died",
		      pld_signal_fence(&signal, PLD_AT(2, 0), 1, PLD_GE, LIB_MS,
				       &fence));
	return 0;
}

TEST_F(event, fence_carries_a_death)
{
	pld_rank_report reports[NRANKS];

	if (!has_fences(self->domain))
		SKIP(return, "platform memfd has no sync_files");
	EXPECT_EQ(-EOWNERDEAD,
		  pld_launch(self->domain, one_dies, self->buffer, reports));
	EXPECT_STREQ("", reports[0].message);
	EXPECT_STREQ("", reports[1].message);
}

/* The checks are the same on every platform, but for the timeout's. */
static int refuse(pld_domain *domain, void *buffer)
{
	pld_distributed_tensor signal, floats;
	int fd;

	PLD_TRY(view(buffer, &signal));
	floats = signal;
	floats.dtype = PLD_FP32;
	CHECK_REFUSED(-EINVAL, "pld_signal_fence: fd must not be NULL",
		      pld_signal_fence(&signal, PLD_AT(1, 2), 1, PLD_GE, LIB_MS,
				       NULL));
	CHECK_REFUSED(-EINVAL,
		      "pld_signal_fence: signal must be a DistributedTensor, got NULL",
		      pld_signal_fence(NULL, PLD_AT(1, 2), 1, PLD_GE, LIB_MS,
				       &fd));
	CHECK_REFUSED(-EINVAL,
		      "pld_signal_fence: dtype of signal is fp32, wanted int32",
		      pld_signal_fence(&floats, PLD_AT(1, 2), 1, PLD_GE, LIB_MS,
				       &fd));
	CHECK_REFUSED(-ERANGE,
		      "pld_signal_fence: offsets [3, 0] with shape [1, 1] lie outside signal [3, 16]",
		      pld_signal_fence(&signal, PLD_AT(3, 0), 1, PLD_GE, LIB_MS,
				       &fd));
	CHECK_REFUSED(-EINVAL,
		      "pld_signal_fence: cmp is 2, wanted Eq (0) or Ge (1)",
		      pld_signal_fence(&signal, PLD_AT(1, 2), 1, (pld_cmp)2,
				       LIB_MS, &fd));
	if (!has_fences(domain))
		return 0;
	CHECK_REFUSED(-EINVAL,
		      "pld_signal_fence: timeout is 0 ns, wanted 1 to 10000000000",
		      pld_signal_fence(&signal, PLD_AT(1, 2), 1, PLD_GE, 0, &fd));
	CHECK_REFUSED(-EINVAL,
		      "pld_signal_fence: timeout is 10000000001 ns, wanted 1 to 10000000000",
		      pld_signal_fence(&signal, PLD_AT(1, 2), 1, PLD_GE,
				       PLD_MAX_FENCE_NS + 1, &fd));
	return 0;
}

TEST_F(event, bad_arguments_are_refused)
{
	RUN(self->domain, refuse, self->buffer);
}

LIB_TEST_MAIN
