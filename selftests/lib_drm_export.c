// SPDX-License-Identifier: GPL-2.0
/*
 * Windows as buffers of a DRM device, by libpld-drm, against the driver vgem:
 * one dma-buf is one handle and one file, the bytes are the same from either
 * side, and they live on when their owner is killed.
 */
#include <sys/syscall.h>

#include "lib_drm.h"
#include "pld_proc.h"

#define GIB ((size_t)1 << 30)
#define MIB ((size_t)1 << 20)

FIXTURE(drm)
{
	pld_domain *domain;
	pld_window_buffer *data;
	int drm;
};

FIXTURE_SETUP(drm)
{
	self->drm = vgem_open();
	ASSERT_GE(self->drm, 0);
	self->domain = make_domain(NRANKS);
	ASSERT_NE(NULL, self->domain);
	ASSERT_EQ(0, pld_alloc_window_buffer(self->domain, BYTES, &self->data));
}

FIXTURE_TEARDOWN(drm)
{
	pld_domain_destroy(self->domain);
	close(self->drm);
}

/* Windows of memfd are exported by a driver that not every kernel has. */
static int cannot_export(pld_window_buffer *buffer)
{
	int error, fd;

	error = pld_window_export(buffer, 0, 0, 0, &fd);
	if (!error)
		close(fd);
	return error == -EOPNOTSUPP || error == -EACCES;
}

static int on_memfd(const pld_domain *domain)
{
	return !strcmp(pld_domain_platform(domain), "memfd");
}

#define SKIP_WITHOUT_EXPORT(buffer)                           \
	do {                                                  \
		if (cannot_export(buffer))                    \
			SKIP(return, "%s", pld_last_error()); \
	} while (0)

/* Each rank fills its own window. */
static int fills(pld_domain *domain, void *arg)
{
	pld_distributed_tensor data;

	PLD_TRY(pld_window(arg, PLD_SHAPE(BYTES), PLD_UINT8, &data));
	golden_fill(data.data, BYTES, (unsigned int)pld_rank(domain));
	return 0;
}

/* Rank 1's window is seed 9 now, seen by all; the others' are as before. */
static int finds(pld_domain *domain, void *arg)
{
	pld_distributed_tensor data;
	pld_tile look;

	PLD_TRY(pld_window(arg, PLD_SHAPE(BYTES), PLD_UINT8, &data));
	PLD_TRY(pld_tile_alloc(&look, BYTES));
	for (int peer = 0; peer < NRANKS; peer++) {
		CHECK_EQ(0, pld_tile_remote_load(&data, peer, PLD_AT(0),
						 PLD_SHAPE(BYTES), &look));
		CHECK_EQ(BYTES,
			 golden_differs(look.data, BYTES,
					peer == 1 ? 9 : (unsigned int)peer));
	}
	pld_tile_free(&look);
	return 0;
}

/* One dma-buf: one handle however often, and the same file again. */
TEST_F(drm, one_window_is_one_handle_and_one_file)
{
	uint32_t first, second;
	int fd, again;

	SKIP_WITHOUT_EXPORT(self->data);
	ASSERT_EQ(0, pld_window_export(self->data, 1, 0, 0, &fd));
	ASSERT_EQ(0, drmPrimeFDToHandle(self->drm, fd, &first));
	ASSERT_EQ(0, drmPrimeFDToHandle(self->drm, fd, &second));
	EXPECT_EQ(first, second);
	again = gem_fd(self->drm, first);
	ASSERT_GE(again, 0);
	EXPECT_TRUE(same_file(fd, again));
	close(fd);
	EXPECT_EQ(0, drmCloseBufferHandle(self->drm, first));
	EXPECT_EQ(-1, gem_fd(self->drm, first));
}

