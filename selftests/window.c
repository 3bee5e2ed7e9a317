// SPDX-License-Identifier: GPL-2.0
/*
 * Windows: what is in them, how they are mapped, and what happens to mappings
 * when files close and processes fork. What windows cost: memory.c. Every
 * argument of mmap() and its like: mapping.c.
 */
#include <sys/resource.h>

#include "pld_bytes.h"
#include "pld_test.h"

/* A domain of two ranks, of which this process is the first. */
FIXTURE(size)
{
	int domain;
	int fd;
	struct pld_sim_window_alloc win;
	__u64 mapped;
};

FIXTURE_VARIANT(size)
{
	__u64 length;
	__u64 stride;
};

#define SIZE(_name, _length, _stride)                 \
	FIXTURE_VARIANT_ADD(size, _name)              \
	{                                             \
		.length = _length, .stride = _stride, \
	}

SIZE(one_byte, 1, SIM_PAGE);
SIZE(page_less_1, 4095, SIM_PAGE);
SIZE(page, 4096, SIM_PAGE);
SIZE(page_and_1, 4097, 2 * SIM_PAGE);
SIZE(huge_less_1, 2 * MB - 1, 2 * MB);
SIZE(huge, 2 * MB, 2 * MB);
SIZE(huge_and_page, 2 * MB + 4096, 4 * MB);
SIZE(large, 64 * MB, 64 * MB);

FIXTURE_SETUP(size)
{
	self->domain = sim_domain(2);
	ASSERT_LE(0, self->domain);
	self->fd = sim_member(self->domain, 0);
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, sim_alloc(self->domain, variant->length, 0, &self->win));
	self->mapped = sim_round_up(variant->length, SIM_PAGE);
}

FIXTURE_TEARDOWN(size)
{
	close(self->fd);
	close(self->domain);
}

TEST_F(size, stride_and_offset_are_as_documented)
{
	__u64 unit = variant->stride < 2 * MB ? SIM_PAGE : 2 * MB;
	__u64 end = self->win.mmap_offset + 2 * variant->stride;
	struct pld_sim_window_alloc next;

	EXPECT_EQ(variant->length, self->win.length);
	EXPECT_EQ(variant->stride, self->win.stride);
	EXPECT_EQ(0, self->win.mmap_offset % unit);
	EXPECT_LE(PLD_SIM_MMAP_DOORBELLS + 2 * PLD_SIM_DOORBELL_STRIDE,
		  self->win.mmap_offset);
	EXPECT_LT(variant->length, self->win.available);

	ASSERT_EQ(0, sim_alloc(self->domain, variant->length, 0, &next));
	EXPECT_NE(self->win.window, next.window);
	EXPECT_TRUE(next.mmap_offset >= end ||
		    next.mmap_offset + 2 * next.stride <= self->win.mmap_offset);
}

TEST_F_TIMEOUT(size, reads_as_zero_and_again_after_reuse, 120)
{
	for (int round = 0; round < 3; round++) {
		for (__u32 r = 0; r < 2; r++) {
			unsigned char *bytes = sim_map(self->fd, &self->win, r);

			ASSERT_NE(MAP_FAILED, bytes);
			EXPECT_EQ(self->mapped,
				  first_not_zero(bytes, self->mapped));
			memset(bytes, 0xdb, self->mapped);
			ASSERT_EQ(0, sim_unmap(bytes, &self->win));
		}
		ASSERT_EQ(0, sim_free(self->domain, self->win.window));
		ASSERT_EQ(0, sim_alloc(self->domain, variant->length, 0,
				       &self->win));
	}
}

struct view {
	int domain;
	struct pld_sim_window_alloc win;
};

/* Rank 1: finds rank 0's marks in the memory of both ranks, writes its own. */
static int turn_marks_round(struct peer *self, void *arg)
{
	struct view *v = arg;
	__u64 length = v->win.length;
	int fd = sim_member(v->domain, 1);

	NEED(fd >= 0);
	for (__u32 r = 0; r < 2; r++) {
		unsigned char *bytes = sim_map(fd, &v->win, r);

		NEED(bytes != MAP_FAILED);
		NEED(first_wrong_mark(bytes, length, r) == length);
		put_marks(bytes, length, 2 + r);
	}
	return sim_leave(fd);
}

