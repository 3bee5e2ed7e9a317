// SPDX-License-Identifier: GPL-2.0
/*
 * Domains and their ranks: who may create and join, one holder for each rank,
 * leaving, resetting, and that two domains have nothing in common.
 */
#include "pld_test.h"

#define STALE_CODE 7

/* A domain of four ranks, of which this process holds none yet. */
FIXTURE(domain)
{
	int dev;
	int fd;
};

FIXTURE_SETUP(domain)
{
	self->dev = sim_open();
	ASSERT_LE(0, self->dev);
	self->fd = sim_domain(4);
	ASSERT_LE(0, self->fd);
}

FIXTURE_TEARDOWN(domain)
{
	close(self->fd);
	close(self->dev);
}

static __u32 nr_devices(int dev)
{
	struct pld_sim_info info;

	return sim_info(dev, &info) ? 0 : info.nr_devices;
}

TEST_F(domain, create_refuses_a_number_of_ranks_out_of_range)
{
	__u32 ids[PLD_SIM_MAX_RANKS + 1];

	for (__u32 i = 0; i <= PLD_SIM_MAX_RANKS; i++)
		ids[i] = i;
	EXPECT_EQ(-EINVAL, sim_create(self->dev, ids, 0));
	EXPECT_EQ(-EINVAL, sim_create(self->dev, ids, PLD_SIM_MAX_RANKS + 1));
	EXPECT_EQ(-EINVAL, sim_create(self->dev, ids, 0x40000001));
	EXPECT_EQ(-EINVAL, sim_create(self->dev, ids, 0xffffffff));
}

TEST_F(domain, create_refuses_a_device_named_twice)
{
	__u32 adjacent[] = { 1, 1 };
	__u32 apart[] = { 3, 1, 0, 3 };

	EXPECT_EQ(-EINVAL, sim_create(self->dev, adjacent, 2));
	EXPECT_EQ(-EINVAL, sim_create(self->dev, apart, 4));
}

TEST_F(domain, create_refuses_a_device_that_is_not_there)
{
	__u32 next[] = { 0, nr_devices(self->dev) };
	__u32 top[] = { 0, 0x7fffffff };
	__u32 wrap[] = { 0xffffffff };

	EXPECT_EQ(-ENOENT, sim_create(self->dev, next, 2));
	EXPECT_EQ(-ENOENT, sim_create(self->dev, top, 2));
	EXPECT_EQ(-ENOENT, sim_create(self->dev, wrap, 1));
}

