// SPDX-License-Identifier: GPL-2.0
/*
 * The module's tracepoints: each happens when it should and says what it
 * should. Recorded in an instance of its own, which disturbs nobody's tracing.
 */
#include <sys/eventfd.h>
#include <sys/stat.h>

#include "pld_counters.h"
#include "pld_test.h"

#define TRACING "/sys/kernel/tracing"
#define INSTANCE TRACING "/instances/pld_sim_test"

FIXTURE(trace)
{
	int made;
	int domain;
	int fd;
	struct pld_sim_window_alloc win;
	char text[1 << 16];
};

static int write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC), ret;

	if (fd < 0)
		return -errno;
	ret = write(fd, text, strlen(text)) < 0 ? -errno : 0;
	close(fd);
	return ret;
}

/*
 * Without the names of processes, which the scheduler's own tracepoints would
 * have to collect: to switch those changes code that every processor is
 * running, and some emulators are no good at that.
 */
static int start_tracing(void)
{
	int names = read_number(TRACING "/options/record-cmd"), ret;

	write_text(TRACING "/options/record-cmd", "0");
	ret = mkdir(INSTANCE, 0700);
	write_text(TRACING "/options/record-cmd", names ? "1" : "0");
	return ret || write_text(INSTANCE "/events/pld_sim/enable", "1");
}

FIXTURE_SETUP(trace)
{
	self->made = !start_tracing();
	self->domain = sim_domain(2);
	sim_alloc(self->domain, SIM_PAGE, PLD_WINDOW_SIGNAL, &self->win);
	self->fd = sim_member(self->domain, 1);
}

FIXTURE_TEARDOWN(trace)
{
	close(self->fd);
	close(self->domain);
	if (self->made)
		rmdir(INSTANCE);
}

/*
 * Whether the trace has these events of one domain in this order; each text is
 * what follows the domain's number.
 */
static int has_events(FIXTURE_DATA(trace) * self, const char *const *events,
		      size_t n)
{
	const char *at = self->text;

	if (read_text(INSTANCE "/trace", self->text, sizeof(self->text)))
		return 0;
	for (size_t i = 0; i < n; i++) {
		char name[32], *rest;

		rest = strchr(events[i], ' ');
		snprintf(name, sizeof(name),
			 "%.*s: domain=", (int)(rest - events[i]), events[i]);
		at = strstr(at, name);
		if (!at || !strstr(at, rest) ||
		    strchr(at, '\n') != strstr(at, rest) + strlen(rest)) {
			fprintf(stderr, "# no '%s' in\n%s", events[i],
				at ? at : self->text);
			return 0;
		}
		at += strlen(name);
	}
	return 1;
}

#define EXPECT_EVENTS(_self, ...)                                             \
	do {                                                                  \
		const char *const e_[] = { __VA_ARGS__ };                     \
		EXPECT_TRUE(has_events(_self, e_, sizeof(e_) / sizeof(*e_))); \
	} while (0)

#define SKIP_WITHOUT_TRACING(_self)                                    \
	do {                                                           \
		if (!(_self)->made)                                    \
			SKIP(return, "no trace instance can be made"); \
	} while (0)

TEST_F(trace, life_of_a_domain_and_its_windows)
{
	SKIP_WITHOUT_TRACING(self);
	ASSERT_EQ(0, sim_leave(self->fd));
	ASSERT_EQ(0, sim_free(self->domain, self->win.window));
	ASSERT_EQ(0, sim_reset(self->domain));
	ASSERT_EQ(0, close(self->fd));
	ASSERT_EQ(0, close(self->domain));
	EXPECT_EVENTS(self, "pld_domain_create nranks=2",
		      "pld_window_alloc window=0 length=4096 flags=0x1",
		      "pld_rank_join rank=1", "pld_rank_leave rank=1",
		      "pld_window_free window=0", "pld_domain_reset nranks=2",
		      "pld_domain_destroy nranks=2");
}

