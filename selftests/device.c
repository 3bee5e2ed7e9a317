// SPDX-License-Identifier: GPL-2.0
/*
 * The node that every user starts from, who may open it, what it says of the
 * module, and the simulated devices behind it.
 */
#include <dirent.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "pld_counters.h"
#include "pld_test.h"
#include "pld_user.h"

#define PARAMETER(_name) read_number(SIM_PARAMETERS "/" _name)

FIXTURE(device)
{
	int fd;
	struct pld_sim_info info;
	struct stat node;
};

FIXTURE_SETUP(device)
{
	self->fd = sim_open();
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, sim_info(self->fd, &self->info));
	ASSERT_EQ(0, stat(SIM_NODE, &self->node));
}

FIXTURE_TEARDOWN(device)
{
	close(self->fd);
}

TEST_F(device, node_is_for_its_owner_and_group_only)
{
	EXPECT_EQ(S_IFCHR | 0660, self->node.st_mode);
	EXPECT_EQ(0, self->node.st_uid);
}

TEST_F(device, node_has_the_group_of_the_parameter)
{
	if (access("/run/udev/control", F_OK) == 0)
		SKIP(return, "udev's rules decide on this system");
	EXPECT_EQ(PARAMETER("gid"), self->node.st_gid);
}

TEST_F(device, node_has_the_number_that_sysfs_says)
{
	char want[32], text[32];

	snprintf(want, sizeof(want), "%u:%u\n", major(self->node.st_rdev),
		 minor(self->node.st_rdev));
	ASSERT_EQ(0, read_text("/sys/class/pld_sim/pld_sim/dev", text,
			       sizeof(text)));
	EXPECT_STREQ(want, text);
}

/* All that a program does, from opening to bytes in a window. */
static int use_module(struct peer *self, void *arg)
{
	struct pld_sim_window_alloc win;
	unsigned char *bytes;
	int domain, fd;

	become(arg);
	domain = sim_domain(2);
	NEED(domain >= 0);
	fd = sim_member(domain, 0);
	NEED(fd >= 0);
	NEED(sim_alloc(domain, SIM_HUGE + 1, 0, &win) == 0);
	bytes = sim_map(fd, &win, 1);
	NEED(bytes != MAP_FAILED);
	bytes[SIM_HUGE] = 1;
	return sim_leave(fd);
}

static int open_as(struct peer *self, void *arg)
{
	become(arg);
	return -sim_open();
}

TEST_F(device, group_member_can_use_it)
{
	struct user member = { .gid = NOBODY,
			       .extra = self->node.st_gid,
			       .nr_extra = 1 };

	if (geteuid())
		SKIP(return, "changing to another user needs root");
	EXPECT_EQ(0, peer_call(use_module, &member));
}

TEST_F(device, others_cannot_open_it)
{
	struct user other = { .gid = NOBODY };

	if (geteuid())
		SKIP(return, "changing to another user needs root");
	EXPECT_EQ(EACCES, peer_call(open_as, &other));
}

/* The node's group counts there as well, though it has no number there. */
TEST_F(device, group_member_can_use_it_in_a_user_namespace)
{
	struct user member = { .gid = NOBODY,
			       .extra = self->node.st_gid,
			       .nr_extra = 1,
			       .in_namespace = 1 };
	int ret;

	if (geteuid())
		SKIP(return, "changing to another user needs root");
	ret = peer_call(use_module, &member);
	if (ret == NO_NAMESPACE)
		SKIP(return, "there are no user namespaces here");
	EXPECT_EQ(0, ret);
}

TEST_F(device, root_of_a_user_namespace_cannot_open_it)
{
	struct user other = { .gid = NOBODY, .in_namespace = 1 };
	int ret;

	if (geteuid())
		SKIP(return, "changing to another user needs root");
	ret = peer_call(open_as, &other);
	if (ret == NO_NAMESPACE)
		SKIP(return, "there are no user namespaces here");
	EXPECT_EQ(EACCES, ret);
}

/* With a node and a domain of somebody else's, who has opened them. */
struct given {
	struct user user;
	int device;
	int domain;
};

static int join_with_given_files(struct peer *self, void *arg)
{
	struct given *g = arg;
	struct pld_sim_window_alloc win;

	become(&g->user);
	NEED(sim_open() == -EACCES);
	NEED(sim_join(g->device, g->domain, 1, NULL) == 0);
	NEED(sim_alloc(g->domain, SIM_PAGE, 0, &win) == 0);
	NEED(sim_map(g->device, &win, 0) != MAP_FAILED);
	return sim_leave(g->device);
}

