// SPDX-License-Identifier: GPL-2.0
/*
 * Windows as dma-bufs and dma-bufs as windows, between domains on different
 * devices: what one sees the other sees, what is refused, who keeps what alive,
 * and that all of it comes back. Other drivers' dma-bufs: dmabuf_foreign.c.
 */
#include <sys/stat.h>
#include <sys/syscall.h>

#include <linux/dma-buf.h>

#include "pld_bytes.h"
#include "pld_counters.h"
#include "pld_test.h"

#define EXPORTS "/sys/kernel/debug/pld_sim/exports"
#define PAGES 5UL
#define BYTES (PAGES * SIM_PAGE)

/*
 * Two domains of two ranks each, on devices 0, 1 and 2, 3. This process is rank
 * 0 of both. The first has a window, whose memory tells its rank.
 */
FIXTURE(dmabuf)
{
	long long references;
	long long used[4];
	int from;
	int to;
	int from_fd;
	int to_fd;
	struct pld_sim_window_alloc win;
	unsigned char *bytes[2];
};

static int domain_on(__u32 first)
{
	__u32 ids[2] = { first, first + 1 };
	int fd = sim_open(), domain = sim_create(fd, ids, 2);

	close(fd);
	return domain;
}

FIXTURE_SETUP(dmabuf)
{
	self->references = module_references();
	for (int d = 0; d < 4; d++)
		self->used[d] = device_memory_used(d);
	self->from = domain_on(0);
	ASSERT_LE(0, self->from);
	self->to = domain_on(2);
	ASSERT_LE(0, self->to);
	self->from_fd = sim_member(self->from, 0);
	self->to_fd = sim_member(self->to, 0);
	ASSERT_LE(0, self->from_fd);
	ASSERT_LE(0, self->to_fd);
	ASSERT_EQ(0, sim_alloc(self->from, BYTES, 0, &self->win));
	for (int r = 0; r < 2; r++) {
		self->bytes[r] = sim_map(self->from_fd, &self->win, r);
		ASSERT_NE(MAP_FAILED, self->bytes[r]);
		put_marks(self->bytes[r], BYTES, r);
	}
}

FIXTURE_TEARDOWN(dmabuf)
{
	for (int r = 0; r < 2; r++)
		sim_unmap(self->bytes[r], &self->win);
	close(self->from_fd);
	close(self->to_fd);
	close(self->from);
	close(self->to);
	for (int d = 0; d < 4; d++)
		EXPECT_EQ(self->used[d], settled_memory(d, self->used[d]));
	EXPECT_EQ(self->references, settled_references(self->references));
}

static void *map_all(int fd, size_t bytes)
{
	return mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
}

/* ---- export ---- */

TEST_F(dmabuf, export_is_the_ranks_memory_and_no_other)
{
	for (__u32 r = 0; r < 2; r++) {
		int fd = sim_export(self->from, self->win.window, r);
		unsigned char *seen;

		ASSERT_LE(0, fd);
		EXPECT_EQ(FD_CLOEXEC, fcntl(fd, F_GETFD));
		EXPECT_EQ(O_RDWR, fcntl(fd, F_GETFL) & O_ACCMODE);
		EXPECT_EQ(BYTES, lseek(fd, 0, SEEK_END));
		seen = map_all(fd, BYTES);
		ASSERT_NE(MAP_FAILED, seen);
		EXPECT_EQ(BYTES, first_wrong_mark(seen, BYTES, r));
		put_marks(seen, BYTES, 7 + r);
		EXPECT_EQ(BYTES, first_wrong_mark(self->bytes[r], BYTES, 7 + r));
		EXPECT_EQ(0, munmap(seen, BYTES));
		EXPECT_EQ(0, close(fd));
	}
}

TEST_F(dmabuf, rank_file_exports_any_ranks_memory)
{
	int fd = sim_export(self->from_fd, self->win.window, 1);
	unsigned char *seen = map_all(fd, BYTES);

	ASSERT_NE(MAP_FAILED, seen);
	EXPECT_EQ(BYTES, first_wrong_mark(seen, BYTES, 1));
	munmap(seen, BYTES);
	close(fd);
}

