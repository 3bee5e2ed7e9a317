// SPDX-License-Identifier: GPL-2.0
/*
 * Mappings with every argument: each protection, kind, place and length in all
 * combinations, and what mprotect(), mremap(), madvise() and their like may do
 * with a mapping. Each is a mapping that works, or refused with an errno that
 * pld_sim.h gives for what is wrong with it; where much is wrong, with one of them.
 *
 * This file is also built for 32 bit.
 */
#include <stdbool.h>
#include <sys/uio.h>

#include "pld_bytes.h"
#include "pld_test.h"

#define RW (PROT_READ | PROT_WRITE)
#define PAGES 4
#define NR_RANKS 2
#define HUGE_BYTES (SIM_HUGE + SIM_PAGE)
/* More than any window here, and more than any process has addresses. */
#define LONG_LENGTH (1UL << (sizeof(long) == 8 ? 40 : 30))
#define NO_LENGTH (1UL << (sizeof(long) == 8 ? 63 : 31))

/* What a rank file has to map, and beside which there is nothing. */
enum place { STATUS, DOORBELLS, SMALL, HUGE, IMPORTED, PLACES };

/* Each rank has bytes in its stride, and a hole behind them. */
struct region {
	__u64 start;
	__u64 end;
	__u64 stride;
	__u64 bytes;
	bool writable;
	/* One bit for each rank. */
	unsigned int imported;
};

FIXTURE(mapping)
{
	int domain;
	int fd;
	struct pld_sim_window_alloc small;
	struct pld_sim_window_alloc huge;
	struct pld_sim_window_alloc imported;
	struct region regions[PLACES];
};

static struct region region(__u64 start, __u64 nr, __u64 stride, __u64 bytes,
			    bool writable)
{
	return (struct region){
		.start = start,
		.end = start + nr * stride,
		.stride = stride,
		.bytes = bytes,
		.writable = writable,
	};
}

static struct region window(const struct pld_sim_window_alloc *win, __u64 bytes)
{
	return region(win->mmap_offset, NR_RANKS, win->stride, bytes, true);
}

FIXTURE_SETUP(mapping)
{
	__s32 fds[NR_RANKS] = { -1, -1 };

	self->domain = sim_domain(NR_RANKS);
	ASSERT_LE(0, self->domain);
	ASSERT_EQ(0, sim_alloc(self->domain, PAGES * SIM_PAGE, 0, &self->small));
	ASSERT_EQ(0, sim_alloc(self->domain, HUGE_BYTES, 0, &self->huge));
	fds[0] = sim_export(self->domain, self->huge.window, 1);
	ASSERT_LE(0, fds[0]);
	ASSERT_EQ(0, sim_import(self->domain, HUGE_BYTES, 0, fds, NR_RANKS,
				&self->imported, NULL));
	close(fds[0]);
	self->fd = sim_member(self->domain, 0);
	ASSERT_LE(0, self->fd);
	self->regions[STATUS] = region(0, 1, SIM_PAGE, SIM_PAGE, false);
	self->regions[DOORBELLS] = region(PLD_SIM_MMAP_DOORBELLS, NR_RANKS,
					  PLD_SIM_DOORBELL_STRIDE, SIM_PAGE,
					  false);
	self->regions[SMALL] = window(&self->small, PAGES * SIM_PAGE);
	self->regions[HUGE] = window(&self->huge, HUGE_BYTES);
	self->regions[IMPORTED] = window(&self->imported, HUGE_BYTES);
	self->regions[IMPORTED].imported = 1 << 0;
}

FIXTURE_TEARDOWN(mapping)
{
	close(self->fd);
	close(self->domain);
}

/* A file, what it has to map, and its errnos where nothing is, or too little. */
struct mappable {
	int fd;
	const struct region *regions;
	int nr_regions;
	int nothing;
	int too_little;
	bool read_only;
};

/* Errnos that an answer may have, and 0 in front when it must not fail. */
struct answers {
	int errors[8];
	int nr;
};

static void may_be(struct answers *a, bool wrong, int error)
{
	if (wrong)
		a->errors[a->nr++] = error;
}

static bool is_one_of(const struct answers *a, int error)
{
	if (!a->nr)
		return !error;
	for (int i = 0; i < a->nr; i++)
		if (a->errors[i] == error)
			return true;
	return false;
}

