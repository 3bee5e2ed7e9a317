// SPDX-License-Identifier: GPL-2.0
/*
 * Memory limits. In a memory cgroup of 64 MiB a window that does not fit is
 * refused with -ENOMEM, and what was granted can be written to the last byte:
 * no SIGBUS, no process killed. For platform memfd, which has to find out by itself
 * what is available, also that it reads the files of both versions of cgroups,
 * here replaced by made-up ones in a mount namespace of the test's own.
 */
#include <sched.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib_test.h"

#define MIB (1ULL << 20)
#define ROOT "/sys/fs/cgroup"
#define MORE_THAN_THERE_IS ((size_t)1 << 45)

/* 0, or -1 where the file is not there or does not take it. */
__attribute__((format(printf, 2, 3))) static int
write_file(const char *path, const char *format, ...)
{
	FILE *file = fopen(path, "we");
	va_list args;
	int bad;

	if (!file)
		return -1;
	va_start(args, format);
	bad = vfprintf(file, format, args) < 0;
	va_end(args);
	return fclose(file) || bad ? -1 : 0;
}

/* The bytes that a refusal names as available, or 0 for another sentence. */
static unsigned long long available_told(size_t asked, int nranks)
{
	unsigned long long bytes, available;
	int ranks;

	if (sscanf(pld_last_error(),
		   "pld.alloc_window_buffer: asked for %llu bytes on each of %d ranks, %llu bytes each",
		   &bytes, &ranks, &available) != 3 ||
	    bytes != asked || ranks != nranks)
		return 0;
	return available;
}

/* ---- a group that there is ---- */

#define LIMIT (64 * MIB)
#define NRANKS 2
#define WINDOW_BYTES ((size_t)MIB)
#define MOST_WINDOWS 64

/* The group of this process in a hierarchy of /proc/self/cgroup, or "". */
static void own_group(const char *mark, char group[512])
{
	FILE *file = fopen("/proc/self/cgroup", "re");
	char line[512];

	*group = '\0';
	while (file && fgets(line, sizeof(line), file)) {
		char *found = strstr(line, mark);

		line[strcspn(line, "\n")] = '\0';
		if (found && strcmp(found + strlen(mark), "/"))
			strcpy(group, found + strlen(mark));
	}
	if (file)
		fclose(file);
}

/*
 * Makes a group below the own one, or below the root where that one cannot be
 * seen or has processes of its own, and limits it. The path, or "".
 */
static void make_group(const char *root, const char *mark, const char *limit,
		       char path[1024])
{
	char own[512], file[1200];

	own_group(mark, own);
	for (int whole = 1; whole >= 0; whole--) {
		snprintf(file, sizeof(file), "%s%s/cgroup.subtree_control",
			 root, whole ? own : "");
		if (!access(file, W_OK))
			write_file(file, "+memory");
		snprintf(path, 1024, "%s%s/pld-test-%d", root, whole ? own : "",
			 getpid());
		if (mkdir(path, 0755))
			continue;
		snprintf(file, sizeof(file), "%s/%s", path, limit);
		/* An ordinary folder has no such file. */
		if (!access(file, W_OK) && !write_file(file, "%llu", LIMIT))
			return;
		rmdir(path);
	}
	*path = '\0';
}

static int enter_group(const char *path)
{
	char file[1200];

	snprintf(file, sizeof(file), "%s/cgroup.procs", path);
	return write_file(file, "%d", getpid());
}

struct granted {
	pld_window_buffer *windows[MOST_WINDOWS];
	int count;
};

static int write_granted(pld_domain *domain, void *arg)
{
	struct granted *g = arg;

	for (int i = 0; i < g->count; i++) {
		pld_distributed_tensor view;

		PLD_TRY(pld_window(g->windows[i], PLD_SHAPE(WINDOW_BYTES),
				   PLD_UINT8, &view));
		memset(view.data, 2 * i + pld_rank(domain) + 1, WINDOW_BYTES);
	}
	return 0;
}

/* Own and peers' memory, to the last byte. */
static int read_granted(pld_domain *domain, void *arg)
{
	struct granted *g = arg;
	pld_tile tile;

	PLD_TRY(pld_tile_alloc(&tile, WINDOW_BYTES / 4));
	for (int i = 0; i < g->count * NRANKS * 4; i++) {
		int window = i / 4 / NRANKS, peer = i / 4 % NRANKS;
		int value = 2 * window + peer + 1;
		const unsigned char *bytes = tile.data;
		pld_distributed_tensor view;

		PLD_TRY(pld_window(g->windows[window], PLD_SHAPE(WINDOW_BYTES),
				   PLD_UINT8, &view));
		PLD_TRY(pld_tile_remote_load(&view, peer,
					     PLD_AT(i % 4 * WINDOW_BYTES / 4),
					     PLD_SHAPE(WINDOW_BYTES / 4), &tile));
		CHECK_EQ(value, bytes[0]);
		CHECK(!memcmp(bytes, bytes + 1, WINDOW_BYTES / 4 - 1));
	}
	pld_tile_free(&tile);
	return 0;
}

