// SPDX-License-Identifier: GPL-2.0
/*
 * Conditions as sync_files: when the fence signals and with what status, that
 * it never waits beyond its deadline, merged with others, imported by a DRM
 * driver where there is one that can; and what it leaves behind.
 *
 * This process is rank 0, whose cells are watched.
 */
#include <linux/dma-buf.h>
#include <linux/sync_file.h>
#if __has_include(<drm/drm.h>)
#include <drm/drm.h>
#elif __has_include(<libdrm/drm.h>)
#include <libdrm/drm.h>
#endif

#include "pld_counters.h"
#include "pld_watched.h"
#include "virtio_gpu.h"

FIXTURE(fence)
{
	struct watched w;
};

FIXTURE_SETUP(fence)
{
	watched_setup(_metadata, &self->w);
}

FIXTURE_TEARDOWN(fence)
{
	watched_teardown(&self->w);
}

/* A fence for one cell; its deadline is far away. */
static int fence_of(FIXTURE_DATA(fence) * self, __u64 cell, __s32 expected)
{
	struct pld_sim_condition c = GE(cell, expected);

	return sim_fence(self->w.fd, 0, &c, 1, sim_after(9 * SIM_SEC));
}

/* 0 before it has signalled, 1 when all is well, or a negative errno. */
static int status_of(int fence)
{
	struct sync_file_info info = { 0 };

	return ioctl(fence, SYNC_IOC_FILE_INFO, &info) ? -1000 : info.status;
}

static int merge(int one, int other)
{
	struct sync_merge_data data = { .name = "both", .fd2 = other };

	return ioctl(one, SYNC_IOC_MERGE, &data) ? -errno : data.fence;
}

TEST_F(fence, signals_when_the_condition_holds)
{
	int fence = fence_of(self, 3, 5);

	ASSERT_LE(0, fence);
	EXPECT_EQ(FD_CLOEXEC, fcntl(fence, F_GETFD));
	EXPECT_EQ(1, sim_load(&self->w.bell->waiters));
	EXPECT_EQ(0, readable(fence, SHORT_MS));
	EXPECT_EQ(0, status_of(fence));
	notify(&self->w, 3, 4);
	EXPECT_EQ(0, readable(fence, 0));
	notify(&self->w, 3, 5);
	EXPECT_EQ(POLLIN, readable(fence, HANG_MS));
	EXPECT_EQ(1, status_of(fence));
	EXPECT_EQ(0, sim_load(&self->w.bell->waiters));
	/* For good. */
	notify(&self->w, 3, 0);
	EXPECT_EQ(1, status_of(fence));
	close(fence);
}

TEST_F(fence, of_what_holds_already_has_signalled)
{
	struct pld_sim_condition c[] = { GE(0, 1), GE(1, 0) };
	int fence;

	fence = sim_fence(self->w.fd, PLD_WAIT_ANY, c, 2, sim_after(SIM_SEC));
	ASSERT_LE(0, fence);
	EXPECT_EQ(1, status_of(fence));
	EXPECT_EQ(POLLIN, readable(fence, 0));
	close(fence);
	/* A deadline that has passed is one look. */
	fence = sim_fence(self->w.fd, 0, c + 1, 1, 1);
	ASSERT_LE(0, fence);
	EXPECT_EQ(1, status_of(fence));
	close(fence);
	fence = sim_fence(self->w.fd, 0, c, 2, 1);
	ASSERT_LE(0, fence);
	EXPECT_EQ(-ETIMEDOUT, status_of(fence));
	close(fence);
}

TEST_F(fence, carries_ETIMEDOUT_after_its_deadline)
{
	struct pld_sim_condition c = GE(0, 1);
	__s64 deadline = sim_after(60 * SIM_MS);
	int fence = sim_fence(self->w.fd, 0, &c, 1, deadline);

	ASSERT_LE(0, fence);
	EXPECT_EQ(POLLIN, readable(fence, HANG_MS));
	EXPECT_LE(deadline, sim_now());
	EXPECT_EQ(-ETIMEDOUT, status_of(fence));
	notify(&self->w, 0, 1);
	EXPECT_EQ(-ETIMEDOUT, status_of(fence));
	close(fence);
}

