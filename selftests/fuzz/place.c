// SPDX-License-Identifier: GPL-2.0
/* Where the arguments of an ioctl lie: place.h. */
#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include "place.h"

#define PAGE 4096

/* Two pages: what is longer than a structure reads as zero. */
#define GOOD (3 * PAGE)

uint8_t *fuzz_new_arena(void)
{
	uint8_t *arena = mmap(NULL, 5 * PAGE, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (arena == MAP_FAILED)
		return NULL;
	mprotect(arena + PAGE, PAGE, PROT_NONE);
	return arena;
}

static uint8_t *find_place(struct fuzz_worker *worker, enum fuzz_place place,
			   uint32_t size)
{
	switch (place) {
	case PLACE_AT_END:
		return worker->arena + PAGE - size;
	case PLACE_NULL:
		return NULL;
	case PLACE_READ_ONLY:
		return worker->arena + 2 * PAGE;
	case PLACE_KERNEL:
		return (uint8_t *)0xffff888000001000;
	case PLACE_CUT:
		return worker->arena + PAGE - size / 8 * 4;
	default:
		return worker->arena + GOOD;
	}
}

/* What does not lie there whole is not put there. */
static void put(struct fuzz_worker *worker, uint8_t *to, const void *data,
		uint32_t size)
{
	uint8_t *arena = worker->arena, *page = arena + 2 * PAGE;

	if (to == page)
		mprotect(page, PAGE, PROT_READ | PROT_WRITE);
	if (to < arena || to >= arena + 5 * PAGE)
		return;
	if (to < arena + PAGE && to + size > arena + PAGE)
		size = arena + PAGE - to;
	memset(to, 0, to == arena + GOOD ? 2 * PAGE : size);
	memcpy(to, data, size);
	if (to == page)
		mprotect(page, PAGE, PROT_READ);
}

int64_t fuzz_ioctl(struct fuzz_worker *worker, int64_t fd, unsigned long cmd,
		   void *data, uint32_t size, const struct fuzz_value *args)
{
	uint32_t told = args[0].n ? args[0].n : size;
	uint32_t at = args[2].n, poke = args[3].n;
	uint8_t *to = find_place(worker, args[1].n, size);
	int64_t ret;

	if (!worker->arena)
		return -ENOMEM;
	memcpy(data, &told, sizeof(told));
	if (at && at + sizeof(poke) <= size)
		memcpy((uint8_t *)data + at, &poke, sizeof(poke));
	put(worker, to, data, size);
	if (at >= size && at < PAGE && to == worker->arena + GOOD)
		memcpy(to + at, &poke, sizeof(poke));
	ret = ioctl(fd, cmd, to) ? -errno : 0;
	if (to == worker->arena + GOOD || to == worker->arena + 2 * PAGE)
		memcpy(data, to, size);
	return ret;
}

int64_t fuzz_deadline(int64_t ms)
{
	if (ms <= -1000000 || ms >= 1000000)
		return ms;
	return fuzz_now() + ms * 1000000;
}
