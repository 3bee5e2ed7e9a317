// SPDX-License-Identifier: GPL-2.0
/*
 * Windows as dma-bufs, as a program sees them on either platform: what is
 * exported, by whom, and what is refused.
 */
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <pld_dmabuf.h>

#include "lib_golden.h"
#include "lib_test.h"

#define NRANKS 3
#define PAGE 4096
#define BYTES (3 * PAGE)

FIXTURE(export)
{
	pld_domain *domain;
	pld_window_buffer *buffer;
	bool exports;
};

FIXTURE_SETUP(export)
{
	int fd;

	self->domain = make_domain(NRANKS);
	ASSERT_NE(NULL, self->domain);
	ASSERT_EQ(0, pld_alloc_window_buffer(self->domain, BYTES - 1,
					     &self->buffer));
	self->exports = !pld_window_export(self->buffer, 0, 0, 0, &fd);
	if (self->exports)
		close(fd);
}

FIXTURE_TEARDOWN(export)
{
	pld_domain_destroy(self->domain);
}

TEST_F(export, export_refuses_what_is_not_there)
{
	int fd = -7;

	EXPECT_REFUSED(-EINVAL,
		       "pld_window_export: buffer and fd must not be NULL",
		       pld_window_export(NULL, 0, 0, 0, &fd));
	EXPECT_REFUSED(-EINVAL,
		       "pld_window_export: buffer and fd must not be NULL",
		       pld_window_export(self->buffer, 0, 0, 0, NULL));
	EXPECT_REFUSED(-ERANGE, "pld_window_export: rank is 3, wanted 0 to 2",
		       pld_window_export(self->buffer, NRANKS, 0, 0, &fd));
	EXPECT_REFUSED(-ERANGE, "pld_window_export: rank is -1, wanted 0 to 2",
		       pld_window_export(self->buffer, -1, 0, 0, &fd));
	EXPECT_REFUSED(-EINVAL,
		       "pld_window_export: offset is 8 and bytes is 0, wanted multiples of 4096",
		       pld_window_export(self->buffer, 0, 8, 0, &fd));
	EXPECT_REFUSED(-EINVAL,
		       "pld_window_export: offset is 0 and bytes is 12287, wanted multiples of 4096",
		       pld_window_export(self->buffer, 0, 0, BYTES - 1, &fd));
	EXPECT_REFUSED(-ERANGE,
		       "pld_window_export: offset is 12288 and bytes is 0, wanted at most 12288 bytes in all",
		       pld_window_export(self->buffer, 0, BYTES, 0, &fd));
	EXPECT_REFUSED(-ERANGE,
		       "pld_window_export: offset is 4096 and bytes is 12288, wanted at most 12288 bytes in all",
		       pld_window_export(self->buffer, 0, PAGE, BYTES, &fd));
	EXPECT_EQ(-7, fd);
}

TEST_F(export, export_without_udmabuf_says_so)
{
	int fd;

	if (strcmp(pld_domain_platform(self->domain), "memfd") ||
	    !access("/dev/udmabuf", F_OK))
		SKIP(return, "exports work here");
	EXPECT_REFUSED(-EOPNOTSUPP,
		       "pld_window_export: platform memfd: the kernel has no /dev/udmabuf (CONFIG_UDMABUF); platform kmod needs none",
		       pld_window_export(self->buffer, 0, 0, 0, &fd));
}

TEST_F(export, more_than_udmabuf_takes_is_EFBIG)
{
	pld_window_buffer *large;
	int fd;

	if (!self->exports || strcmp(pld_domain_platform(self->domain), "memfd"))
		SKIP(return, "no platform memfd with udmabuf");
	/* udmabuf's limit is 64 MiB where nobody has set another. */
	ASSERT_EQ(0, pld_alloc_window_buffer(self->domain, (64u << 20) + PAGE,
					     &large));
	EXPECT_REFUSED(-EFBIG,
		       "pld_window_export: platform memfd: /dev/udmabuf does not take 67112960 bytes; its limit is in /sys/module/udmabuf/parameters/size_limit_mb",
		       pld_window_export(large, 0, 0, 0, &fd));
	pld_free_window_buffer(large);
}

