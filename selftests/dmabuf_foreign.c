// SPDX-License-Identifier: GPL-2.0
/*
 * Other drivers' dma-bufs as windows: what the module asks of them, gives back,
 * and says when one lacks what a window needs. The other driver is one of our
 * own, which counts.
 */
#include "pld_bytes.h"
#include "pld_counters.h"
#include "pld_exporter.h"
#include "pld_test.h"

#define BYTES (3 * SIM_PAGE)

FIXTURE(foreign)
{
	int exporter;
	int domain;
	int fd;
	struct test_exporter_count before;
	struct pld_sim_window_alloc win;
};

FIXTURE_SETUP(foreign)
{
	self->exporter = exporter_open();
	self->domain = sim_domain(2);
	ASSERT_LE(0, self->domain);
	self->fd = sim_member(self->domain, 0);
	ASSERT_LE(0, self->fd);
	if (self->exporter >= 0)
		self->before = exporter_count(self->exporter);
}

FIXTURE_TEARDOWN(foreign)
{
	close(self->fd);
	close(self->domain);
	close(self->exporter);
}

#define NEED_EXPORTER(_self)                                         \
	do {                                                         \
		if ((_self)->exporter < 0)                           \
			SKIP(return, "there is no " EXPORTER_NODE    \
				     " (module pld_test_exporter)"); \
	} while (0)

/* What rank 0 imports, the descriptor is closed at once. */
static int import(FIXTURE_DATA(foreign) * self, __u64 bytes, __u32 lacks,
		  __u64 length, __u32 flags)
{
	__s32 fds[2] = { exporter_make(self->exporter, bytes, lacks), -1 };
	__u32 refused = 77;
	int ret;

	if (fds[0] < 0)
		return -errno;
	ret = sim_import(self->domain, length, flags, fds, 2, &self->win,
			 &refused);
	close(fds[0]);
	return refused == (ret ? 0 : PLD_SIM_NO_RANK) ? ret : -EBADMSG;
}

/* 1 when nothing is in use any more. */
static int all_given_back(int exporter)
{
	struct test_exporter_count now = exporter_count(exporter);

	return !now.buffers && !now.attachments && !now.mappings &&
	       !now.views && !now.accesses;
}

TEST_F(foreign, what_a_window_cannot_be_made_of_is_refused)
{
	const struct {
		__u64 bytes;
		__u32 lacks;
		__u64 length;
		__u32 flags;
		int error;
	} cases[] = {
		{ BYTES, TEST_NO_MMAP, BYTES, 0, -ENODEV },
		{ BYTES, TEST_ATTACH_FAILS, BYTES, 0, -EIO },
		{ BYTES, TEST_MAP_FAILS, BYTES, 0, -EIO },
		{ BYTES, TEST_PEER2PEER, BYTES, 0, -EIO },
		{ BYTES, TEST_PEER2PEER, BYTES, PLD_WINDOW_SIGNAL, -EIO },
		{ BYTES, TEST_NO_VMAP, BYTES, PLD_WINDOW_SIGNAL, -ENXIO },
		{ BYTES, TEST_VMAP_IOMEM, BYTES, PLD_WINDOW_SIGNAL, -ENXIO },
		{ BYTES, TEST_END_FAILS, BYTES, PLD_WINDOW_SIGNAL, -EIO },
		{ BYTES - 1, 0, BYTES, 0, -ERANGE },
		{ BYTES + 1, 0, BYTES + 1, 0, -ERANGE },
		{ 5, 0, 1, 0, -ERANGE },
		{ BYTES + 1, 0, BYTES, 0, -ERANGE },
		{ BYTES + SIM_PAGE, 0, BYTES, 0, -ERANGE },
		{ BYTES + SIM_PAGE, 0, BYTES, PLD_WINDOW_SIGNAL, -ERANGE },
		{ BYTES, 0, BYTES - 1, 0, 0 },
		{ BYTES, TEST_NO_VMAP, BYTES, 0, 0 },
		{ BYTES, TEST_VMAP_IOMEM, BYTES, 0, 0 },
	};

	NEED_EXPORTER(self);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		int ret = import(self, cases[i].bytes, cases[i].lacks,
				 cases[i].length, cases[i].flags);

		EXPECT_EQ(cases[i].error, ret)
		TH_LOG("case %zu", i);
		if (!ret)
			EXPECT_EQ(0, sim_free(self->domain, self->win.window));
		EXPECT_TRUE(all_given_back(self->exporter))
		TH_LOG("case %zu", i);
	}
}