TEST_F(domain, create_refuses_a_list_that_cannot_be_read)
{
	__u32 *page = mmap(NULL, 2 * SIM_PAGE, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	__u32 *last = page + SIM_PAGE / sizeof(*page) - 1;

	ASSERT_NE(MAP_FAILED, page);
	ASSERT_EQ(0, mprotect(page + SIM_PAGE / sizeof(*page), SIM_PAGE,
			      PROT_NONE));
	EXPECT_EQ(-EFAULT, sim_create(self->dev, NULL, 2));
	EXPECT_EQ(-EFAULT, sim_create(self->dev, (void *)-SIM_PAGE, 2));
	EXPECT_EQ(-EFAULT, sim_create(self->dev, last, 2));
}

TEST_F(domain, create_takes_ranks_on_devices_in_any_order)
{
	__u32 ids[] = { 3, 1, 2, 0 };
	int fd = sim_create(self->dev, ids, 4);
	struct pld_sim_join out;
	int rank = sim_open();

	ASSERT_LE(0, fd);
	EXPECT_EQ(0, sim_join(rank, fd, 3, &out));
	EXPECT_EQ(4, out.nranks);
}

TEST_F(domain, every_device_can_be_a_rank)
{
	__u32 n = nr_devices(self->dev);
	int fd = sim_domain(n), rank = sim_open();
	struct pld_sim_join out;

	ASSERT_LE(0, fd);
	EXPECT_EQ(0, sim_join(rank, fd, n - 1, &out));
	EXPECT_EQ(n, out.nranks);
}

TEST_F(domain, domain_file_is_closed_on_exec)
{
	EXPECT_EQ(FD_CLOEXEC, fcntl(self->fd, F_GETFD));
}

TEST_F(domain, join_tells_size_and_epoch_as_the_status_page_has_them)
{
	__u32 states[4] = { [2] = PLD_RANK_JOINED };
	const struct pld_sim_status *status;
	struct pld_sim_status want;
	struct pld_sim_join out, full;

	ASSERT_EQ(0, sim_join(self->dev, self->fd, 2, &out));
	status = sim_status(self->dev);
	ASSERT_NE(MAP_FAILED, status);
	full = (struct pld_sim_join){
		.size = sizeof(full),
		.domain_fd = self->fd,
		.rank = 2,
		.nranks = 4,
		.epoch = status->epoch,
	};
	EXPECT_EQ(0, memcmp(&full, &out, sizeof(full)));
	want = sim_status_of(out.epoch, 4, states);
	EXPECT_EQ(0, memcmp(&want, status, sizeof(want)));
}

TEST_F(domain, join_refuses_a_rank_out_of_range)
{
	EXPECT_EQ(-ERANGE, sim_join(self->dev, self->fd, 4, NULL));
	EXPECT_EQ(-ERANGE, sim_join(self->dev, self->fd, 256, NULL));
	EXPECT_EQ(-ERANGE, sim_join(self->dev, self->fd, 0xffffffff, NULL));
	EXPECT_EQ(0, sim_join(self->dev, self->fd, 3, NULL));
}

TEST_F(domain, join_refuses_a_rank_that_is_held)
{
	int rank = sim_member(self->fd, 1);

	ASSERT_LE(0, rank);
	EXPECT_EQ(-EBUSY, sim_join(self->dev, self->fd, 1, NULL));
	EXPECT_EQ(0, sim_join(self->dev, self->fd, 2, NULL));
}

TEST_F(domain, join_twice_with_one_file_is_refused)
{
	int other = sim_domain(2);

	ASSERT_LE(0, other);
	ASSERT_EQ(0, sim_join(self->dev, self->fd, 0, NULL));
	EXPECT_EQ(-EISCONN, sim_join(self->dev, self->fd, 1, NULL));
	EXPECT_EQ(-EISCONN, sim_join(self->dev, other, 0, NULL));
}

TEST_F(domain, join_refuses_what_is_not_a_domain_file)
{
	int null = open("/dev/null", O_RDWR), rank = sim_member(self->fd, 0);

	ASSERT_LE(0, rank);
	EXPECT_EQ(-EBADF, sim_join(self->dev, -1, 1, NULL));
	EXPECT_EQ(-EBADF, sim_join(self->dev, 9999, 1, NULL));
	EXPECT_EQ(-EBADF, sim_join(self->dev, null, 1, NULL));
	EXPECT_EQ(-EBADF, sim_join(self->dev, self->dev, 1, NULL));
	EXPECT_EQ(-EBADF, sim_join(self->dev, rank, 1, NULL));
	EXPECT_EQ(0, sim_join(self->dev, self->fd, 1, NULL));
}

TEST_F(domain, one_process_may_hold_several_ranks)
{
	__u32 states[4] = { PLD_RANK_JOINED, PLD_RANK_JOINED, PLD_RANK_JOINED,
			    PLD_RANK_JOINED };
	const struct pld_sim_status *status;
	struct pld_sim_status want;
	int fd = -1;

	for (__u32 r = 0; r < 4; r++) {
		fd = sim_member(self->fd, r);
		ASSERT_LE(0, fd);
	}
	status = sim_status(fd);
	ASSERT_NE(MAP_FAILED, status);
	want = sim_status_of(status->epoch, 4, states);
	EXPECT_EQ(0, memcmp(&want, status, sizeof(want)));
}

struct stranger {
	int rank;
	int domain;
	struct pld_sim_window_alloc win;
};

static int use_strangers_rank(struct peer *self, void *arg)
{
	struct stranger *s = arg;
	__u32 win = s->win.window;

	NEED(sim_wait(s->rank, win, 0, PLD_SIM_CMP_EQ, 0, 0, NULL) == -EPERM);
	NEED(sim_ring(s->rank, win, 0, 0) == -EPERM);
	NEED(sim_fail(s->rank, PLD_FAIL_ERROR, 0, -EIO) == -EPERM);
	NEED(sim_leave(s->rank) == -EPERM);
	NEED(sim_map(s->rank, &s->win, 0) == MAP_FAILED && errno == EPERM);
	NEED(sim_status(s->rank) == MAP_FAILED && errno == EPERM);
	NEED(sim_doorbell(s->rank, 0) == MAP_FAILED && errno == EPERM);
	return 0;
}

TEST_F(domain, rank_file_in_other_hands_is_EPERM_and_stays_the_owners)
{
	struct stranger s = { .domain = self->fd };
	__u32 states[4] = { PLD_RANK_JOINED };
	const struct pld_sim_status *status;
	struct pld_sim_status before;

	ASSERT_EQ(0, sim_alloc(self->fd, SIM_PAGE, 0, &s.win));
	s.rank = sim_member(self->fd, 0);
	ASSERT_LE(0, s.rank);
	status = sim_status(s.rank);
	ASSERT_NE(MAP_FAILED, status);
	before = sim_status_of(status->epoch, 4, states);

	EXPECT_EQ(0, peer_call(use_strangers_rank, &s));
	EXPECT_EQ(0, memcmp(&before, status, sizeof(before)));
	EXPECT_EQ(0,
		  sim_wait(s.rank, s.win.window, 0, PLD_SIM_CMP_EQ, 0, 0, NULL));
	EXPECT_EQ(0, sim_leave(s.rank));
}

static int join_what_arrives(struct peer *self, void *arg)
{
	int fd = fd_receive(*(int *)arg);
	struct pld_sim_join out;
	int rank = sim_open();

	NEED(fd >= 0);
	NEED(sim_join(rank, fd, 3, &out) == 0);
	NEED(out.nranks == 4);
	NEED(sim_leave(rank) == 0);
	return 0;
}

TEST_F(domain, domain_file_passes_over_a_socket)
{
	__u32 states[4] = { PLD_RANK_JOINED, 0, 0, PLD_RANK_LEFT };
	const struct pld_sim_status *status;
	struct pld_sim_status want;
	struct peer p;
	int sock[2];
	int domain;

	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM, 0, sock));
	ASSERT_EQ(0, peer_start(&p, join_what_arrives, &sock[1]));
	domain = sim_domain(4);
	ASSERT_LE(0, domain);
	ASSERT_EQ(0, sim_join(self->dev, domain, 0, NULL));
	ASSERT_EQ(0, fd_send(sock[0], domain));
	EXPECT_EQ(0, close(domain));
	EXPECT_EQ(0, peer_reap(&p));

	status = sim_status(self->dev);
	ASSERT_NE(MAP_FAILED, status);
	want = sim_status_of(status->epoch, 4, states);
	EXPECT_EQ(0, memcmp(&want, status, sizeof(want)));
}