static const struct region *region_at(const struct mappable *m, __u64 offset)
{
	for (int i = 0; i < m->nr_regions; i++)
		if (offset >= m->regions[i].start && offset < m->regions[i].end)
			return &m->regions[i];
	return NULL;
}

static __u64 end_of(__u64 offset, __u64 length)
{
	return length > -1ULL - offset - SIM_PAGE
		       ? -1ULL
		       : offset + sim_round_up(length, SIM_PAGE);
}

static bool is_of_import(const struct region *r, __u64 offset)
{
	return r->imported >> (offset - r->start) / r->stride & 1;
}

/* A mapping of a dma-buf, as is one that keeps to one rank's imported memory. */
static bool is_of_dmabuf(const struct region *r, __u64 offset, __u64 end)
{
	__u64 at = (offset - r->start) % r->stride;

	return is_of_import(r, offset) && end <= offset - at + r->stride;
}

/* Whether a mapping that was made has a first byte. */
static bool is_there(const struct mappable *m, __u64 offset, __u64 length)
{
	const struct region *r = region_at(m, offset);

	return r && (offset - r->start) % r->stride < r->bytes &&
	       (!is_of_import(r, offset) ||
		is_of_dmabuf(r, offset, end_of(offset, length)));
}

/* What is wrong with a place, which the header gives errnos for. */
static void place_may_be(struct answers *a, const struct mappable *m,
			 __u64 offset, __u64 end)
{
	const struct region *r = region_at(m, offset);
	__u64 at;

	may_be(a, !r, m->nothing);
	if (!r)
		return;
	may_be(a, end > r->end, m->too_little);
	if (!is_of_dmabuf(r, offset, end))
		return;
	at = (offset - r->start) % r->stride;
	may_be(a, at >= r->bytes, m->nothing);
	may_be(a, at < r->bytes && end - offset > r->bytes - at, m->too_little);
}

/* By the header, and by what mmap() itself refuses. */
static struct answers expected(const struct mappable *m, __u64 length, int prot,
			       int flags, __u64 offset)
{
	const struct region *r = region_at(m, offset);
	bool private = (flags & MAP_TYPE) == MAP_PRIVATE;
	struct answers a = { .nr = 0 };

	may_be(&a, !length || offset % SIM_PAGE, -EINVAL);
	may_be(&a, private, -EINVAL);
	may_be(&a, private && length >= LONG_LENGTH, -ENOMEM);
	may_be(&a, length >= NO_LENGTH, -ENOMEM);
	may_be(&a, prot & PROT_EXEC, -EACCES);
	may_be(&a, prot & PROT_WRITE && (m->read_only || (r && !r->writable)),
	       -EACCES);
	place_may_be(&a, m, offset, end_of(offset, length));
	return a;
}

/* On x86 what can be written can be read. */
static bool allows_what(unsigned char *byte, int prot, bool there)
{
	int can_write = prot & PROT_WRITE, can_read = prot & RW;
	int allowed = there ? 0 : SIGBUS;

	return peek(byte) == (can_read ? allowed : SIGSEGV) &&
	       touch(byte) == (can_write ? allowed : SIGSEGV);
}

/* The first mistake as text, or NULL. */
static const char *try_all(const struct mappable *m, size_t length, __u64 offset)
{
	static const int kinds[] = { MAP_SHARED, MAP_PRIVATE,
				     MAP_SHARED_VALIDATE };
	static char text[128];

	for (unsigned int i = 0; i < 8 * ARRAY_SIZE(kinds); i++) {
		int prot = i % 8, flags = kinds[i / 8];
		struct answers want = expected(m, length, prot, flags, offset);
		void *map = mmap(NULL, length, prot, flags, m->fd, offset);
		int error = map == MAP_FAILED ? -errno : 0;
		bool right = is_one_of(&want, error) &&
			     (error || allows_what(map, prot,
						   is_there(m, offset, length)));

		if (!error)
			munmap(map, length);
		if (right)
			continue;
		snprintf(text, sizeof(text),
			 "length %zu prot %d flags %d offset 0x%llx: %s",
			 length, prot, flags, (unsigned long long)offset,
			 strerror(-error));
		return text;
	}
	return NULL;
}

/*
 * At @edge, and a page and a byte to either side, with lengths that end in a
 * region, at its end, behind it, and nowhere. Returns how many it tried.
 */
