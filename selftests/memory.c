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

#define MEMBERS 8

/* Domains whose ranks have all joined. */
static int with_members(void)
{
	int ret = 0;

	for (int i = 0; i < 800 && ret >= 0; i++) {
		int domain = ret = sim_domain(MEMBERS);

		for (int r = 0; r < MEMBERS && ret >= 0; r++)
			ret = sim_member(domain, r);
	}
	return ret < 0 ? ret : 0;
}

/* The most conditions of one call, on a window's first cell, and none is met. */
struct in_vain {
	struct pld_sim_condition conditions[PLD_SIM_MAX_CONDITIONS];
	int domain;
};

static int make_in_vain(struct in_vain *v)
{
	struct pld_sim_window_alloc win;
	int ret;

	v->domain = sim_domain(MEMBERS);
	if (v->domain < 0)
		return v->domain;
	ret = sim_alloc(v->domain, SIM_PAGE, 0, &win);
	for (int i = 0; i < PLD_SIM_MAX_CONDITIONS && !ret; i++)
		v->conditions[i] = (struct pld_sim_condition){
			.window = win.window,
			.expected = 1,
		};
	return ret;
}

static int with_signals(void)
{
	int event = eventfd(0, 0), ret = 0;
	struct in_vain v;
	__u64 cookie;

	NEED(make_in_vain(&v) == 0);
	for (int i = 0, fd = -1; i < MEMBERS * PLD_SIM_MAX_SIGNALS && !ret; i++) {
		if (i % PLD_SIM_MAX_SIGNALS == 0)
			fd = sim_member(v.domain, i / PLD_SIM_MAX_SIGNALS);
		ret = fd < 0 ? fd
			     : sim_signal(fd, 0, v.conditions,
					  PLD_SIM_MAX_CONDITIONS, event,
					  INT64_MAX, &cookie);
	}
	return ret;
}

/* They end in nine seconds, which is long after the group is full. */
static int with_fences(void)
{
	struct in_vain v;
	int ret = 0;

	NEED(make_in_vain(&v) == 0);
	for (int i = 0, fd = -1; i < MEMBERS * PLD_SIM_MAX_SIGNALS && ret >= 0;
	     i++) {
		if (i % PLD_SIM_MAX_SIGNALS == 0)
			fd = sim_member(v.domain, i / PLD_SIM_MAX_SIGNALS);
		ret = fd < 0 ? fd
			     : sim_fence(fd, 0, v.conditions,
					 PLD_SIM_MAX_CONDITIONS,
					 sim_after(9 * SIM_SEC));
	}
	return ret < 0 ? ret : 0;
}

/* Each rank of domain after domain waits by its file. */
static int with_armed(void)
{
	int ret = 0;

	for (int i = 0; i < 400 && ret >= 0; i++) {
		struct in_vain v;

		ret = make_in_vain(&v);
		for (int r = 0; r < MEMBERS && ret >= 0; r++) {
			int fd = ret = sim_member(v.domain, r);

			if (fd >= 0)
				ret = sim_arm(fd, 0, v.conditions,
					      PLD_SIM_MAX_CONDITIONS);
		}
	}
	return ret < 0 ? ret : 0;
}

static int with_exports(void)
{
	struct pld_sim_window_alloc win;
	int domain = sim_domain(2), ret;

	NEED(sim_alloc(domain, SIM_PAGE, 0, &win) == 0);
	do
		ret = sim_export(domain, win.window, 1);
	while (ret >= 0);
	return ret;
}

/* Windows of one dma-buf, in as many domains as it takes. */
static int with_imports(void)
{
	struct pld_sim_window_alloc win;
	int domain = sim_domain(1), ret = 0;
	__s32 fd;

	NEED(sim_alloc(domain, SIM_PAGE, 0, &win) == 0);
	fd = sim_export(domain, win.window, 0);
	NEED(fd >= 0);
	for (int i = 0; i < 10 * PLD_SIM_MAX_WINDOWS && ret >= 0; i++) {
		if (i % PLD_SIM_MAX_WINDOWS == 0)
			domain = ret = sim_domain(1);
		if (domain >= 0)
			ret = sim_import(domain, SIM_PAGE, 0, &fd, 1, &win,
					 NULL);
	}
	return ret;
}