TEST_F(domain, left_rank_file_is_no_member_any_more)
{
	__u32 states[4] = { PLD_RANK_LEFT, PLD_RANK_JOINED };
	const struct pld_sim_status *status;
	struct pld_sim_window_alloc win;
	struct pld_sim_status want;
	struct pld_sim_join out;
	int other;

	ASSERT_EQ(0, sim_alloc(self->fd, SIM_PAGE, 0, &win));
	ASSERT_EQ(0, sim_join(self->dev, self->fd, 0, &out));
	other = sim_member(self->fd, 1);
	ASSERT_LE(0, other);
	status = sim_status(other);
	ASSERT_NE(MAP_FAILED, status);

	ASSERT_EQ(0, sim_leave(self->dev));
	EXPECT_EQ(-ENOTCONN, sim_leave(self->dev));
	EXPECT_EQ(-ENOTCONN, sim_wait(self->dev, win.window, 0, PLD_SIM_CMP_EQ,
				      0, 0, NULL));
	EXPECT_EQ(-ENOTCONN, sim_ring(self->dev, win.window, 1, 0));
	EXPECT_EQ(-ENOTCONN, sim_fail(self->dev, PLD_FAIL_ERROR, 0, 1));
	EXPECT_EQ(MAP_FAILED, sim_map(self->dev, &win, 0));
	EXPECT_EQ(ENOTCONN, errno);
	EXPECT_EQ(-EBUSY, sim_join(sim_open(), self->fd, 0, NULL));

	want = sim_status_of(out.epoch, 4, states);
	EXPECT_EQ(0, memcmp(&want, status, sizeof(want)));
}

