// SPDX-License-Identifier: GPL-2.0
/*
 * What windows cost: the memory that is there, the one that is not, and that all
 * of it comes back.
 */
#include <sys/resource.h>

#include "pld_bytes.h"
#include "pld_counters.h"
#include "pld_test.h"

/* A domain of two ranks, and what was in use before it was there. */
FIXTURE(memory)
{
	long long used[2];
	long long references;
	int domain;
	int fd;
};

FIXTURE_SETUP(memory)
{
	self->references = module_references();
	for (int d = 0; d < 2; d++) {
		self->used[d] = device_memory_used(d);
		ASSERT_LE(0, self->used[d]);
	}
	self->domain = sim_domain(2);
	ASSERT_LE(0, self->domain);
	self->fd = sim_member(self->domain, 0);
	ASSERT_LE(0, self->fd);
}

FIXTURE_TEARDOWN(memory)
{
	close(self->fd);
	close(self->domain);
}

static long faults(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_minflt;
}

static bool maps_two_mib_at_a_time(void)
{
	return !access("/sys/kernel/mm/transparent_hugepage", F_OK) &&
	       sizeof(long) > 4;
}

/* Its 512 times 2 MiB, and some of whatever else the test touches. */
#define FAULTS_OF_A_GIB 600

TEST_F_TIMEOUT(memory, one_gib_window_works_with_few_faults, 300)
{
	int domain = sim_domain(1), fd = sim_member(domain, 0);
	struct pld_sim_window_alloc win;
	unsigned char *bytes;
	long before;

	if (meminfo("MemAvailable") < (long long)(GB + 200 * MB))
		SKIP(return, "less than 1.2 GiB of memory is available");
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, sim_alloc(domain, GB, 0, &win));
	bytes = sim_map(fd, &win, 0);
	ASSERT_NE(MAP_FAILED, bytes);
	before = faults();
	EXPECT_EQ(GB, first_not_zero(bytes, GB));
	for (__u64 at = 0; at < GB; at += SIM_PAGE)
		put_marks(bytes + at, sizeof(__u64), at / SIM_PAGE);
	for (__u64 at = 0; at < GB; at += SIM_PAGE)
		EXPECT_EQ(sizeof(__u64),
			  first_wrong_mark(bytes + at, sizeof(__u64),
					   at / SIM_PAGE));
	if (maps_two_mib_at_a_time())
		EXPECT_GE(FAULTS_OF_A_GIB, faults() - before);
	EXPECT_EQ(0, sim_leave(fd));
}

TEST_F_TIMEOUT(memory, more_than_there_is_is_ENOMEM_and_harms_nobody, 120)
{
	__u64 total = meminfo("MemTotal");
	__u64 lengths[] = { total / 2 + 64 * MB, total, 4 * total, 1ULL << 42 };
	struct pld_sim_window_alloc win;
	int log = kernel_log_open();

	for (unsigned int i = 0; i < ARRAY_SIZE(lengths); i++) {
		EXPECT_EQ(-ENOMEM, sim_alloc(self->domain, lengths[i], 0, &win));
		EXPECT_LT(0, win.available);
		EXPECT_GT(lengths[i], win.available);
		EXPECT_EQ(0, win.available % SIM_PAGE);
	}
	for (int d = 0; d < 2; d++)
		EXPECT_EQ(self->used[d], device_memory_used(d));
	EXPECT_EQ(0, kernel_log_splats(log));
	EXPECT_EQ(0, sim_alloc(self->domain, MB, 0, &win));
}

TEST_F_TIMEOUT(memory, all_that_is_available_can_be_had_and_comes_back, 300)
{
	struct pld_sim_window_alloc win;
	int log = kernel_log_open();
	struct pld_sim_info info;
	long long before, after;
	__u64 least, most;

	ASSERT_EQ(0, sim_info(self->fd, &info));
	if (info.device_memory)
		SKIP(return, "devices are limited to %llu bytes",
			   (unsigned long long)info.device_memory);
	if (meminfo("MemAvailable") > 8LL * (long long)GB)
		SKIP(return, "so much memory is available that it takes long");
	before = memory_available();
	/* For each of two ranks; the rest of the system is not quite at rest. */
	most = before / 2 + before / 32;
	for (int round = 0; round < 2; round++) {
		ASSERT_EQ(0, sim_alloc(self->domain, 1, 0, &win));
		ASSERT_EQ(0, sim_alloc(self->domain, win.available / 8 * 7, 0,
				       &win));
		least = (before - before / 8 - memory_on_cpu_lists()) / 2;
		EXPECT_LT(least, win.available);
		EXPECT_GT(most, win.available);
		ASSERT_EQ(0, sim_free(self->domain, win.window));
	}
	after = memory_available();
	EXPECT_LT(before - before / 16, after);
	EXPECT_EQ(0, kernel_log_splats(log));
}