TEST_F(device, files_that_are_passed_into_a_user_namespace_are_permission)
{
	struct given g = {
		.user = { .gid = NOBODY, .in_namespace = 1 },
		.device = self->fd,
		.domain = sim_domain(2),
	};
	int ret;

	if (geteuid())
		SKIP(return, "changing to another user needs root");
	ASSERT_LE(0, g.domain);
	ret = peer_call(join_with_given_files, &g);
	if (ret == NO_NAMESPACE)
		SKIP(return, "there are no user namespaces here");
	EXPECT_EQ(0, ret);
	close(g.domain);
}

TEST_F(device, info_says_what_the_parameters_say)
{
	EXPECT_EQ(PLD_SIM_ABI_VERSION, self->info.abi_version);
	EXPECT_EQ(PARAMETER("devices"), self->info.nr_devices);
	EXPECT_EQ(PLD_SIM_MAX_RANKS, self->info.max_ranks);
	EXPECT_EQ(PLD_SIM_MAX_WINDOWS, self->info.max_windows);
	EXPECT_EQ((__u64)PARAMETER("device_memory_mb") << 20,
		  self->info.device_memory);
	EXPECT_EQ(sizeof(self->info), self->info.size);
	EXPECT_EQ(0, self->info.flags);
}

TEST_F(device, info_of_a_rank_file_is_the_same)
{
	int domain = sim_domain(2);
	int rank = sim_member(domain, 1);
	struct pld_sim_info info;

	ASSERT_LE(0, rank);
	ASSERT_EQ(0, sim_info(rank, &info));
	EXPECT_EQ(0, memcmp(&self->info, &info, sizeof(info)));
	ASSERT_EQ(0, sim_leave(rank));
	ASSERT_EQ(0, sim_info(rank, &info));
	EXPECT_EQ(0, memcmp(&self->info, &info, sizeof(info)));
}

/* How many simulated cards sysfs shows, or -1 when ids are not 0 to n - 1. */
static int sysfs_devices(void)
{
	DIR *dir = opendir("/sys/devices/platform");
	unsigned long long seen[4] = { 0 };
	struct dirent *entry;
	unsigned int id;
	int n = 0;

	while (dir && (entry = readdir(dir))) {
		if (sscanf(entry->d_name, "pld_sim.%u", &id) != 1)
			continue;
		if (id >= 256)
			return -1;
		seen[id / 64] |= 1ULL << (id % 64);
		n++;
	}
	for (int i = 0; i < n; i++)
		if (!(seen[i / 64] & 1ULL << (i % 64)))
			return -1;
	if (dir)
		closedir(dir);
	return n;
}

TEST_F(device, every_device_is_in_sysfs)
{
	EXPECT_EQ((int)self->info.nr_devices, sysfs_devices());
}

TEST_F(device, every_device_has_its_limit_and_counts_from_zero)
{
	char path[64];

	for (unsigned int d = 0; d < self->info.nr_devices; d++) {
		snprintf(path, sizeof(path),
			 "/sys/devices/platform/pld_sim.%u/memory_limit", d);
		EXPECT_EQ(self->info.device_memory, (__u64)read_number(path));
		EXPECT_EQ(0, settled_memory(d, 0));
	}
}

TEST_F(device, window_is_counted_on_the_ranks_own_device)
{
	static const __u32 ids[] = { 1, 0 };
	int domain = sim_create(self->fd, ids, 1);
	struct pld_sim_window_alloc win;
	long long used[2] = { device_memory_used(0), device_memory_used(1) };

	ASSERT_LE(0, domain);
	ASSERT_EQ(0, sim_alloc(domain, 3 * SIM_PAGE - 1, 0, &win));
	EXPECT_EQ(used[0], device_memory_used(0));
	EXPECT_EQ(used[1] + 3 * (long long)SIM_PAGE, device_memory_used(1));
	ASSERT_EQ(0, sim_free(domain, win.window));
	EXPECT_EQ(used[1], device_memory_used(1));
}

/* An attribute of device @id, or -1. */
static long long attribute(unsigned int id, const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "/sys/devices/platform/pld_sim.%u/%s", id,
		 name);
	return read_number(path);
}

static int sleep_on_device_1(struct peer *self, void *arg)
{
	int domain = *(int *)arg;
	struct pld_sim_window_alloc win;
	int fd = sim_member(domain, 1);

	/* Who is interrupted waits anew, which counts. */
	hold_signals();
	NEED(fd >= 0);
	NEED(sim_alloc(domain, 8, 0, &win) == 0);
	peer_tell(self, (int)win.window);
	return sim_wait(fd, win.window, 4, PLD_SIM_CMP_EQ, 1, INT64_MAX, NULL)
		       ? 1
		       : 0;
}