TEST_F(domain, mapping_outlives_leaving)
{
	struct pld_sim_window_alloc win;
	unsigned char *bytes;

	ASSERT_EQ(0, sim_alloc(self->fd, SIM_PAGE, 0, &win));
	ASSERT_EQ(0, sim_join(self->dev, self->fd, 0, NULL));
	bytes = sim_map(self->dev, &win, 2);
	ASSERT_NE(MAP_FAILED, bytes);
	bytes[0] = 1;
	ASSERT_EQ(0, sim_leave(self->dev));
	ASSERT_EQ(0, close(self->dev));
	bytes[SIM_PAGE - 1] = 2;
	EXPECT_EQ(1, bytes[0]);
	EXPECT_EQ(2, bytes[SIM_PAGE - 1]);
}

TEST_F(domain, rank_outlives_the_domain_file)
{
	struct pld_sim_window_alloc win;

	ASSERT_EQ(0, sim_alloc(self->fd, SIM_PAGE, 0, &win));
	ASSERT_EQ(0, sim_join(self->dev, self->fd, 0, NULL));
	ASSERT_EQ(0, close(self->fd));
	EXPECT_EQ(0, sim_wait(self->dev, win.window, 0, PLD_SIM_CMP_EQ, 0, 0,
			      NULL));
	EXPECT_NE(MAP_FAILED, sim_map(self->dev, &win, 1));
	EXPECT_EQ(0, sim_leave(self->dev));
}

TEST_F(domain, reset_is_refused_while_a_rank_is_joined)
{
	struct pld_sim_join out, again;
	int other;

	ASSERT_EQ(0, sim_join(self->dev, self->fd, 0, &out));
	EXPECT_EQ(-EBUSY, sim_reset(self->fd));
	ASSERT_EQ(0, sim_leave(self->dev));
	EXPECT_EQ(0, sim_reset(self->fd));
	other = sim_open();
	EXPECT_EQ(0, sim_join(other, self->fd, 0, &again));
	EXPECT_LT(out.epoch, again.epoch);
}

/* Fills a page of a window through a member, and leaves in good order. */
static void scribble(struct __test_metadata *_metadata, int domain,
		     struct pld_sim_window_alloc *win, __u32 rank)
{
	int fd = sim_member(domain, rank);
	unsigned char *bytes;

	ASSERT_LE(0, fd);
	bytes = sim_map(fd, win, rank);
	ASSERT_NE(MAP_FAILED, bytes);
	memset(bytes, 0xa5, win->length);
	ASSERT_EQ(0, sim_unmap(bytes, win));
	ASSERT_EQ(0, sim_leave(fd));
	ASSERT_EQ(0, close(fd));
}

