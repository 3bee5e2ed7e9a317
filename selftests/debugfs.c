// SPDX-License-Identifier: GPL-2.0
/*
 * Domains as text: the debugfs file that shows root all of them, and the file
 * of PLD_IOC_DOMAINS, which shows a user the own ones: who may read them, and
 * that they show what is there and no more.
 */
#include <sys/stat.h>

#include "pld_counters.h"
#include "pld_test.h"
#include "pld_user.h"

#define DOMAINS "/sys/kernel/debug/pld_sim/domains"

FIXTURE(debugfs)
{
	int domain;
	struct pld_sim_window_alloc win;
	int all;
	char text[1 << 16];
};

/* Other domains may be there; the one made last is the last one shown. */
static const char *last_domain(FIXTURE_DATA(debugfs) * self)
{
	const char *last = NULL, *at = self->text;

	if (read_text(DOMAINS, self->text, sizeof(self->text)))
		return NULL;
	while ((at = strstr(at, "domain "))) {
		last = at;
		at++;
	}
	return last;
}

/* What is said of a domain after who made it. */
static const char *after_maker(const char *domain)
{
	return domain ? strstr(domain, " ranks=") : NULL;
}

FIXTURE_SETUP(debugfs)
{
	static const __u32 ids[] = { 3, 1 };
	int dev = sim_open();

	self->domain = sim_create(dev, ids, 2);
	ASSERT_LE(0, self->domain);
	ASSERT_EQ(0, sim_alloc(self->domain, SIM_PAGE + 1, PLD_WINDOW_SIGNAL,
			       &self->win));
	close(dev);
}

FIXTURE_TEARDOWN(debugfs)
{
	close(self->domain);
}

#define SKIP_WITHOUT_DEBUGFS()                                         \
	do {                                                           \
		if (access(DOMAINS, R_OK))                             \
			SKIP(return, "%s cannot be read: %s", DOMAINS, \
				   strerror(errno));                   \
	} while (0)

TEST_F(debugfs, domains_are_for_root_only)
{
	struct stat st;

	SKIP_WITHOUT_DEBUGFS();
	ASSERT_EQ(0, stat(DOMAINS, &st));
	EXPECT_EQ(S_IFREG | 0400, st.st_mode);
	EXPECT_EQ(0, st.st_uid);
}

static int wait_for_five(struct peer *self, void *arg)
{
	FIXTURE_DATA(debugfs) *d = arg;
	int fd = sim_member(d->domain, 1);

	NEED(fd >= 0);
	peer_tell(self, 0);
	return sim_wait(fd, d->win.window, 8, PLD_SIM_CMP_GE, 5, INT64_MAX,
			NULL) != 0;
}

static int wait_for_two(struct peer *self, void *arg)
{
	FIXTURE_DATA(debugfs) *d = arg;
	struct pld_sim_condition c[] = {
		{ 16, d->win.window, PLD_SIM_CMP_EQ, 1, 0 },
		{ 8, d->win.window, PLD_SIM_CMP_GE, 5, 0 },
	};
	int fd = sim_member(d->domain, 1);

	NEED(fd >= 0);
	peer_tell(self, 0);
	return sim_wait_for(fd, d->all ? 0 : PLD_WAIT_ANY, c, 2, INT64_MAX,
			    NULL) != 0;
}

TEST_F(debugfs, domain_is_shown_with_ranks_waiters_and_windows)
{
	static const char want[] =
		" ranks=2 epoch=1 reason=none culprit=0 code=0\n"
		" rank nr=0 device=3 state=absent pid=0 waiters=0 rings=0\n"
		" rank nr=1 device=1 state=joined pid=%d waiters=1 rings=0\n"
		"  wait any=0 cells=1 waiting_ns=";
	static const char want_then[] =
		"   cell window=0 offset=8 cmp=ge expected=5 value=0\n"
		" window id=0 bytes=4097 stride=8192 signal=1 segments=";
	__s64 end = sim_after(SIM_HANG);
	char wanted[512];
	const char *seen;
	struct peer p;

	SKIP_WITHOUT_DEBUGFS();
	ASSERT_EQ(0, peer_start(&p, wait_for_five, self));
	ASSERT_EQ(0, peer_hear(&p));
	do {
		seen = after_maker(last_domain(self));
		ASSERT_NE(NULL, seen);
	} while (!strstr(seen, "  wait ") && sim_now() < end);
	snprintf(wanted, sizeof(wanted), want, p.pid);
	EXPECT_EQ(0, strncmp(wanted, seen, strlen(wanted)))
	TH_LOG("%s", seen);
	EXPECT_NE(NULL, strstr(seen, want_then))
	TH_LOG("%s", seen);
	EXPECT_EQ(128 + SIGKILL, peer_kill(&p));
}

