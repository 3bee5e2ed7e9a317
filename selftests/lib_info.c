// SPDX-License-Identifier: GPL-2.0
/*
 * What pld-info shows of a domain: the domain as the tests made it, at a moment
 * that they chose, since it is a rank that runs it while the others wait. Read
 * from its JSON, with jansson.
 *
 * pld-info is $PLD_INFO, or lies beside $PLD_ALLGATHER or in the PATH.
 */
#include <fcntl.h>
#include <grp.h>
#include <libgen.h>
#include <limits.h>
#include <pwd.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "lib_test.h"

#if __has_include(<jansson.h>)
#include <jansson.h>

#include <linux/pld_sim.h>

#ifdef __SANITIZE_ADDRESS__
#define SANITIZED 1
#else
#define SANITIZED 0
#endif

/* What pld-info has printed, and its exit status. */
struct output {
	char text[1 << 20];
	size_t length;
	int status;
};

/* Whom the tests may become: in the module's group, or in none. */
#define MEMBER 1000
#define STRANGER 65534

static char tool[PATH_MAX];

static void find_tool(void)
{
	const char *given = getenv("PLD_INFO");
	const char *other = getenv("PLD_ALLGATHER");
	char beside[PATH_MAX];

	if (given) {
		snprintf(tool, sizeof(tool), "%s", given);
	} else if (other) {
		snprintf(beside, sizeof(beside), "%s", other);
		snprintf(tool, sizeof(tool), "%.4000s/pld-info",
			 dirname(beside));
	} else {
		snprintf(tool, sizeof(tool), "pld-info");
	}
}

/* Nobody's JSON, or the object that was printed; out->status is the exit's. */
static json_t *run_tool(const char *arguments, struct output *out)
{
	char command[PATH_MAX + 64];
	FILE *pipe;
	size_t got;

	snprintf(command, sizeof(command), "exec '%s' %s 2>&1", tool, arguments);
	out->length = 0;
	pipe = popen(command, "re");
	while (pipe && out->length < sizeof(out->text) - 1 &&
	       (got = fread(out->text + out->length, 1,
			    sizeof(out->text) - 1 - out->length, pipe)) > 0)
		out->length += got;
	out->text[out->length] = '\0';
	out->status = pipe ? pclose(pipe) : -1;
	if (WIFEXITED(out->status))
		out->status = WEXITSTATUS(out->status);
	return json_loads(out->text, JSON_REJECT_DUPLICATES, NULL);
}

/* Of the tests alone, which run one at a time. */
static struct output output;

static json_t *look(void)
{
	json_t *info = run_tool("--json", &output);

	if (!info || output.status)
		fprintf(stderr, "# status %d, and: %.2000s\n", output.status,
			output.text);
	return output.status ? NULL : info;
}

/* The domains of that maker; not all of a machine's are the test's. */
static json_t *domain_of(json_t *info, pid_t maker)
{
	json_t *domain;
	size_t i;

	json_array_foreach(json_object_get(info, "domains"), i,
			   domain) if (json_integer_value(json_object_get(domain,
									  "maker")) ==
				       maker) return domain;
	return NULL;
}

/* The member of a path such as "ranks.1.waits.0", or NULL. */
static json_t *member(json_t *json, const char *path)
{
	char name[64];

	while (json && *path) {
		size_t length = strcspn(path, ".");

		snprintf(name, sizeof(name), "%.*s", (int)length, path);
		json = json_is_array(json)
			       ? json_array_get(json, strtoul(name, NULL, 10))
			       : json_object_get(json, name);
		path += length + (path[length] == '.');
	}
	return json;
}

/* As JSON without spaces, its members in order; "(nothing)" where there is none. */
static const char *text_of(json_t *json, const char *path)
{
	static char text[4096];
	char *dumped =
		json_dumps(member(json, path),
			   JSON_COMPACT | JSON_ENCODE_ANY | JSON_SORT_KEYS);

	snprintf(text, sizeof(text), "%s", dumped ? dumped : "(nothing)");
	free(dumped);
	return text;
}

static int check_text(json_t *json, const char *path, const char *wanted,
		      const char *file, int line)
{
	char text[9000];

	if (!strcmp(wanted, text_of(json, path)))
		return 0;
	snprintf(text, sizeof(text), "%s is %s, wanted %.4000s", path,
		 text_of(json, path), wanted);
	return check_failed(file, line, text);
}