TEST_F(domain, reset_zeroes_signals_and_keeps_data)
{
	struct pld_sim_window_alloc data, signal;
	unsigned char zeros[SIM_PAGE] = { 0 }, full[SIM_PAGE];
	unsigned char *bytes;

	memset(full, 0xa5, sizeof(full));
	ASSERT_EQ(0, sim_alloc(self->fd, SIM_PAGE, 0, &data));
	ASSERT_EQ(0, sim_alloc(self->fd, SIM_PAGE, PLD_WINDOW_SIGNAL, &signal));
	scribble(_metadata, self->fd, &data, 3);
	scribble(_metadata, self->fd, &signal, 1);
	ASSERT_EQ(0, sim_reset(self->fd));

	ASSERT_EQ(0, sim_join(self->dev, self->fd, 3, NULL));
	bytes = sim_map(self->dev, &data, 3);
	ASSERT_NE(MAP_FAILED, bytes);
	EXPECT_EQ(0, memcmp(full, bytes, SIM_PAGE));
	bytes = sim_map(self->dev, &signal, 1);
	ASSERT_NE(MAP_FAILED, bytes);
	EXPECT_EQ(0, memcmp(zeros, bytes, SIM_PAGE));
}

TEST_F(domain, reset_makes_a_broken_domain_as_new)
{
	__u32 states[4] = { [1] = PLD_RANK_JOINED };
	const struct pld_sim_status *status;
	struct pld_sim_status want;
	struct pld_sim_join old, now;
	int rank;

	ASSERT_EQ(0, sim_join(self->dev, self->fd, 1, &old));
	ASSERT_EQ(0, sim_fail(self->fd, PLD_FAIL_ABORT, 2, STALE_CODE));
	EXPECT_EQ(-ECANCELED, sim_join(sim_open(), self->fd, 0, NULL));
	ASSERT_EQ(0, sim_leave(self->dev));
	ASSERT_EQ(0, sim_reset(self->fd));

	rank = sim_open();
	ASSERT_EQ(0, sim_join(rank, self->fd, 1, &now));
	EXPECT_LE(old.epoch + 2, now.epoch);
	status = sim_status(rank);
	ASSERT_NE(MAP_FAILED, status);
	want = sim_status_of(now.epoch, 4, states);
	EXPECT_EQ(0, memcmp(&want, status, sizeof(want)));
}

TEST_F(domain, file_of_before_a_reset_is_no_member_after_it)
{
	struct pld_sim_window_alloc win;
	int rank;

	ASSERT_EQ(0, sim_alloc(self->fd, SIM_PAGE, 0, &win));
	ASSERT_EQ(0, sim_join(self->dev, self->fd, 1, NULL));
	ASSERT_EQ(0, sim_leave(self->dev));
	ASSERT_EQ(0, sim_reset(self->fd));
	rank = sim_member(self->fd, 1);
	ASSERT_LE(0, rank);
	EXPECT_EQ(-ENOTCONN, sim_leave(self->dev));
	EXPECT_EQ(0, close(self->dev));
	EXPECT_EQ(0, sim_wait(rank, win.window, 0, PLD_SIM_CMP_EQ, 0, 0, NULL));
}

TEST_F_TIMEOUT(domain, windows_are_limited_in_number, 120)
{
	struct pld_sim_window_alloc win;
	int n = 0, ret;

	while ((ret = sim_alloc(self->fd, 1, 0, &win)) == 0)
		n++;
	EXPECT_EQ(-ENOSPC, ret);
	EXPECT_EQ(PLD_SIM_MAX_WINDOWS, n);
}

TEST_F(domain, id_of_a_freed_window_names_no_other_window)
{
	struct pld_sim_window_alloc win, next;

	ASSERT_EQ(0, sim_alloc(self->fd, 1, 0, &win));
	ASSERT_EQ(0, sim_free(self->fd, win.window));
	EXPECT_EQ(-ENOENT, sim_free(self->fd, win.window));
	ASSERT_EQ(0, sim_alloc(self->fd, 1, 0, &next));
	EXPECT_NE(win.window, next.window);
	EXPECT_EQ(-ENOENT, sim_free(self->fd, win.window));
	EXPECT_EQ(0, sim_free(self->fd, next.window));
	EXPECT_EQ(-ENOENT, sim_free(self->fd, 0xffffffff));
}