TEST_F(debugfs, domain_is_shown_with_its_maker)
{
	char wanted[64];
	const char *seen;

	SKIP_WITHOUT_DEBUGFS();
	seen = last_domain(self);
	ASSERT_NE(NULL, seen);
	EXPECT_EQ(0, strncmp(self->text, "format=1\n", 9));
	snprintf(wanted, sizeof(wanted), " owner=%u maker=%d ranks=", geteuid(),
		 getpid());
	EXPECT_NE(NULL, strstr(seen, wanted))
	TH_LOG("%s", seen);
}

TEST_F(debugfs, wait_for_several_cells_is_one_waiter)
{
	static const char cells[] =
		"   cell window=0 offset=16 cmp=eq expected=1 value=0\n"
		"   cell window=0 offset=8 cmp=ge expected=5 value=0\n"
		" window ";
	const char *seen;
	char wanted[64];
	struct peer p;

	SKIP_WITHOUT_DEBUGFS();
	for (self->all = 0; self->all < 2; self->all++) {
		__s64 end = sim_after(SIM_HANG);

		ASSERT_EQ(0, peer_start(&p, wait_for_two, self));
		ASSERT_EQ(0, peer_hear(&p));
		do {
			seen = after_maker(last_domain(self));
			ASSERT_NE(NULL, seen);
		} while (!strstr(seen, "  wait ") && sim_now() < end);
		snprintf(wanted, sizeof(wanted), "  wait any=%d cells=2 ",
			 !self->all);
		EXPECT_NE(NULL, strstr(seen, wanted))
		TH_LOG("%s", seen);
		EXPECT_NE(NULL, strstr(seen, cells))
		TH_LOG("%s", seen);
		EXPECT_EQ(128 + SIGKILL, peer_kill(&p));
		ASSERT_EQ(0, sim_reset(self->domain));
	}
}

TEST_F(debugfs, broken_domain_is_shown_with_its_reason)
{
	static const char want[] =
		" ranks=2 epoch=2 reason=abort culprit=1 code=-3\n"
		" rank nr=0 device=3 state=absent pid=0 waiters=0 rings=0\n"
		" rank nr=1 device=1 state=absent pid=0 waiters=0 rings=0\n";
	const char *seen;

	SKIP_WITHOUT_DEBUGFS();
	ASSERT_EQ(0, sim_fail(self->domain, PLD_FAIL_ABORT, 1, -3));
	seen = after_maker(last_domain(self));
	ASSERT_NE(NULL, seen);
	EXPECT_EQ(0, strncmp(want, seen, strlen(want)))
	TH_LOG("%s", seen);
}

TEST_F(debugfs, domain_that_has_gone_is_not_shown)
{
	char ours[32], *number;
	const char *last;

	SKIP_WITHOUT_DEBUGFS();
	last = last_domain(self);
	ASSERT_NE(NULL, last);
	snprintf(ours, sizeof(ours), "%.30s", last);
	number = strstr(ours, " owner=");
	ASSERT_NE(NULL, number);
	number[strlen(" owner=")] = '\0';

	ASSERT_EQ(0, close(self->domain));
	last_domain(self);
	EXPECT_EQ(NULL, strstr(self->text, ours));
}

/* What PLD_IOC_DOMAINS of the file shows, or a negative errno. */
static int read_domains(int fd, char *text, size_t size)
{
	struct pld_sim_domains domains = { .size = sizeof(domains) };
	int ret = sim_ioctl(fd, PLD_IOC_DOMAINS, &domains);
	ssize_t got;
	size_t at = 0;

	if (ret)
		return ret;
	while ((got = read(domains.out_fd, text + at, size - 1 - at)) > 0)
		at += got;
	text[at] = '\0';
	close(domains.out_fd);
	return got < 0 ? -errno : 0;
}