TEST_F(fence, deadline_is_mandatory_and_near)
{
	struct pld_sim_condition c[MOST + 1];

	for (int i = 0; i <= MOST; i++)
		c[i] = GE(i, 0);
	EXPECT_EQ(-EINVAL, sim_fence(self->w.fd, 0, c, 1, 0));
	EXPECT_EQ(-EINVAL, sim_fence(self->w.fd, 0, c, 1, -1));
	EXPECT_EQ(-EINVAL, sim_fence(self->w.fd, 0, c, 1, INT64_MIN));
	EXPECT_EQ(-ERANGE, sim_fence(self->w.fd, 0, c, 1, INT64_MAX));
	EXPECT_EQ(-ERANGE,
		  sim_fence(self->w.fd, 0, c, 1,
			    sim_after(PLD_SIM_MAX_FENCE_NS + SIM_HANG)));
	EXPECT_EQ(-EINVAL, sim_fence(self->w.fd, 0, c, 0, sim_after(SIM_SEC)));
	EXPECT_EQ(-EINVAL,
		  sim_fence(self->w.fd, 0, c, MOST + 1, sim_after(SIM_SEC)));
	EXPECT_EQ(-EFAULT,
		  sim_fence(self->w.fd, 0, NULL, 1, sim_after(SIM_SEC)));
	EXPECT_EQ(0, sim_load(&self->w.bell->waiters));
	EXPECT_EQ(0, close(sim_fence(self->w.fd, 0, c, MOST,
				     sim_after(PLD_SIM_MAX_FENCE_NS))));
}

TEST_F(fence, carries_what_broke_the_domain)
{
	static const struct {
		__u32 reason;
		int status;
	} fails[] = {
		{ PLD_FAIL_DEAD, -EOWNERDEAD },
		{ PLD_FAIL_ERROR, -EOWNERDEAD },
		{ PLD_FAIL_TIMEOUT, -ETIMEDOUT },
		{ PLD_FAIL_ABORT, -ECANCELED },
	};

	for (size_t i = 0; i < ARRAY_SIZE(fails); i++) {
		int domain = sim_domain(1), fd = sim_member(domain, 0), fence;
		struct pld_sim_window_alloc win;
		struct pld_sim_condition c = { .expected = 1 };

		ASSERT_LE(0, fd);
		ASSERT_EQ(0, sim_alloc(domain, 64, 0, &win));
		c.window = win.window;
		fence = sim_fence(fd, 0, &c, 1, sim_after(9 * SIM_SEC));
		ASSERT_LE(0, fence);
		EXPECT_EQ(0, status_of(fence));
		EXPECT_EQ(0, sim_fail(domain, fails[i].reason, 0, 0));
		EXPECT_EQ(fails[i].status, status_of(fence));
		EXPECT_EQ(POLLIN, readable(fence, 0));
		close(fence);
		close(fd);
		close(domain);
	}
}

TEST_F(fence, carries_ENOTCONN_when_the_rank_leaves)
{
	int fence = fence_of(self, 0, 1);

	ASSERT_LE(0, fence);
	EXPECT_EQ(0, sim_leave(self->w.fd));
	EXPECT_EQ(-ENOTCONN, status_of(fence));
	EXPECT_EQ(-ENOTCONN, fence_of(self, 0, 1));
	close(fence);
}

/* A killed rank's fence, in the hands of another process. */
struct job {
	int domain;
	int sock;
	struct pld_sim_window_alloc win;
};

static int send_a_fence(struct peer *self, void *arg)
{
	struct job *job = arg;
	struct pld_sim_condition c = { .window = job->win.window,
				       .expected = 1 };
	int fd = sim_member(job->domain, 1), fence;

	NEED(fd >= 0);
	fence = sim_fence(fd, 0, &c, 1, sim_after(9 * SIM_SEC));
	NEED(fence >= 0 && fd_send(job->sock, fence) == 0);
	return peer_sleep();
}

TEST_F(fence, outlives_a_killed_rank_and_says_so)
{
	struct job job = { .domain = self->w.domain, .win = self->w.win };
	int sock[2], fence;
	struct peer p;

	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sock));
	job.sock = sock[1];
	ASSERT_EQ(0, peer_start(&p, send_a_fence, &job));
	fence = fd_receive(sock[0]);
	ASSERT_LE(0, fence);
	EXPECT_EQ(0, status_of(fence));
	EXPECT_EQ(137, peer_kill(&p));
	EXPECT_EQ(POLLIN, readable(fence, HANG_MS));
	EXPECT_EQ(-EOWNERDEAD, status_of(fence));
	close(fence);
	close(sock[0]);
	close(sock[1]);
}

TEST_F(fence, says_whose_it_is)
{
	struct sync_fence_info one = { 0 };
	struct sync_file_info info = {
		.num_fences = 1,
		.sync_fence_info = (uintptr_t)&one,
	};
	int fence = fence_of(self, 0, 1), domain, rank;

	ASSERT_LE(0, fence);
	ASSERT_EQ(0, ioctl(fence, SYNC_IOC_FILE_INFO, &info));
	EXPECT_EQ(1, info.num_fences);
	EXPECT_STREQ("pld_sim", one.driver_name);
	EXPECT_EQ(2, sscanf(one.obj_name, "domain %d rank %d", &domain, &rank));
	EXPECT_EQ(0, rank);
	EXPECT_EQ(0, one.status);
	close(fence);
}

