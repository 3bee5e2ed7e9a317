// SPDX-License-Identifier: GPL-2.0
/*
 * Windows that are exported and imported again: that thousands of them and
 * killed processes leave nothing, who may do neither, and large ones. (Each
 * alone: dmabuf_export.c, dmabuf_import.c.)
 */
#include "pld_sharing.h"

/* ---- leaks and deaths ---- */

TEST_F_TIMEOUT(dmabuf, thousand_cycles_leak_nothing, 120)
{
	long long before = 0, after, slab = 0;

	for (int i = 0; i < 1000; i++) {
		__u32 flags = i % 2 ? PLD_WINDOW_SIGNAL : 0;
		int fd = sim_export(self->from, self->win.window, i % 2);
		__s32 fds[2] = { i % 3 ? fd : -1, i % 3 ? -1 : fd };
		struct pld_sim_window_alloc win;
		void *map;

		ASSERT_LE(0, fd);
		ASSERT_EQ(0, sim_import(self->to, BYTES, flags, fds, 2, &win,
					NULL));
		map = sim_map(self->to_fd, &win, i % 3 ? 0 : 1);
		ASSERT_NE(MAP_FAILED, map);
		EXPECT_EQ(0, touch(map));
		close(fd);
		ASSERT_EQ(0, sim_free(self->to, win.window));
		sim_unmap(map, &win);
		/* What is made once and kept. */
		if (i == 200) {
			before = memory_available();
			slab = meminfo("Slab");
		}
	}
	after = memory_available();
	EXPECT_EQ(self->used[2], device_memory_used(2));
	EXPECT_EQ(self->used[3], device_memory_used(3));
	if (has_kmemleak())
		return;
	/* A page of each of the 800 would be 3.2 MB, a dma-buf's struct 1 MB. */
	EXPECT_GT(before + 2 * (long long)MB, before + before - after)
	TH_LOG("available before %lld, after %lld", before, after);
	EXPECT_GT(slab + (long long)MB, meminfo("Slab"));
}

/* Makes windows, passes one of them on over a socket, works on it till killed. */
static int export_for_ever(struct peer *self, void *arg)
{
	int *sockets = arg;

	for (;;) {
		int domain = domain_on(0), member = sim_member(domain, 0), fd;
		struct pld_sim_window_alloc win;
		void *map;

		NEED(member >= 0 && !sim_alloc(domain, BYTES, 0, &win));
		map = sim_map(member, &win, 0);
		NEED(map != MAP_FAILED && !touch(map));
		fd = sim_export(member, win.window, 0);
		NEED(fd >= 0);
		if (fd_send(sockets[0], fd))
			return 1;
		NEED(!sim_free(domain, win.window));
		close(fd);
		close(domain);
		sim_leave(member);
		close(member);
		munmap(map, BYTES);
	}
}

/* Takes them and uses them as a window's memory till killed. */
static int import_for_ever(struct peer *self, void *arg)
{
	int *sockets = arg;

	for (;;) {
		int domain = domain_on(2), member = sim_member(domain, 0);
		__s32 fds[2] = { fd_receive(sockets[1]), -1 };
		struct pld_sim_window_alloc win;
		void *map;

		if (fds[0] < 0)
			return 1;
		NEED(member >= 0);
		NEED(!sim_import(domain, BYTES, PLD_WINDOW_SIGNAL, fds, 2, &win,
				 NULL));
		map = sim_map(member, &win, 0);
		NEED(map != MAP_FAILED && !touch(map));
		sim_wait(member, win.window, 64, PLD_SIM_CMP_EQ, 1,
			 sim_after(SIM_MS / 10), NULL);
		close(fds[0]);
		close(domain);
		sim_leave(member);
		close(member);
		munmap(map, BYTES);
	}
}

TEST_F_TIMEOUT(dmabuf, killed_exporters_and_importers_leave_nothing, 120)
{
	unsigned int seed = 4711;

	for (int round = 0; round < 25; round++) {
		struct peer p[2];
		int sockets[2], first = rand_r(&seed) % 2;

		ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0,
					sockets));
		ASSERT_EQ(0, peer_start(&p[0], export_for_ever, sockets));
		ASSERT_EQ(0, peer_start(&p[1], import_for_ever, sockets));
		usleep(rand_r(&seed) % 20000);
		EXPECT_EQ(128 + SIGKILL, peer_kill(&p[first]));
		usleep(rand_r(&seed) % 5000);
		EXPECT_EQ(128 + SIGKILL, peer_kill(&p[!first]));
		close(sockets[0]);
		close(sockets[1]);
	}
}

/* Exports its memory, and is killed. */
static int export_once(struct peer *self, void *arg)
{
	int *sockets = arg, domain = domain_on(0);
	int member = sim_member(domain, 1);
	struct pld_sim_window_alloc win;
	unsigned char *bytes;

	NEED(!sim_alloc(domain, BYTES, 0, &win));
	bytes = sim_map(member, &win, 1);
	NEED(bytes != MAP_FAILED);
	put_marks(bytes, BYTES, 21);
	NEED(!fd_send(sockets[0], sim_export(member, win.window, 1)));
	return peer_sleep();
}