TEST_F(foreign, mapping_that_its_driver_refuses_fails)
{
	NEED_EXPORTER(self);
	ASSERT_EQ(0, import(self, BYTES, TEST_MMAP_FAILS, BYTES, 0));
	EXPECT_EQ(MAP_FAILED, sim_map(self->fd, &self->win, 0));
	EXPECT_EQ(ENOTTY, errno);
	/* The rank's file is as it was. */
	EXPECT_NE(MAP_FAILED, sim_map(self->fd, &self->win, 1));
}

TEST_F(foreign, window_is_held_as_long_as_it_is_used_and_seen_when_waited_for)
{
	struct test_exporter_count now;
	unsigned char *bytes;

	NEED_EXPORTER(self);
	ASSERT_EQ(0, import(self, BYTES, 0, BYTES, 0));
	now = exporter_count(self->exporter);
	EXPECT_EQ(1, now.buffers);
	EXPECT_EQ(1, now.attachments);
	EXPECT_EQ(1, now.mappings);
	EXPECT_EQ(0, now.views);
	bytes = sim_map(self->fd, &self->win, 0);
	ASSERT_NE(MAP_FAILED, bytes);
	EXPECT_EQ(BYTES, first_not_zero(bytes, BYTES));
	*(__s32 *)(bytes + BYTES - 4) = -5;
	for (int i = 0; i < 2; i++)
		EXPECT_EQ(0, sim_wait(self->fd, self->win.window, BYTES - 4,
				      PLD_SIM_CMP_EQ, -5, 0, NULL));
	now = exporter_count(self->exporter);
	EXPECT_EQ(1, now.views);
	EXPECT_EQ(self->before.views_made + 1, now.views_made);

	EXPECT_EQ(0, sim_free(self->domain, self->win.window));
	now = exporter_count(self->exporter);
	EXPECT_EQ(1, now.buffers);
	EXPECT_EQ(0, now.attachments);
	EXPECT_EQ(0, now.mappings);
	EXPECT_EQ(0, now.views);
	EXPECT_EQ(-5, *(__s32 *)(bytes + BYTES - 4));
	sim_unmap(bytes, &self->win);
	EXPECT_TRUE(all_given_back(self->exporter));
}

TEST_F(foreign, signal_is_zeroed_between_begin_and_end_of_access)
{
	struct test_exporter_count now;
	unsigned char *bytes;

	NEED_EXPORTER(self);
	ASSERT_EQ(0, import(self, BYTES, 0, BYTES, PLD_WINDOW_SIGNAL));
	now = exporter_count(self->exporter);
	EXPECT_EQ(1, now.views);
	EXPECT_EQ(self->before.accesses_made + 1, now.accesses_made);
	bytes = sim_map(self->fd, &self->win, 0);
	ASSERT_NE(MAP_FAILED, bytes);
	memset(bytes, 1, BYTES);
	EXPECT_EQ(0, sim_leave(self->fd));
	EXPECT_EQ(0, sim_reset(self->domain));
	now = exporter_count(self->exporter);
	EXPECT_EQ(self->before.accesses_made + 2, now.accesses_made);
	EXPECT_EQ(0, now.accesses);
	EXPECT_EQ(BYTES, first_not_zero(bytes, BYTES));
}

TEST_F(foreign, wait_for_what_the_kernel_cannot_see_is_ENXIO)
{
	NEED_EXPORTER(self);
	for (__u32 lacks = TEST_NO_VMAP; lacks <= TEST_VMAP_IOMEM; lacks <<= 1) {
		ASSERT_EQ(0, import(self, BYTES, lacks, BYTES, 0));
		EXPECT_EQ(-ENXIO, sim_wait(self->fd, self->win.window, 0,
					   PLD_SIM_CMP_EQ, 0, 0, NULL));
		EXPECT_EQ(0, sim_free(self->domain, self->win.window));
		EXPECT_TRUE(all_given_back(self->exporter));
	}
}

