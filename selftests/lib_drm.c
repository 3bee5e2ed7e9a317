// SPDX-License-Identifier: GPL-2.0
/*
 * Buffers of a DRM device as windows, by libpld-drm, against the driver vgem:
 * what the device writes is what ranks read, the other way round, and what is
 * refused. Ranks 1 and 2 have buffers of the device, rank 0 memory of its own.
 */
#include <pld_dmabuf.h>
#include <pld_drm.h>

#include "lib_drm.h"

/* What rank `from` puts to rank `to`; before that, rank r holds seed + r. */
#define SEED_PUT(from, to) \
	(100 + 10 * (unsigned int)(from) + (unsigned int)(to))

FIXTURE(drm)
{
	pld_domain *domain;
	int drm;
	uint32_t handles[NRANKS];
	unsigned char *bytes[NRANKS];
	pld_window_buffer *signal;
};

FIXTURE_SETUP(drm)
{
	self->drm = vgem_open();
	ASSERT_GE(self->drm, 0);
	self->domain = make_domain(NRANKS);
	ASSERT_NE(NULL, self->domain);
	ASSERT_EQ(0, pld_alloc_signal(self->domain, PLD_SHAPE(NRANKS, 1),
				      &self->signal));
	for (int rank = 1; rank < NRANKS; rank++) {
		self->handles[rank] = gem_create(self->drm, BYTES);
		ASSERT_NE(0, self->handles[rank]);
		self->bytes[rank] =
			gem_map(self->drm, self->handles[rank], BYTES);
		ASSERT_NE(NULL, self->bytes[rank]);
		golden_fill(self->bytes[rank], BYTES, (unsigned int)rank);
	}
}

FIXTURE_TEARDOWN(drm)
{
	pld_domain_destroy(self->domain);
	close(self->drm);
}

struct windows {
	pld_window_buffer *data;
	pld_window_buffer *signal;
	unsigned int seed;
};

/* Is every rank's window, as this rank reads it, what the device wrote? */
static int untouched(const pld_distributed_tensor *data, unsigned int seed)
{
	pld_tile look;

	PLD_TRY(pld_tile_alloc(&look, BYTES));
	for (int peer = 0; peer < NRANKS; peer++) {
		CHECK_EQ(0, pld_tile_remote_load(data, peer, PLD_AT(0),
						 PLD_SHAPE(BYTES), &look));
		for (size_t at = 0; !peer && at < BYTES; at++)
			CHECK_EQ(0, ((unsigned char *)look.data)[at]);
		if (peer)
			CHECK_EQ(BYTES,
				 golden_differs(look.data, BYTES,
						seed + (unsigned int)peer));
	}
	pld_tile_free(&look);
	return 0;
}

static int view_bytes(void *arg, pld_distributed_tensor *data,
		      pld_distributed_tensor *signal)
{
	struct windows *windows = arg;

	PLD_TRY(pld_window(windows->data, PLD_SHAPE(BYTES), PLD_UINT8, data));
	return pld_window(windows->signal, PLD_SHAPE(NRANKS, 1), PLD_INT32,
			  signal);
}

static int only_looks(pld_domain *domain, void *arg)
{
	const struct windows *windows = arg;
	pld_distributed_tensor data, signal;

	PLD_TRY(view_bytes(arg, &data, &signal));
	return untouched(&data, windows->seed);
}

/* Each rank puts a slice to each; the first look and the last are at all. */
static int puts_to_all(pld_domain *domain, void *arg)
{
	int me = pld_rank(domain);
	pld_distributed_tensor data, signal;

	PLD_TRY(view_bytes(arg, &data, &signal));
	PLD_TRY(untouched(&data, 0));
	PLD_TRY(pld_tensor_barrier(&signal));
	for (int peer = 0; peer < NRANKS; peer++)
		CHECK_EQ(0, put_slice(&data, me, peer, SEED_PUT(me, peer)));
	PLD_TRY(pld_tensor_barrier(&signal));
	for (int peer = 0; peer < NRANKS; peer++)
		CHECK_EQ(SLICE, golden_differs((char *)data.data + peer * SLICE,
					       SLICE, SEED_PUT(peer, me)));
	return 0;
}

TEST_F(drm, buffers_are_windows)
{
	struct windows windows = { .signal = self->signal };

	ASSERT_EQ(0, pld_drm_import(self->domain, BYTES, self->drm,
				    self->handles, &windows.data));
	RUN(self->domain, puts_to_all, &windows);
	for (int to = 1; to < NRANKS; to++) {
		int fd = gem_fd(self->drm, self->handles[to]);

		ASSERT_EQ(0, dmabuf_begin(fd));
		for (int from = 0; from < NRANKS; from++)
			EXPECT_EQ(SLICE,
				  golden_differs(self->bytes[to] + from * SLICE,
						 SLICE, SEED_PUT(from, to)));
		ASSERT_EQ(0, dmabuf_end(fd));
	}
}