static unsigned int try_beside(struct __test_metadata *_metadata,
			       const struct mappable *m, __u64 edge)
{
	static const __s64 beside[] = { -(__s64)SIM_PAGE, -1, 0, 1, SIM_PAGE };
	static const size_t lengths[] = {
		0,
		1,
		SIM_PAGE,
		SIM_PAGE + 1,
		PAGES * SIM_PAGE,
		NR_RANKS * PAGES * SIM_PAGE,
		NR_RANKS * PAGES * SIM_PAGE + 1,
		SIM_HUGE,
		HUGE_BYTES,
		2 * SIM_HUGE,
		NR_RANKS * 2 * SIM_HUGE,
		NR_RANKS * 2 * SIM_HUGE + SIM_PAGE,
		LONG_LENGTH,
		NO_LENGTH,
		-SIM_PAGE,
		-1UL,
	};
	unsigned int tried = 0;

	for (unsigned int b = 0; b < ARRAY_SIZE(beside); b++) {
		if (!edge && beside[b] < 0)
			continue;
		for (unsigned int l = 0; l < ARRAY_SIZE(lengths); l++) {
			const char *wrong =
				try_all(m, lengths[l], edge + beside[b]);

			EXPECT_EQ(NULL, wrong)
			TH_LOG("%s", wrong);
			tried++;
		}
	}
	return tried;
}

/* Where each rank's memory begins, and ends, where a hole may be; and the end. */
static unsigned int try_everywhere(struct __test_metadata *_metadata,
				   const struct mappable *m)
{
	unsigned int tried = 0;

	for (int i = 0; i < m->nr_regions; i++) {
		const struct region *r = &m->regions[i];

		for (__u64 at = r->start; at < r->end; at += r->stride) {
			tried += try_beside(_metadata, m, at);
			tried += try_beside(_metadata, m, at + r->bytes);
		}
		tried += try_beside(_metadata, m, r->end);
	}
	return tried;
}

TEST_F_TIMEOUT(mapping, of_any_place_length_and_protection_is_right, 240)
{
	const struct mappable rank_file = {
		.fd = self->fd,
		.regions = self->regions,
		.nr_regions = PLACES,
		.nothing = -ENOENT,
		.too_little = -ERANGE,
	};

	EXPECT_LT(1500, try_everywhere(_metadata, &rank_file));
}

/* What a dma-buf does not have, dma-buf's core refuses, with one errno. */
TEST_F_TIMEOUT(mapping, of_an_exported_part_is_right_as_well, 120)
{
	for (__u32 flags = 0; flags <= PLD_EXPORT_READ_ONLY; flags++) {
		const struct region part =
			region(0, 1, SIM_HUGE, SIM_HUGE, !flags);
		const struct mappable dmabuf = {
			.fd = sim_export_part(self->domain, self->huge.window,
					      0, SIM_PAGE, SIM_HUGE, flags),
			.regions = &part,
			.nr_regions = 1,
			.nothing = -EINVAL,
			.too_little = -EINVAL,
			.read_only = flags,
		};

		ASSERT_LE(0, dmabuf.fd);
		EXPECT_LT(150, try_everywhere(_metadata, &dmabuf));
		close(dmabuf.fd);
	}
}

/* What else may be asked of mmap(): 0 or the errno. */
TEST_F(mapping, takes_or_refuses_each_flag)
{
	static const struct {
		int flags;
		int error;
	} cases[] = {
		{ MAP_SHARED | MAP_POPULATE, 0 },
		{ MAP_SHARED | MAP_NONBLOCK | MAP_POPULATE, 0 },
		{ MAP_SHARED | MAP_LOCKED, 0 },
		{ MAP_SHARED | MAP_NORESERVE, 0 },
		{ MAP_SHARED | MAP_STACK, 0 },
		{ MAP_SHARED | MAP_DENYWRITE | MAP_EXECUTABLE, 0 },
		{ MAP_SHARED | MAP_GROWSDOWN, -EINVAL },
		{ MAP_SHARED | MAP_HUGETLB, -EINVAL },
		{ MAP_SHARED_VALIDATE | MAP_SYNC, -EOPNOTSUPP },
		{ MAP_SHARED_VALIDATE | 1 << 24, -EOPNOTSUPP },
		{ MAP_TYPE, -EINVAL },
		{ 0, -EINVAL },
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(cases); i++) {
		unsigned char *map = mmap(NULL, PAGES * SIM_PAGE, RW,
					  cases[i].flags, self->fd,
					  self->small.mmap_offset);

		EXPECT_EQ(cases[i].error, map == MAP_FAILED ? -errno : 0)
		TH_LOG("flags %#x", cases[i].flags);
		if (map == MAP_FAILED)
			continue;
		EXPECT_EQ(0, touch(map + SIM_PAGE));
		EXPECT_EQ(0, munmap(map, PAGES * SIM_PAGE));
	}
}

