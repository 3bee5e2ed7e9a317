// SPDX-License-Identifier: GPL-2.0
/* Mappings, and what touches them. */
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "worker.h"

#define PAGE 4096
#define ARG(name) args[name].n

static struct fuzz_answer mapped(void *at, uint64_t length)
{
	if (at == MAP_FAILED)
		return fuzz_result(-1);
	return (struct fuzz_answer){ .value = (intptr_t)at, .more = { length } };
}

/* How much of a thing that is mapped or made there is, in bytes. */
static uint64_t length_of(const struct fuzz_value *value)
{
	return value->from ? value->from->more[0] : 0;
}

static struct fuzz_answer run_mmap(struct fuzz_worker *worker,
				   const struct fuzz_value *args)
{
	enum { FD, WINDOW, RANK, PAGE_NR, PAGES, PROT, FLAGS };
	const struct fuzz_answer *window = args[WINDOW].from;
	uint64_t length = ARG(PAGES) * PAGE;
	uint64_t offset = ARG(PAGE_NR) * PAGE;

	(void)worker;
	if (window)
		offset += window->more[0] + ARG(RANK) * window->more[1];
	return mapped(mmap(NULL, length, ARG(PROT), ARG(FLAGS), ARG(FD), offset),
		      length);
}

/* By its offset: status page, doorbells, any other file. */
static struct fuzz_answer run_mmap_at(struct fuzz_worker *worker,
				      const struct fuzz_value *args)
{
	enum { FD, OFFSET, PAGES, PROT, FLAGS };
	uint64_t length = ARG(PAGES) * PAGE;

	(void)worker;
	return mapped(mmap(NULL, length, ARG(PROT), ARG(FLAGS), ARG(FD),
			   ARG(OFFSET)),
		      length);
}

static void *page_of(const struct fuzz_value *map, int64_t page)
{
	return (void *)(intptr_t)(map->n + page * PAGE);
}

/* Nothing but what was made by a mapping is unmapped or changed. */
static bool is_mapped(const struct fuzz_value *map)
{
	return map->from && map->n > 0 && length_of(map);
}

static struct fuzz_answer run_munmap(struct fuzz_worker *worker,
				     const struct fuzz_value *args)
{
	enum { MAP, PAGE_NR, PAGES };

	(void)worker;
	if (!is_mapped(&args[MAP]))
		return fuzz_result(-EINVAL);
	return fuzz_result(munmap(page_of(&args[MAP], ARG(PAGE_NR)),
				  ARG(PAGES) ? (uint64_t)ARG(PAGES) * PAGE
					     : length_of(&args[MAP])));
}

static struct fuzz_answer run_mremap(struct fuzz_worker *worker,
				     const struct fuzz_value *args)
{
	enum { MAP, PAGE_NR, OLD, NEW, FLAGS };

	(void)worker;
	if (!is_mapped(&args[MAP]))
		return fuzz_result(-EINVAL);
	return mapped(mremap(page_of(&args[MAP], ARG(PAGE_NR)), ARG(OLD) * PAGE,
			     ARG(NEW) * PAGE, ARG(FLAGS) & ~MREMAP_FIXED),
		      ARG(NEW) * PAGE);
}

static struct fuzz_answer run_mprotect(struct fuzz_worker *worker,
				       const struct fuzz_value *args)
{
	enum { MAP, PAGE_NR, PAGES, PROT };

	(void)worker;
	if (!is_mapped(&args[MAP]))
		return fuzz_result(-EINVAL);
	return fuzz_result(mprotect(page_of(&args[MAP], ARG(PAGE_NR)),
				    ARG(PAGES) * PAGE, ARG(PROT)));
}

static struct fuzz_answer run_madvise(struct fuzz_worker *worker,
				      const struct fuzz_value *args)
{
	enum { MAP, PAGE_NR, PAGES, ADVICE };

	(void)worker;
	if (!is_mapped(&args[MAP]))
		return fuzz_result(-EINVAL);
	return fuzz_result(madvise(page_of(&args[MAP], ARG(PAGE_NR)),
				   ARG(PAGES) * PAGE, ARG(ADVICE)));
}

static struct fuzz_answer run_msync(struct fuzz_worker *worker,
				    const struct fuzz_value *args)
{
	enum { MAP, HOW };
	void *at = page_of(&args[MAP], 0);
	uint64_t length = length_of(&args[MAP]);

	(void)worker;
	if (!is_mapped(&args[MAP]))
		return fuzz_result(-EINVAL);
	if (ARG(HOW))
		return fuzz_result(mlock(at, length));
	return fuzz_result(msync(at, length, MS_SYNC));
}

enum touch {
	TOUCH_ADD,
	TOUCH_SET,
	TOUCH_READ,
	TOUCH_ALL,
};