TEST_F(dmabuf, importers_view_outlives_the_exporters_death)
{
	struct pld_sim_window_alloc win;
	int sockets[2];
	struct peer p;
	__s32 fds[2];
	unsigned char *bytes;

	ASSERT_EQ(0,
		  socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets));
	ASSERT_EQ(0, peer_start(&p, export_once, sockets));
	fds[0] = fd_receive(sockets[1]);
	fds[1] = -1;
	ASSERT_LE(0, fds[0]);
	ASSERT_EQ(0, sim_import(self->to, BYTES, 0, fds, 2, &win, NULL));
	close(fds[0]);
	EXPECT_EQ(128 + SIGKILL, peer_kill(&p));
	close(sockets[0]);
	close(sockets[1]);
	bytes = sim_map(self->to_fd, &win, 0);
	ASSERT_NE(MAP_FAILED, bytes);
	EXPECT_EQ(BYTES, first_wrong_mark(bytes, BYTES, 21));
	/* The kernel's view too. */
	EXPECT_EQ(-ETIMEDOUT, sim_wait(self->to_fd, win.window, 0,
				       PLD_SIM_CMP_EQ, 1, 0, NULL));
	sim_unmap(bytes, &win);
}

/* Holds no domain's file. */
static int stranger_tries(struct peer *self, void *arg)
{
	struct view *v = arg;
	struct pld_sim_window_alloc win;
	__s32 fds[2] = { -1, -1 };
	int device = sim_open();

	NEED(device >= 0);
	NEED(sim_export(device, v->win.window, 0) == -ENOTCONN);
	NEED(sim_import(device, SIM_PAGE, 0, fds, 2, &win, NULL) == -ENOTTY);
	/* With the rank file of another process. */
	NEED(sim_export(v->domain, v->win.window, 0) == -EPERM);
	NEED(sim_import(v->domain, SIM_PAGE, 0, fds, 2, &win, NULL) == -EPERM);
	return 0;
}

TEST_F(dmabuf, stranger_neither_exports_nor_imports)
{
	struct view v = { .domain = self->from_fd, .win = self->win };
	__s32 fds[2] = { -1, -1 };
	struct pld_sim_window_alloc win;

	EXPECT_EQ(0, peer_call(stranger_tries, &v));
	/* A rank is no host. */
	EXPECT_EQ(-ENOTTY,
		  sim_import(self->from_fd, SIM_PAGE, 0, fds, 2, &win, NULL));
	EXPECT_EQ(0, sim_leave(self->from_fd));
	EXPECT_EQ(-ENOTCONN, sim_export(self->from_fd, self->win.window, 0));
}

/* ---- large ---- */

TEST_F(dmabuf, blocks_of_two_mib_are_parted_and_mapped_anywhere)
{
	struct pld_sim_window_alloc win, in;
	unsigned char *bytes, *seen;
	int fd;
	__s32 fds[2] = { -1, -1 };

	ASSERT_EQ(0, sim_alloc(self->from, 6 * MB, 0, &win));
	bytes = sim_map(self->from_fd, &win, 1);
	ASSERT_NE(MAP_FAILED, bytes);
	put_marks(bytes, 6 * MB, 1);
	/* From the middle of a block to the middle of another. */
	fd = sim_export_part(self->from, win.window, 1, MB + SIM_PAGE, 4 * MB,
			     0);
	ASSERT_LE(0, fd);
	seen = map_all(fd, 4 * MB);
	ASSERT_NE(MAP_FAILED, seen);
	EXPECT_EQ(0, memcmp(seen, bytes + MB + SIM_PAGE, 4 * MB));
	munmap(seen, 4 * MB);
	fds[1] = fd;
	ASSERT_EQ(0, sim_import(self->to, 4 * MB, 0, fds, 2, &in, NULL));
	seen = sim_map(self->to_fd, &in, 1);
	ASSERT_NE(MAP_FAILED, seen);
	EXPECT_EQ(0, memcmp(seen, bytes + MB + SIM_PAGE, 4 * MB));
	sim_unmap(seen, &in);
	sim_unmap(bytes, &win);
	close(fd);
}

TEST_F_TIMEOUT(dmabuf, one_gib_is_exported_and_imported, 300)
{
	__u32 id = 0;
	int device = sim_open(), domain = sim_create(device, &id, 1), fd;
	struct pld_sim_window_alloc win, in;
	unsigned char *bytes, *seen;
	__s32 fds[2] = { -1, -1 };

	close(device);
	if (meminfo("MemAvailable") < (long long)(GB + 300 * MB))
		SKIP(return, "less than 1.3 GiB of memory is available");
	ASSERT_EQ(0, sim_alloc(domain, GB, 0, &win));
	fd = sim_export(domain, win.window, 0);
	ASSERT_LE(0, fd);
	close(domain);
	fds[0] = fd;
	seen = map_all(fd, GB);
	ASSERT_NE(MAP_FAILED, seen);
	domain = sim_create(device = sim_open(), (__u32[]){ 5 }, 1);
	close(device);
	ASSERT_EQ(0, sim_import(domain, GB, 0, fds, 1, &in, NULL));
	/* It needs no memory, however little there is. */
	EXPECT_EQ(~0ULL, in.available);
	close(fd);
	device = sim_member(domain, 0);
	bytes = sim_map(device, &in, 0);
	ASSERT_NE(MAP_FAILED, bytes);
	for (__u64 at = 0; at < GB; at += MB)
		put_marks(bytes + at, sizeof(__u64), at / MB);
	for (__u64 at = 0; at < GB; at += MB)
		EXPECT_EQ(sizeof(__u64),
			  first_wrong_mark(seen + at, sizeof(__u64), at / MB));
	/* The kernel's view of it. */
	*(__s32 *)(bytes + GB - 4) = 17;
	EXPECT_EQ(0, sim_wait(device, in.window, GB - 4, PLD_SIM_CMP_EQ, 17, 0,
			      NULL));
	munmap(seen, GB);
	sim_unmap(bytes, &in);
	sim_leave(device);
	close(device);
	close(domain);
}

PLD_TEST_MAIN