TEST_F_TIMEOUT(size, two_ranks_see_the_same_bytes, 120)
{
	struct view v = { .domain = self->domain, .win = self->win };
	unsigned char *bytes[2];

	for (__u32 r = 0; r < 2; r++) {
		bytes[r] = sim_map(self->fd, &self->win, r);
		ASSERT_NE(MAP_FAILED, bytes[r]);
		put_marks(bytes[r], variant->length, r);
	}
	ASSERT_EQ(0, peer_call(turn_marks_round, &v));
	for (__u32 r = 0; r < 2; r++)
		EXPECT_EQ(variant->length,
			  first_wrong_mark(bytes[r], variant->length, 2 + r));
}

TEST_F_TIMEOUT(size, one_mapping_covers_all_ranks_with_holes_between, 120)
{
	__u64 length = variant->length, stride = variant->stride;
	unsigned char *all = sim_mmap(self->fd, 2 * stride,
				      PROT_READ | PROT_WRITE,
				      self->win.mmap_offset);

	ASSERT_NE(MAP_FAILED, all);
	for (__u32 r = 0; r < 2; r++) {
		unsigned char *bytes = sim_map(self->fd, &self->win, r);

		ASSERT_NE(MAP_FAILED, bytes);
		put_marks(bytes, length, r);
		EXPECT_EQ(length, first_wrong_mark(all + r * stride, length, r));
		EXPECT_EQ(0, touch(all + r * stride + self->mapped - 1));
		for (__u64 at = self->mapped; at < stride; at += 256 * 1024)
			EXPECT_EQ(SIGBUS, touch(all + r * stride + at));
	}
}

TEST_F_TIMEOUT(size, mapping_can_be_cut_anywhere, 120)
{
	unsigned char *bytes = sim_map(self->fd, &self->win, 0);
	__u64 length = self->mapped, cut = length / 2 / SIM_PAGE * SIM_PAGE;

	ASSERT_NE(MAP_FAILED, bytes);
	put_marks(bytes, length, 5);
	ASSERT_EQ(0, mprotect(bytes + cut, SIM_PAGE, PROT_READ));
	EXPECT_EQ(length, first_wrong_mark(bytes, length, 5));
	EXPECT_EQ(SIGSEGV, touch(bytes + cut));
	ASSERT_EQ(0, munmap(bytes + cut, SIM_PAGE));
	EXPECT_EQ(SIGSEGV, touch(bytes + cut));

	/* The pieces keep the window, each for itself. */
	ASSERT_EQ(0, sim_free(self->domain, self->win.window));
	EXPECT_EQ(cut, first_wrong_mark(bytes, cut, 5));
	ASSERT_EQ(0, munmap(bytes, cut + SIM_PAGE));
	for (__u64 at = cut + SIM_PAGE; at < length; at += SIM_PAGE) {
		__u64 word = mark(5, at);

		EXPECT_EQ(0, memcmp(bytes + at, &word, sizeof(word)));
	}
	if (cut + SIM_PAGE < length)
		EXPECT_EQ(0, munmap(bytes + cut + SIM_PAGE,
				    length - cut - SIM_PAGE));
}

/* A window of four pages, for all that size does not matter to. */
FIXTURE(window)
{
	int domain;
	int fd;
	struct pld_sim_window_alloc win;
};

FIXTURE_SETUP(window)
{
	self->domain = sim_domain(2);
	ASSERT_LE(0, self->domain);
	self->fd = sim_member(self->domain, 0);
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, sim_alloc(self->domain, 4 * SIM_PAGE, 0, &self->win));
}

FIXTURE_TEARDOWN(window)
{
	close(self->fd);
	close(self->domain);
}

/* 0, or the negative errno with which a mapping is refused. */
static int try_map(int fd, __u64 length, int prot, int flags, __u64 offset)
{
	void *map = mmap(NULL, length, prot, flags, fd, offset);

	if (map == MAP_FAILED)
		return -errno;
	munmap(map, length);
	return 0;
}

#define RW (PROT_READ | PROT_WRITE)