TEST_F(memory, available_is_near_what_the_system_has)
{
	__u64 memory = memory_available();
	struct pld_sim_window_alloc win;
	struct pld_sim_info info;

	ASSERT_EQ(0, sim_info(self->fd, &info));
	if (info.device_memory)
		SKIP(return, "devices are limited to %llu bytes",
			   (unsigned long long)info.device_memory);
	ASSERT_EQ(0, sim_alloc(self->domain, 1, 0, &win));
	EXPECT_LT(memory / 4, win.available);
	EXPECT_GT(memory / 2 + 16 * MB, win.available);
}

TEST_F(memory, window_counts_until_its_last_mapping_goes)
{
	long long bytes = 3 * MB + SIM_PAGE;
	struct pld_sim_window_alloc win;
	unsigned char *page;

	ASSERT_EQ(0, sim_alloc(self->domain, 3 * MB + 1, 0, &win));
	page = sim_mmap(self->fd, SIM_PAGE, PROT_READ | PROT_WRITE,
			win.mmap_offset + win.stride);
	ASSERT_NE(MAP_FAILED, page);
	ASSERT_EQ(0, sim_free(self->domain, win.window));
	EXPECT_EQ(0, touch(page));
	for (int d = 0; d < 2; d++)
		EXPECT_EQ(self->used[d] + bytes, device_memory_used(d));
	ASSERT_EQ(0, munmap(page, SIM_PAGE));
	for (int d = 0; d < 2; d++)
		EXPECT_EQ(self->used[d], settled_memory(d, self->used[d]));
}

TEST_F(memory, nothing_is_left_when_everybody_has_gone)
{
	struct pld_sim_window_alloc win, signal;
	unsigned char *bytes;

	ASSERT_EQ(0, sim_alloc(self->domain, 5 * MB, 0, &win));
	ASSERT_EQ(0, sim_alloc(self->domain, 1, PLD_WINDOW_SIGNAL, &signal));
	bytes = sim_map(self->fd, &win, 0);
	ASSERT_NE(MAP_FAILED, bytes);
	ASSERT_EQ(0, close(self->fd));
	ASSERT_EQ(0, close(self->domain));
	for (int d = 0; d < 2; d++)
		EXPECT_LE(self->used[d] + 5 * (long long)MB,
			  device_memory_used(d));
	EXPECT_LT(self->references, module_references());

	ASSERT_EQ(0, sim_unmap(bytes, &win));
	for (int d = 0; d < 2; d++)
		EXPECT_EQ(self->used[d], settled_memory(d, self->used[d]));
	EXPECT_EQ(self->references, settled_references(self->references));
}

/* Children that make windows and go away in every other way. */
static int windows_and_out(struct peer *self, void *arg)
{
	struct pld_sim_window_alloc win;
	int domain = sim_domain(2), fd = sim_member(domain, 1);

	NEED(sim_alloc(domain, 3 * MB, PLD_WINDOW_SIGNAL, &win) == 0);
	NEED(touch(sim_map(fd, &win, 0)) == 0);
	peer_tell(self, 0);
	return arg ? peer_sleep() : 0;
}

TEST_F_TIMEOUT(memory, nothing_is_left_of_processes_that_exit_or_are_killed, 120)
{
	struct peer p;

	close(self->fd);
	close(self->domain);
	for (int i = 0; i < 20; i++) {
		int killed = i % 2;

		ASSERT_EQ(0,
			  peer_start(&p, windows_and_out, killed ? &p : NULL));
		EXPECT_EQ(0, peer_hear(&p));
		if (killed)
			kill(p.pid, SIGKILL);
		EXPECT_EQ(killed ? 128 + SIGKILL : 0, peer_reap(&p));
	}
	for (int d = 0; d < 2; d++)
		EXPECT_EQ(self->used[d], settled_memory(d, self->used[d]));
	EXPECT_EQ(self->references, settled_references(self->references));
}

PLD_TEST_MAIN