/* What the device writes between launches is there in the next one. */
TEST_F(drm, device_writes_into_windows)
{
	struct windows windows = { .signal = self->signal };

	ASSERT_EQ(0, pld_drm_import(self->domain, BYTES, self->drm,
				    self->handles, &windows.data));
	for (windows.seed = 0; windows.seed <= 20; windows.seed += 10) {
		for (int rank = 1; rank < NRANKS; rank++)
			golden_fill(self->bytes[rank], BYTES,
				    windows.seed + (unsigned int)rank);
		RUN(self->domain, only_looks, &windows);
	}
}

TEST_F(drm, windows_outlive_handles_and_device)
{
	struct windows windows = { .signal = self->signal };

	ASSERT_EQ(0, pld_drm_import(self->domain, BYTES, self->drm,
				    self->handles, &windows.data));
	for (int rank = 1; rank < NRANKS; rank++) {
		munmap(self->bytes[rank], BYTES);
		ASSERT_EQ(0,
			  drmCloseBufferHandle(self->drm, self->handles[rank]));
	}
	close(self->drm);
	self->drm = -1;
	RUN(self->domain, puts_to_all, &windows);
}

/* Two descriptors of one device are two devices: each has handles of its own. */
TEST_F(drm, buffers_of_several_devices)
{
	struct windows windows = { .signal = self->signal };
	int other = drmOpen("vgem", NULL);
	pld_drm_buffer buffers[NRANKS] = { { .drm_fd = -1 } };
	unsigned char *bytes;
	int free_fd;

	ASSERT_GE(other, 0);
	buffers[1] = (pld_drm_buffer){ other, gem_create(other, BYTES) };
	ASSERT_NE(0, buffers[1].handle);
	bytes = gem_map(other, buffers[1].handle, BYTES);
	ASSERT_NE(NULL, bytes);
	golden_fill(bytes, BYTES, 1);
	buffers[2] = (pld_drm_buffer){ self->drm, self->handles[2] };
	memset(self->bytes[1], 0, BYTES);
	free_fd = lowest_free_fd();
	ASSERT_EQ(0, pld_drm_import_each(self->domain, BYTES, buffers,
					 &windows.data));
	RUN(self->domain, only_looks, &windows);
	pld_free_window_buffer(windows.data);
	EXPECT_EQ(free_fd, lowest_free_fd());
}

/* As the handle that it was: the device sees one buffer, under one number. */
TEST_F(drm, imported_windows_go_back)
{
	pld_window_buffer *data;
	uint32_t handle;

	ASSERT_EQ(0, pld_drm_import(self->domain, BYTES, self->drm,
				    self->handles, &data));
	for (int rank = 1; rank < NRANKS; rank++) {
		ASSERT_EQ(0,
			  pld_drm_export(data, rank, 0, 0, self->drm, &handle));
		EXPECT_EQ(self->handles[rank], handle);
	}
}

/* Each buffer that is a window is a reference on vgem, until it is freed. */
TEST_F(drm, cycles_leave_nothing)
{
	int free_fd, users = references("vgem");
	pld_window_buffer *data;

	for (int rank = 1; rank < NRANKS; rank++)
		munmap(self->bytes[rank], BYTES);
	free_fd = lowest_free_fd();
	for (int cycle = 0; cycle < CYCLES; cycle++) {
		ASSERT_EQ(0, pld_drm_import(self->domain, BYTES, self->drm,
					    self->handles, &data));
		if (users >= 0 && !cycle)
			EXPECT_LT(users, references("vgem"));
		pld_free_window_buffer(data);
	}
	EXPECT_EQ(free_fd, lowest_free_fd());
	for (int rank = 1; rank < NRANKS; rank++)
		ASSERT_EQ(0,
			  drmCloseBufferHandle(self->drm, self->handles[rank]));
	EXPECT_EQ(users, references_after("vgem", users));
}

/* Rounds of a token, of whose waits most must sleep. */
#define ROUNDS 20

static int passes_token(pld_domain *domain, void *arg)
{
	int me = pld_rank(domain);
	pld_distributed_tensor signal;

	PLD_TRY(pld_window(arg, PLD_SHAPE(2), PLD_INT32, &signal));
	for (int round = 1; round <= ROUNDS; round++) {
		if (me)
			PLD_TRY(pld_system_wait(&signal, PLD_AT(1), round,
						PLD_GE));
		else
			usleep(2000);
		PLD_TRY(pld_system_notify(&signal, (me + 1) % NRANKS, PLD_AT(1),
					  1, PLD_ATOMIC_ADD));
		if (!me)
			PLD_TRY(pld_system_wait(&signal, PLD_AT(1), round,
						PLD_EQ));
	}
	return 0;
}