/* The later one does not stand for the earlier one. */
TEST_F(fence, merged_signals_when_both_have_whichever_is_first)
{
	for (int first = 0; first < 2; first++) {
		int fence[2], both;

		notify(&self->w, 0, 0);
		notify(&self->w, 1, 0);
		fence[0] = fence_of(self, 0, 1);
		fence[1] = fence_of(self, 1, 1);
		both = merge(fence[0], fence[1]);
		ASSERT_LE(0, both);
		EXPECT_EQ(0, status_of(both));
		notify(&self->w, first, 1);
		EXPECT_EQ(1, status_of(fence[first]));
		EXPECT_EQ(0, status_of(fence[!first]));
		EXPECT_EQ(0, readable(both, SHORT_MS));
		EXPECT_EQ(0, status_of(both));
		notify(&self->w, !first, 1);
		EXPECT_EQ(POLLIN, readable(both, HANG_MS));
		EXPECT_EQ(1, status_of(both));
		close(fence[0]);
		close(fence[1]);
		close(both);
	}
}

TEST_F(fence, merged_carries_the_error_of_one)
{
	struct pld_sim_condition c = GE(1, 1);
	int good = fence_of(self, 0, 1), late, both;
	struct sync_fence_info each[2] = { 0 };
	struct sync_file_info info = {
		.num_fences = 2,
		.sync_fence_info = (uintptr_t)each,
	};

	late = sim_fence(self->w.fd, 0, &c, 1, sim_after(50 * SIM_MS));
	both = merge(good, late);
	ASSERT_LE(0, both);
	close(good);
	close(late);
	notify(&self->w, 0, 1);
	EXPECT_EQ(POLLIN, readable(both, HANG_MS));
	ASSERT_EQ(0, ioctl(both, SYNC_IOC_FILE_INFO, &info));
	EXPECT_EQ(2, info.num_fences);
	EXPECT_EQ(-ETIMEDOUT, info.status);
	EXPECT_EQ(1 - ETIMEDOUT, each[0].status + each[1].status);
	close(both);
}

#ifdef DRM_IOCTL_VERSION
/* Of drm/vgem_drm.h, which few systems have. */
struct vgem_fence_attach {
	__u32 handle;
	__u32 flags;
	__u32 out_fence;
	__u32 pad;
};
#define VGEM_FENCE_ATTACH \
	DRM_IOWR(DRM_COMMAND_BASE + 1, struct vgem_fence_attach)

static int is_driver(int card, const char *name)
{
	char found[32] = "";
	struct drm_version version = {
		.name = found,
		.name_len = sizeof(found) - 1,
	};

	return !ioctl(card, DRM_IOCTL_VERSION, &version) && !strcmp(found, name);
}

/* The card of that driver, or -1. */
static int open_card(const char *driver)
{
	for (int i = 0; i < 16; i++) {
		char path[32];
		int card;

		snprintf(path, sizeof(path), "/dev/dri/card%d", i);
		card = open(path, O_RDWR | O_CLOEXEC);
		if (card >= 0 && is_driver(card, driver))
			return card;
		close(card);
	}
	return -1;
}

/* 0 when nothing that it must wait for is attached to the buffer. */
static int vgem_attach(int card, __u32 handle)
{
	struct vgem_fence_attach attach = { .handle = handle };

	if (ioctl(card, VGEM_FENCE_ATTACH, &attach))
		return -errno;
	return 0;
}

static int vgem_buffer(int card, __u32 *handle)
{
	struct drm_mode_create_dumb create = {
		.width = 32,
		.height = 32,
		.bpp = 32,
	};
	struct drm_prime_handle prime = { .flags = DRM_CLOEXEC };

	if (ioctl(card, DRM_IOCTL_MODE_CREATE_DUMB, &create))
		return -errno;
	*handle = prime.handle = create.handle;
	if (ioctl(card, DRM_IOCTL_PRIME_HANDLE_TO_FD, &prime))
		return -errno;
	return prime.fd;
}

