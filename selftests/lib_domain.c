// SPDX-License-Identifier: GPL-2.0
/*
 * Domains of libpld: what is refused, which platform is taken, what outlives a
 * launch and what does not, that domains are isolated from each other, and
 * that nothing is left when they have ended.
 */
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib_golden.h"
#include "lib_left.h"
#include "lib_test.h"

#define NODE "/dev/pld_sim"
#define MEMFD_DEVICES 64

static int create(const int *devices, int nranks,
		  const pld_domain_options *options)
{
	pld_domain *domain = (pld_domain *)-1;
	int error = pld_domain_create(devices, nranks, options, &domain);

	if (!error)
		pld_domain_destroy(domain);
	else if (domain != (pld_domain *)-1)
		return check_failed(__FILE__, __LINE__,
				    "a refused domain was stored");
	return error;
}

/* How many devices the platform of the environment has. */
static int devices_present(const char **platform)
{
	pld_domain *domain = make_domain(1);
	int present = MEMFD_DEVICES;
	FILE *file;

	*platform = !domain ? "none" : pld_domain_platform(domain);
	if (!strcmp(*platform, "kmod")) {
		file = fopen("/sys/module/pld_sim/parameters/devices", "r");
		if (!file || fscanf(file, "%d", &present) != 1)
			present = -1;
		if (file)
			fclose(file);
	}
	pld_domain_destroy(domain);
	return present;
}

/* ---- what is refused ---- */

TEST(nothing_to_make_a_domain_of_is_refused)
{
	static const char message[] =
		"pld_domain_create: devices and domain must not be NULL";
	int devices[PLD_MAX_RANKS + 1] = { 0 };

	EXPECT_REFUSED(-EINVAL, message, create(NULL, 1, NULL));
	EXPECT_REFUSED(-EINVAL, message,
		       pld_domain_create(devices, 1, NULL, NULL));
	EXPECT_REFUSED(-EINVAL, "0 ranks, wanted 1 to 256",
		       create(devices, 0, NULL));
	EXPECT_REFUSED(-EINVAL, "-1 ranks, wanted 1 to 256",
		       create(devices, -1, NULL));
	EXPECT_REFUSED(-EINVAL, "257 ranks, wanted 1 to 256",
		       create(devices, PLD_MAX_RANKS + 1, NULL));
}

TEST(device_named_twice_is_refused)
{
	EXPECT_REFUSED(-EINVAL, "device 0 is named twice",
		       create((int[]){ 0, 0 }, 2, NULL));
	EXPECT_REFUSED(-EINVAL, "device 1 is named twice",
		       create((int[]){ 3, 1, 2, 1 }, 4, NULL));
}

TEST(device_that_does_not_exist_is_refused)
{
	const char *platform;
	int present = devices_present(&platform);
	int bad[] = { present, -1, INT_MAX, INT_MIN };
	char message[128];

	ASSERT_LT(0, present);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		snprintf(message, sizeof(message),
			 "device %d does not exist: platform %s has devices 0 to %d",
			 bad[i], platform, present - 1);
		EXPECT_REFUSED(-ENOENT, message,
			       create((int[]){ 1, bad[i] }, 2, NULL));
	}
	EXPECT_EQ(0, create((int[]){ present - 1 }, 1, NULL));
}

TEST(bad_options_are_refused)
{
	pld_domain_options late = { .timeout_ns = -1 };
	pld_domain_options small = { .tile_bytes = 7 };
	pld_domain_options least = { .tile_bytes = 8, .timeout_ns = 1 };
	pld_domain_options unknown = { .platform = "Memfd" };
	pld_domain_options empty = { .platform = "" };

	EXPECT_REFUSED(-EINVAL, "timeout of -1 ns, wanted 0 or more",
		       create((int[]){ 0 }, 1, &late));
	EXPECT_REFUSED(-EINVAL, "staging tile of 7 bytes, wanted at least 8",
		       create((int[]){ 0 }, 1, &small));
	EXPECT_REFUSED(-EINVAL,
		       "platform 'Memfd' is not known, wanted auto, kmod, memfd or a2a3sim",
		       create((int[]){ 0 }, 1, &unknown));
	EXPECT_REFUSED(-EINVAL,
		       "platform '' is not known, wanted auto, kmod, memfd or a2a3sim",
		       create((int[]){ 0 }, 1, &empty));
	EXPECT_EQ(0, create((int[]){ 0 }, 1, &least));
}