TEST_F(dmabuf, part_is_that_part)
{
	int fd = sim_export_part(self->from, self->win.window, 1, 2 * SIM_PAGE,
				 2 * SIM_PAGE, 0);
	unsigned char *seen = map_all(fd, 2 * SIM_PAGE);

	ASSERT_NE(MAP_FAILED, seen);
	EXPECT_EQ(2 * SIM_PAGE, lseek(fd, 0, SEEK_END));
	EXPECT_EQ(0, memcmp(seen, self->bytes[1] + 2 * SIM_PAGE, 2 * SIM_PAGE));
	EXPECT_EQ(MAP_FAILED, map_all(fd, 3 * SIM_PAGE));
	EXPECT_EQ(EINVAL, errno);
	seen[SIM_PAGE] = 0x42;
	EXPECT_EQ(0x42, self->bytes[1][3 * SIM_PAGE]);
	munmap(seen, 2 * SIM_PAGE);
	close(fd);

	fd = sim_export_part(self->from, self->win.window, 0, SIM_PAGE, 0, 0);
	EXPECT_EQ(BYTES - SIM_PAGE, lseek(fd, 0, SEEK_END));
	close(fd);
}

TEST_F(dmabuf, export_refuses_what_is_not_there)
{
	const struct {
		__u32 window, rank;
		__u64 offset, length;
		int error;
	} cases[] = {
		{ 77, 0, 0, 0, -ENOENT },
		{ 0, 2, 0, 0, -ERANGE },
		{ 0, ~0U, 0, 0, -ERANGE },
		{ 0, 0, 1, 0, -EINVAL },
		{ 0, 0, 0, 100, -EINVAL },
		{ 0, 0, BYTES, 0, -ERANGE },
		{ 0, 0, 0, BYTES + SIM_PAGE, -ERANGE },
		{ 0, 0, SIM_PAGE, BYTES, -ERANGE },
		{ 0, 0, -SIM_PAGE, 2 * SIM_PAGE, -ERANGE },
		{ 0, 0, SIM_PAGE, -SIM_PAGE, -ERANGE },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		EXPECT_EQ(cases[i].error,
			  sim_export_part(self->from,
					  self->win.window + cases[i].window,
					  cases[i].rank, cases[i].offset,
					  cases[i].length, 0))
		TH_LOG("case %zu", i);
	}
}

