// SPDX-License-Identifier: GPL-2.0
/*
 * Dma-bufs of another domain as windows: what one sees the other sees, what is
 * refused, waits and resets. Other drivers' dma-bufs: dmabuf_foreign.c.
 */
#include <sys/stat.h>
#include <sys/syscall.h>

#include <linux/dma-buf.h>

#include "pld_sharing.h"

TEST_F(dmabuf, import_is_that_memory_beside_memory_of_its_own)
{
	int fd = sim_export(self->from, self->win.window, 0);
	struct pld_sim_window_alloc win;
	__s32 fds[2] = { -1, fd };
	unsigned char *own, *imported;
	__u32 refused = 5;

	ASSERT_EQ(0, sim_import(self->to, BYTES - 1, 0, fds, 2, &win, &refused));
	EXPECT_EQ(PLD_SIM_NO_RANK, refused);
	EXPECT_EQ(BYTES, win.stride);
	EXPECT_LT(0, win.available);
	EXPECT_EQ(0, close(fd));
	/* Only its own memory is charged. */
	EXPECT_EQ(self->used[2] + (long long)BYTES, device_memory_used(2));
	EXPECT_EQ(self->used[3], device_memory_used(3));

	own = sim_map(self->to_fd, &win, 0);
	imported = sim_map(self->to_fd, &win, 1);
	ASSERT_NE(MAP_FAILED, own);
	ASSERT_NE(MAP_FAILED, imported);
	EXPECT_EQ(BYTES, first_not_zero(own, BYTES));
	EXPECT_EQ(BYTES, first_wrong_mark(imported, BYTES, 0));
	put_marks(imported, BYTES, 9);
	EXPECT_EQ(BYTES, first_wrong_mark(self->bytes[0], BYTES, 9));

	EXPECT_EQ(0, sim_free(self->to, win.window));
	put_marks(self->bytes[0], BYTES, 3);
	EXPECT_EQ(BYTES, first_wrong_mark(imported, BYTES, 3));
	sim_unmap(imported, &win);
	sim_unmap(own, &win);
}

TEST_F(dmabuf, import_of_nothing_is_an_allocation)
{
	struct pld_sim_window_alloc win;
	__s32 fds[2] = { -1, -1 };
	unsigned char *bytes;

	ASSERT_EQ(0, sim_import(self->to, 3 * MB, 0, fds, 2, &win, NULL));
	EXPECT_EQ(4 * MB, win.stride);
	EXPECT_EQ(self->used[2] + (long long)(3 * MB), device_memory_used(2));
	bytes = sim_map(self->to_fd, &win, 1);
	ASSERT_NE(MAP_FAILED, bytes);
	EXPECT_EQ(3 * MB, first_not_zero(bytes, 3 * MB));
	sim_unmap(bytes, &win);
	EXPECT_EQ(-ENOMEM,
		  sim_import(self->to, 1ULL << 42, 0, fds, 2, &win, NULL));
	EXPECT_LT(0, win.available);
}

TEST_F(dmabuf, import_refuses_what_cannot_be_a_ranks_memory)
{
	int fd = sim_export(self->from, self->win.window, 0);
	int read_only = sim_export_part(self->from, self->win.window, 0, 0, 0,
					PLD_EXPORT_READ_ONLY);
	int closed = dup(fd), file = open("/dev/null", O_RDWR);
	const struct {
		__s32 fd;
		__u64 length;
		int error;
	} cases[] = {
		{ closed, BYTES, -EBADF },  { -2, BYTES, -EBADF },
		{ file, BYTES, -EINVAL },   { self->from, BYTES, -EINVAL },
		{ fd, BYTES + 1, -ERANGE }, { fd, BYTES - SIM_PAGE, -ERANGE },
		{ fd, 1, -ERANGE },	    { read_only, BYTES, -EACCES },
	};
	struct pld_sim_window_alloc win;
	__u32 refused;

	close(closed);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		__s32 first[2] = { cases[i].fd, fd };
		__s32 second[2] = { -1, cases[i].fd };

		EXPECT_EQ(cases[i].error,
			  sim_import(self->to, cases[i].length, 0, first, 2,
				     &win, &refused))
		TH_LOG("case %zu", i);
		EXPECT_EQ(0, refused);
		EXPECT_EQ(cases[i].error,
			  sim_import(self->to, cases[i].length, 0, second, 2,
				     &win, &refused))
		TH_LOG("case %zu", i);
		EXPECT_EQ(1, refused);
	}
	for (int d = 2; d < 4; d++)
		EXPECT_EQ(self->used[d], device_memory_used(d));
	close(file);
	close(read_only);
	close(fd);
}