/* Takes what there is, in a process of the group. */
static int fill_group(void)
{
	pld_domain *domain = make_domain(NRANKS);
	struct granted g = { .count = 0 };
	unsigned long long available;
	pld_window_buffer *last;
	int error = 0;

	CHECK(domain);
	while (g.count < MOST_WINDOWS && !error)
		error = pld_alloc_window_buffer(domain, WINDOW_BYTES,
						&g.windows[g.count++]);
	g.count--;
	CHECK_EQ(-ENOMEM, error);
	available = available_told(WINDOW_BYTES, NRANKS);
	fprintf(stderr, "# %d windows granted, then: %s\n", g.count,
		pld_last_error());
	/* To the brim: what is left must still be enough for the ranks. */
	for (error = 0; !error;)
		error = pld_alloc_window_buffer(domain, 4096, &last);
	CHECK_EQ(-ENOMEM, error);
	/* None of it is wasted, and none of it is not there. */
	CHECK(g.count * NRANKS * MIB > LIMIT / 2);
	CHECK(g.count * NRANKS * MIB < LIMIT);
	CHECK(available < LIMIT);
	CHECK_EQ(0, run_ranks(domain, write_granted, &g));
	CHECK_EQ(0, run_ranks(domain, read_granted, &g));
	/* What is given back can be had again. */
	for (int i = 0; i < 4; i++)
		pld_free_window_buffer(g.windows[i]);
	CHECK_EQ(0, pld_alloc_window_buffer(domain, 2 * WINDOW_BYTES,
					    &g.windows[0]));
	pld_domain_destroy(domain);
	return 0;
}

/* Whose own memory fills the group: then it is not the library that is tested. */
static int is_instrumented(void)
{
#ifdef __SANITIZE_ADDRESS__
	return 1;
#endif
	return getenv("PLD_VALGRIND") != NULL;
}

FIXTURE(group)
{
	char path[1024];
};

FIXTURE_SETUP(group)
{
	/* With no path, the test skips. */
	if (getuid() || is_instrumented())
		return;
	make_group(ROOT "/memory", ":memory:", "memory.limit_in_bytes",
		   self->path);
	if (!*self->path)
		make_group(ROOT, "0::", "memory.max", self->path);
	if (!*self->path)
		make_group(ROOT "/unified", "0::", "memory.max", self->path);
}

FIXTURE_TEARDOWN(group)
{
	if (*self->path && rmdir(self->path))
		TH_LOG("%s stays: %s", self->path, strerror(errno));
}

TEST_F(group, is_filled_and_never_overrun)
{
	int status;
	pid_t pid;

	if (is_instrumented())
		SKIP(return, "instrumented ranks need more than the group has");
	if (!*self->path)
		SKIP(return, "no memory cgroup can be made in " ROOT);
	fflush(NULL);
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid)
		_exit(enter_group(self->path) || fill_group() ? 1 : 0);
	ASSERT_EQ(pid, TEMP_FAILURE_RETRY(waitpid(pid, &status, 0)));
	EXPECT_EQ(0, status);
}

/* ---- groups that are made up ---- */

FIXTURE(files)
{
	pld_domain *domain;
};

/* Every test is a process of its own, and so is its mount namespace. */
FIXTURE_SETUP(files)
{
	pld_domain_options options = { .platform = "memfd" };

	/* With no domain, the tests skip. */
	if (unshare(CLONE_NEWNS) ||
	    mount("none", "/", "none", MS_REC | MS_PRIVATE, NULL) ||
	    mount("pld-test", ROOT, "tmpfs", 0, NULL))
		return;
	ASSERT_EQ(0,
		  pld_domain_create((int[]){ 0 }, 1, &options, &self->domain));
}

FIXTURE_TEARDOWN(files)
{
	pld_domain_destroy(self->domain);
}

#define NEED_FILES()                                             \
	do {                                                     \
		if (!self->domain)                               \
			SKIP(return, "no mount namespace here"); \
	} while (0)

/* Makes a file of proc read like this. */
static int pretend(const char *path, const char *text)
{
	static int count;
	char file[64], number[64];

	snprintf(file, sizeof(file), ROOT "/.pretended-%d", count++);
	snprintf(number, sizeof(number), "/proc/%d/cgroup", getpid());
	CHECK_EQ(0, write_file(file, "%s", text));
	CHECK_EQ(0, mount(file, strcmp(path, "cgroup") ? path : number, "none",
			  MS_BIND, NULL));
	return 0;
}

