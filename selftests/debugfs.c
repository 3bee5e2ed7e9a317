// SPDX-License-Identifier: GPL-2.0
/*
 * The debugfs file that shows root every domain: who may read it, and that it
 * shows what is there and no more.
 */
#include <sys/stat.h>

#include "pld_counters.h"
#include "pld_test.h"

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

/* What is said of a domain after its number. */
static const char *after_number(const char *domain)
{
	return domain ? strstr(domain, " ranks ") : NULL;
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
		" ranks 2 epoch 1 reason none rank 0 code 0\n"
		" rank 0 device 3 absent waiters 0\n"
		" rank 1 device 1 joined waiters 1\n"
		"  waiter window 0 offset 8 cell>=5\n"
		" window 0 length 4097 stride 8192 offset 0x200000 flags 0x1 ";
	__s64 end = sim_after(SIM_HANG);
	const char *seen;
	struct peer p;

	SKIP_WITHOUT_DEBUGFS();
	ASSERT_EQ(0, peer_start(&p, wait_for_five, self));
	ASSERT_EQ(0, peer_hear(&p));
	do {
		seen = after_number(last_domain(self));
		ASSERT_NE(NULL, seen);
	} while (!strstr(seen, "waiter window") && sim_now() < end);
	EXPECT_EQ(0, strncmp(want, seen, strlen(want)))
	TH_LOG("%s", seen);
	EXPECT_EQ(128 + SIGKILL, peer_kill(&p));
}

TEST_F(debugfs, wait_for_several_cells_is_one_waiter)
{
	static const char *const want[] = {
		"  waiter window 0 offset 16 cell==1 or window 0 offset 8 cell>=5\n",
		"  waiter window 0 offset 16 cell==1 and window 0 offset 8 cell>=5\n",
	};
	const char *seen;
	struct peer p;

	SKIP_WITHOUT_DEBUGFS();
	for (self->all = 0; self->all < 2; self->all++) {
		__s64 end = sim_after(SIM_HANG);

		ASSERT_EQ(0, peer_start(&p, wait_for_two, self));
		ASSERT_EQ(0, peer_hear(&p));
		do {
			seen = after_number(last_domain(self));
			ASSERT_NE(NULL, seen);
		} while (!strstr(seen, "waiter window") && sim_now() < end);
		EXPECT_NE(NULL, strstr(seen, want[self->all]))
		TH_LOG("%s", seen);
		EXPECT_NE(NULL, strstr(seen, " joined waiters 1\n"));
		EXPECT_EQ(128 + SIGKILL, peer_kill(&p));
		ASSERT_EQ(0, sim_reset(self->domain));
	}
}

TEST_F(debugfs, broken_domain_is_shown_with_its_reason)
{
	static const char want[] =
		" ranks 2 epoch 2 reason abort rank 1 code -3\n"
		" rank 0 device 3 absent waiters 0\n"
		" rank 1 device 1 absent waiters 0\n";
	const char *seen;

	SKIP_WITHOUT_DEBUGFS();
	ASSERT_EQ(0, sim_fail(self->domain, PLD_FAIL_ABORT, 1, -3));
	seen = after_number(last_domain(self));
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
	snprintf(ours, sizeof(ours), "%.24s", last);
	number = strstr(ours, " ranks");
	ASSERT_NE(NULL, number);
	number[strlen(" ranks")] = '\0';

	ASSERT_EQ(0, close(self->domain));
	last_domain(self);
	EXPECT_EQ(NULL, strstr(self->text, ours));
}

PLD_TEST_MAIN