TEST(kmod_without_its_module_says_so)
{
	pld_domain_options options = { .platform = "kmod" };

	if (!access(NODE, F_OK))
		SKIP(return, "the module is loaded");
	EXPECT_REFUSED(-ENODEV,
		       "platform kmod: no module: there is no " NODE
		       "; load pld_sim.ko, or use platform memfd",
		       create((int[]){ 0 }, 1, &options));
}

/* ---- which platform ---- */

/* The platform and reason of a domain that was asked for in that way. */
static int platform_is(const char *option, const char *environment,
		       const char *platform, const char *reason)
{
	pld_domain_options options = { .platform = option };
	pld_domain *domain;
	int error;

	if (environment)
		setenv("PLD_PLATFORM", environment, 1);
	else
		unsetenv("PLD_PLATFORM");
	error = pld_domain_create((int[]){ 0 }, 1, &options, &domain);
	if (error)
		return error;
	CHECK(!strcmp(platform, pld_domain_platform(domain)));
	CHECK(!strcmp(reason, pld_domain_platform_reason(domain)));
	pld_domain_destroy(domain);
	return 0;
}

TEST(named_platform_is_taken)
{
	static const char named[] = "asked for by name";

	EXPECT_EQ(0, platform_is("memfd", NULL, "memfd", named));
	EXPECT_EQ(0, platform_is("memfd", "kmod", "memfd", named));
	EXPECT_EQ(0, platform_is("memfd", "nonsense", "memfd", named));
	EXPECT_EQ(0, platform_is(NULL, "memfd", "memfd", named));
	if (!access(NODE, R_OK | W_OK))
		EXPECT_EQ(0, platform_is(NULL, "kmod", "kmod", named));
	EXPECT_REFUSED(-EINVAL,
		       "platform 'nonsense' is not known, wanted auto, kmod, memfd or a2a3sim",
		       platform_is(NULL, "nonsense", "", ""));
}

TEST(auto_takes_the_module_when_it_can_be_used)
{
	const char *platform = "kmod", *reason = NODE " can be used";

	if (access(NODE, F_OK)) {
		platform = "memfd";
		reason = "not kmod: platform kmod: no module: there is no " NODE
			 "; load pld_sim.ko, or use platform memfd";
	} else if (access(NODE, R_OK | W_OK)) {
		SKIP(return, "the module is loaded but not for this user");
	}
	EXPECT_EQ(0, platform_is("auto", "nonsense", platform, reason));
	EXPECT_EQ(0, platform_is("a2a3sim", NULL, platform, reason));
	EXPECT_EQ(0, platform_is(NULL, "a2a3sim", platform, reason));
	EXPECT_EQ(0, platform_is(NULL, "auto", platform, reason));
	EXPECT_EQ(0, platform_is(NULL, "", platform, reason));
	EXPECT_EQ(0, platform_is(NULL, NULL, platform, reason));
}

/* ---- sides ---- */

static int only_host_calls(pld_domain *domain, void *buffer)
{
	pld_window_buffer *more = NULL;

	if (pld_rank(domain) != 1)
		return 0;
	CHECK_REFUSED(-EPERM,
		      "pld.alloc_window_buffer: only the host side can do this, not rank 1",
		      pld_alloc_window_buffer(domain, 64, &more));
	CHECK_REFUSED(-EPERM,
		      "pld_domain_reset: only the host side can do this, not rank 1",
		      pld_domain_reset(domain));
	CHECK_REFUSED(-EPERM,
		      "pld_launch: only the host side can do this, not rank 1",
		      pld_launch(domain, only_host_calls, buffer, NULL));
	CHECK(!more);
	/* These have no way to refuse. */
	pld_free_window_buffer(buffer);
	pld_domain_destroy(domain);
	CHECK_EQ(1, pld_rank(domain));
	return 0;
}