static void *anonymous(size_t bytes)
{
	return mmap(NULL, bytes, RW, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

TEST_F(mapping, at_a_fixed_address_replaces_what_was_there_or_nothing)
{
	unsigned char *at = anonymous(6 * SIM_PAGE);

	ASSERT_NE(MAP_FAILED, at);
	memset(at, 1, 6 * SIM_PAGE);
	EXPECT_EQ(MAP_FAILED,
		  mmap(at, SIM_PAGE, RW, MAP_SHARED | MAP_FIXED_NOREPLACE,
		       self->fd, self->small.mmap_offset));
	EXPECT_EQ(EEXIST, errno);
	EXPECT_EQ(MAP_FAILED, mmap(at + 1, SIM_PAGE, RW, MAP_SHARED | MAP_FIXED,
				   self->fd, self->small.mmap_offset));
	EXPECT_EQ(EINVAL, errno);
	ASSERT_EQ(at + SIM_PAGE,
		  mmap(at + SIM_PAGE, 4 * SIM_PAGE, RW, MAP_SHARED | MAP_FIXED,
		       self->fd, self->small.mmap_offset));
	EXPECT_EQ(1, at[0]);
	EXPECT_EQ(4 * SIM_PAGE, first_not_zero(at + SIM_PAGE, 4 * SIM_PAGE));
	EXPECT_EQ(1, at[5 * SIM_PAGE]);
}

/* A huge block at an address that is not congruent comes page by page. */
TEST_F(mapping, of_a_huge_block_works_at_any_address)
{
	unsigned char *at = anonymous(3 * SIM_HUGE), *map;

	ASSERT_NE(MAP_FAILED, at);
	map = (void *)(uintptr_t)sim_round_up((uintptr_t)at, SIM_HUGE);
	ASSERT_EQ(map + SIM_PAGE,
		  mmap(map + SIM_PAGE, SIM_HUGE, RW, MAP_SHARED | MAP_FIXED,
		       self->fd, self->huge.mmap_offset));
	put_marks(map + SIM_PAGE, SIM_HUGE, 3);
	ASSERT_EQ(map, mmap(map, SIM_HUGE, RW, MAP_SHARED | MAP_FIXED, self->fd,
			    self->huge.mmap_offset));
	EXPECT_EQ(SIM_HUGE, first_wrong_mark(map, SIM_HUGE, 3));
}

/* From each protection to each. */
TEST_F(mapping, is_protected_anew_but_never_more_than_allowed)
{
	for (unsigned int i = 0; i < PLACES * 4 * 8; i++) {
		const struct region *r = &self->regions[i / 32];
		int from = i / 8 % 4, to = i % 8, want = 0;
		unsigned char *map;

		if (!r->writable && from & PROT_WRITE)
			continue;
		map = sim_mmap(self->fd, SIM_PAGE, from, r->start);
		ASSERT_NE(MAP_FAILED, map);
		if (to & PROT_EXEC || (to & PROT_WRITE && !r->writable))
			want = -EACCES;
		EXPECT_EQ(want, mprotect(map, SIM_PAGE, to) ? -errno : 0)
		TH_LOG("region %u from %d to %d", i / 32, from, to);
		EXPECT_TRUE(allows_what(map, want ? from : to, true))
		TH_LOG("region %u from %d to %d", i / 32, from, to);
		munmap(map, SIM_PAGE);
	}
}

/* The file's own mode counts as well. */
TEST_F(mapping, of_a_file_that_is_open_for_reading_is_read_only)
{
	int fd = open(SIM_NODE, O_RDONLY | O_CLOEXEC);
	unsigned char *map;

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, sim_join(fd, self->domain, 1, NULL));
	EXPECT_EQ(MAP_FAILED,
		  sim_mmap(fd, SIM_PAGE, RW, self->small.mmap_offset));
	EXPECT_EQ(EACCES, errno);
	map = sim_mmap(fd, SIM_PAGE, PROT_READ, self->small.mmap_offset);
	ASSERT_NE(MAP_FAILED, map);
	EXPECT_EQ(0, *map);
	EXPECT_EQ(-1, mprotect(map, SIM_PAGE, RW));
	EXPECT_EQ(EACCES, errno);
	EXPECT_EQ(0, sim_leave(fd));
	close(fd);
}

TEST_F(mapping, of_a_file_that_is_open_for_writing_is_none)
{
	int fd = open(SIM_NODE, O_WRONLY | O_CLOEXEC);

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, sim_join(fd, self->domain, 1, NULL));
	for (int prot = 0; prot < 4; prot++) {
		EXPECT_EQ(MAP_FAILED,
			  sim_mmap(fd, SIM_PAGE, prot, self->small.mmap_offset));
		EXPECT_EQ(EACCES, errno);
	}
	EXPECT_EQ(0, sim_leave(fd));
	close(fd);
}