TEST_F(drm, handles_of_two_windows_differ)
{
	uint32_t handles[2];

	SKIP_WITHOUT_EXPORT(self->data);
	for (int rank = 0; rank < 2; rank++)
		ASSERT_EQ(0, pld_drm_export(self->data, rank, 0, 0, self->drm,
					    &handles[rank]));
	EXPECT_NE(handles[0], handles[1]);
	EXPECT_FALSE(same_file(gem_fd(self->drm, handles[0]),
			       gem_fd(self->drm, handles[1])));
}

TEST_F(drm, bytes_are_the_same_through_the_device)
{
	unsigned char *bytes[NRANKS];
	uint32_t handle;
	int fds[NRANKS];

	SKIP_WITHOUT_EXPORT(self->data);
	RUN(self->domain, fills, self->data);
	for (int rank = 0; rank < NRANKS; rank++) {
		ASSERT_EQ(0, pld_drm_export(self->data, rank, 0, 0, self->drm,
					    &handle));
		bytes[rank] =
			gem_map_import(self->drm, handle, BYTES, &fds[rank]);
		ASSERT_NE(NULL, bytes[rank]);
		EXPECT_EQ(BYTES, lseek(fds[rank], 0, SEEK_END));
		ASSERT_EQ(0, dmabuf_begin(fds[rank]));
		EXPECT_EQ(BYTES, golden_differs(bytes[rank], BYTES,
						(unsigned int)rank));
		ASSERT_EQ(0, dmabuf_end(fds[rank]));
	}
	ASSERT_EQ(0, dmabuf_begin(fds[1]));
	golden_fill(bytes[1], BYTES, 9);
	ASSERT_EQ(0, dmabuf_end(fds[1]));
	RUN(self->domain, finds, self->data);
}

/* The second and third page of rank 2's three. */
TEST_F(drm, part_of_a_window)
{
	unsigned char whole[BYTES], *bytes;
	uint32_t handle;
	int free_fd, fd;

	SKIP_WITHOUT_EXPORT(self->data);
	RUN(self->domain, fills, self->data);
	free_fd = lowest_free_fd();
	ASSERT_EQ(0, pld_drm_export(self->data, 2, SLICE, BYTES - SLICE,
				    self->drm, &handle));
	EXPECT_EQ(free_fd, lowest_free_fd());
	bytes = gem_map_import(self->drm, handle, BYTES - SLICE, &fd);
	ASSERT_NE(NULL, bytes);
	EXPECT_EQ(BYTES - SLICE, lseek(fd, 0, SEEK_END));
	golden_fill(whole, BYTES, 2);
	ASSERT_EQ(0, dmabuf_begin(fd));
	EXPECT_EQ(0, memcmp(whole + SLICE, bytes, BYTES - SLICE));
	ASSERT_EQ(0, dmabuf_end(fd));
	EXPECT_EQ(NULL, map_shared(fd, BYTES, 0));
}

/* ---- the owner's end ---- */

/* A host of its own; its handle is one of the descriptor that it inherited. */
static int owner(struct peer *self, void *drm)
{
	pld_domain *domain = make_domain(NRANKS);
	pld_window_buffer *data;
	uint32_t handle;

	NEED(domain != NULL);
	NEED(!pld_alloc_window_buffer(domain, BYTES, &data));
	if (cannot_export(data)) {
		peer_tell(self, 0);
		return 0;
	}
	NEED(!run_ranks(domain, fills, data));
	NEED(!pld_drm_export(data, 1, 0, 0, *(int *)drm, &handle));
	peer_tell(self, (int)handle);
	return peer_sleep();
}

/* The handle that such a host leaves behind when it is killed, or 0. */
static uint32_t killed_owners_handle(int drm)
{
	struct peer p;
	int handle;

	if (peer_start(&p, owner, &drm))
		return 0;
	handle = peer_hear(&p);
	peer_kill(&p);
	return handle > 0 ? (uint32_t)handle : 0;
}