TEST(host_and_ranks_have_calls_of_their_own)
{
	pld_domain *domain = make_domain(2);
	pld_distributed_tensor view;
	pld_window_buffer *buffer;

	ASSERT_NE(NULL, domain);
	EXPECT_EQ(2, pld_world_size(domain));
	EXPECT_EQ(2, pld_nranks(domain));
	EXPECT_REFUSED(-ENOTCONN, "pld.rank: the host side has no rank",
		       pld_rank(domain));
	ASSERT_EQ(0, pld_alloc_window_buffer(domain, 64, &buffer));
	EXPECT_REFUSED(-ENOTCONN,
		       "pld.window: only a launched kernel can do this, not the host side",
		       pld_window(buffer, PLD_SHAPE(1), PLD_INT8, &view));
	EXPECT_REFUSED(-ENOTCONN,
		       "pld_abort: only a launched kernel can do this, not the host side",
		       pld_abort(domain, 3));
	EXPECT_REFUSED(-EINVAL, "pld_launch: kernel must not be NULL",
		       pld_launch(domain, NULL, NULL, NULL));
	RUN(domain, only_host_calls, buffer);
	pld_domain_destroy(domain);
	pld_domain_destroy(NULL);
	pld_free_window_buffer(NULL);
}

/* ---- ranks of a list ---- */

struct job {
	pld_window_buffer *data;
	pld_window_buffer *signal;
	int32_t base;
};

/* Each rank tells each peer its number. */
static int tell_all(pld_domain *domain, void *arg)
{
	struct job *job = arg;
	int32_t mine = job->base + pld_rank(domain);
	pld_put_options options = {
		.dst_offsets = PLD_AT(pld_rank(domain)),
		.src_offsets = PLD_AT(0),
		.shape = PLD_SHAPE(1),
	};
	pld_distributed_tensor all;
	pld_tensor one;

	PLD_TRY(pld_window(job->data, PLD_SHAPE(pld_nranks(domain)), PLD_INT32,
			   &all));
	PLD_TRY(pld_tensor_init(&one, &mine, PLD_SHAPE(1), PLD_INT32));
	for (int peer = 0; peer < pld_nranks(domain); peer++)
		CHECK_EQ(0, pld_tensor_put(&all, peer, &one, &options));
	return 0;
}

static int told_all(pld_domain *domain, void *arg)
{
	struct job *job = arg;
	pld_distributed_tensor all;
	const int32_t *numbers;

	PLD_TRY(pld_window(job->data, PLD_SHAPE(pld_nranks(domain)), PLD_INT32,
			   &all));
	numbers = all.data;
	for (int rank = 0; rank < pld_nranks(domain); rank++)
		CHECK_EQ(job->base + rank, numbers[rank]);
	return 0;
}

TEST(ranks_are_numbered_in_the_order_of_the_list)
{
	static const struct {
		int nranks;
		int devices[4];
	} lists[] = {
		{ 4, { 3, 1, 7, 0 } },
		{ 3, { 4, 5, 7 } },
		{ 1, { 6 } },
		{ 2, { 7, 0 } },
	};

	for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
		struct job job = { .base = 50 };
		pld_domain *domain;

		ASSERT_EQ(0, pld_domain_create(lists[i].devices,
					       lists[i].nranks, NULL, &domain));
		EXPECT_EQ(lists[i].nranks, pld_world_size(domain));
		ASSERT_EQ(0, pld_alloc_window_buffer(domain, 64, &job.data));
		RUN(domain, tell_all, &job);
		RUN(domain, told_all, &job);
		pld_domain_destroy(domain);
	}
}

/* ---- from launch to launch ---- */

/* Signals are zero whenever a launch begins, and left otherwise. */
static int fresh_signals(pld_domain *domain, void *arg)
{
	struct job *job = arg;
	pld_distributed_tensor signal;

	PLD_TRY(pld_window(job->signal, PLD_SHAPE(4), PLD_INT32, &signal));
	for (int i = 0; i < 4; i++) {
		CHECK_EQ(0, pld_system_wait_timeout(&signal, PLD_AT(i), 0,
						    PLD_EQ, 0));
		CHECK_EQ(0, pld_system_notify(&signal, pld_rank(domain),
					      PLD_AT(i), -1 - i, PLD_SET));
	}
	return 0;
}

/* Rank 1 fails when rank 0 has nothing left to do that could fail with it. */
static int fail_with_signals(pld_domain *domain, void *arg)
{
	struct job *job = arg;
	pld_distributed_tensor signal;

	PLD_TRY(fresh_signals(domain, arg));
	PLD_TRY(pld_window(job->signal, PLD_SHAPE(5), PLD_INT32, &signal));
	if (pld_rank(domain) != 1)
		return pld_system_notify(&signal, 1, PLD_AT(4), 1, PLD_SET);
	PLD_TRY(pld_system_wait(&signal, PLD_AT(4), 1, PLD_EQ));
	return -EIO;
}

FIXTURE(launches)
{
	pld_domain *domain;
	struct job job;
};

