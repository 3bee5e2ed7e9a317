// SPDX-License-Identifier: GPL-2.0
/*
 * Windows as dma-bufs: what they show, what is refused, and that they outlive
 * whatever they were made of.
 */
#include <sys/syscall.h>

#include <linux/dma-buf.h>

#include "pld_sharing.h"

#define EXPORTS "/sys/kernel/debug/pld_sim/exports"

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

PLD_TEST_MAIN