TEST_F(trace, exports_and_imports)
{
	struct pld_sim_window_alloc win;
	__s32 fds[2] = { -1, -1 };

	SKIP_WITHOUT_TRACING(self);
	fds[1] = sim_export(self->domain, self->win.window, 0);
	ASSERT_LE(0, fds[1]);
	ASSERT_EQ(0, sim_import(self->domain, 100, 0, fds, 2, &win, NULL));
	ASSERT_EQ(0, close(fds[1]));
	ASSERT_EQ(0, sim_free(self->domain, win.window));
	EXPECT_EVENTS(self,
		      "pld_window_export window=0 rank=0 offset=0 length=4096",
		      "pld_window_alloc window=1 length=100 flags=0x0",
		      "pld_window_import window=1 rank=1",
		      "pld_window_free window=1",
		      "pld_export_release window=0 rank=0 offset=0 length=4096");
}

TEST_F(trace, waits_and_rings)
{
	SKIP_WITHOUT_TRACING(self);
	ASSERT_EQ(0, sim_ring(self->fd, 0, 0, 16));
	ASSERT_EQ(0, sim_wait(self->fd, 0, 4, PLD_SIM_CMP_GE, -7, 0, NULL));
	ASSERT_EQ(-ETIMEDOUT,
		  sim_wait(self->fd, 0, 8, PLD_SIM_CMP_EQ, 3, 0, NULL));
	EXPECT_EVENTS(self, "pld_ring rank=0 window=0 offset=16",
		      "pld_wait_begin rank=1 window=0 offset=4 cell>=-7 index=0 of=1",
		      "pld_wait_end rank=1 window=0 offset=4 value=0 result=0",
		      "pld_wait_begin rank=1 window=0 offset=8 cell==3 index=0 of=1",
		      "pld_wait_end rank=1 window=0 offset=8 value=0 result=-110");
}

TEST_F(trace, wait_for_several_cells)
{
	struct pld_sim_condition c[] = {
		{ .offset = 8, .cmp = PLD_SIM_CMP_EQ, .expected = 3 },
		{ .offset = 12, .cmp = PLD_SIM_CMP_GE, .expected = -1 },
	};

	SKIP_WITHOUT_TRACING(self);
	ASSERT_EQ(0, sim_wait_for(self->fd, PLD_WAIT_ANY, c, 2, 0, NULL));
	ASSERT_EQ(-ETIMEDOUT, sim_wait_for(self->fd, 0, c, 2, 0, NULL));
	EXPECT_EVENTS(self,
		      "pld_wait_begin rank=1 window=0 offset=8 cell==3 index=0 of=2 any",
		      "pld_wait_also rank=1 window=0 offset=12 cell>=-1 index=1 of=2 any",
		      "pld_wait_end rank=1 window=0 offset=12 value=0 result=0",
		      "pld_wait_begin rank=1 window=0 offset=8 cell==3 index=0 of=2",
		      "pld_wait_also rank=1 window=0 offset=12 cell>=-1 index=1 of=2",
		      "pld_wait_end rank=1 window=0 offset=8 value=0 result=-110");
}

/* What is armed is a wait in the trace, too. */
TEST_F(trace, signals_for_event_loops)
{
	struct pld_sim_condition c = {
		.offset = 8,
		.cmp = PLD_SIM_CMP_EQ,
		.expected = 3,
	};
	int event = eventfd(0, EFD_CLOEXEC);
	__u64 cookie;

	SKIP_WITHOUT_TRACING(self);
	ASSERT_EQ(0, sim_arm(self->fd, 0, &c, 1));
	ASSERT_EQ(0, sim_arm(self->fd, 0, NULL, 0));
	ASSERT_EQ(0, sim_signal(self->fd, 0, &c, 1, event, 0, &cookie));
	EXPECT_EVENTS(self,
		      "pld_wait_begin rank=1 window=0 offset=8 cell==3 index=0 of=1",
		      "pld_wait_end rank=1 window=0 offset=8 value=0 result=-125",
		      "pld_wait_begin rank=1 window=0 offset=8 cell==3 index=0 of=1",
		      "pld_wait_end rank=1 window=0 offset=8 value=0 result=-110");
	close(event);
}

TEST_F(trace, death_and_the_failure_that_it_is)
{
	SKIP_WITHOUT_TRACING(self);
	ASSERT_EQ(0, close(self->fd));
	EXPECT_EVENTS(self, "pld_domain_fail reason=dead rank=1 code=0",
		      "pld_rank_dead rank=1");
}

PLD_TEST_MAIN