TEST_F(dmabuf, export_maps_shared_only_and_never_executable)
{
	int fd = sim_export(self->from, self->win.window, 0);
	int read_only = sim_export_part(self->from, self->win.window, 0, 0, 0,
					PLD_EXPORT_READ_ONLY);
	void *seen;

	EXPECT_EQ(MAP_FAILED,
		  mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(MAP_FAILED,
		  mmap(NULL, BYTES, PROT_READ | PROT_EXEC, MAP_SHARED, fd, 0));
	EXPECT_EQ(EACCES, errno);
	seen = map_all(fd, BYTES);
	ASSERT_NE(MAP_FAILED, seen);
	EXPECT_EQ(-1, mprotect(seen, BYTES, PROT_READ | PROT_EXEC));
	EXPECT_EQ(EACCES, errno);
	EXPECT_EQ(MAP_FAILED, mremap(seen, BYTES, 2 * BYTES, MREMAP_MAYMOVE));
	munmap(seen, BYTES);

	EXPECT_EQ(MAP_FAILED, map_all(read_only, BYTES));
	EXPECT_EQ(EACCES, errno);
	seen = mmap(NULL, BYTES, PROT_READ, MAP_SHARED, read_only, 0);
	ASSERT_NE(MAP_FAILED, seen);
	EXPECT_EQ(BYTES, first_wrong_mark(seen, BYTES, 0));
	EXPECT_EQ(-1, mprotect(seen, BYTES, PROT_READ | PROT_WRITE));
	munmap(seen, BYTES);
	close(read_only);
	close(fd);
}

TEST_F(dmabuf, sync_of_cpu_access_is_answered)
{
	int fd = sim_export(self->from, self->win.window, 0);
	struct dma_buf_sync sync = { .flags = DMA_BUF_SYNC_START |
					      DMA_BUF_SYNC_RW };
	struct pld_sim_window_alloc win;
	__s32 fds[2] = { fd, -1 };

	ASSERT_EQ(0, sim_import(self->to, BYTES, 0, fds, 2, &win, NULL));
	EXPECT_EQ(0, ioctl(fd, DMA_BUF_IOCTL_SYNC, &sync));
	sync.flags = DMA_BUF_SYNC_END | DMA_BUF_SYNC_RW;
	EXPECT_EQ(0, ioctl(fd, DMA_BUF_IOCTL_SYNC, &sync));
	close(fd);
}

/* Touches a mapping of the dma-buf that its parent has made. */
static int touch_and_end(struct peer *self, void *arg)
{
	unsigned char *seen = arg;

	seen[0] = 0x55;
	return munmap(seen, BYTES);
}

TEST_F(dmabuf, export_outlives_window_domain_and_descriptor)
{
	int fd = sim_export(self->from, self->win.window, 1);
	unsigned char *seen = map_all(fd, BYTES);
	long long rest = self->used[1] + (long long)BYTES;

	ASSERT_NE(MAP_FAILED, seen);
	for (int r = 0; r < 2; r++)
		EXPECT_EQ(0, sim_unmap(self->bytes[r], &self->win));
	EXPECT_EQ(0, sim_free(self->from, self->win.window));
	/* Rank 0's goes with its window's, which the dma-buf holds. */
	EXPECT_EQ(rest, device_memory_used(1));
	EXPECT_EQ(0, close(self->from_fd));
	EXPECT_EQ(0, close(self->from));
	EXPECT_EQ(0, close(fd));
	EXPECT_EQ(BYTES, first_wrong_mark(seen, BYTES, 1));
	EXPECT_EQ(0, peer_call(touch_and_end, seen));
	EXPECT_EQ(0x55, seen[0]);
	EXPECT_EQ(rest, device_memory_used(1));
	EXPECT_EQ(0, munmap(seen, BYTES));
}

TEST_F(dmabuf, unloading_is_refused_while_a_dma_buf_lives)
{
	int fd = sim_export(self->from, self->win.window, 1);

	for (int r = 0; r < 2; r++)
		EXPECT_EQ(0, sim_unmap(self->bytes[r], &self->win));
	EXPECT_EQ(0, close(self->from_fd));
	EXPECT_EQ(0, close(self->from));
	EXPECT_EQ(0, close(self->to_fd));
	EXPECT_EQ(0, close(self->to));
	EXPECT_EQ(self->references + 1,
		  settled_references(self->references + 1));
	EXPECT_EQ(-1, syscall(SYS_delete_module, "pld_sim", O_NONBLOCK));
	EXPECT_TRUE(errno == EBUSY || errno == EWOULDBLOCK);
	EXPECT_EQ(0, close(fd));
}

TEST_F(dmabuf, debugfs_shows_the_exports_and_who_uses_them)
{
	char text[4096], want[128];
	struct pld_sim_window_alloc win;
	int fd = sim_export_part(self->from, self->win.window, 1, SIM_PAGE, 0,
				 0);
	__s32 fds[2] = { -1, fd };

	if (read_text(EXPORTS, text, sizeof(text)))
		SKIP(return, "debugfs cannot be read");
	snprintf(want, sizeof(want),
		 " window %u rank 1 offset 4096 length %lu attachments 0 mappings 0\n",
		 self->win.window, BYTES - SIM_PAGE);
	EXPECT_NE(NULL, strstr(text, want))
	TH_LOG("%s", text);
	ASSERT_EQ(0,
		  sim_import(self->to, BYTES - SIM_PAGE, 0, fds, 2, &win, NULL));
	ASSERT_EQ(0, read_text(EXPORTS, text, sizeof(text)));
	EXPECT_NE(NULL, strstr(text, " attachments 1 mappings 1\n"))
	TH_LOG("%s", text);
	EXPECT_EQ(0, sim_free(self->to, win.window));
	ASSERT_EQ(0, read_text(EXPORTS, text, sizeof(text)));
	EXPECT_NE(NULL, strstr(text, want));
	close(fd);
	ASSERT_EQ(0, read_text(EXPORTS, text, sizeof(text)));
	EXPECT_EQ(NULL, strstr(text, want));
}

/* ---- import ---- */

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

struct view {
	int domain;
	struct pld_sim_window_alloc win;
	unsigned char *bytes;
};

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
	struct pld_sim_condition condition = {
		.window = window,
		.cmp = PLD_SIM_CMP_EQ,
		.expected = 1,
	};
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
			before = meminfo("MemAvailable");
			slab = meminfo("Slab");
		}
	}
	after = meminfo("MemAvailable");
	EXPECT_EQ(self->used[2], device_memory_used(2));
	EXPECT_EQ(self->used[3], device_memory_used(3));
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

struct stay {
	int sock;
	struct pld_sim_window_alloc win;
};

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