static struct fuzz_answer run_touch(struct fuzz_worker *worker,
				    const struct fuzz_value *args)
{
	enum { MAP, OFFSET, HOW, VALUE };
	uint32_t *cell = (void *)(intptr_t)(ARG(MAP) + (ARG(OFFSET) & ~3LL));
	volatile uint32_t seen = 0;
	bool fine;

	if (!is_mapped(&args[MAP]))
		return fuzz_result(-EINVAL);
	fine = FUZZ_TOUCH(worker, {
		switch (ARG(HOW)) {
		case TOUCH_SET:
			__atomic_store_n(cell, ARG(VALUE), __ATOMIC_SEQ_CST);
			break;
		case TOUCH_READ:
			seen = __atomic_load_n(cell, __ATOMIC_SEQ_CST);
			break;
		case TOUCH_ALL:
			for (uint64_t i = 0; i < length_of(&args[MAP]);
			     i += PAGE)
				*(volatile char *)((char *)page_of(&args[MAP],
								   0) +
						   i) = 1;
			break;
		default:
			seen = __atomic_add_fetch(cell, ARG(VALUE),
						  __ATOMIC_SEQ_CST);
		}
	});
	return fuzz_result(fine ? (int64_t)seen : -EFAULT);
}

enum pass {
	PASS_TO_KERNEL, /* write() from it */
	PASS_FROM_KERNEL, /* read() into it */
	PASS_TO_PEER, /* process_vm_readv() */
	PASS_FUTEX,
	PASS_MINCORE,
};

/* The kernel touches it. */
static struct fuzz_answer run_pass(struct fuzz_worker *worker,
				   const struct fuzz_value *args)
{
	enum { MAP, HOW, OFFSET };
	void *at = (void *)(intptr_t)(ARG(MAP) + ARG(OFFSET));
	char buffer[64] = { 0 };
	struct iovec mine = { buffer, sizeof(buffer) };
	struct iovec other = { at, sizeof(buffer) };
	int fd, ret;

	(void)worker;
	if (!is_mapped(&args[MAP]))
		return fuzz_result(-EINVAL);
	switch (ARG(HOW)) {
	case PASS_TO_PEER:
		return fuzz_result(
			process_vm_readv(getpid(), &mine, 1, &other, 1, 0));
	case PASS_FUTEX:
		return fuzz_result(
			syscall(SYS_futex, at, FUTEX_WAKE, 1, NULL, NULL, 0));
	case PASS_MINCORE:
		return fuzz_result(
			mincore(page_of(&args[MAP], 0), PAGE, (void *)buffer));
	}
	fd = open(ARG(HOW) ? "/dev/zero" : "/dev/null", O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return fuzz_result(-1);
	ret = ARG(HOW) ? read(fd, at, 64) : write(fd, at, 64);
	ret = ret < 0 ? -errno : ret;
	close(fd);
	return fuzz_result(ret);
}

#define CELL_AT 0, 4, 4096, 4092, 0x200000, 0x1ff000, 1LL << 30
#define PAGES NUMBER("pages", 1, 2, 3, 512, 513, 1024, 0, 1 << 20)
#define PAGE_NR NUMBER("page", 0, 1, 2, 511, 512, -1, 1LL << 40)
#define PROTS NUMBER("prot", 3, 1, 2, 0, 4, 7, 5)
#define MAP_FLAGS NUMBER("flags", 1, 2, 3, 0x8001, 0x2001)

const struct fuzz_call fuzz_memory_calls[] = {
	{ "mmap",
	  KIND_MAP,
	  10,
	  run_mmap,
	  { THING("fd", KIND_RANK), THING("window", KIND_WINDOW),
	    NUMBER("rank", 0, 1, 2, 4, -1), PAGE_NR, PAGES, PROTS, MAP_FLAGS } },
	{ "mmap_at",
	  KIND_MAP,
	  4,
	  run_mmap_at,
	  { THING("fd", KIND_FD),
	    NUMBER("offset", 0, 4096, 8192, 0x3000, 0x101000, 0x200000,
		   1LL << 32, 1LL << 47, 0x7ffffffffffff000),
	    PAGES, PROTS, MAP_FLAGS } },
	{ "munmap",
	  KIND_NUMBER,
	  5,
	  run_munmap,
	  { THING("map", KIND_MAP), PAGE_NR, NUMBER("pages", 0, 1, 2, 512) } },
	{ "mremap",
	  KIND_MAP,
	  2,
	  run_mremap,
	  { THING("map", KIND_MAP), PAGE_NR, NUMBER("old", 1, 2, 512, 0),
	    NUMBER("new", 1, 2, 513, 0), NUMBER("flags", 1, 0, 4, 5) } },
	{ "mprotect",
	  KIND_NUMBER,
	  2,
	  run_mprotect,
	  { THING("map", KIND_MAP), PAGE_NR, NUMBER("pages", 1, 2, 512),
	    PROTS } },
	{ "madvise",
	  KIND_NUMBER,
	  2,
	  run_madvise,
	  { THING("map", KIND_MAP), PAGE_NR, NUMBER("pages", 1, 2, 512),
	    NUMBER("advice", 4, 0, 3, 8, 9, 10, 11, 14, 15, 18, 20, 21, 22, 23,
		   25) } },
	{ "msync",
	  KIND_NUMBER,
	  1,
	  run_msync,
	  { THING("map", KIND_MAP), NUMBER("how", 0, 1) } },
	{ "touch",
	  KIND_NUMBER,
	  10,
	  run_touch,
	  { THING("map", KIND_MAP), NUMBER("offset", CELL_AT),
	    NUMBER("how", 0, 1, 2, 3), NUMBER("value", 1, 0, -1) } },
	{ "pass",
	  KIND_NUMBER,
	  2,
	  run_pass,
	  { THING("map", KIND_MAP), NUMBER("how", 0, 1, 2, 3, 4),
	    NUMBER("offset", 0, 4, 4095) } },
	{ 0 },
};