TEST_F(window, part_of_a_window_can_be_mapped)
{
	__u64 at = self->win.mmap_offset;
	unsigned char *whole = sim_map(self->fd, &self->win, 0), *part;

	ASSERT_NE(MAP_FAILED, whole);
	put_marks(whole, 4 * SIM_PAGE, 0);
	part = sim_mmap(self->fd, 2 * SIM_PAGE, RW, at + SIM_PAGE);
	ASSERT_NE(MAP_FAILED, part);
	EXPECT_EQ(0, memcmp(whole + SIM_PAGE, part, 2 * SIM_PAGE));
	EXPECT_EQ(0, try_map(self->fd, 1, RW, MAP_SHARED, at));
	EXPECT_EQ(0, try_map(self->fd, SIM_PAGE, PROT_READ, MAP_SHARED,
			     at + 7 * SIM_PAGE));
}

TEST_F(window, mapping_outside_of_a_window_is_refused)
{
	__u64 at = self->win.mmap_offset, all = 2 * self->win.stride;

	EXPECT_EQ(0, try_map(self->fd, all, RW, MAP_SHARED, at));
	EXPECT_EQ(-ERANGE, try_map(self->fd, all + 1, RW, MAP_SHARED, at));
	EXPECT_EQ(-ERANGE,
		  try_map(self->fd, all, RW, MAP_SHARED, at + SIM_PAGE));
	EXPECT_EQ(-ENOENT,
		  try_map(self->fd, SIM_PAGE, RW, MAP_SHARED, at + all));
	EXPECT_EQ(-ENOENT,
		  try_map(self->fd, SIM_PAGE, RW, MAP_SHARED, at - SIM_PAGE));
	EXPECT_EQ(-EINVAL, try_map(self->fd, 0, RW, MAP_SHARED, at));
	EXPECT_EQ(-EINVAL, try_map(self->fd, SIM_PAGE, RW, MAP_SHARED, at + 1));
}

TEST_F(window, mapping_offset_that_wraps_is_refused)
{
	static const __u64 beyond[] = { 1ULL << 40, 1ULL << 44, 1ULL << 62,
					(1ULL << 63) - SIM_PAGE, 1ULL << 63 };

	for (unsigned int i = 0; i < ARRAY_SIZE(beyond); i++) {
		/* Of 32 bit, pages are counted in a word. */
		if (sizeof(long) == 4 && beyond[i] >= 1ULL << 44)
			break;
		EXPECT_EQ(-ENOENT, try_map(self->fd, SIM_PAGE, RW, MAP_SHARED,
					   beyond[i]));
	}
	if (sizeof(long) == 4)
		return;
	EXPECT_EQ(-EOVERFLOW,
		  try_map(self->fd, SIM_PAGE, RW, MAP_SHARED, -SIM_PAGE));
	EXPECT_EQ(-EOVERFLOW, try_map(self->fd, 4 * SIM_PAGE, RW, MAP_SHARED,
				      -2 * SIM_PAGE));
}

/* 2^44 is where mmap() offsets end. */
TEST_F(window, length_that_offsets_cannot_reach_is_refused)
{
	static const __u64 lengths[] = { 1ULL << 43, 1ULL << 44,
					 (1ULL << 44) + 1, 1ULL << 63, -1ULL };
	struct pld_sim_window_alloc win;

	for (unsigned int i = 0; i < ARRAY_SIZE(lengths); i++)
		EXPECT_EQ(-EOVERFLOW,
			  sim_alloc(self->domain, lengths[i], 0, &win));
}

TEST_F(window, status_and_doorbells_have_their_sizes)
{
	__u64 bells = PLD_SIM_MMAP_DOORBELLS;

	EXPECT_EQ(0, try_map(self->fd, SIM_PAGE, PROT_READ, MAP_SHARED, 0));
	EXPECT_EQ(0,
		  try_map(self->fd, 2 * SIM_PAGE, PROT_READ, MAP_SHARED, bells));
	EXPECT_EQ(0, try_map(self->fd, SIM_PAGE, PROT_READ, MAP_SHARED,
			     bells + SIM_PAGE));
	EXPECT_EQ(-ERANGE,
		  try_map(self->fd, 2 * SIM_PAGE, PROT_READ, MAP_SHARED, 0));
	EXPECT_EQ(-ERANGE,
		  try_map(self->fd, 3 * SIM_PAGE, PROT_READ, MAP_SHARED, bells));
	EXPECT_EQ(-ENOENT, try_map(self->fd, SIM_PAGE, PROT_READ, MAP_SHARED,
				   bells + 2 * SIM_PAGE));
}