/* In the reservation of its buffer, as the end of somebody's writing. */
TEST_F(fence, drm_driver_waits_for_it)
{
	struct dma_buf_import_sync_file import = { .flags = DMA_BUF_SYNC_WRITE };
	int card, buffer, fence;
	__u32 handle;

	if (system("modprobe -q vgem 2>/dev/null"))
		SKIP(return, "there is no vgem");
	card = open_card("vgem");
	if (card < 0)
		SKIP(return, "there is no card of vgem's");
	buffer = vgem_buffer(card, &handle);
	ASSERT_LE(0, buffer);
	fence = fence_of(self, 0, 1);
	ASSERT_LE(0, fence);
	import.fd = fence;
	ASSERT_EQ(0, ioctl(buffer, DMA_BUF_IOCTL_IMPORT_SYNC_FILE, &import));
	close(fence);

	EXPECT_EQ(-EBUSY, vgem_attach(card, handle));
	EXPECT_EQ(0, readable(buffer, SHORT_MS));
	notify(&self->w, 0, 1);
	EXPECT_EQ(POLLIN, readable(buffer, HANG_MS));
	EXPECT_EQ(0, vgem_attach(card, handle));
	close(buffer);
	close(card);
}

/* drmSyncobjImportSyncFile() by its ioctls. */
TEST_F(fence, drm_syncobj_takes_it)
{
	struct drm_syncobj_create create = { 0 };
	struct drm_syncobj_handle import = {
		.flags = DRM_SYNCOBJ_FD_TO_HANDLE_FLAGS_IMPORT_SYNC_FILE,
	};
	struct drm_syncobj_wait wait = { .count_handles = 1 };
	struct drm_get_cap cap = { .capability = DRM_CAP_SYNCOBJ };
	int card;

	virtio_gpu_load();
	card = open_card("virtio_gpu");
	if (card < 0 || ioctl(card, DRM_IOCTL_GET_CAP, &cap) || !cap.value) {
		close(card);
		SKIP(return, "there is no DRM driver with syncobj");
	}
	ASSERT_EQ(0, ioctl(card, DRM_IOCTL_SYNCOBJ_CREATE, &create));
	import.handle = create.handle;
	import.fd = fence_of(self, 0, 1);
	ASSERT_LE(0, import.fd);
	ASSERT_EQ(0, ioctl(card, DRM_IOCTL_SYNCOBJ_FD_TO_HANDLE, &import));
	wait.handles = (uintptr_t)&create.handle;
	EXPECT_EQ(-1, ioctl(card, DRM_IOCTL_SYNCOBJ_WAIT, &wait));
	EXPECT_EQ(ETIME, errno);
	notify(&self->w, 0, 1);
	wait.timeout_nsec = sim_after(SIM_HANG);
	EXPECT_EQ(0, ioctl(card, DRM_IOCTL_SYNCOBJ_WAIT, &wait));
	close(import.fd);
	close(card);
}
#endif

TEST_F(fence, descriptor_comes_last_or_not_at_all)
{
	struct pld_sim_condition c = GE(0, 1);
	struct pld_sim_signal_fence arg = {
		.size = sizeof(arg),
		.conditions = (uintptr_t)&c,
		.nr_conditions = 1,
		.deadline_ns = sim_after(9 * SIM_SEC),
	};
	int before = dup(0);
	void *map;

	map = mmap(NULL, SIM_PAGE, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, map);
	memcpy(map, &arg, sizeof(arg));
	ASSERT_EQ(0, mprotect(map, SIM_PAGE, PROT_READ));
	for (int i = 0; i < 2 * PLD_SIM_MAX_SIGNALS; i++)
		ASSERT_EQ(-EFAULT,
			  sim_ioctl(self->w.fd, PLD_IOC_SIGNAL_FENCE, map));
	EXPECT_EQ(before + 1, dup(0));
	EXPECT_EQ(0, sim_load(&self->w.bell->waiters));
}

/* They wait on, for whoever else may have them, until their deadlines. */
TEST_F(fence, closed_one_counts_until_its_deadline)
{
	struct pld_sim_condition c = GE(0, 1);
	int fence;

	fence = sim_fence(self->w.fd, 0, &c, 1, sim_after(50 * SIM_MS));
	ASSERT_LE(0, fence);
	close(fence);
	EXPECT_TRUE(sim_until(&self->w.bell->waiters, 0));
}

TEST_F(fence, keeps_the_module_after_all_else_has_gone)
{
	long long references = steady_references();
	struct pld_sim_condition c = { .expected = 1 };
	int domain = sim_domain(1), fd = sim_member(domain, 0), fence;
	struct pld_sim_window_alloc win;

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, sim_alloc(domain, 64, 0, &win));
	c.window = win.window;
	fence = sim_fence(fd, 0, &c, 1, sim_after(9 * SIM_SEC));
	ASSERT_LE(0, fence);
	EXPECT_EQ(0, sim_leave(fd));
	close(fd);
	close(domain);
	EXPECT_EQ(references + 1, settled_references(references + 1));
	EXPECT_EQ(-ENOTCONN, status_of(fence));
	close(fence);
	EXPECT_EQ(references, settled_references(references));
}

PLD_TEST_MAIN