TEST_F(debugfs, file_of_domains_is_for_reading_only)
{
	struct pld_sim_domains domains = { .size = sizeof(domains) };
	int dev = sim_open();

	ASSERT_EQ(0, sim_ioctl(dev, PLD_IOC_DOMAINS, &domains));
	EXPECT_EQ(-1, write(domains.out_fd, "", 1));
	EXPECT_EQ(EBADF, errno);
	EXPECT_EQ(-ENOTTY, sim_ioctl(domains.out_fd, PLD_IOC_INFO, &domains));
	EXPECT_EQ(MAP_FAILED, sim_mmap(domains.out_fd, SIM_PAGE, PROT_READ, 0));
	EXPECT_EQ(0, close(domains.out_fd));
	close(dev);
}

/* Its reader may have come by it from somebody who may see less. */
TEST_F(debugfs, file_of_domains_says_what_is_when_it_is_read)
{
	struct pld_sim_domains domains = { .size = sizeof(domains) };
	int dev = sim_open();
	ssize_t got;

	ASSERT_EQ(0, sim_fail(self->domain, PLD_FAIL_ABORT, 1, -3));
	ASSERT_EQ(0, sim_ioctl(dev, PLD_IOC_DOMAINS, &domains));
	ASSERT_EQ(0, sim_reset(self->domain));
	close(dev);
	got = read(domains.out_fd, self->text, sizeof(self->text) - 1);
	ASSERT_LT(0, got);
	self->text[got] = '\0';
	EXPECT_NE(NULL, strstr(self->text, " epoch=3 reason=none "))
	TH_LOG("%s", self->text);
	close(domains.out_fd);
}

/* In a group that may use the module: the own domain, and no other. */
static int see_own_domains_as(FIXTURE_DATA(debugfs) * d, int in_namespace)
{
	struct user user = { .gid = NOBODY,
			     .nr_extra = 1,
			     .in_namespace = in_namespace };
	int dev, domain;
	struct stat st;
	char wanted[64];

	NEED(stat(SIM_NODE, &st) == 0);
	user.extra = st.st_gid;
	become(&user);
	dev = sim_open();
	NEED(dev >= 0);
	NEED(read_domains(dev, d->text, sizeof(d->text)) == 0);
	NEED(strcmp(d->text, "format=1\n") == 0);
	domain = sim_domain(1);
	NEED(domain >= 0);
	NEED(read_domains(dev, d->text, sizeof(d->text)) == 0);
	snprintf(wanted, sizeof(wanted), " owner=%u maker=%d ranks=1 ",
		 geteuid(), getpid());
	NEED(strstr(d->text, wanted) != NULL);
	NEED(strstr(strstr(d->text, "domain ") + 1, "domain ") == NULL);
	return 0;
}

static int see_own_domains(struct peer *self, void *arg)
{
	return see_own_domains_as(arg, 0);
}

static int see_own_domains_as_root(struct peer *self, void *arg)
{
	return see_own_domains_as(arg, 1);
}

TEST_F(debugfs, others_see_their_own_domains_only)
{
	if (geteuid())
		SKIP(return, "changing to another user needs root");
	EXPECT_EQ(0, peer_call(see_own_domains, self));
}

/* By the number that he has there. */
TEST_F(debugfs, root_of_a_user_namespace_sees_his_own_domains_only)
{
	int ret;

	if (geteuid())
		SKIP(return, "changing to another user needs root");
	ret = peer_call(see_own_domains_as_root, self);
	if (ret == NO_NAMESPACE)
		SKIP(return, "there are no user namespaces here");
	EXPECT_EQ(0, ret);
}

TEST_F(debugfs, root_sees_all_domains_by_either_file)
{
	char *text = self->text + sizeof(self->text) / 2;
	size_t size = sizeof(self->text) / 2;
	int dev = sim_open();

	SKIP_WITHOUT_DEBUGFS();
	ASSERT_EQ(0, read_text(DOMAINS, self->text, size));
	ASSERT_EQ(0, read_domains(dev, text, size));
	EXPECT_STREQ(self->text, text);
	close(dev);
}

PLD_TEST_MAIN
