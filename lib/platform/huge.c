// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <fcntl.h>
#include <stdint.h>
#include <sys/mman.h>

#include "huge.h"

/* Linux 6.1, whatever the system's settings say but "deny"; newer than Debian's libc. */
#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif

/* A huge page is made where there is a small one, not of nothing. */
static int begin_each(int fd, size_t offset, size_t bytes)
{
	int error = 0;

	for (size_t at = 0; at < bytes && !error; at += PLD_HUGE_PAGE)
		error = fallocate(fd, 0, (off_t)(offset + at), 1);
	return error;
}

void pld_fill_huge(int fd, size_t offset, size_t bytes)
{
	size_t whole = bytes & ~(PLD_HUGE_PAGE - 1);
	char *room, *start;

	if (!whole)
		return;
	room = mmap(NULL, whole + PLD_HUGE_PAGE, PROT_NONE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (room == MAP_FAILED)
		return;
	start = room + (-(uintptr_t)room & (PLD_HUGE_PAGE - 1));
	if (mmap(start, whole, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
		 fd, (off_t)offset) != MAP_FAILED &&
	    !begin_each(fd, offset, whole))
		madvise(start, whole, MADV_COLLAPSE);
	munmap(room, whole + PLD_HUGE_PAGE);
}