#define CHECK_JSON(wanted, json, path) \
	PLD_TRY(check_text(json, path, wanted, __FILE__, __LINE__))
#define EXPECT_JSON(wanted, json, path) \
	EXPECT_EQ(0, check_text(json, path, wanted, __FILE__, __LINE__))

static int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

#define HANG_NS (20000 * LIB_MS)

/* What the ranks of a test share besides their windows. */
struct shared {
	pid_t pids[3];
	int go;
};

FIXTURE(info)
{
	pld_domain *domain;
	pld_window_buffer *data;
	pld_window_buffer *signal;
	struct shared *shared;
};

FIXTURE_SETUP(info)
{
	const int devices[] = { 5, 1, 2 };

	find_tool();
	self->shared = mmap(NULL, sizeof(*self->shared), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, self->shared);
	ASSERT_EQ(0, pld_domain_create(devices, 3, NULL, &self->domain));
	ASSERT_EQ(0, pld_alloc_window_buffer(self->domain, 5000, &self->data));
	ASSERT_EQ(0, pld_alloc_signal(self->domain, PLD_SHAPE(4, 1),
				      &self->signal));
}

FIXTURE_TEARDOWN(info)
{
	pld_domain_destroy(self->domain);
	munmap(self->shared, sizeof(*self->shared));
}

/* The domain as soon as that member of it is so, or NULL. */
static json_t *look_until(pid_t maker, const char *path, const char *wanted)
{
	int64_t end = now_ns() + HANG_NS;
	json_t *info, *domain = NULL;

	do {
		json_decref(domain);
		info = look();
		domain = json_incref(domain_of(info, maker));
		json_decref(info);
		if (!strcmp(wanted, text_of(domain, path)))
			return domain;
	} while (now_ns() < end);
	fprintf(stderr, "# %s stays %s, wanted %s\n", path,
		text_of(domain, path), wanted);
	json_decref(domain);
	return NULL;
}

static int wait_for_one(const pld_distributed_tensor *signal)
{
	return pld_system_wait(signal, PLD_AT(1, 0), 5, PLD_GE);
}

static int wait_for_either(const pld_distributed_tensor *signal)
{
	const pld_condition either[] = {
		{ signal, PLD_AT(0, 0), -7, PLD_EQ },
		{ signal, PLD_AT(3, 0), 3, PLD_GE },
	};
	int index = pld_system_wait_any(either, 2, HANG_NS);

	return index < 0 ? index : 0;
}

static int check_waits(json_t *domain)
{
	CHECK_JSON("1", domain, "ranks.0.sleeping");
	CHECK_JSON("false", domain, "ranks.0.waits.0.any");
	CHECK_JSON("[{\"cmp\":\"ge\",\"expected\":5,\"offset\":128,\"value\":2,\"window\":1}]",
		   domain, "ranks.0.waits.0.cells");
	CHECK_JSON("1", domain, "ranks.1.sleeping");
	CHECK_JSON("true", domain, "ranks.1.waits.0.any");
	CHECK_JSON("[{\"cmp\":\"eq\",\"expected\":-7,\"offset\":0,\"value\":-1,\"window\":1},"
		   "{\"cmp\":\"ge\",\"expected\":3,\"offset\":384,\"value\":0,\"window\":1}]",
		   domain, "ranks.1.waits.0.cells");
	CHECK_JSON("[]", domain, "ranks.2.waits");
	CHECK_JSON("0", domain, "ranks.2.sleeping");
	return 0;
}

static int check_domain(json_t *domain, const struct shared *shared)
{
	char number[16];

	CHECK_JSON("5", domain, "ranks.0.device");
	CHECK_JSON("1", domain, "ranks.1.device");
	CHECK_JSON("2", domain, "ranks.2.device");
	CHECK_JSON("(nothing)", domain, "ranks.3");
	for (int rank = 0; rank < 3; rank++) {
		char path[32];

		snprintf(path, sizeof(path), "ranks.%d.state", rank);
		CHECK_JSON("\"joined\"", domain, path);
		snprintf(path, sizeof(path), "ranks.%d.pid", rank);
		snprintf(number, sizeof(number), "%d", shared->pids[rank]);
		CHECK_JSON(number, domain, path);
	}
	CHECK_JSON("null", domain, "broken");
	CHECK_JSON("0", domain, "windows.0.id");
	CHECK_JSON("5000", domain, "windows.0.bytes");
	CHECK_JSON("8192", domain, "windows.0.stride");
	CHECK_JSON("\"data\"", domain, "windows.0.kind");
	CHECK_JSON("1", domain, "windows.1.id");
	CHECK_JSON("512", domain, "windows.1.bytes");
	CHECK_JSON("4096", domain, "windows.1.stride");
	CHECK_JSON("\"signal\"", domain, "windows.1.kind");
	CHECK_JSON("(nothing)", domain, "windows.2");
	return 0;
}