TEST_F(dmabuf, import_wants_a_descriptor_for_every_rank)
{
	struct pld_sim_window_alloc win;
	__s32 fds[3] = { -1, -1, -1 };

	EXPECT_EQ(-EINVAL,
		  sim_import(self->to, SIM_PAGE, 0, fds, 0, &win, NULL));
	EXPECT_EQ(-EINVAL,
		  sim_import(self->to, SIM_PAGE, 0, fds, 1, &win, NULL));
	EXPECT_EQ(-EINVAL,
		  sim_import(self->to, SIM_PAGE, 0, fds, 3, &win, NULL));
	EXPECT_EQ(-EINVAL, sim_import(self->to, 0, 0, fds, 2, &win, NULL));
	EXPECT_EQ(-EFAULT,
		  sim_import(self->to, SIM_PAGE, 0, NULL, 2, &win, NULL));
	EXPECT_EQ(-EOVERFLOW,
		  sim_import(self->to, 1ULL << 50, 0, fds, 2, &win, NULL));
}

/* A fork has no mapping of its parent's window. */
static int has_no_mapping(struct peer *self, void *arg)
{
	struct view *v = arg;

	return touch(v->bytes) == SIGSEGV ? 0 : 1;
}

/* The rank file in the hands of a process that did not join with it. */
static int stranger_maps(struct peer *self, void *arg)
{
	struct view *v = arg;

	NEED(sim_map(v->domain, &v->win, 1) == MAP_FAILED);
	return errno == EPERM ? 0 : 1;
}

TEST_F(dmabuf, import_is_mapped_as_windows_are)
{
	int fd = sim_export(self->from, self->win.window, 0);
	__s32 fds[2] = { -1, fd };
	struct view v = { .domain = self->to_fd };
	__u64 at;
	unsigned char *all;

	ASSERT_EQ(0, sim_import(self->to, BYTES, 0, fds, 2, &v.win, NULL));
	close(fd);
	at = v.win.mmap_offset + v.win.stride;
	EXPECT_EQ(MAP_FAILED,
		  mmap(NULL, SIM_PAGE, PROT_READ, MAP_PRIVATE, self->to_fd, at));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(MAP_FAILED, mmap(NULL, SIM_PAGE, PROT_READ | PROT_EXEC,
				   MAP_SHARED, self->to_fd, at));
	EXPECT_EQ(EACCES, errno);
	EXPECT_EQ(MAP_FAILED,
		  sim_mmap(self->to_fd, v.win.stride + SIM_PAGE, PROT_READ, at));
	EXPECT_EQ(ERANGE, errno);

	v.bytes = sim_mmap(self->to_fd, SIM_PAGE, PROT_READ | PROT_WRITE,
			   at + 2 * SIM_PAGE);
	ASSERT_NE(MAP_FAILED, v.bytes);
	EXPECT_EQ(0, memcmp(v.bytes, self->bytes[0] + 2 * SIM_PAGE, SIM_PAGE));
	EXPECT_EQ(-1, mprotect(v.bytes, SIM_PAGE, PROT_READ | PROT_EXEC));
	EXPECT_EQ(MAP_FAILED,
		  mremap(v.bytes, SIM_PAGE, 2 * SIM_PAGE, MREMAP_MAYMOVE));
	EXPECT_EQ(-1, madvise(v.bytes, SIM_PAGE, MADV_DOFORK));
	EXPECT_EQ(0, peer_call(has_no_mapping, &v));
	EXPECT_EQ(0, peer_call(stranger_maps, &v));
	/* Page 3 is the rank's, page PAGES would be what comes behind. */
	EXPECT_EQ(0, syscall(SYS_remap_file_pages, v.bytes, SIM_PAGE, 0, 3, 0));
	EXPECT_EQ(0, memcmp(v.bytes, self->bytes[0] + 3 * SIM_PAGE, SIM_PAGE));
	EXPECT_EQ(-1,
		  syscall(SYS_remap_file_pages, v.bytes, SIM_PAGE, 0, PAGES, 0));
	munmap(v.bytes, SIM_PAGE);

	/* What covers more than that rank's memory has none there. */
	all = sim_mmap(self->to_fd, 2 * v.win.stride, PROT_READ | PROT_WRITE,
		       v.win.mmap_offset);
	ASSERT_NE(MAP_FAILED, all);
	EXPECT_EQ(0, touch(all + v.win.stride - 1));
	EXPECT_EQ(SIGBUS, touch(all + v.win.stride));
	EXPECT_NE(MAP_FAILED,
		  mmap(all + v.win.stride, v.win.stride, PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_FIXED, self->to_fd, at));
	EXPECT_EQ(0, memcmp(all + v.win.stride, self->bytes[0], v.win.stride));
	munmap(all, 2 * v.win.stride);
}