FIXTURE_SETUP(launches)
{
	self->domain = make_domain(2);
	ASSERT_NE(NULL, self->domain);
	ASSERT_EQ(0, pld_alloc_window_buffer(self->domain, 64, &self->job.data));
	ASSERT_EQ(0, pld_alloc_signal(self->domain, PLD_SHAPE(5),
				      &self->job.signal));
	self->job.base = 7;
}

FIXTURE_TEARDOWN(launches)
{
	pld_domain_destroy(self->domain);
}

TEST_F(launches, keep_data_and_zero_signals)
{
	RUN(self->domain, tell_all, &self->job);
	for (int i = 0; i < 3; i++) {
		RUN(self->domain, fresh_signals, &self->job);
		RUN(self->domain, told_all, &self->job);
	}
}

TEST_F(launches, failed_domain_is_broken_until_it_is_reset)
{
	static const char message[] =
		"rank 1: its kernel returned -5 (Input/output error)";
	pld_rank_report reports[2];

	RUN(self->domain, tell_all, &self->job);
	EXPECT_REFUSED(-EIO, message,
		       pld_launch(self->domain, fail_with_signals, &self->job,
				  reports));
	EXPECT_EQ(-EIO, reports[1].error);
	EXPECT_STREQ(message, reports[1].message);
	for (int i = 0; i < 2; i++)
		EXPECT_REFUSED(-EIO, message,
			       pld_launch(self->domain, told_all, &self->job,
					  NULL));
	EXPECT_EQ(0, pld_domain_reset(self->domain));
	RUN(self->domain, fresh_signals, &self->job);
	RUN(self->domain, told_all, &self->job);
	EXPECT_EQ(0, pld_domain_reset(self->domain));
	RUN(self->domain, told_all, &self->job);
}

TEST_F(launches, window_allocated_between_them_joins_the_others)
{
	struct job late = { .signal = self->job.signal, .base = 99 };

	RUN(self->domain, tell_all, &self->job);
	ASSERT_EQ(0, pld_alloc_window_buffer(self->domain, 64, &late.data));
	RUN(self->domain, tell_all, &late);
	RUN(self->domain, told_all, &self->job);
	RUN(self->domain, told_all, &late);
}

/* ---- domains beside each other ---- */

/*
 * Every rank writes the same places as the ranks of the other domain do, and
 * leaves exactly its own domain's values: all by nranks * ROUNDS adds.
 */
static int crowd(pld_domain *domain, void *arg)
{
	enum { ROUNDS = 500 };
	struct job *job = arg;
	int nranks = pld_nranks(domain);
	pld_distributed_tensor signal;

	PLD_TRY(pld_window(job->signal, PLD_SHAPE(4), PLD_INT32, &signal));
	for (int i = 0; i < ROUNDS; i++)
		for (int peer = 0; peer < nranks; peer++)
			CHECK_EQ(0,
				 pld_system_notify(&signal, peer, PLD_AT(0),
						   job->base, PLD_ATOMIC_ADD));
	PLD_TRY(tell_all(domain, arg));
	for (int peer = 0; peer < nranks; peer++)
		CHECK_EQ(0, pld_system_notify(&signal, peer, PLD_AT(1), 1,
					      PLD_ATOMIC_ADD));
	CHECK_EQ(0, pld_system_wait(&signal, PLD_AT(1), nranks, PLD_EQ));
	CHECK_EQ(0, pld_system_wait_timeout(&signal, PLD_AT(0),
					    job->base * nranks * ROUNDS, PLD_EQ,
					    0));
	return told_all(domain, arg);
}

struct host {
	pthread_t thread;
	int devices[3];
	int32_t base;
	int error;
};

static int run_host(const struct host *host)
{
	struct job job = { .base = host->base };
	pld_domain *domain;

	PLD_TRY(pld_domain_create(host->devices, 3, NULL, &domain));
	PLD_TRY(pld_alloc_window_buffer(domain, 64, &job.data));
	PLD_TRY(pld_alloc_signal(domain, PLD_SHAPE(5), &job.signal));
	for (int i = 0; i < 5; i++)
		PLD_TRY(run_ranks(domain, crowd, &job));
	pld_domain_destroy(domain);
	return 0;
}

static void *host_thread(void *arg)
{
	struct host *host = arg;

	host->error = run_host(host);
	return NULL;
}