TEST_F(mapping, moves_and_shrinks_but_does_not_grow)
{
	size_t bytes = PAGES * SIM_PAGE;
	unsigned char *map = sim_map(self->fd, &self->small, 1), *to;

	ASSERT_NE(MAP_FAILED, map);
	put_marks(map, bytes, 1);
	to = anonymous(2 * bytes);
	ASSERT_NE(MAP_FAILED, to);

	/* Nor copied, which a length of 0 asks for, nor left behind. */
	EXPECT_EQ(MAP_FAILED, mremap(map, bytes, bytes + 1, MREMAP_MAYMOVE));
	EXPECT_EQ(EFAULT, errno);
	EXPECT_EQ(MAP_FAILED, mremap(map, bytes, 2 * bytes,
				     MREMAP_MAYMOVE | MREMAP_FIXED, to));
	EXPECT_EQ(EFAULT, errno);
	EXPECT_EQ(MAP_FAILED, mremap(map, 0, SIM_PAGE, MREMAP_MAYMOVE));
	EXPECT_EQ(EFAULT, errno);
	EXPECT_EQ(MAP_FAILED,
		  mremap(map, bytes, bytes, MREMAP_MAYMOVE | MREMAP_DONTUNMAP));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(bytes, first_wrong_mark(map, bytes, 1));

	ASSERT_EQ(to,
		  mremap(map, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, to));
	EXPECT_EQ(SIGSEGV, touch(map));
	EXPECT_EQ(bytes, first_wrong_mark(to, bytes, 1));
	ASSERT_EQ(to, mremap(to, bytes, SIM_PAGE, 0));
	EXPECT_EQ(SIGSEGV, touch(to + SIM_PAGE));
	EXPECT_EQ(SIM_PAGE, first_wrong_mark(to, SIM_PAGE, 1));

	/* It keeps its window wherever it is. */
	ASSERT_EQ(0, sim_free(self->domain, self->small.window));
	EXPECT_EQ(0, touch(to));
}

/* A huge block that moves to where it cannot be mapped as one. */
TEST_F(mapping, of_a_huge_block_moves_anywhere)
{
	unsigned char *map = sim_map(self->fd, &self->huge, 0), *to;
	size_t bytes = SIM_HUGE + SIM_PAGE;

	ASSERT_NE(MAP_FAILED, map);
	put_marks(map, bytes, 0);
	to = anonymous(3 * SIM_HUGE);
	ASSERT_NE(MAP_FAILED, to);
	to = (void *)(uintptr_t)(sim_round_up((uintptr_t)to, SIM_HUGE) +
				 SIM_PAGE);
	ASSERT_EQ(to,
		  mremap(map, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, to));
	EXPECT_EQ(bytes, first_wrong_mark(to, bytes, 0));
}

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#define MADV_POPULATE_WRITE 23
#endif
#ifndef MADV_DONTNEED_LOCKED
#define MADV_DONTNEED_LOCKED 24
#endif
#define ANY 1

/*
 * ANY: as the kernel is configured. Nobody can drop a window's bytes, copy them
 * on fork or let them into a core dump.
 */