/* In the form that people see it. */
static int check_table(void)
{
	json_decref(run_tool("", &output));
	CHECK_EQ(0, output.status);
	CHECK(strstr(output.text,
		     "     0       1       128  >= 5                     2  "));
	CHECK(strstr(output.text,
		     "     1       1         0  == -7                   -1  "));
	CHECK(strstr(output.text,
		     "    or       1       384  >= 3                     0\n"));
	CHECK(strstr(output.text, "       0  data        5000 B      8192 B  "));
	return 0;
}

static int held_in_waits(pld_domain *domain, void *arg)
{
	FIXTURE_DATA(info) *self = arg;
	int rank = pld_rank(domain);
	pld_distributed_tensor signal;
	json_t *seen;

	self->shared->pids[rank] = getpid();
	PLD_TRY(pld_window(self->signal, PLD_SHAPE(4, 1), PLD_INT32, &signal));
	if (rank == 0)
		return wait_for_one(&signal);
	if (rank == 1)
		return wait_for_either(&signal);
	/* One that has slept, and is over. */
	CHECK_EQ(-ETIMEDOUT, pld_system_wait_timeout(&signal, PLD_AT(2, 0), 9,
						     PLD_GE, LIB_MS));
	PLD_TRY(pld_system_notify(&signal, 0, PLD_AT(1, 0), 2, PLD_SET));
	PLD_TRY(pld_system_notify(&signal, 1, PLD_AT(0, 0), -1, PLD_SET));
	json_decref(look_until(getppid(), "ranks.0.sleeping", "1"));
	seen = look_until(getppid(), "ranks.1.sleeping", "1");
	PLD_TRY(check_domain(seen, self->shared));
	PLD_TRY(check_waits(seen));
	json_decref(seen);
	PLD_TRY(check_table());
	PLD_TRY(pld_system_notify(&signal, 0, PLD_AT(1, 0), 3, PLD_ATOMIC_ADD));
	return pld_system_notify(&signal, 1, PLD_AT(3, 0), 3, PLD_SET);
}

TEST_F(info, domain_and_its_waits_are_shown_as_they_are)
{
	RUN(self->domain, held_in_waits, self);
}

static int left_one_by_one(pld_domain *domain, void *arg)
{
	FIXTURE_DATA(info) *self = arg;
	json_t *seen;

	(void)self;
	if (pld_rank(domain) != 2)
		return 0;
	json_decref(look_until(getppid(), "ranks.0.state", "\"left\""));
	seen = look_until(getppid(), "ranks.1.state", "\"left\"");
	CHECK_JSON("null", seen, "ranks.0.pid");
	CHECK_JSON("null", seen, "broken");
	CHECK_JSON("\"joined\"", seen, "ranks.2.state");
	json_decref(seen);
	return 0;
}

TEST_F(info, ranks_that_have_left_are_shown_so)
{
	RUN(self->domain, left_one_by_one, self);
}

TEST_F(info, domain_is_there_from_its_making_to_its_end)
{
	json_t *info = look(), *domain = domain_of(info, getpid());

	ASSERT_NE(NULL, info);
	EXPECT_JSON("\"absent\"", domain, "ranks.0.state");
	EXPECT_JSON("null", domain, "ranks.0.pid");
	EXPECT_EQ((json_int_t)geteuid(),
		  json_integer_value(member(domain, "owner")));
	json_decref(info);

	pld_free_window_buffer(self->data);
	info = look();
	domain = domain_of(info, getpid());
	EXPECT_JSON("1", domain, "windows.0.id");
	EXPECT_JSON("(nothing)", domain, "windows.1");
	json_decref(info);

	pld_domain_destroy(self->domain);
	self->domain = NULL;
	info = look();
	EXPECT_EQ(NULL, domain_of(info, getpid()));
	json_decref(info);
}