TEST(domains_of_two_threads_are_isolated)
{
	struct host hosts[] = {
		{ .devices = { 0, 1, 2 }, .base = 3 },
		{ .devices = { 2, 0, 3 }, .base = -1000 },
	};

	for (int i = 0; i < 2; i++)
		ASSERT_EQ(0, pthread_create(&hosts[i].thread, NULL, host_thread,
					    &hosts[i]));
	for (int i = 0; i < 2; i++) {
		pthread_join(hosts[i].thread, NULL);
		EXPECT_EQ(0, hosts[i].error);
	}
}

TEST(domains_of_two_processes_are_isolated)
{
	struct host here = { .devices = { 0, 1, 2 }, .base = 3 };
	struct host there = { .devices = { 2, 0, 3 }, .base = -1000 };
	pid_t pid = fork();
	int status;

	ASSERT_LE(0, pid);
	if (!pid)
		_exit(run_host(&there) ? 1 : 0);
	EXPECT_EQ(0, run_host(&here));
	ASSERT_EQ(pid, TEMP_FAILURE_RETRY(waitpid(pid, &status, 0)));
	EXPECT_EQ(0, status);
}

TEST(broken_domain_leaves_its_neighbour_alone)
{
	pld_domain *bad = make_domain(2), *good = make_domain(2);
	struct job job = { .base = 1 }, other = { .base = 2 };

	ASSERT_NE(NULL, bad);
	ASSERT_NE(NULL, good);
	ASSERT_EQ(0, pld_alloc_window_buffer(good, 64, &job.data));
	ASSERT_EQ(0, pld_alloc_signal(bad, PLD_SHAPE(5), &other.signal));
	RUN(good, tell_all, &job);
	EXPECT_EQ(-EIO, pld_launch(bad, fail_with_signals, &other, NULL));
	RUN(good, told_all, &job);
	pld_domain_destroy(bad);
	RUN(good, told_all, &job);
	pld_domain_destroy(good);
}

/* ---- nothing is left ---- */

/* A life in which also something is refused and something fails. */
static int live(int i)
{
	pld_domain *domain = make_domain(2);
	struct job job = { .base = i };
	pld_window_buffer *huge;

	CHECK(domain);
	CHECK_EQ(-ENOENT, create((int[]){ 0, INT_MAX }, 2, NULL));
	CHECK_EQ(0, pld_alloc_window_buffer(domain, 64, &job.data));
	CHECK_EQ(-ENOMEM,
		 pld_alloc_window_buffer(domain, (size_t)1 << 45, &huge));
	CHECK_EQ(0, pld_alloc_signal(domain, PLD_SHAPE(5), &job.signal));
	if (i % 2)
		CHECK_EQ(0, run_ranks(domain, tell_all, &job));
	else
		CHECK_EQ(-EIO,
			 pld_launch(domain, fail_with_signals, &job, NULL));
	if (i % 3)
		pld_free_window_buffer(job.data);
	pld_domain_destroy(domain);
	return 0;
}

TEST(nothing_is_left_of_many_domains)
{
	int valgrind = getenv("PLD_VALGRIND") != NULL;
	const char *platform = getenv("PLD_PLATFORM");
	/* The guest that kmod runs in is emulated. */
	int emulated = platform && !strcmp(platform, "kmod");
	int domains = valgrind || emulated ? 20 : 100;
	int files, mappings;

	/* What is opened or mapped once and for all. */
	for (int i = 0; i < 4; i++)
		ASSERT_EQ(0, live(i));
	files = count_files();
	mappings = count_mappings();
	ASSERT_LT(0, files);
	ASSERT_LT(0, mappings);
	for (int i = 0; i < domains; i++)
		ASSERT_EQ(0, live(i));
	/* Valgrind's stand-in for pidfd_open() closes its files when it can. */
	EXPECT_GE(files + (valgrind ? domains / 2 : 0), count_files());
	/* The heap may have grown by a mapping or two; each domain has more. */
	EXPECT_GT(mappings + domains / 2, count_mappings());
	EXPECT_EQ(-1, waitpid(-1, NULL, WNOHANG));
	EXPECT_EQ(ECHILD, errno);
}

/* That the module cannot be used is no failure where memfd will do. */
TEST(auto_leaves_no_sentence)
{
	pld_domain_options options = { .platform = "auto" };
	pld_domain *domain;

	ASSERT_EQ(0, pld_domain_create((int[]){ 0, 1 }, 2, &options, &domain));
	EXPECT_STREQ("", pld_last_error());
	pld_domain_destroy(domain);
}

LIB_TEST_MAIN
