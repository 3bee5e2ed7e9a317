// SPDX-License-Identifier: GPL-2.0
/*
 * What windows cost: the memory that is there, the one that is not, who pays
 * for it, and that all of it comes back.
 */
#include <sys/eventfd.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>

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
	long long before, after;
	__u64 available;

	if (meminfo("MemAvailable") > 8LL * (long long)GB)
		SKIP(return, "so much memory is available that it takes long");
	ASSERT_EQ(0, sim_alloc(self->domain, 1, 0, &win));
	available = win.available;
	before = meminfo("MemAvailable");
	for (int round = 0; round < 2; round++) {
		/* The rest of the system is not quite at rest. */
		ASSERT_EQ(0,
			  sim_alloc(self->domain, available / 8 * 7, 0, &win));
		EXPECT_LT(available - available / 16, win.available);
		EXPECT_GT(available + available / 16, win.available);
		ASSERT_EQ(0, sim_free(self->domain, win.window));
	}
	after = meminfo("MemAvailable");
	EXPECT_LT(before - before / 16, after);
	EXPECT_EQ(0, kernel_log_splats(log));
}

TEST_F(memory, available_is_near_what_the_system_has)
{
	__u64 memory = meminfo("MemAvailable");
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

static int write_text(const char *dir, const char *name, const char *text)
{
	char path[256];
	int fd, ret;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	ret = write(fd, text, strlen(text)) < 0 ? -errno : 0;
	close(fd);
	return ret;
}

/* A memory cgroup for the children of a test, on a mount of its own. */
FIXTURE(cgroup)
{
	char root[64];
	char dir[96];
	char current[128];
	int made;
};

FIXTURE_SETUP(cgroup)
{
	strcpy(self->root, "/tmp/pld_cgroup.XXXXXX");
	if (!mkdtemp(self->root))
		return;
	if (mount("none", self->root, "cgroup2", 0, NULL))
		return;
	write_text(self->root, "cgroup.subtree_control", "+memory");
	snprintf(self->dir, sizeof(self->dir), "%s/pld", self->root);
	snprintf(self->current, sizeof(self->current), "%s/memory.current",
		 self->dir);
	if (mkdir(self->dir, 0755))
		return;
	self->made = read_number(self->current) >= 0;
}

FIXTURE_TEARDOWN(cgroup)
{
	rmdir(self->dir);
	umount2(self->root, MNT_DETACH);
	rmdir(self->root);
}

/* Goes into the group, and makes windows as the parent says in MiB. */
static int spend_in_cgroup(struct peer *self, void *arg)
{
	struct pld_sim_window_alloc win;
	int domain = sim_domain(1), mb, ret;

	NEED(domain >= 0);
	NEED(write_text(arg, "cgroup.procs", "0") == 0);
	while ((mb = peer_hear(self)) >= 0) {
		ret = sim_alloc(domain, mb * MB, 0, &win);
		peer_tell(self, ret);
		if (ret)
			continue;
		NEED(peer_hear(self) == 0);
		peer_tell(self, sim_free(domain, win.window));
	}
	return 0;
}

/* Bytes that a group is charged ahead of use: the kernel's batch on each CPU. */
static long long charged_ahead(void)
{
	return 64LL * SIM_PAGE * sysconf(_SC_NPROCESSORS_ONLN);
}

TEST_F_TIMEOUT(cgroup, windows_are_charged_and_limited, 120)
{
	long long before, with, after;
	struct peer p;

	if (!self->made)
		SKIP(return, "no memory cgroup can be made here");
	ASSERT_EQ(0, write_text(self->dir, "memory.max", "33554432"));
	ASSERT_EQ(0, peer_start(&p, spend_in_cgroup, self->dir));

	peer_tell(&p, 0);
	EXPECT_EQ(-EINVAL, peer_hear(&p));
	before = read_number(self->current);
	peer_tell(&p, 16);
	ASSERT_EQ(0, peer_hear(&p));
	with = read_number(self->current);
	EXPECT_LE(before + 16 * (long long)MB - charged_ahead(), with);
	peer_tell(&p, 0);
	ASSERT_EQ(0, peer_hear(&p));
	after = read_number(self->current);
	EXPECT_GT(before + (long long)MB, after);

	peer_tell(&p, 64);
	EXPECT_EQ(-ENOMEM, peer_hear(&p));
	EXPECT_GT(before + (long long)MB, read_number(self->current));
	peer_tell(&p, 8);
	EXPECT_EQ(0, peer_hear(&p));
	peer_tell(&p, 0);
	EXPECT_EQ(0, peer_hear(&p));

	peer_tell(&p, -1);
	EXPECT_EQ(0, peer_reap(&p));
}

/* Processes of the group that the OOM killer ended. */
static long long oom_kills(const char *dir)
{
	char path[160], text[512], *line;

	snprintf(path, sizeof(path), "%s/memory.events", dir);
	if (read_text(path, text, sizeof(text)))
		return -1;
	line = strstr(text, "oom_kill ");
	return line ? atoll(line + strlen("oom_kill ")) : -1;
}

/*
 * Ways to fill a memory cgroup, a bit at a time: each makes things until one is
 * refused, and answers its errno, or 0 when all could be made.
 */
typedef int fill_fn(void);

static int with_domains(void)
{
	__u32 ids[PLD_SIM_MAX_RANKS];
	struct pld_sim_info info;
	int fd = sim_open(), ret = 0;

	NEED(sim_info(fd, &info) == 0);
	for (__u32 r = 0; r < info.nr_devices; r++)
		ids[r] = r;
	for (int i = 0; i < 4000 && ret >= 0; i++)
		ret = sim_create(fd, ids, info.nr_devices);
	return ret < 0 ? ret : 0;
}

static int with_windows(void)
{
	int domain = sim_domain(2), ret = 0;
	struct pld_sim_window_alloc win;

	for (int i = 0; i < PLD_SIM_MAX_WINDOWS && !ret; i++)
		ret = sim_alloc(domain, 1, 0, &win);
	return ret;
}

static int with_signals(void)
{
	struct pld_sim_condition conditions[PLD_SIM_MAX_CONDITIONS] = { 0 };
	struct pld_sim_window_alloc win;
	int domain = sim_domain(8), event = eventfd(0, 0), ret = 0;
	__u64 cookie;

	NEED(sim_alloc(domain, SIM_PAGE, 0, &win) == 0);
	for (int i = 0; i < PLD_SIM_MAX_CONDITIONS; i++)
		conditions[i] = (struct pld_sim_condition){
			.window = win.window,
			.expected = 1,
		};
	for (int i = 0, fd = -1; i < 8 * PLD_SIM_MAX_SIGNALS && !ret; i++) {
		if (i % PLD_SIM_MAX_SIGNALS == 0)
			fd = sim_member(domain, i / PLD_SIM_MAX_SIGNALS);
		NEED(fd >= 0);
		ret = sim_signal(fd, 0, conditions, PLD_SIM_MAX_CONDITIONS,
				 event, INT64_MAX, &cookie);
	}
	return ret;
}

struct filling {
	const char *dir;
	fill_fn *fill;
};

/*
 * What has been made stays to the end. The process itself needs nothing more by
 * then: it has all of its memory, and answers by its exit status.
 */
static int fill_group(struct peer *self, void *arg)
{
	const struct rlimit many = { 8192, 8192 };
	struct filling *f = arg;

	NEED(setrlimit(RLIMIT_NOFILE, &many) == 0);
	NEED(mlockall(MCL_CURRENT) == 0);
	NEED(write_text(f->dir, "cgroup.procs", "0") == 0);
	return -f->fill();
}

/* Who fills a group is told so, and nobody is killed for it. */
TEST_F_TIMEOUT(cgroup, that_is_full_is_ENOMEM_and_kills_nobody, 300)
{
	static fill_fn *const ways[] = { with_domains, with_windows,
					 with_signals };
	int log = kernel_log_open();

	if (!self->made)
		SKIP(return, "no memory cgroup can be made here");
	ASSERT_EQ(0, write_text(self->dir, "memory.max", "8388608"));
	for (unsigned int i = 0; i < ARRAY_SIZE(ways); i++) {
		struct filling f = { self->dir, ways[i] };

		EXPECT_EQ(ENOMEM, peer_call(fill_group, &f))
		TH_LOG("way %u", i);
	}
	EXPECT_EQ(0, oom_kills(self->dir));
	EXPECT_EQ(0, kernel_log_splats(log));
}

PLD_TEST_MAIN