static int dies(pld_domain *domain, void *arg)
{
	(void)arg;
	return pld_rank(domain) == 1 ? raise(SIGKILL) : 0;
}

static int aborts(pld_domain *domain, void *arg)
{
	(void)arg;
	return pld_rank(domain) == 2 ? pld_abort(domain, 3) : 0;
}

TEST_F(info, broken_domain_is_shown_with_the_reason)
{
	json_t *info;

	EXPECT_EQ(-EOWNERDEAD, pld_launch(self->domain, dies, NULL, NULL));
	info = look();
	EXPECT_JSON("\"rank 1 died\"", domain_of(info, getpid()),
		    "broken.sentence");
	EXPECT_JSON("\"dead\"", domain_of(info, getpid()), "broken.reason");
	EXPECT_JSON("1", domain_of(info, getpid()), "broken.rank");
	EXPECT_JSON("\"dead\"", domain_of(info, getpid()), "ranks.1.state");
	json_decref(info);

	ASSERT_EQ(0, pld_domain_reset(self->domain));
	info = look();
	EXPECT_JSON("null", domain_of(info, getpid()), "broken");
	EXPECT_JSON("\"absent\"", domain_of(info, getpid()), "ranks.1.state");
	json_decref(info);

	EXPECT_EQ(-ECANCELED, pld_launch(self->domain, aborts, NULL, NULL));
	info = look();
	EXPECT_JSON("\"rank 2 aborted with code 3\"", domain_of(info, getpid()),
		    "broken.sentence");
	json_decref(info);
}

static json_t *device_of(json_t *info, const char *platform, int id)
{
	json_t *devices = json_object_get(info, "devices");

	for (size_t i = 0; i < json_array_size(devices); i++) {
		json_t *device = json_array_get(devices, i);
		const char *name = json_string_value(member(device, "platform"));

		if (name && !strcmp(platform, name) &&
		    json_integer_value(member(device, "id")) == id)
			return device;
	}
	return NULL;
}

TEST_F(info, devices_are_shown_with_their_memory)
{
	json_t *info = look(), *found;

	ASSERT_NE(NULL, info);
	found = device_of(info, pld_domain_platform(self->domain), 5);
	ASSERT_NE(NULL, found);
	/* Others of the machine may use it too. */
	EXPECT_LE(8192 + 4096, json_integer_value(member(found, "memory_used")));
	EXPECT_LE(2, json_integer_value(member(found, "windows")));
	EXPECT_JSON("null", found, "memory_limit");
	json_decref(info);
}

TEST_F(info, platforms_and_versions_are_told)
{
	json_t *info = look();
	char wanted[64];

	ASSERT_NE(NULL, info);
	EXPECT_JSON("1", info, "version");
	snprintf(wanted, sizeof(wanted), "\"%s\"", pld_version());
	EXPECT_JSON(wanted, info, "library");
	EXPECT_JSON("\"kmod\"", info, "platforms.0.name");
	EXPECT_JSON("\"memfd\"", info, "platforms.1.name");
	EXPECT_JSON("true", info, "platforms.1.usable");
	EXPECT_JSON("64", info, "platforms.1.devices");
	if (!strcmp(pld_domain_platform(self->domain), "kmod")) {
		EXPECT_JSON("true", info, "platforms.0.usable");
		EXPECT_JSON("null", info, "platforms.0.why");
		EXPECT_JSON(wanted, info, "module.version");
		EXPECT_TRUE(json_equal(member(info, "header_abi"),
				       member(info, "module.abi")));
		EXPECT_JSON("\"20\"", info, "module.parameters.recheck_ms");
	} else if (access("/dev/pld_sim", F_OK)) {
		EXPECT_JSON("false", info, "platforms.0.usable");
		EXPECT_JSON("null", info, "module");
		EXPECT_JSON("\"platform kmod: no module: there is no /dev/pld_sim; load pld_sim.ko, or use platform memfd\"",
			    info, "platforms.0.why");
	}
	json_decref(info);
}

/* Puts the faults of the folder that this program is in before the tool. */
static json_t *look_with_fault(const char *fault)
{
	char self[PATH_MAX] = "", library[PATH_MAX + 16];
	json_t *info;

	if (readlink("/proc/self/exe", self, sizeof(self) - 1) < 0)
		return NULL;
	snprintf(library, sizeof(library), "%s/faults.so", dirname(self));
	setenv("PLD_FAULT", fault, 1);
	setenv("LD_PRELOAD", library, 1);
	info = look();
	unsetenv("LD_PRELOAD");
	unsetenv("PLD_FAULT");
	return info;
}