/* ---- the other way: a device reads our window ---- */

TEST_F(foreign, device_reads_what_a_rank_has_written)
{
	static const struct {
		__u64 length, offset, bytes;
	} parts[] = {
		{ SIM_PAGE, 0, SIM_PAGE },
		{ BYTES, SIM_PAGE, SIM_PAGE },
		{ 2 * MB, 0, 2 * MB },
		{ 5 * MB + 3 * SIM_PAGE, 0, 5 * MB + 3 * SIM_PAGE },
		/* From inside of one block to inside of another. */
		{ 6 * MB, MB + SIM_PAGE, 4 * MB + 2 * SIM_PAGE },
		{ 2 * MB - SIM_PAGE, 17 * SIM_PAGE, MB },
	};

	NEED_EXPORTER(self);
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		__u64 length = parts[i].length, bytes = parts[i].bytes;
		unsigned char *memory, *read = malloc(bytes);
		struct pld_sim_window_alloc win;
		int fd, segments;

		ASSERT_EQ(0, sim_alloc(self->domain, length, 0, &win));
		memory = sim_map(self->fd, &win, 1);
		ASSERT_NE(MAP_FAILED, memory);
		put_marks(memory, length, i);
		fd = sim_export_part(self->fd, win.window, 1, parts[i].offset,
				     bytes, 0);
		ASSERT_LE(0, fd);
		segments = importer_read(self->exporter, fd, read, bytes);
		EXPECT_LE((int)(bytes / (64 * 1024)), segments)
		TH_LOG("part %zu: %s", i, strerror(errno));
		EXPECT_GE((int)(bytes / SIM_PAGE), segments);
		EXPECT_EQ(0, memcmp(memory + parts[i].offset, read, bytes))
		TH_LOG("part %zu", i);
		close(fd);
		free(read);
		sim_unmap(memory, &win);
		ASSERT_EQ(0, sim_free(self->domain, win.window));
	}
}

/* A rank whose process is killed while it waits in imported memory. */
static int wait_till_killed(struct peer *self, void *arg)
{
	FIXTURE_DATA(foreign) *f = arg;
	int fd = sim_member(f->domain, 1);

	NEED(fd >= 0 && sim_map(fd, &f->win, 0) != MAP_FAILED);
	peer_tell(self, 0);
	return sim_wait(fd, f->win.window, 0, PLD_SIM_CMP_EQ, 1,
			sim_after(SIM_HANG), NULL);
}

TEST_F(foreign, killed_ranks_give_all_back)
{
	const struct pld_sim_doorbell *bell;
	struct peer p;

	NEED_EXPORTER(self);
	for (int i = 0; i < 10; i++) {
		__s32 fds[2] = { -1, -1 };

		for (int r = 0; r < 2; r++)
			fds[r] = exporter_make(self->exporter, BYTES, 0);
		ASSERT_EQ(0, sim_import(self->domain, BYTES, 0, fds, 2,
					&self->win, NULL));
		close(fds[0]);
		close(fds[1]);
		ASSERT_EQ(0, peer_start(&p, wait_till_killed, self));
		ASSERT_EQ(0, peer_hear(&p));
		bell = sim_doorbell(self->fd, 1);
		ASSERT_TRUE(sim_until(&bell->waiters, 1));
		munmap((void *)bell, SIM_PAGE);
		EXPECT_EQ(0, sim_free(self->domain, self->win.window));
		EXPECT_EQ(2, exporter_count(self->exporter).buffers);
		EXPECT_EQ(128 + SIGKILL, peer_kill(&p));
		EXPECT_TRUE(all_given_back(self->exporter));
		EXPECT_EQ(0, sim_leave(self->fd));
		close(self->fd);
		EXPECT_EQ(0, sim_reset(self->domain));
		self->fd = sim_member(self->domain, 0);
	}
}

PLD_TEST_MAIN