TEST_F(window, private_mapping_is_refused)
{
	EXPECT_EQ(-EINVAL, try_map(self->fd, SIM_PAGE, RW, MAP_PRIVATE,
				   self->win.mmap_offset));
	EXPECT_EQ(-EINVAL, try_map(self->fd, SIM_PAGE, PROT_READ, MAP_PRIVATE,
				   self->win.mmap_offset));
	EXPECT_EQ(-EINVAL, try_map(self->fd, SIM_PAGE, PROT_READ, MAP_PRIVATE,
				   PLD_SIM_MMAP_STATUS));
}

TEST_F(window, nothing_is_executable)
{
	static const __u64 pages[] = { PLD_SIM_MMAP_STATUS,
				       PLD_SIM_MMAP_DOORBELLS };
	unsigned char *bytes = sim_map(self->fd, &self->win, 0);

	EXPECT_EQ(-EACCES, try_map(self->fd, SIM_PAGE, RW | PROT_EXEC,
				   MAP_SHARED, self->win.mmap_offset));
	for (int i = 0; i < 2; i++)
		EXPECT_EQ(-EACCES,
			  try_map(self->fd, SIM_PAGE, PROT_READ | PROT_EXEC,
				  MAP_SHARED, pages[i]));
	ASSERT_NE(MAP_FAILED, bytes);
	EXPECT_EQ(-1, mprotect(bytes, SIM_PAGE, PROT_READ | PROT_EXEC));
	EXPECT_EQ(EACCES, errno);
}

TEST_F(window, status_and_doorbells_stay_read_only)
{
	unsigned char *status = (unsigned char *)sim_status(self->fd);
	unsigned char *bell = (unsigned char *)sim_doorbell(self->fd, 1);

	EXPECT_EQ(-EACCES, try_map(self->fd, SIM_PAGE, RW, MAP_SHARED,
				   PLD_SIM_MMAP_STATUS));
	EXPECT_EQ(-EACCES, try_map(self->fd, SIM_PAGE, RW, MAP_SHARED,
				   PLD_SIM_MMAP_DOORBELLS));
	ASSERT_NE(MAP_FAILED, status);
	ASSERT_NE(MAP_FAILED, bell);
	EXPECT_EQ(-1, mprotect(status, SIM_PAGE, RW));
	EXPECT_EQ(EACCES, errno);
	EXPECT_EQ(-1, mprotect(bell, SIM_PAGE, RW));
	EXPECT_EQ(EACCES, errno);
	EXPECT_EQ(SIGSEGV, touch(status));
	EXPECT_EQ(SIGSEGV, touch(bell));
}

TEST_F(window, rest_of_the_status_page_is_zero)
{
	const struct pld_sim_status *status = sim_status(self->fd);
	unsigned char zeros[SIM_PAGE] = { 0 };

	ASSERT_NE(MAP_FAILED, status);
	EXPECT_EQ(0, memcmp(zeros, status + 1, SIM_PAGE - sizeof(*status)));
	EXPECT_EQ(0, memcmp(zeros, sim_doorbell(self->fd, 0), SIM_PAGE));
}

TEST_F(window, mapping_cannot_grow)
{
	unsigned char *bytes =
		sim_mmap(self->fd, SIM_PAGE, RW, self->win.mmap_offset);
	void *status = (void *)sim_status(self->fd);

	ASSERT_NE(MAP_FAILED, bytes);
	EXPECT_EQ(MAP_FAILED,
		  mremap(bytes, SIM_PAGE, 2 * SIM_PAGE, MREMAP_MAYMOVE));
	EXPECT_EQ(EFAULT, errno);
	EXPECT_EQ(MAP_FAILED,
		  mremap(status, SIM_PAGE, 2 * SIM_PAGE, MREMAP_MAYMOVE));
	EXPECT_EQ(EFAULT, errno);
	EXPECT_EQ(0, touch(bytes));
}

TEST_F(window, device_and_domain_files_map_nothing)
{
	int dev = sim_open();

	ASSERT_LE(0, dev);
	EXPECT_EQ(-ENOTCONN, try_map(dev, SIM_PAGE, PROT_READ, MAP_SHARED, 0));
	EXPECT_EQ(-ENODEV,
		  try_map(self->domain, SIM_PAGE, PROT_READ, MAP_SHARED, 0));
}

