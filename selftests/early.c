// SPDX-License-Identifier: GPL-2.0
/*
 * Windows that are written to as soon as they are there: nothing zeroes them
 * after a peer could map them.
 *
 * PLD_CREATES is how many there are; `make check-storms` sets it.
 */
#include <sched.h>

#include "pld_test.h"

#define EARLY_WINDOWS 100
#define RW (PROT_READ | PROT_WRITE)

/* Between the owner of windows and who writes to them at once. */
struct early {
	int domain;
	__u64 offset;
	/* counted from 1: the window that is tried for; written to; freed */
	__u32 tried;
	__u32 written;
	__u32 freed;
};

static int early_windows(void)
{
	const char *text = getenv("PLD_CREATES");

	return text ? atoi(text) : EARLY_WINDOWS;
}

/* As sim_until(), but at once. */
static int soon(const __u32 *word, __u32 value)
{
	__s64 end = sim_after(SIM_HANG);

	while (sim_load(word) != value) {
		if (sim_now() > end)
			return 0;
		sched_yield();
	}
	return 1;
}

static int write_as_soon_as_it_is_there(struct peer *self, void *arg)
{
	struct early *early = arg;
	int fd = sim_member(early->domain, 1);
	__u32 *cell;

	NEED(fd >= 0);
	peer_tell(self, 0);
	for (int n = 1; n <= early_windows(); n++) {
		__atomic_store_n(&early->tried, n, __ATOMIC_SEQ_CST);
		do
			cell = sim_mmap(fd, SIM_PAGE, RW, early->offset);
		while (cell == MAP_FAILED);
		__atomic_fetch_add(cell, 1, __ATOMIC_SEQ_CST);
		NEED(munmap(cell, SIM_PAGE) == 0);
		__atomic_store_n(&early->written, n, __ATOMIC_SEQ_CST);
		NEED(soon(&early->freed, n));
	}
	return sim_leave(fd);
}

FIXTURE(early)
{
	int domain;
	int fd;
};

FIXTURE_SETUP(early)
{
	self->domain = sim_domain(2);
	ASSERT_LE(0, self->domain);
	self->fd = sim_member(self->domain, 0);
	ASSERT_LE(0, self->fd);
}

FIXTURE_TEARDOWN(early)
{
	close(self->fd);
	close(self->domain);
}

/* A peer maps the place where the next window comes until it is there. */
TEST_F_TIMEOUT(early, what_is_written_as_soon_as_it_is_there_stays, 600)
{
	struct early *early =
		mmap(NULL, SIM_PAGE, RW, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct pld_sim_window_alloc win;
	struct peer peer;
	__u32 *cell;

	ASSERT_NE(MAP_FAILED, early);
	ASSERT_EQ(0, sim_alloc(self->domain, SIM_PAGE, 0, &win));
	early->domain = self->domain;
	early->offset = win.mmap_offset;
	ASSERT_EQ(0, sim_free(self->domain, win.window));
	ASSERT_EQ(0, peer_start(&peer, write_as_soon_as_it_is_there, early));
	ASSERT_EQ(0, peer_hear(&peer));
	for (int n = 1; n <= early_windows(); n++) {
		ASSERT_TRUE(soon(&early->tried, n));
		ASSERT_EQ(0, sim_alloc(self->domain, SIM_PAGE, 0, &win));
		ASSERT_EQ(early->offset, win.mmap_offset);
		cell = sim_map(self->fd, &win, 0);
		ASSERT_NE(MAP_FAILED, cell);
		ASSERT_TRUE(soon(&early->written, n));
		ASSERT_EQ(1, sim_load(cell));
		ASSERT_EQ(0, sim_unmap(cell, &win));
		ASSERT_EQ(0, sim_free(self->domain, win.window));
		__atomic_store_n(&early->freed, n, __ATOMIC_SEQ_CST);
	}
	EXPECT_EQ(0, peer_reap(&peer));
}

PLD_TEST_MAIN