/* The rank's place in the window is larger than its memory. */
TEST_F(dmabuf, nothing_is_mapped_behind_imported_memory)
{
	struct pld_sim_window_alloc large, win;
	__u64 length = SIM_HUGE + SIM_PAGE, at;
	__s32 fds[2] = { -1, -1 };
	void *last;

	ASSERT_EQ(0, sim_alloc(self->from, length, 0, &large));
	fds[1] = sim_export(self->from, large.window, 0);
	ASSERT_LE(0, fds[1]);
	ASSERT_EQ(0, sim_import(self->to, length, 0, fds, 2, &win, NULL));
	close(fds[1]);
	ASSERT_EQ(2 * SIM_HUGE, win.stride);
	at = win.mmap_offset + win.stride + SIM_HUGE;

	last = sim_mmap(self->to_fd, SIM_PAGE, PROT_READ, at);
	EXPECT_NE(MAP_FAILED, last);
	munmap(last, SIM_PAGE);
	EXPECT_EQ(MAP_FAILED,
		  sim_mmap(self->to_fd, 2 * SIM_PAGE, PROT_READ, at));
	EXPECT_EQ(ERANGE, errno);
	EXPECT_EQ(MAP_FAILED,
		  sim_mmap(self->to_fd, SIM_PAGE, PROT_READ, at + SIM_PAGE));
	EXPECT_EQ(ENOENT, errno);
}

/* Rank 1 of the second domain: waits for its own cell, says how it ended. */
static int wait_for_cell(struct peer *self, void *arg)
{
	struct view *v = arg;
	int fd = sim_member(v->domain, 1);

	NEED(fd >= 0);
	peer_tell(self, 0);
	NEED(!sim_wait(fd, v->win.window, 8, PLD_SIM_CMP_GE, 3,
		       sim_after(SIM_HANG), NULL));
	return sim_leave(fd);
}

TEST_F(dmabuf, cells_in_imported_memory_are_waited_for)
{
	for (__u32 flags = 0; flags <= PLD_WINDOW_SIGNAL; flags++) {
		int fd = sim_export(self->from, self->win.window, 0);
		__s32 fds[2] = { -1, fd };
		struct view v = { .domain = self->to };
		const struct pld_sim_doorbell *bell;
		struct peer p;
		__s32 *cell;

		memset(self->bytes[0], 0, BYTES);
		ASSERT_EQ(0, sim_import(self->to, BYTES, flags, fds, 2, &v.win,
					NULL));
		close(fd);
		bell = sim_doorbell(self->to_fd, 1);
		ASSERT_EQ(0, peer_start(&p, wait_for_cell, &v));
		ASSERT_EQ(0, peer_hear(&p));
		ASSERT_TRUE(sim_until(&bell->waiters, 1));
		/* By the exporter's mapping; and the importer rings. */
		cell = (__s32 *)(self->bytes[0] + 8);
		__atomic_store_n(cell, 3, __ATOMIC_SEQ_CST);
		EXPECT_EQ(0, sim_ring(self->to_fd, v.win.window, 1, 8));
		EXPECT_EQ(0, peer_reap(&p));
		munmap((void *)bell, SIM_PAGE);
		EXPECT_EQ(0, sim_leave(self->to_fd));
		close(self->to_fd);
		EXPECT_EQ(0, sim_free(self->to, v.win.window));
		EXPECT_EQ(0, sim_reset(self->to));
		self->to_fd = sim_member(self->to, 0);
	}
}

