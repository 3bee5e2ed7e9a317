// SPDX-License-Identifier: GPL-2.0
/*
 * Who pays for windows and for what else the module makes: the memory cgroup of who
 * asked. One that is full is told so, and nobody is killed for it.
 */
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "memcg_callers.h"
#include "memcg_ways.h"
#include "pld_counters.h"
#include "pld_test.h"

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
 * @pad is how many eventfds are made first, each of which moves by a part of a page
 * where the limit is met.
 */
struct filling {
	const char *dir;
	fill_fn *fill;
	int pad;
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
	for (int i = 0; i < f->pad; i++)
		NEED(eventfd(0, 0) >= 0);
	return -f->fill();
}

/*
 * One way to fill a group of @bytes. The next has no less: what the one before has
 * left would be above the limit, which calls the killer by itself. Most of what a
 * @by_kernel way makes is the kernel's own, which may meet the limit at each try.
 */
struct way {
	const char *name;
	fill_fn *fill;
	const char *bytes;
	bool by_kernel;
};

#define TRIES 6
#define TRIES_BY_KERNEL 2

/*
 * The exit status of who filled it, at last. Where the kernel itself met the limit,
 * the next try begins elsewhere within a page; not at once, for the kernel reports
 * ten calls of the killer in five seconds, and no more.
 */
static int try_way(const struct way *way, const char *dir, int log,
		   struct callers *all)
{
	int tries = way->by_kernel ? TRIES_BY_KERNEL : TRIES, status = 0;

	for (int i = 0; i < tries; i++) {
		struct filling f = { dir, way->fill, 3 * i };
		struct callers now;

		status = peer_call(fill_group, &f);
		now = read_callers(log);
		all->kernel += now.kernel;
		all->others += now.others;
		all->splats += now.splats;
		if (now.kernel + now.others)
			printf("# with %s, try %d: the OOM killer was called by %s\n",
			       way->name, i + 1, now.who);
		if (status != 128 + SIGKILL || now.others || !now.kernel)
			break;
		sleep_ms(600);
	}
	return status;
}

/*
 * Who fills a group is told so, and nobody is killed for it, as far as the module
 * is concerned.
 */
TEST_F_TIMEOUT(cgroup, that_is_full_is_ENOMEM_and_kills_nobody, 300)
{
	static const struct way ways[] = {
		{ "waiters armed", with_armed, "2097152", false },
		{ "members", with_members, "2097152", false },
		{ "fences", with_fences, "2097152", false },
		{ "imports", with_imports, "2097152", false },
		{ "exports", with_exports, "2097152", true },
		{ "mappings", with_mappings, "2097152", true },
		{ "domains", with_domains, "8388608", false },
		{ "windows", with_windows, "8388608", false },
		{ "signals", with_signals, "8388608", false },
	};
	struct callers all = { 0 };
	int log = kernel_log_open();

	if (!self->made)
		SKIP(return, "no memory cgroup can be made here");
	ASSERT_LE(0, log);
	for (unsigned int i = 0; i < ARRAY_SIZE(ways); i++) {
		int status;

		/* It has no room for so many mappings of a page. */
		if (ways[i].fill == with_imports &&
		    !access("/sys/kernel/debug/dma-api", F_OK)) {
			TH_LOG("no imports beside the debugging of the DMA API");
			continue;
		}
		ASSERT_EQ(0, write_text(self->dir, "memory.max", ways[i].bytes));
		status = try_way(&ways[i], self->dir, log, &all);
		if (ways[i].by_kernel && status == 128 + SIGKILL)
			continue;
		EXPECT_EQ(ENOMEM, status)
		TH_LOG("with %s", ways[i].name);
	}
	EXPECT_EQ(0, all.others);
	EXPECT_EQ(0, all.splats);
	EXPECT_EQ(all.kernel, oom_kills(self->dir));
	close(log);
}

PLD_TEST_MAIN
