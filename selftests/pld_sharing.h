/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Two domains on different devices, which share memory by dma-bufs.
 */
#ifndef PLD_SHARING_H
#define PLD_SHARING_H

#include "pld_bytes.h"
#include "pld_counters.h"
#include "pld_test.h"

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

static inline int domain_on(__u32 first)
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

static inline void *map_all(int fd, size_t bytes)
{
	return mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
}

/* A window, for a peer to look at. */
struct view {
	int domain;
	struct pld_sim_window_alloc win;
	unsigned char *bytes;
};

#endif /* PLD_SHARING_H */