/* Mappings so far apart that each has a page table of its own. */
static int with_mappings(void)
{
	size_t count = sizeof(long) > 4 ? 4096 : 700;
	struct pld_sim_window_alloc win;
	int domain = sim_domain(1), fd = sim_member(domain, 0);
	char *all = mmap(NULL, count * SIM_HUGE, PROT_NONE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	NEED(all != MAP_FAILED);
	NEED(sim_alloc(domain, SIM_PAGE, 0, &win) == 0);
	for (size_t i = 0; i < count; i++) {
		unsigned char *page = mmap(all + i * SIM_HUGE, SIM_PAGE,
					   PROT_READ | PROT_WRITE,
					   MAP_SHARED | MAP_FIXED, fd,
					   win.mmap_offset);

		if (page == MAP_FAILED)
			return -errno;
		NEED(touch(page) == 0);
	}
	return 0;
}

/*
 * A group that is full is met first by who happens to need the next page. That may
 * be the kernel on its own account: it makes a file or a page table for what the
 * module is asked, charges the group with plain GFP_KERNEL, and that calls the OOM
 * killer. What the module itself allocates must not. The kernel's log tells one from
 * the other: these are between the charge and the module in its trace.
 */
static bool is_the_kernels_own(const char *frame)
{
	static const char *const functions[] = {
		"alloc_empty_file", "__d_alloc",    "alloc_inode",
		"alloc_fdtable",    "expand_files", "vm_area_alloc",
		"vm_area_dup",	    "__pte_alloc",  "pte_alloc_one",
		"__pmd_alloc",	    "__pud_alloc",  "__p4d_alloc",
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(functions); i++) {
		size_t length = strlen(functions[i]);

		if (!strncmp(frame, functions[i], length) &&
		    (frame[length] == '+' || frame[length] == '.'))
			return true;
	}
	return false;
}

/* Who has called the OOM killer, how often, and what else the log complains of. */
struct callers {
	int kernel;
	int others;
	int splats;
	char who[64];
};

/* What of a record is the message, without the indentation of a trace. */
static const char *message(const char *record)
{
	const char *text = strchr(record, ';');

	return text ? text + 1 + strspn(text + 1, " ") : record;
}

/* A report of the OOM killer, from its first line to the end of its trace. */
static void read_report(int log, struct callers *callers)
{
	bool module = false, kernel = false;
	char record[8192];

	while (kernel_log_next(log, record, sizeof(record)) > 0) {
		const char *text = message(record);

		if (!strncmp(text, "</TASK>", strlen("</TASK>")))
			break;
		if (text[0] == '?' || module || kernel)
			continue;
		module = strstr(text, "[pld_sim]");
		kernel = is_the_kernels_own(text);
		if (module || kernel)
			snprintf(callers->who, sizeof(callers->who), "%.*s",
				 (int)strcspn(text, "+\n"), text);
	}
	if (kernel)
		callers->kernel++;
	else
		callers->others++;
}

/* "oom-kill:" and "Memory cgroup out of memory" belong to a report that was read. */
static struct callers read_callers(int log)
{
	struct callers callers = { .who = "nobody known" };
	char record[8192];

	while (kernel_log_next(log, record, sizeof(record)) > 0) {
		if (strstr(record, "invoked oom-killer:"))
			read_report(log, &callers);
		else if (!strstr(record, "oom-kill:") &&
			 kernel_log_is_splat(record))
			callers.splats += fprintf(stderr, "# %s", record) > 0;
	}
	return callers;
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

/*
 * The exit status of who filled it, at last. Where the kernel itself met the limit,
 * the next try begins elsewhere within a page; not at once, for the kernel reports
 * ten calls of the killer in five seconds, and no more.
 */
static int try_way(const struct way *way, const char *dir, int log,
		   struct callers *all)
{
	int status = 0;

	for (int i = 0; i < TRIES; i++) {
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