TEST_F(drm, bytes_outlive_a_killed_owner)
{
	unsigned char *bytes;
	uint32_t handle;
	int fd;

	SKIP_WITHOUT_EXPORT(self->data);
	handle = killed_owners_handle(self->drm);
	ASSERT_NE(0, handle);
	bytes = gem_map_import(self->drm, handle, BYTES, &fd);
	ASSERT_NE(NULL, bytes);
	ASSERT_EQ(0, dmabuf_begin(fd));
	EXPECT_EQ(BYTES, golden_differs(bytes, BYTES, 1));
	golden_fill(bytes, BYTES, 9);
	EXPECT_EQ(BYTES, golden_differs(bytes, BYTES, 9));
	ASSERT_EQ(0, dmabuf_end(fd));
}

/* The last thing that keeps the module is the device's handle. */
TEST_F(drm, module_stays_as_long_as_a_buffer)
{
	uint32_t handle;

	if (on_memfd(self->domain))
		SKIP(return, "platform memfd has no module");
	if (geteuid() || references("pld_sim") < 0)
		SKIP(return, "unloading needs root and a module");
	pld_domain_destroy(self->domain);
	self->domain = NULL;
	if (references("pld_sim"))
		SKIP(return, "somebody uses the module");
	handle = killed_owners_handle(self->drm);
	ASSERT_NE(0, handle);
	EXPECT_EQ(1, references("pld_sim"));
	EXPECT_EQ(-1, syscall(SYS_delete_module, "pld_sim", O_NONBLOCK));
	/* What rmmod calls "in use". */
	EXPECT_EQ(EWOULDBLOCK, errno);
	EXPECT_EQ(0, drmCloseBufferHandle(self->drm, handle));
	EXPECT_EQ(0, references_after("pld_sim", 0));
}

/* Handles and descriptors are the lowest ones that are free. */
TEST_F(drm, cycles_leave_nothing)
{
	int free_fd = lowest_free_fd(), users = references("pld_sim");
	uint32_t handles[NRANKS], free_handle;

	SKIP_WITHOUT_EXPORT(self->data);
	free_handle = gem_create(self->drm, BYTES);
	ASSERT_EQ(0, drmCloseBufferHandle(self->drm, free_handle));
	for (int cycle = 0; cycle < CYCLES; cycle++) {
		for (int rank = 0; rank < NRANKS; rank++)
			ASSERT_EQ(0, pld_drm_export(self->data, rank, 0, 0,
						    self->drm, &handles[rank]));
		for (int rank = 0; rank < NRANKS; rank++)
			ASSERT_EQ(0, drmCloseBufferHandle(self->drm,
							  handles[rank]));
	}
	EXPECT_EQ(free_fd, lowest_free_fd());
	EXPECT_EQ(free_handle, gem_create(self->drm, BYTES));
	EXPECT_EQ(users, references_after("pld_sim", users));
}

/* ---- sizes ---- */

/* One byte in each MiB, and the last one. */
static int marks(pld_domain *domain, void *arg)
{
	pld_distributed_tensor data;
	char *bytes;

	PLD_TRY(pld_window(arg, PLD_SHAPE(GIB), PLD_UINT8, &data));
	bytes = data.data;
	for (size_t at = 0; at < GIB; at += MIB)
		bytes[at] = (char)golden_byte(7, at);
	bytes[GIB - 1] = (char)golden_byte(7, GIB - 1);
	return 0;
}