static int make_path(const char *directory)
{
	char path[256];

	for (size_t i = sizeof(ROOT); i <= strlen(directory); i++) {
		if (directory[i] != '/' && directory[i])
			continue;
		snprintf(path, sizeof(path), "%.*s", (int)i, directory);
		if (mkdir(path, 0755) && errno != EEXIST)
			return -errno;
	}
	return 0;
}

/* A group: its limit as text, what is used, and how much of it is cache. */
static int group_v1(const char *directory, const char *limit,
		    unsigned long long used, unsigned long long inactive,
		    unsigned long long active)
{
	char path[256];

	PLD_TRY(make_path(directory));
	snprintf(path, sizeof(path), "%s/memory.limit_in_bytes", directory);
	CHECK_EQ(0, write_file(path, "%s\n", limit));
	snprintf(path, sizeof(path), "%s/memory.usage_in_bytes", directory);
	CHECK_EQ(0, write_file(path, "%llu\n", used));
	snprintf(path, sizeof(path), "%s/memory.stat", directory);
	/* Its own numbers, without those of the groups in it, come first. */
	CHECK_EQ(0,
		 write_file(path,
			    "cache 1\nrss 2\ninactive_file 3\nactive_file 4\n"
			    "total_cache 5\ntotal_inactive_anon 6\n"
			    "total_inactive_file %llu\ntotal_active_file %llu\n",
			    inactive, active));
	return 0;
}

static int group_v2(const char *directory, const char *limit,
		    unsigned long long used, unsigned long long inactive,
		    unsigned long long active)
{
	char path[256];

	PLD_TRY(make_path(directory));
	snprintf(path, sizeof(path), "%s/memory.max", directory);
	CHECK_EQ(0, write_file(path, "%s\n", limit));
	snprintf(path, sizeof(path), "%s/memory.current", directory);
	CHECK_EQ(0, write_file(path, "%llu\n", used));
	snprintf(path, sizeof(path), "%s/memory.stat", directory);
	CHECK_EQ(0, write_file(path,
			       "anon 1\nfile 2\ninactive_anon 3\nactive_anon 4\n"
			       "inactive_file %llu\nactive_file %llu\n"
			       "workingset_activate_file 5\n",
			       inactive, active));
	return 0;
}

/* Of what there is, not for windows: the one rank's process needs it. */
#define RANK_BYTES MIB
/* Of what the machine has available, a sixteenth is kept. */
#define GIVEN(bytes) ((bytes) / 16 * 15)

/* What the library believes to be available. */
static unsigned long long available(pld_domain *domain)
{
	pld_window_buffer *none;

	if (pld_alloc_window_buffer(domain, MORE_THAN_THERE_IS, &none) != -ENOMEM)
		return 0;
	return available_told(MORE_THAN_THERE_IS, 1) + RANK_BYTES;
}

/* Of the machine, in KiB as there; the line is not the first with its word. */
#define MEMINFO(kib)                                                 \
	"MemTotal:       16000000 kB\nMemFree:         7000000 kB\n" \
	"MemAvailable:   " kib " kB\nBuffers:           10000 kB\n"

#define NO_LIMIT_V1 "9223372036854771712"

TEST_F(files, machine_without_limits_has_most_of_what_meminfo_says)
{
	NEED_FILES();
	ASSERT_EQ(0, pretend("/proc/meminfo", MEMINFO("2097152")));
	ASSERT_EQ(0, pretend("cgroup", "4:memory:/\n0::/\n"));
	EXPECT_EQ(GIVEN(2048 * MIB), available(self->domain));
}

TEST_F(files, of_version_1_are_understood)
{
	NEED_FILES();
	ASSERT_EQ(0, pretend("/proc/meminfo", MEMINFO("2097152")));
	ASSERT_EQ(0, pretend("cgroup", "9:name=systemd:/\n4:memory:/a/b\n"
				       "3:cpu,cpuacct:/\n0::/\n"));
	ASSERT_EQ(0, group_v1(ROOT "/memory", NO_LIMIT_V1, 900 * MIB, 0, 0));
	ASSERT_EQ(0, group_v1(ROOT "/memory/a", NO_LIMIT_V1, 0, 0, 0));
	ASSERT_EQ(0, group_v1(ROOT "/memory/a/b", "67108864", 16 * MIB, MIB,
			      2 * MIB));
	EXPECT_EQ(51 * MIB, available(self->domain));
	/* A group that this one is in has less. */
	ASSERT_EQ(0, group_v1(ROOT "/memory/a", "33554432", 30 * MIB, 0, MIB));
	EXPECT_EQ(3 * MIB, available(self->domain));
}