TEST_F(info, platform_that_cannot_be_used_is_told_why)
{
	static const char prefix[] =
		"\"platform kmod: version mismatch: the loaded module has ABI version ";
	json_t *info;

	if (SANITIZED)
		SKIP(return,
			   "faults cannot be brought into a sanitizer's build");
	info = look_with_fault("no-permission");
	EXPECT_JSON("false", info, "platforms.0.usable");
	EXPECT_JSON("\"platform kmod: no permission to open /dev/pld_sim; join the group that owns it\"",
		    info, "platforms.0.why");
	json_decref(info);

	info = look_with_fault("other-version");
	EXPECT_EQ(0, strncmp(prefix, text_of(info, "platforms.0.why"),
			     strlen(prefix)));
	json_decref(info);
}

/* In a child, which becomes another user, runs f and returns its result. */
static int as_user(uid_t user, int (*f)(FIXTURE_DATA(info) * self),
		   FIXTURE_DATA(info) * self)
{
	struct stat node = { .st_gid = user };
	pid_t child = fork();
	int status;

	if (!child) {
		/* What it has open it may see. */
		close_range(3, ~0U, 0);
		if (user == MEMBER)
			stat("/dev/pld_sim", &node);
		if (setgroups(1, user == MEMBER ? &node.st_gid : &user) ||
		    setresgid(user, user, user) || setresuid(user, user, user))
			_exit(2);
		/* Or nobody could look into it, this user neither. */
		prctl(PR_SET_DUMPABLE, 1);
		_exit(f(self) ? 1 : 0);
	}
	if (child < 0 || waitpid(child, &status, 0) != child ||
	    !WIFEXITED(status))
		return -1;
	return WEXITSTATUS(status);
}

/* The parent's domain is root's. */
static int sees_nothing(FIXTURE_DATA(info) * self)
{
	json_t *info = look();

	(void)self;
	CHECK(info);
	CHECK(!domain_of(info, getppid()));
	CHECK_JSON("[]", info, "domains");
	CHECK(json_array_size(member(info, "not_shown")) > 0);
	return 0;
}

static int sees_its_own(FIXTURE_DATA(info) * self)
{
	const int devices[] = { 1, 0 };
	pld_domain *domain;
	json_t *info;

	(void)self;
	PLD_TRY(pld_domain_create(devices, 2, NULL, &domain));
	info = look();
	CHECK(info);
	CHECK(!domain_of(info, getppid()));
	CHECK_JSON("1", domain_of(info, getpid()), "ranks.0.device");
	CHECK_JSON("1000", domain_of(info, getpid()), "owner");
	CHECK(json_array_size(member(info, "not_shown")) > 0);
	pld_domain_destroy(domain);
	return 0;
}

TEST_F(info, stranger_is_shown_no_domain_and_told_so)
{
	if (geteuid())
		SKIP(return, "changing to another user needs root");
	EXPECT_EQ(0, as_user(STRANGER, sees_nothing, self));
}

TEST_F(info, user_is_shown_the_own_domain_alone)
{
	if (geteuid())
		SKIP(return, "changing to another user needs root");
	EXPECT_EQ(0, as_user(MEMBER, sees_its_own, self));
}

/* This process's control pages of memfd, opened anew for writing, or -1. */
static int open_control(void)
{
	char path[64], link[256];
	ssize_t length;

	for (int fd = 0; fd < 256; fd++) {
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		length = readlink(path, link, sizeof(link) - 1);
		if (length < 0)
			continue;
		link[length] = '\0';
		if (!strncmp(link, "/memfd:pld-control", 18))
			return open(path, O_RDWR | O_CLOEXEC);
	}
	return -1;
}

/* Bytes from at on become noise; the same for the same turn. */
static void scribble(unsigned char *bytes, size_t at, size_t length,
		     unsigned int turn)
{
	for (; at < length; at++)
		bytes[at] = (unsigned char)(rand_r(&turn) >> 7);
}

/*
 * Noise all over; noise behind what says that these are control pages, all
 * ranks joined; and a page for the rest of it that is all ones.
 */