TEST_F_TIMEOUT(drm, one_gib, 120)
{
	pld_window_buffer *large;
	unsigned char *bytes;
	pld_domain *domain;
	uint32_t handle;
	int fd;

	if (on_memfd(self->domain))
		SKIP(return, "udmabuf takes 64 MiB, where nobody has raised it");
	domain = make_domain(1);
	ASSERT_NE(NULL, domain);
	if (pld_alloc_window_buffer(domain, GIB, &large) == -ENOMEM)
		SKIP(return, "%s", pld_last_error());
	ASSERT_EQ(0, pld_drm_export(large, 0, 0, 0, self->drm, &handle));
	RUN(domain, marks, large);
	bytes = gem_map_import(self->drm, handle, GIB, &fd);
	ASSERT_NE(NULL, bytes);
	EXPECT_EQ(GIB, lseek(fd, 0, SEEK_END));
	ASSERT_EQ(0, dmabuf_begin(fd));
	for (size_t at = 0; at < GIB; at += MIB)
		ASSERT_EQ(golden_byte(7, at), bytes[at]);
	EXPECT_EQ(golden_byte(7, GIB - 1), bytes[GIB - 1]);
	ASSERT_EQ(0, dmabuf_end(fd));
	pld_domain_destroy(domain);
}

/* ---- what is refused ---- */

TEST_F(drm, devices_that_are_none_are_refused)
{
	int file = open("/dev/null", O_RDWR | O_CLOEXEC);
	char message[PLD_MESSAGE_BYTES];
	uint32_t handle = 5;
	int free_fd;

	SKIP_WITHOUT_EXPORT(self->data);
	free_fd = lowest_free_fd();
	EXPECT_REFUSED(-EINVAL, "pld_drm_export: handle must not be NULL",
		       pld_drm_export(self->data, 0, 0, 0, self->drm, NULL));
	snprintf(message, sizeof(message),
		 "pld_drm_export: drm_fd is %d, wanted a descriptor of a DRM device: Inappropriate ioctl for device",
		 file);
	EXPECT_REFUSED(-ENOTTY, message,
		       pld_drm_export(self->data, 0, 0, 0, file, &handle));
	EXPECT_REFUSED(-EBADF,
		       "pld_drm_export: drm_fd is -1, wanted a descriptor of a DRM device: Bad file descriptor",
		       pld_drm_export(self->data, 0, 0, 0, -1, &handle));
	EXPECT_EQ(-ERANGE,
		  pld_drm_export(self->data, NRANKS, 0, 0, self->drm, &handle));
	EXPECT_EQ(-EINVAL,
		  pld_drm_export(self->data, 0, 1, 0, self->drm, &handle));
	EXPECT_EQ(5, handle);
	EXPECT_EQ(free_fd, lowest_free_fd());
}

/* Files of the module and of memory are no dma-bufs, to the device either. */
TEST_F(drm, device_takes_dma_bufs_only)
{
	int files[] = { memfd_create("file", MFD_CLOEXEC),
			open("/dev/pld_sim", O_RDWR | O_CLOEXEC) };
	uint32_t handle;

	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		if (files[i] < 0)
			continue;
		EXPECT_EQ(-1, drmPrimeFDToHandle(self->drm, files[i], &handle));
		EXPECT_EQ(EINVAL, errno);
	}
}

/* The number of a descriptor of this process's parent, which has no secrets. */
static int stranger(struct peer *self, void *arg)
{
	const int devices[] = { 0 };
	pld_domain *domain;
	char path[64];

	(void)self;
	NEED(!setresgid(65534, 65534, 65534) && !setresuid(65534, 65534, 65534));
	NEED(drmOpen("vgem", NULL) < 0);
	snprintf(path, sizeof(path), "/proc/%d/fd/%d", getppid(), *(int *)arg);
	NEED(open(path, O_RDWR) < 0 && errno == EACCES);
	if (getenv("PLD_PLATFORM") && !strcmp(getenv("PLD_PLATFORM"), "kmod"))
		NEED(pld_domain_create(devices, 1, NULL, &domain) == -EACCES);
	return 0;
}

TEST_F(drm, strangers_have_nothing_of_it)
{
	int fd;

	SKIP_WITHOUT_EXPORT(self->data);
	if (geteuid())
		SKIP(return, "becoming somebody else needs root");
	ASSERT_EQ(0, pld_window_export(self->data, 1, 0, 0, &fd));
	EXPECT_EQ(0, peer_call(stranger, &fd));
}

VGEM_TEST_MAIN