/* Other domains of this machine may be counted as well: differences count. */
TEST_F(device, what_happens_on_a_device_is_counted)
{
	static const char *const names[] = { "ranks", "windows", "waiters",
					     "waits", "rings" };
	static const int while_asleep[] = { 1, 1, 1, 1, 0 };
	static const int in_the_end[] = { 0, 0, 0, 1, 2 };
	int domain = sim_domain(2), fd = sim_member(domain, 0), window;
	__s64 end = sim_after(SIM_HANG);
	long long before[2][5];
	struct peer p;

	if (geteuid())
		SKIP(return, "some counters are for root");
	for (int d = 0; d < 2; d++)
		for (int i = 0; i < 5; i++)
			before[d][i] = attribute(d, names[i]);
	EXPECT_LE(1, before[0][0]);
	ASSERT_EQ(0, peer_start(&p, sleep_on_device_1, &domain));
	window = peer_hear(&p);
	while (attribute(1, "waiters") == before[1][2] && sim_now() < end)
		;
	for (int i = 0; i < 5; i++) {
		EXPECT_EQ(before[1][i] + while_asleep[i], attribute(1, names[i]))
		TH_LOG("%s", names[i]);
	}
	EXPECT_EQ(before[0][1] + 1, attribute(0, "windows"));
	EXPECT_EQ(before[0][2], attribute(0, "waiters"));
	ASSERT_EQ(0, sim_ring(fd, window, 1, 4));
	ASSERT_EQ(0, sim_ring(fd, window, 1, 4));
	EXPECT_EQ(128 + SIGKILL, peer_kill(&p));
	close(fd);
	close(domain);
	for (int i = 0; i < 5; i++) {
		EXPECT_EQ(before[1][i] + in_the_end[i], attribute(1, names[i]))
		TH_LOG("%s", names[i]);
	}
	EXPECT_EQ(before[0][0] - 1, attribute(0, "ranks"));
}

static int read_as_stranger(struct peer *self, void *arg)
{
	struct user other = { .gid = NOBODY };

	become(&other);
	NEED(attribute(1, "ranks") >= 0);
	NEED(attribute(1, "windows") >= 0);
	NEED(attribute(1, "memory_used") >= 0);
	NEED(attribute(1, "waiters") == -1 && errno == EACCES);
	NEED(attribute(1, "waits") == -1 && errno == EACCES);
	NEED(attribute(1, "rings") == -1 && errno == EACCES);
	return 0;
}

TEST_F(device, how_busy_a_rank_is_is_for_root_only)
{
	if (geteuid())
		SKIP(return, "changing to another user needs root");
	EXPECT_EQ(0, peer_call(read_as_stranger, NULL));
}

TEST_F(device, unknown_command_is_ENOTTY)
{
	struct pld_sim_info info = { .size = sizeof(info) };
	int domain = sim_domain(2);

	for (unsigned int nr = PLD_SIM_CMD_DOMAINS + 1; nr < 256; nr++) {
		EXPECT_EQ(-ENOTTY,
			  sim_ioctl(self->fd, _IO(PLD_SIM_IOC_TYPE, nr), &info));
		EXPECT_EQ(-ENOTTY,
			  sim_ioctl(domain, _IO(PLD_SIM_IOC_TYPE, nr), &info));
	}
}

TEST_F(device, files_cannot_be_read_written_or_sought)
{
	int domain = sim_domain(1);
	char byte = 0;

	EXPECT_EQ(-1, read(self->fd, &byte, 1));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(-1, write(self->fd, &byte, 1));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(-1, lseek(self->fd, 1, SEEK_SET));
	EXPECT_EQ(ESPIPE, errno);
	EXPECT_EQ(-1, read(domain, &byte, 1));
	EXPECT_EQ(EINVAL, errno);
}

TEST_F(device, read_only_file_gives_no_writable_mapping)
{
	int domain = sim_domain(2), fd = open(SIM_NODE, O_RDONLY | O_CLOEXEC);
	struct pld_sim_window_alloc win;

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, sim_alloc(domain, SIM_PAGE, 0, &win));
	ASSERT_EQ(0, sim_join(fd, domain, 0, NULL));
	EXPECT_EQ(MAP_FAILED, sim_map(fd, &win, 0));
	EXPECT_EQ(EACCES, errno);
	EXPECT_NE(MAP_FAILED,
		  sim_mmap(fd, SIM_PAGE, PROT_READ, win.mmap_offset));
}

TEST_F(device, open_file_keeps_the_module)
{
	long long refs = module_references();
	int fd = sim_open();

	EXPECT_LT(refs, module_references());
	EXPECT_EQ(0, close(fd));
	EXPECT_EQ(refs, settled_references(refs));
}

PLD_TEST_MAIN