TEST_F(files, of_version_2_are_understood)
{
	NEED_FILES();
	ASSERT_EQ(0, pretend("/proc/meminfo", MEMINFO("2097152")));
	ASSERT_EQ(0, pretend("cgroup", "0::/x/y\n"));
	ASSERT_EQ(0, group_v2(ROOT "/x/y", "67108864", 16 * MIB, MIB, 2 * MIB));
	EXPECT_EQ(51 * MIB, available(self->domain));
	ASSERT_EQ(0, group_v2(ROOT "/x/y", "max", 16 * MIB, 0, 0));
	EXPECT_EQ(GIVEN(2048 * MIB), available(self->domain));
	ASSERT_EQ(0, group_v2(ROOT "/x", "33554432", 30 * MIB, MIB, 0));
	EXPECT_EQ(3 * MIB, available(self->domain));
}

TEST_F(files, of_version_2_beside_version_1_are_found)
{
	NEED_FILES();
	ASSERT_EQ(0, pretend("/proc/meminfo", MEMINFO("2097152")));
	ASSERT_EQ(0, pretend("cgroup", "1:cpu:/a\n0::/x\n"));
	ASSERT_EQ(0, group_v2(ROOT "/unified/x", "67108864", 4 * MIB, 0, 0));
	EXPECT_EQ(60 * MIB, available(self->domain));
}

/* As in a container, where only the own group is mounted, as the root. */
TEST_F(files, of_a_group_that_is_mounted_as_root_are_found)
{
	NEED_FILES();
	ASSERT_EQ(0, pretend("/proc/meminfo", MEMINFO("2097152")));
	ASSERT_EQ(0, pretend("cgroup", "4:memory:/far/away\n0::/\n"));
	ASSERT_EQ(0, group_v1(ROOT "/memory", "67108864", 4 * MIB, 0, 0));
	EXPECT_EQ(60 * MIB, available(self->domain));
}

TEST_F(files, of_controllers_mounted_together_are_found)
{
	NEED_FILES();
	ASSERT_EQ(0, pretend("/proc/meminfo", MEMINFO("2097152")));
	ASSERT_EQ(0, pretend("cgroup", "4:cpuset,memory:/a\n"));
	ASSERT_EQ(0, group_v1(ROOT "/memory/a", "67108864", 4 * MIB, 0, 0));
	EXPECT_EQ(60 * MIB, available(self->domain));
}

TEST_F(files, of_a_full_group_leave_nothing)
{
	pld_window_buffer *none;

	NEED_FILES();
	ASSERT_EQ(0, pretend("/proc/meminfo", MEMINFO("2097152")));
	ASSERT_EQ(0, pretend("cgroup", "0::/x\n"));
	ASSERT_EQ(0, group_v2(ROOT "/x", "67108864", 65 * MIB, 0, 0));
	EXPECT_REFUSED(-ENOMEM,
		       "pld.alloc_window_buffer: asked for 1 bytes on each of 1 ranks, 0 bytes each are available",
		       pld_alloc_window_buffer(self->domain, 1, &none));
}

/* Of 2 GiB, by three ranks. */
TEST_F(files, are_shared_by_the_ranks)
{
	pld_window_buffer *none;
	pld_domain *three;

	NEED_FILES();
	three = make_domain(3);
	ASSERT_NE(NULL, three);
	ASSERT_EQ(0, pretend("/proc/meminfo", MEMINFO("2097152")));
	ASSERT_EQ(0, pretend("cgroup", "0::/\n"));
	EXPECT_EQ(-ENOMEM,
		  pld_alloc_window_buffer(three, MORE_THAN_THERE_IS, &none));
	EXPECT_EQ((GIVEN(2048 * MIB) - 3 * RANK_BYTES) / 3,
		  available_told(MORE_THAN_THERE_IS, 3));
	pld_domain_destroy(three);
}

TEST_F(files, say_what_can_be_had)
{
	pld_window_buffer *buffer;

	NEED_FILES();
	ASSERT_EQ(0, pretend("/proc/meminfo", MEMINFO("4096")));
	ASSERT_EQ(0, pretend("cgroup", "0::/\n"));
	EXPECT_EQ(GIVEN(4 * MIB), available(self->domain));
	EXPECT_EQ(-ENOMEM,
		  pld_alloc_window_buffer(self->domain,
					  GIVEN(4 * MIB) - RANK_BYTES + 1,
					  &buffer));
	/* All of it but what maps it. */
	EXPECT_EQ(0,
		  pld_alloc_window_buffer(self->domain,
					  GIVEN(4 * MIB) - RANK_BYTES - MIB / 16,
					  &buffer));
}

LIB_TEST_MAIN
