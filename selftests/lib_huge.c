// SPDX-License-Identifier: GPL-2.0
/*
 * Huge pages of window buffers in a memfd: asked for where they fit, and had where
 * the kernel gives any. The module's are looked at by memory.c.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib_test.h"

#define NRANKS 3
#define HUGE ((size_t)2 << 20)
#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif

FIXTURE(huge)
{
	pld_domain *domain;
};

FIXTURE_SETUP(huge)
{
	self->domain = make_domain(NRANKS);
	ASSERT_NE(NULL, self->domain);
}

FIXTURE_TEARDOWN(huge)
{
	pld_domain_destroy(self->domain);
}

/* Bytes of the mapping at that address that huge page table entries map; -1: none. */
static long mapped_huge(const void *address)
{
	FILE *smaps = fopen("/proc/self/smaps", "r");
	uintptr_t start, end, at = (uintptr_t)address;
	char line[256];
	bool here = false;
	long kib = -1;

	while (smaps && kib < 0 && fgets(line, sizeof(line), smaps))
		if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " ", &start, &end) == 2)
			here = start <= at && at < end;
		else if (here)
			sscanf(line, "ShmemPmdMapped: %ld", &kib);
	if (smaps)
		fclose(smaps);
	return kib < 0 ? -1 : kib * 1024;
}

/* Does the kernel make as many huge pages of a memfd that is asked for them? */
static bool has_huge_pages(size_t bytes)
{
	int fd = memfd_create("probe", MFD_CLOEXEC);
	char *room = mmap(NULL, bytes + HUGE, PROT_NONE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *start = room + (-(uintptr_t)room & (HUGE - 1));
	bool has = fd >= 0 && room != MAP_FAILED &&
		   !ftruncate(fd, (off_t)bytes) &&
		   mmap(start, bytes, PROT_READ | PROT_WRITE,
			MAP_SHARED | MAP_FIXED, fd, 0) == start;

	for (size_t at = 0; has && at < bytes; at += HUGE)
		start[at] = 1;
	has = has && !madvise(start, bytes, MADV_COLLAPSE);
	munmap(room, bytes + HUGE);
	close(fd);
	return has;
}

/* Two huge pages of each rank's memory, and half of one that is none. */
static int is_huge(pld_domain *domain, void *buffer)
{
	pld_distributed_tensor all;

	PLD_TRY(pld_window(buffer, PLD_SHAPE(5 * HUGE / 2), PLD_UINT8, &all));
	for (int peer = 0; peer < NRANKS; peer++) {
		volatile char *memory =
			(char *)all.data +
			(peer - pld_rank(domain)) * (int64_t)(3 * HUGE);

		for (size_t at = 0; at < 5 * HUGE / 2; at += HUGE / 4)
			memory[at];
	}
	CHECK_EQ((long)(NRANKS * 2 * HUGE), mapped_huge(all.data));
	return 0;
}

TEST_F(huge, large_window_has_huge_pages_where_the_kernel_gives_them)
{
	pld_window_buffer *buffer;

	if (strcmp(pld_domain_platform(self->domain), "memfd") != 0)
		SKIP(return, "the module's memory is looked at by memory.c");
	if (!has_huge_pages(NRANKS * 2 * HUGE))
		SKIP(return, "this kernel gives none to a memfd");
	ASSERT_EQ(0,
		  pld_alloc_window_buffer(self->domain, 5 * HUGE / 2, &buffer));
	RUN(self->domain, is_huge, buffer);
}

LIB_TEST_MAIN