static int fill_own(pld_domain *domain, void *buffer)
{
	pld_distributed_tensor bytes;

	PLD_TRY(pld_window(buffer, PLD_SHAPE(BYTES - 1), PLD_UINT8, &bytes));
	golden_fill(bytes.data, BYTES - 1, (unsigned int)pld_rank(domain));
	return 0;
}

TEST_F(export, export_shows_each_ranks_memory_beyond_the_domains_end)
{
	unsigned char *seen[NRANKS], *part;
	int fd;

	if (!self->exports)
		SKIP(return, "this kernel and platform export nothing");
	RUN(self->domain, fill_own, self->buffer);
	for (int rank = 0; rank < NRANKS; rank++) {
		ASSERT_EQ(0, pld_window_export(self->buffer, rank, 0, 0, &fd));
		EXPECT_EQ(FD_CLOEXEC, fcntl(fd, F_GETFD));
		EXPECT_EQ(BYTES, lseek(fd, 0, SEEK_END));
		seen[rank] = mmap(NULL, BYTES, PROT_READ | PROT_WRITE,
				  MAP_SHARED, fd, 0);
		ASSERT_NE(MAP_FAILED, seen[rank]);
		close(fd);
	}
	ASSERT_EQ(0, pld_window_export(self->buffer, 1, PAGE, PAGE, &fd));
	EXPECT_EQ(PAGE, lseek(fd, 0, SEEK_END));
	part = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	ASSERT_NE(MAP_FAILED, part);
	close(fd);
	EXPECT_EQ(0, memcmp(part, seen[1] + PAGE, PAGE));
	pld_domain_destroy(self->domain);
	self->domain = NULL;
	for (int rank = 0; rank < NRANKS; rank++)
		EXPECT_EQ(BYTES - 1, golden_differs(seen[rank], BYTES - 1,
						    (unsigned int)rank));
	part[0] ^= 0xff;
	EXPECT_EQ(part[0], seen[1][PAGE]);
}

/* A child of a rank has none of its rights. */
static int child_is_refused(pld_window_buffer *buffer)
{
	pid_t child = fork();
	int fd, status;

	if (!child)
		_exit(pld_window_export(buffer, 0, 0, 0, &fd) == -EPERM ? 0 : 1);
	CHECK(TEMP_FAILURE_RETRY(waitpid(child, &status, 0)) == child);
	CHECK_EQ(0, status);
	return 0;
}

static int export_as_rank(pld_domain *domain, void *buffer)
{
	int me = pld_rank(domain), fd;
	const unsigned char *seen;

	PLD_TRY(child_is_refused(buffer));
	if (!strcmp(pld_domain_platform(domain), "memfd")) {
		CHECK_REFUSED(-EOPNOTSUPP,
			      "pld_window_export: platform memfd exports on the host side only, not in a rank",
			      pld_window_export(buffer, me, 0, 0, &fd));
		return 0;
	}
	CHECK_EQ(0, pld_window_export(buffer, (me + 1) % NRANKS, 0, 0, &fd));
	seen = mmap(NULL, BYTES, PROT_READ, MAP_SHARED, fd, 0);
	CHECK(seen != MAP_FAILED);
	CHECK_EQ(BYTES - 1, golden_differs(seen, BYTES - 1,
					   (unsigned int)(me + 1) % NRANKS));
	return 0;
}

TEST_F(export, rank_exports_and_its_child_does_not)
{
	RUN(self->domain, fill_own, self->buffer);
	RUN(self->domain, export_as_rank, self->buffer);
}

TEST_F(export, part_of_imported_memory_is_not_exported)
{
	int fds[NRANKS] = { -1, -1, -1 }, fd;
	pld_window_buffer *buffer;

	if (!self->exports)
		SKIP(return, "this kernel and platform export nothing");
	ASSERT_EQ(0, pld_window_export(self->buffer, 1, 0, 0, &fds[2]));
	ASSERT_EQ(0, pld_window_import(self->domain, BYTES, fds, &buffer));
	EXPECT_REFUSED(-EINVAL,
		       "pld_window_export: the memory of rank 2 was imported, wanted all of its 12288 bytes, not 8192",
		       pld_window_export(buffer, 2, PAGE, 0, &fd));
	close(fds[2]);
}

LIB_TEST_MAIN