/* The 128 bytes of each cell, and that a launch begins with zeros. */
TEST_F(drm, cells_in_buffers_wake_their_waiters)
{
	int fds[NRANKS] = { -1, -1, -1 };
	pld_window_buffer *signal;

	for (int rank = 1; rank < NRANKS; rank++) {
		memset(self->bytes[rank], 0x7f, 256);
		fds[rank] = gem_fd(self->drm, self->handles[rank]);
		ASSERT_GE(fds[rank], 0);
	}
	ASSERT_EQ(0, pld_signal_import(self->domain, PLD_SHAPE(BYTES / 128),
				       fds, &signal));
	RUN(self->domain, passes_token, signal);
	for (int rank = 1; rank < NRANKS; rank++) {
		ASSERT_EQ(0, dmabuf_begin(fds[rank]));
		EXPECT_EQ(0, *(int32_t *)self->bytes[rank]);
		EXPECT_EQ(ROUNDS, *(int32_t *)(self->bytes[rank] + 128));
		ASSERT_EQ(0, dmabuf_end(fds[rank]));
	}
}

/* ---- other drivers' buffers, by way of the device ---- */

/* fd is a dma-buf, which the device and then rank 1 have. */
static int by_way_of_device(FIXTURE_DATA(drm) * self, int fd)
{
	struct windows windows = { .signal = self->signal };
	unsigned char *bytes = map_shared(fd, BYTES, 0);
	int again;

	CHECK(bytes);
	CHECK_EQ(0, dmabuf_begin(fd));
	golden_fill(bytes, BYTES, 1);
	CHECK_EQ(0, dmabuf_end(fd));
	CHECK_EQ(0, drmPrimeFDToHandle(self->drm, fd, &self->handles[1]));
	again = gem_fd(self->drm, self->handles[1]);
	CHECK(same_file(fd, again));
	CHECK_EQ(0, pld_drm_import(self->domain, BYTES, self->drm,
				   self->handles, &windows.data));
	CHECK_EQ(0, run_ranks(self->domain, puts_to_all, &windows));
	CHECK_EQ(0, dmabuf_begin(fd));
	for (int from = 0; from < NRANKS; from++)
		CHECK_EQ(SLICE, golden_differs(bytes + from * SLICE, SLICE,
					       SEED_PUT(from, 1)));
	return dmabuf_end(fd);
}

TEST_F(drm, buffer_of_the_system_heap)
{
	int fd = heap_buffer(BYTES);

	if (fd < 0)
		SKIP(return, "there is no /dev/dma_heap/system");
	if (second_mapping_is_forbidden())
		SKIP(return, "DMA debugging forbids this exporter to do so");
	EXPECT_EQ(0, by_way_of_device(self, fd));
}

TEST_F(drm, buffer_of_udmabuf)
{
	int fd = udmabuf_buffer(BYTES);

	if (fd < 0)
		SKIP(return, "there is no /dev/udmabuf");
	if (second_mapping_is_forbidden())
		SKIP(return, "DMA debugging forbids this exporter to do so");
	EXPECT_EQ(0, by_way_of_device(self, fd));
}

/* ---- what is refused ---- */

TEST_F(drm, buffers_that_are_none_are_refused)
{
	pld_window_buffer *none = NULL;
	uint32_t other;
	int free_fd;

	/* libdrm opens something once, for the device's name. */
	free(drmGetDeviceNameFromFd2(self->drm));
	free_fd = lowest_free_fd();
	self->handles[2] = 77;
	EXPECT_REFUSED(-ENOENT,
		       "pld_drm_import: /dev/dri/card0 cannot export handle 77, for rank 2: No such file or directory",
		       pld_drm_import(self->domain, BYTES, self->drm,
				      self->handles, &none));
	for (int more = -1; more <= 1; more += 2) {
		other = gem_create(self->drm, BYTES + (size_t)(more * SLICE));
		ASSERT_NE(0, other);
		self->handles[2] = other;
		EXPECT_EQ(-ERANGE, pld_drm_import(self->domain, BYTES, self->drm,
						  self->handles, &none));
	}
	EXPECT_EQ(NULL, none);
	EXPECT_EQ(free_fd, lowest_free_fd());
}

static int imports(pld_domain *domain, void *arg)
{
	FIXTURE_DATA(drm) *self = arg;
	pld_window_buffer *none = NULL;

	CHECK_EQ(-EPERM,
		 pld_drm_import(domain, BYTES, self->drm, self->handles, &none));
	CHECK(!none);
	return 0;
}

TEST_F(drm, ranks_do_not_import)
{
	RUN(self->domain, imports, self);
}

/* A handle is a number of one descriptor, not a name for everybody. */
TEST_F(drm, handles_of_others_are_nothing)
{
	int other = drmOpen("vgem", NULL);
	pld_window_buffer *none = NULL;

	ASSERT_GE(other, 0);
	EXPECT_EQ(-ENOENT, pld_drm_import(self->domain, BYTES, other,
					  self->handles, &none));
	EXPECT_EQ(NULL, none);
}

VGEM_TEST_MAIN