TEST_F(window, length_that_no_window_can_have_is_refused)
{
	struct pld_sim_window_alloc win;

	EXPECT_EQ(-EINVAL, sim_alloc(self->domain, 0, 0, &win));
	EXPECT_EQ(-EOVERFLOW, sim_alloc(self->domain, -1ULL, 0, &win));
	EXPECT_EQ(-EOVERFLOW,
		  sim_alloc(self->domain, -(__u64)SIM_PAGE, 0, &win));
	EXPECT_EQ(-EOVERFLOW, sim_alloc(self->domain, 1ULL << 63, 0, &win));
}

TEST_F(window, mapping_outlives_its_files)
{
	unsigned char *bytes = sim_map(self->fd, &self->win, 1);

	ASSERT_NE(MAP_FAILED, bytes);
	put_marks(bytes, SIM_PAGE, 0);
	ASSERT_EQ(0, sim_leave(self->fd));
	ASSERT_EQ(0, close(self->fd));
	ASSERT_EQ(0, close(self->domain));
	EXPECT_EQ(SIM_PAGE, first_wrong_mark(bytes, SIM_PAGE, 0));
	EXPECT_EQ(0, touch(bytes + 3 * SIM_PAGE));
	EXPECT_EQ(0x77, bytes[3 * SIM_PAGE]);
}

TEST_F(window, freed_window_stays_where_it_is_mapped)
{
	unsigned char *bytes = sim_map(self->fd, &self->win, 1);
	struct pld_sim_window_alloc next;
	unsigned char *other;

	ASSERT_NE(MAP_FAILED, bytes);
	put_marks(bytes, 2 * SIM_PAGE, 0);
	ASSERT_EQ(0, sim_free(self->domain, self->win.window));
	EXPECT_EQ(-ENOENT, try_map(self->fd, SIM_PAGE, RW, MAP_SHARED,
				   self->win.mmap_offset));
	ASSERT_EQ(0, sim_alloc(self->domain, 4 * SIM_PAGE, 0, &next));
	other = sim_map(self->fd, &next, 1);
	ASSERT_NE(MAP_FAILED, other);
	memset(other, 0, 4 * SIM_PAGE);
	EXPECT_EQ(2 * SIM_PAGE, first_wrong_mark(bytes, 2 * SIM_PAGE, 0));
	EXPECT_EQ(0, touch(bytes + 3 * SIM_PAGE));
}

static int touch_parents_window(struct peer *self, void *arg)
{
	return touch(arg);
}

TEST_F(window, forked_child_has_no_mapping_and_harms_none)
{
	unsigned char *bytes = sim_map(self->fd, &self->win, 0);
	unsigned char *status = (unsigned char *)sim_status(self->fd);

	ASSERT_NE(MAP_FAILED, bytes);
	put_marks(bytes, 4 * SIM_PAGE, 0);
	EXPECT_EQ(SIGSEGV, peer_call(touch_parents_window, bytes));
	EXPECT_EQ(SIGSEGV, peer_call(touch_parents_window, status));
	EXPECT_EQ(4 * SIM_PAGE, first_wrong_mark(bytes, 4 * SIM_PAGE, 0));
	EXPECT_EQ(0, sim_wait(self->fd, self->win.window, 8, PLD_SIM_CMP_GE,
			      INT32_MIN, 0, NULL));
}

TEST_F(window, large_window_is_mapped_two_mib_at_a_time)
{
	long pages = 32 * MB / SIM_PAGE;
	struct rusage before, after;
	unsigned char *bytes;

	if (access("/sys/kernel/mm/transparent_hugepage", F_OK))
		SKIP(return, "the kernel has no transparent huge pages");
	if (sizeof(long) == 4)
		SKIP(return, "the kernel aligns no mappings of 32-bit programs");
	ASSERT_EQ(0, sim_alloc(self->domain, 32 * MB, 0, &self->win));
	bytes = sim_map(self->fd, &self->win, 1);
	ASSERT_NE(MAP_FAILED, bytes);
	EXPECT_EQ(0, (uintptr_t)bytes % SIM_HUGE);
	getrusage(RUSAGE_SELF, &before);
	for (__u64 at = 0; at < 32 * MB; at += SIM_PAGE)
		bytes[at] = 1;
	getrusage(RUSAGE_SELF, &after);
	EXPECT_GT(pages / 8, after.ru_minflt - before.ru_minflt);
}

PLD_TEST_MAIN