/* Two domains on the same devices, in another order, alike in all else. */
FIXTURE(two_domains)
{
	int domain[2];
	int rank[2];
	struct pld_sim_window_alloc win[2];
	unsigned char *bytes[2];
};

FIXTURE_SETUP(two_domains)
{
	static const __u32 ids[2][2] = { { 0, 1 }, { 1, 0 } };
	int dev = sim_open();

	for (int d = 0; d < 2; d++) {
		self->domain[d] = sim_create(dev, ids[d], 2);
		ASSERT_LE(0, self->domain[d]);
		ASSERT_EQ(0, sim_alloc(self->domain[d], SIM_PAGE, 0,
				       &self->win[d]));
		self->rank[d] = sim_member(self->domain[d], d);
		ASSERT_LE(0, self->rank[d]);
		self->bytes[d] = sim_map(self->rank[d], &self->win[d], 1);
		ASSERT_NE(MAP_FAILED, self->bytes[d]);
	}
}

FIXTURE_TEARDOWN(two_domains)
{
	for (int d = 0; d < 2; d++) {
		close(self->rank[d]);
		close(self->domain[d]);
	}
}

TEST_F(two_domains, bytes_of_one_are_not_seen_in_the_other)
{
	unsigned char zeros[SIM_PAGE] = { 0 }, full[SIM_PAGE];

	memset(full, 0x3c, sizeof(full));
	memset(self->bytes[0], 0x3c, SIM_PAGE);
	EXPECT_EQ(0, memcmp(zeros, self->bytes[1], SIM_PAGE));
	EXPECT_EQ(0, memcmp(full, self->bytes[0], SIM_PAGE));
}

struct waiter {
	int domain;
	__u32 rank;
	struct pld_sim_window_alloc win;
	__s64 deadline;
};

static int wait_for_one(struct peer *self, void *arg)
{
	struct waiter *w = arg;
	int fd = sim_member(w->domain, w->rank), ret;
	__s32 value;

	NEED(fd >= 0);
	ret = sim_wait(fd, w->win.window, 0, PLD_SIM_CMP_EQ, 1, w->deadline,
		       &value);
	peer_tell(self, ret);
	peer_tell(self, value);
	return sim_leave(fd);
}

TEST_F(two_domains, ring_in_one_ends_no_wait_in_the_other)
{
	struct waiter w = {
		.domain = self->domain[1],
		.rank = 0,
		.win = self->win[1],
		.deadline = sim_after(SIM_SEC),
	};
	const struct pld_sim_doorbell *bell = sim_doorbell(self->rank[1], 0);
	__s32 *cell = sim_map(self->rank[0], &self->win[0], 0);
	struct peer p;

	ASSERT_NE(MAP_FAILED, bell);
	ASSERT_NE(MAP_FAILED, cell);
	ASSERT_EQ(0, peer_start(&p, wait_for_one, &w));
	ASSERT_TRUE(sim_until(&bell->waiters, 1));
	*cell = 1;
	EXPECT_EQ(0, sim_ring(self->rank[0], self->win[0].window, 0, 0));
	EXPECT_EQ(-ETIMEDOUT, peer_hear(&p));
	EXPECT_EQ(0, peer_hear(&p));
	EXPECT_EQ(0, peer_reap(&p));
}

TEST_F(two_domains, end_of_one_leaves_the_other_alone)
{
	__u32 states[2] = { 0, PLD_RANK_JOINED };
	const struct pld_sim_status *status = sim_status(self->rank[1]);
	struct pld_sim_status want;

	ASSERT_NE(MAP_FAILED, status);
	want = sim_status_of(status->epoch, 2, states);
	ASSERT_EQ(0, sim_fail(self->rank[0], PLD_FAIL_ABORT, 0, 3));
	ASSERT_EQ(0, close(self->rank[0]));
	EXPECT_EQ(0, memcmp(&want, status, sizeof(want)));
	EXPECT_EQ(0, sim_wait(self->rank[1], self->win[1].window, 0,
			      PLD_SIM_CMP_EQ, 0, 0, NULL));
}

PLD_TEST_MAIN
