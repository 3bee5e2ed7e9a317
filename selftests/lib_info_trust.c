// SPDX-License-Identifier: GPL-2.0
/*
 * What pld-info shows of domains of other users, and where control pages and
 * windows' names lie.
 */
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>

#include <linux/pld_sim.h>

#include "lib_test.h"

#if __has_include(<jansson.h>)
#include "lib_info.h"

/* Whom the tests may become: in the module's group, or in none. */
#define MEMBER 1000
#define STRANGER 65534

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
	if (child < 0 ||
	    TEMP_FAILURE_RETRY(waitpid(child, &status, 0)) != child ||
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
	for (;;)
		pause();
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
	if (TEMP_FAILURE_RETRY(read(ready[0], &byte, 1)) != 1)
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
	PLD_TRY(check_windows(domain_of(info, getpid())));
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
	EXPECT_EQ(liar, TEMP_FAILURE_RETRY(waitpid(liar, NULL, 0)));
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
#else
TEST(info)
{
	SKIP(return, "built without jansson's headers (libjansson-dev)");
}
#endif

LIB_TEST_MAIN