static void spoil(unsigned char *bytes, size_t length, unsigned int turn)
{
	static const size_t rank_state = 64, devices = 1104;
	const uint32_t joined = PLD_RANK_JOINED;

	if (turn % 3 == 0) {
		scribble(bytes, 0, length, turn);
		return;
	}
	if (turn % 3 == 1)
		scribble(bytes, devices, length, turn);
	else
		memset(bytes + 4096, 0xff, length - 4096);
	for (int rank = 0; rank < 3; rank++)
		memcpy(bytes + rank_state + 4 * (size_t)rank, &joined,
		       sizeof(joined));
}

TEST_F(info, scribbled_control_pages_do_no_harm)
{
	enum { LENGTH = 4 * 4096 };
	static unsigned char good[LENGTH], bad[LENGTH];
	int control = open_control();
	json_t *info;

	if (strcmp(pld_domain_platform(self->domain), "memfd"))
		SKIP(return, "the module's pages are its own");
	ASSERT_LE(0, control);
	ASSERT_EQ(LENGTH, pread(control, good, LENGTH, 0));
	for (unsigned int turn = 0; turn < 30; turn++) {
		memcpy(bad, good, LENGTH);
		spoil(bad, LENGTH, turn);
		ASSERT_EQ(LENGTH, pwrite(control, bad, LENGTH, 0));
		info = look();
		EXPECT_NE(NULL, info)
		TH_LOG("turn %u", turn);
		json_decref(info);
	}
	ASSERT_EQ(LENGTH, pwrite(control, good, LENGTH, 0));
	info = look();
	EXPECT_NE(NULL, domain_of(info, getpid()));
	json_decref(info);
	close(control);
}

/* The inode of this process's control pages, 0 when they are not of memfd. */
static unsigned long long control_inode(const pld_domain *domain)
{
	struct stat st = { 0 };
	int control;

	if (strcmp(pld_domain_platform(domain), "memfd"))
		return 0;
	control = open_control();
	if (control < 0 || fstat(control, &st))
		return 0;
	close(control);
	return st.st_ino;
}

/* A memfd that says it is that window: of pages for each of three ranks. */
static int false_window(unsigned int id, unsigned long long bytes,
			unsigned long long control)
{
	char name[128];
	int fd;

	snprintf(name, sizeof(name), "pld-window:%u:%llu:1:%llu", id, bytes,
		 control);
	fd = memfd_create(name, MFD_CLOEXEC);
	return fd < 0 || ftruncate(fd, 3 * 4096) ? -1 : fd;
}

#define HUGE_BYTES (1LL << 40)

static void lie(unsigned long long control, int ready)
{
	const gid_t group = STRANGER;
	int made = 0;

	if (setgroups(1, &group) || setresgid(group, group, group) ||
	    setresuid(STRANGER, STRANGER, STRANGER))
		_exit(2);
	made += false_window(0, 64, control) >= 0;
	made += false_window(77, 64, control) >= 0;
	made += false_window(79, HUGE_BYTES, control) >= 0;
	for (int i = 0; i < 3; i++)
		made += memfd_create("pld-control", MFD_CLOEXEC) >= 0;
	if (made != 6 || write(ready, "", 1) != 1)
		_exit(2);
	pause();
	_exit(0);
}

/* A process of another user that is there with all its lies, or -1. */
static pid_t start_liar(unsigned long long control)
{
	int ready[2];
	pid_t liar;
	char byte;

	if (pipe2(ready, O_CLOEXEC))
		return -1;
	liar = fork();
	if (!liar) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(ready[0]);
		lie(control, ready[1]);
	}
	close(ready[1]);
	if (read(ready[0], &byte, 1) != 1)
		liar = -1;
	close(ready[0]);
	return liar;
}

/* How many of the windows that are there are said not to be shown. */
static unsigned int hidden_windows(json_t *info)
{
	json_t *sentences = member(info, "not_shown");
	unsigned int count = 0;

	for (size_t i = 0; i < json_array_size(sentences); i++)
		sscanf(json_string_value(json_array_get(sentences, i)),
		       "windows of memfd that are not shown: %u;", &count);
	return count;
}

/* How many sentences there are that begin like that. */
static int sentences_of(json_t *info, const char *start)
{
	json_t *sentences = member(info, "not_shown");
	int count = 0;

	for (size_t i = 0; i < json_array_size(sentences); i++)
		count += !strncmp(json_string_value(json_array_get(sentences, i)),
				  start, strlen(start));
	return count;
}