TEST_F(mapping, keeps_its_bytes_whatever_is_advised)
{
	static const struct {
		int advice;
		int error;
	} cases[] = {
		{ MADV_NORMAL, 0 },
		{ MADV_RANDOM, 0 },
		{ MADV_SEQUENTIAL, 0 },
		{ MADV_WILLNEED, 0 },
		{ MADV_DONTNEED, -EINVAL },
		{ MADV_FREE, -EINVAL },
		{ MADV_REMOVE, -ENODEV },
		{ MADV_DONTFORK, 0 },
		{ MADV_DOFORK, -EINVAL },
		{ MADV_MERGEABLE, ANY },
		{ MADV_UNMERGEABLE, ANY },
		{ MADV_HUGEPAGE, ANY },
		{ MADV_NOHUGEPAGE, ANY },
		{ MADV_DONTDUMP, 0 },
		{ MADV_DODUMP, -EINVAL },
		{ MADV_WIPEONFORK, -EINVAL },
		{ MADV_KEEPONFORK, 0 },
		{ MADV_COLD, -EINVAL },
		{ MADV_PAGEOUT, -EINVAL },
		{ MADV_POPULATE_READ, -EINVAL },
		{ MADV_POPULATE_WRITE, -EINVAL },
		{ MADV_DONTNEED_LOCKED, -EINVAL },
		{ 1234, -EINVAL },
	};
	size_t bytes = SIM_HUGE + SIM_PAGE;
	unsigned char *map = sim_map(self->fd, &self->huge, 0);

	ASSERT_NE(MAP_FAILED, map);
	put_marks(map, bytes, 2);
	for (unsigned int i = 0; i < ARRAY_SIZE(cases); i++) {
		int error = madvise(map, bytes, cases[i].advice) ? -errno : 0;

		if (cases[i].error != ANY)
			EXPECT_EQ(cases[i].error, error)
		TH_LOG("advice %d", cases[i].advice);
		EXPECT_EQ(bytes, first_wrong_mark(map, bytes, 2))
		TH_LOG("advice %d", cases[i].advice);
	}
}

TEST_F(mapping, can_be_locked_synced_and_asked_about)
{
	unsigned char *map = sim_map(self->fd, &self->small, 0);
	size_t bytes = PAGES * SIM_PAGE;
	unsigned char resident[PAGES];

	ASSERT_NE(MAP_FAILED, map);
	put_marks(map, bytes, 0);
	EXPECT_EQ(0, mlock(map, bytes));
	EXPECT_EQ(0, mlock2(map, bytes, MLOCK_ONFAULT));
	EXPECT_EQ(0, munlock(map, bytes));
	/* There is nothing behind it to write to. */
	EXPECT_EQ(-EINVAL, msync(map, bytes, MS_SYNC) ? -errno : 0);
	EXPECT_EQ(0, msync(map, bytes, MS_ASYNC));
	EXPECT_EQ(0, mincore(map, bytes, resident));
	EXPECT_EQ(bytes, first_wrong_mark(map, bytes, 0));
}

TEST_F(mapping, is_not_to_be_had_by_way_of_another_process)
{
	unsigned char *map = sim_map(self->fd, &self->small, 0), byte = 0;
	struct iovec here = { &byte, 1 }, there = { map, 1 };

	ASSERT_NE(MAP_FAILED, map);
	EXPECT_EQ(0, touch(map));
	EXPECT_EQ(-1, process_vm_readv(getpid(), &here, 1, &there, 1, 0));
	if (errno == ENOSYS)
		SKIP(return, "the kernel has no process_vm_readv()");
	EXPECT_EQ(EFAULT, errno);
	EXPECT_EQ(-1, process_vm_writev(getpid(), &here, 1, &there, 1, 0));
	EXPECT_EQ(EFAULT, errno);
	EXPECT_EQ(0, byte);
}

TEST_F(mapping, is_not_to_be_had_by_way_of_proc)
{
	unsigned char *map = sim_map(self->fd, &self->small, 0), byte = 0;
	int fd = open("/proc/self/mem", O_RDWR | O_CLOEXEC);

	ASSERT_NE(MAP_FAILED, map);
	ASSERT_LE(0, fd);
	EXPECT_EQ(0, touch(map));
	EXPECT_EQ(-1, pread(fd, &byte, 1, (off_t)(uintptr_t)map));
	EXPECT_EQ(EIO, errno);
	EXPECT_EQ(0, byte);
	close(fd);
}

PLD_TEST_MAIN