TEST_F(dmabuf, signals_are_zeroed_at_import_and_reset_and_data_is_not)
{
	int fd = sim_export_part(self->from, self->win.window, 0, 0, SIM_PAGE,
				 0);
	int data = sim_export(self->from, self->win.window, 1);
	__s32 fds[2] = { fd, -1 }, data_fds[2] = { data, -1 };
	struct pld_sim_window_alloc win, other;

	ASSERT_EQ(0, sim_import(self->to, SIM_PAGE, PLD_WINDOW_SIGNAL, fds, 2,
				&win, NULL));
	ASSERT_EQ(0, sim_import(self->to, BYTES, 0, data_fds, 2, &other, NULL));
	EXPECT_EQ(SIM_PAGE, first_not_zero(self->bytes[0], SIM_PAGE));
	memset(self->bytes[0], 7, SIM_PAGE);
	EXPECT_EQ(0, sim_leave(self->to_fd));
	EXPECT_EQ(0, sim_reset(self->to));
	EXPECT_EQ(SIM_PAGE, first_not_zero(self->bytes[0], SIM_PAGE));
	/* Not a byte beyond. */
	put_marks(self->bytes[0], SIM_PAGE, 0);
	EXPECT_EQ(BYTES, first_wrong_mark(self->bytes[0], BYTES, 0));
	EXPECT_EQ(BYTES, first_wrong_mark(self->bytes[1], BYTES, 1));
	close(fd);
	close(data);
}

/* Puts a fence into the dma-buf that signals when the cell of rank 0 is 1. */
static int put_fence(int dmabuf, int member, __u32 window)
{
	struct pld_sim_condition condition =
		sim_condition(window, 0, PLD_SIM_CMP_EQ, 1);
	struct dma_buf_import_sync_file arg = { .flags = DMA_BUF_SYNC_WRITE };
	int error;

	arg.fd = sim_fence(member, 0, &condition, 1,
			   sim_after(PLD_SIM_MAX_FENCE_NS));
	if (arg.fd < 0)
		return arg.fd;
	error = ioctl(dmabuf, DMA_BUF_IOCTL_IMPORT_SYNC_FILE, &arg) ? -errno : 0;
	close(arg.fd);
	return error;
}

/* Resets the domain, and says how that ended. */
static int reset_domain(struct peer *self, void *arg)
{
	struct view *v = arg;

	/* A reset that is interrupted and begun again lets others in between. */
	hold_signals();
	peer_tell(self, 0);
	return -sim_reset(v->domain);
}

/* 1 as soon as a reset of the domain goes on. */
static int reset_has_begun(int domain)
{
	__s64 end = sim_after(SIM_HANG);
	struct pld_sim_window_alloc win;

	while (sim_now() < end) {
		int ret = sim_alloc(domain, SIM_PAGE, 0, &win);

		if (ret)
			return ret == -EBUSY;
		sim_free(domain, win.window);
		usleep(1000);
	}
	return 0;
}

/* Reads what the module says of all domains, which looks into each of them. */
static int read_domains(void)
{
	struct pld_sim_domains arg = { .size = sizeof(arg) };
	int device = sim_open(), ret = sim_ioctl(device, PLD_IOC_DOMAINS, &arg);
	char text[4096];
	ssize_t n;

	close(device);
	if (ret)
		return ret;
	n = read(arg.out_fd, text, sizeof(text));
	close(arg.out_fd);
	return n > 0 ? 0 : -EIO;
}

/* What others do while a reset waits: none of it may wait with it. */
static int use_other_domains(struct peer *self, void *arg)
{
	for (int i = 0; i < 3; i++) {
		int domain = domain_on(0);

		NEED(domain >= 0 && !close(domain) && !read_domains());
	}
	return 0;
}

/*
 * Rank 0 of the first domain holds the fence that the second one's reset waits
 * for. It has not signalled by itself before this test's end.
 */