static int check_windows_alone(json_t *info)
{
	json_t *domain = domain_of(info, getpid());

	CHECK_JSON("0", domain, "windows.0.id");
	CHECK_JSON("5000", domain, "windows.0.bytes");
	CHECK_JSON("\"data\"", domain, "windows.0.kind");
	CHECK_JSON("1", domain, "windows.1.id");
	CHECK_JSON("512", domain, "windows.1.bytes");
	CHECK_JSON("(nothing)", domain, "windows.2");
	CHECK(json_integer_value(member(device_of(info, "memfd", 5),
					"memory_used")) < HUGE_BYTES);
	return 0;
}

TEST_F(info, windows_of_another_user_are_not_the_domains)
{
	unsigned long long control = control_inode(self->domain);
	json_t *info;
	pid_t liar;

	if (!control)
		SKIP(return, "the module's windows have no names");
	if (geteuid())
		SKIP(return, "changing to another user needs root");
	liar = start_liar(control);
	ASSERT_LT(0, liar);
	info = look();
	kill(liar, SIGKILL);
	EXPECT_EQ(liar, waitpid(liar, NULL, 0));
	EXPECT_EQ(0, check_windows_alone(info));
	/* Others of the machine may lie too. */
	EXPECT_LE(3, hidden_windows(info));
	EXPECT_EQ(1, sentences_of(info, "domain "));
	EXPECT_EQ(1, sentences_of(info, "windows of memfd"));
	json_decref(info);
}

/* Its owner cannot say what is not so either. */
TEST_F(info, windows_are_shown_once_and_as_large_as_they_are)
{
	unsigned long long control = control_inode(self->domain);
	int again, large;
	json_t *info;

	if (!control)
		SKIP(return, "the module's windows have no names");
	again = false_window(0, 64, control);
	large = false_window(78, HUGE_BYTES, control);
	ASSERT_LE(0, again);
	ASSERT_LE(0, large);
	info = look();
	EXPECT_EQ(0, check_windows_alone(info));
	EXPECT_LE(2, hidden_windows(info));
	json_decref(info);
	close(again);
	close(large);
}

/* It is the first that is found: descriptor 0 of the process of least id. */
TEST_F(info, value_of_a_cell_is_not_another_users)
{
	unsigned long long control = control_inode(self->domain);
	int window;

	if (!control)
		SKIP(return, "the module's windows have no names");
	if (geteuid())
		SKIP(return, "giving a file away needs root");
	window = false_window(1, 512, control);
	ASSERT_LE(0, window);
	ASSERT_EQ(0, fchown(window, STRANGER, STRANGER));
	ASSERT_EQ(0, dup2(window, 0));
	close(window);
	RUN(self->domain, held_in_waits, self);
}

TEST_F(info, command_line_is_checked)
{
	static const struct {
		const char *arguments;
		int status;
		const char *text;
	} lines[] = {
		{ "--jsonn", 2,
		  "pld-info: there is no option '--jsonn'; see --help\n" },
		{ "--json=1", 2,
		  "pld-info: option '--json=1' takes no value; see --help\n" },
		{ "x", 2, "pld-info: 'x' is not an option; see --help\n" },
		{ "-x", 2, "pld-info: there is no option '-x'; see --help\n" },
	};
	char version[64];

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		json_decref(run_tool(lines[i].arguments, &output));
		EXPECT_EQ(lines[i].status, output.status);
		EXPECT_STREQ(lines[i].text, output.text);
	}
	json_decref(run_tool("--version", &output));
	snprintf(version, sizeof(version), "pld-info %s\n", pld_version());
	EXPECT_EQ(0, output.status);
	EXPECT_STREQ(version, output.text);
	json_decref(run_tool("--help", &output));
	EXPECT_EQ(0, output.status);
	EXPECT_NE(NULL, strstr(output.text, "--json"));
	json_decref(run_tool("> /dev/full", &output));
	EXPECT_EQ(1, output.status);
}

static void __attribute__((constructor)) without_the_tool(void)
{
	find_tool();
	if (strchr(tool, '/') && access(tool, X_OK))
		ksft_exit_skip(
			"there is no pld-info: set PLD_INFO to its file\n");
}
#else
TEST(info)
{
	SKIP(return, "built without jansson's headers (libjansson-dev)");
}
#endif

LIB_TEST_MAIN