TEST_F(dmabuf, reset_that_waits_for_a_fence_stops_nobody_else)
{
	int fd = sim_export(self->from, self->win.window, 0);
	__s32 fds[2] = { fd, -1 };
	struct view v = { .domain = self->to };
	struct pld_sim_window_alloc other, none, cells;
	struct peer reset, others;
	__s32 *cell;

	ASSERT_EQ(0, sim_alloc(self->from, SIM_PAGE, PLD_WINDOW_SIGNAL, &cells));
	cell = sim_map(self->from_fd, &cells, 0);
	ASSERT_NE(MAP_FAILED, cell);
	ASSERT_EQ(0, sim_import(self->to, BYTES, PLD_WINDOW_SIGNAL, fds, 2,
				&v.win, NULL));
	EXPECT_EQ(0, sim_leave(self->to_fd));
	memset(self->bytes[0], 7, BYTES);
	ASSERT_EQ(0, put_fence(fd, self->from_fd, cells.window));

	/* A signal ends it, and the domain is as it was: no rank can join. */
	ASSERT_EQ(0, peer_start(&reset, reset_domain, &v));
	ASSERT_EQ(0, peer_hear(&reset));
	ASSERT_TRUE(reset_has_begun(self->to));
	EXPECT_EQ(128 + SIGKILL, peer_kill(&reset));
	EXPECT_EQ(-EBUSY, sim_member(self->to, 0));
	EXPECT_EQ(0, sim_alloc(self->to, SIM_PAGE, 0, &other));

	ASSERT_EQ(0, put_fence(fd, self->from_fd, cells.window));
	ASSERT_EQ(0, peer_start(&reset, reset_domain, &v));
	ASSERT_EQ(0, peer_hear(&reset));
	ASSERT_TRUE(reset_has_begun(self->to));
	ASSERT_EQ(0, peer_start(&others, use_other_domains, NULL));
	EXPECT_EQ(0, peer_reap(&others));
	/* Rank 1 was not joined before. */
	EXPECT_EQ(-EBUSY, sim_member(self->to, 1));
	EXPECT_EQ(-EBUSY, sim_reset(self->to));
	fds[0] = -1;
	EXPECT_EQ(-EBUSY,
		  sim_import(self->to, SIM_PAGE, 0, fds, 2, &none, NULL));
	/* Windows go, even the one that is being zeroed. */
	EXPECT_EQ(0, sim_free(self->to, other.window));
	EXPECT_EQ(0, sim_free(self->to, v.win.window));
	EXPECT_EQ(7, self->bytes[0][0]);

	__atomic_store_n(cell, 1, __ATOMIC_SEQ_CST);
	EXPECT_EQ(0, sim_ring(self->from_fd, cells.window, 0, 0));
	EXPECT_EQ(0, peer_reap(&reset));
	EXPECT_EQ(BYTES, first_not_zero(self->bytes[0], BYTES));
	sim_unmap(cell, &cells);
	close(self->to_fd);
	self->to_fd = sim_member(self->to, 0);
	EXPECT_LE(0, self->to_fd);
	close(fd);
}

static ino_t inode_of(int fd)
{
	struct stat st;

	return fstat(fd, &st) ? 0 : st.st_ino;
}

TEST_F(dmabuf, imported_memory_is_exported_as_the_dma_buf_that_it_was)
{
	int fd = sim_export(self->from, self->win.window, 0), again;
	__s32 fds[2] = { fd, -1 };
	struct pld_sim_window_alloc win;

	ASSERT_EQ(0, sim_import(self->to, BYTES, 0, fds, 2, &win, NULL));
	again = sim_export(self->to, win.window, 0);
	ASSERT_LE(0, again);
	EXPECT_EQ(FD_CLOEXEC, fcntl(again, F_GETFD));
	EXPECT_EQ(inode_of(fd), inode_of(again));
	close(again);
	again = sim_export(self->to, win.window, 1);
	EXPECT_NE(inode_of(fd), inode_of(again));
	close(again);
	EXPECT_EQ(-EINVAL,
		  sim_export_part(self->to, win.window, 0, SIM_PAGE, 0, 0));
	EXPECT_EQ(-EINVAL,
		  sim_export_part(self->to, win.window, 0, 0, SIM_PAGE, 0));
	EXPECT_EQ(-EINVAL, sim_export_part(self->to, win.window, 0, 0, 0,
					   PLD_EXPORT_READ_ONLY));
	close(fd);
}

TEST_F(dmabuf, domain_may_import_its_own_windows_and_nothing_stays)
{
	int fd = sim_export(self->from, self->win.window, 0);
	struct pld_sim_window_alloc win;

	/* Each from the one before, by ranks that change places. */
	for (int i = 0; i < 20; i++) {
		__s32 fds[2] = { i % 2 ? fd : -1, i % 2 ? -1 : fd };
		int next;

		ASSERT_EQ(0, sim_import(self->from, BYTES, PLD_WINDOW_SIGNAL,
					fds, 2, &win, NULL));
		next = sim_export(self->from, win.window, i % 2);
		ASSERT_LE(0, next);
		close(fd);
		fd = next;
	}
	close(fd);
	/* The teardown finds all of it gone, without a single window freed. */
}

PLD_TEST_MAIN
