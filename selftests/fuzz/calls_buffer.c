// SPDX-License-Identifier: GPL-2.0
/* dma-bufs: what is done with them, and others' drivers that take and make them. */
#include <errno.h>
#include <fcntl.h>
#include <linux/dma-buf.h>
#include <linux/dma-heap.h>
#include <linux/udmabuf.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../modules/pld_test_exporter.h"
#include <drm.h>
#include <drm_mode.h>
#include "worker.h"

#define ARG(name) args[name].n

static struct fuzz_answer run_sync(struct fuzz_worker *worker,
				   const struct fuzz_value *args)
{
	struct dma_buf_sync arg = { .flags = ARG(1) };

	(void)worker;
	return fuzz_result(ioctl(ARG(0), DMA_BUF_IOCTL_SYNC, &arg));
}

static struct fuzz_answer run_name(struct fuzz_worker *worker,
				   const struct fuzz_value *args)
{
	(void)worker;
	return fuzz_result(ioctl(ARG(0), DMA_BUF_SET_NAME_B, "fuzz"));
}

static struct fuzz_answer run_take_fence(struct fuzz_worker *worker,
					 const struct fuzz_value *args)
{
	struct dma_buf_export_sync_file arg = { .flags = ARG(1), .fd = -1 };

	(void)worker;
	if (ioctl(ARG(0), DMA_BUF_IOCTL_EXPORT_SYNC_FILE, &arg))
		return fuzz_result(-1);
	return fuzz_result(arg.fd);
}

static struct fuzz_answer run_put_fence(struct fuzz_worker *worker,
					const struct fuzz_value *args)
{
	struct dma_buf_import_sync_file arg = { .flags = ARG(2), .fd = ARG(1) };

	(void)worker;
	return fuzz_result(ioctl(ARG(0), DMA_BUF_IOCTL_IMPORT_SYNC_FILE, &arg));
}

static struct fuzz_answer run_card(struct fuzz_worker *worker,
				   const struct fuzz_value *args)
{
	(void)worker;
	return fuzz_result(open(ARG(0) ? "/dev/dri/renderD128" : "/dev/dri/card0",
				O_RDWR | O_CLOEXEC));
}

static struct fuzz_answer run_card_create(struct fuzz_worker *worker,
					  const struct fuzz_value *args)
{
	struct drm_mode_create_dumb arg = { .height = 1,
					    .width = ARG(1),
					    .bpp = 8 };

	(void)worker;
	if (ioctl(ARG(0), DRM_IOCTL_MODE_CREATE_DUMB, &arg))
		return fuzz_result(-1);
	return fuzz_result(arg.handle);
}

static struct fuzz_answer run_card_import(struct fuzz_worker *worker,
					  const struct fuzz_value *args)
{
	struct drm_prime_handle arg = { .fd = ARG(1) };

	(void)worker;
	if (ioctl(ARG(0), DRM_IOCTL_PRIME_FD_TO_HANDLE, &arg))
		return fuzz_result(-1);
	return fuzz_result(arg.handle);
}

static struct fuzz_answer run_card_export(struct fuzz_worker *worker,
					  const struct fuzz_value *args)
{
	struct drm_prime_handle arg = { .handle = ARG(1), .flags = ARG(2) };

	(void)worker;
	if (ioctl(ARG(0), DRM_IOCTL_PRIME_HANDLE_TO_FD, &arg))
		return fuzz_result(-1);
	return fuzz_result(arg.fd);
}

static struct fuzz_answer run_card_close(struct fuzz_worker *worker,
					 const struct fuzz_value *args)
{
	struct drm_gem_close arg = { .handle = ARG(1) };

	(void)worker;
	return fuzz_result(ioctl(ARG(0), DRM_IOCTL_GEM_CLOSE, &arg));
}

static int64_t udmabuf(int64_t size)
{
	struct udmabuf_create create = { .flags = UDMABUF_FLAGS_CLOEXEC,
					 .size = size };
	int node = open("/dev/udmabuf", O_RDWR | O_CLOEXEC);
	int memory = memfd_create("fuzz", MFD_ALLOW_SEALING | MFD_CLOEXEC);
	int64_t fd = -1;

	create.memfd = memory;
	if (node >= 0 && memory >= 0 && !ftruncate(memory, size) &&
	    !fcntl(memory, F_ADD_SEALS, F_SEAL_SHRINK))
		fd = ioctl(node, UDMABUF_CREATE, &create);
	fd = fd < 0 ? -errno : fd;
	close(node);
	close(memory);
	return fd;
}

static int64_t heap(int64_t size)
{
	struct dma_heap_allocation_data arg = { .len = size,
						.fd_flags = O_RDWR | O_CLOEXEC };
	int node = open("/dev/dma_heap/system", O_RDONLY | O_CLOEXEC);
	int64_t ret;

	if (node < 0)
		return -errno;
	ret = ioctl(node, DMA_HEAP_IOCTL_ALLOC, &arg) ? -errno : (int)arg.fd;
	close(node);
	return ret;
}

/* Of the driver that makes dma-bufs which lack something. */
static int64_t lacking(int64_t size, uint32_t flags)
{
	struct test_exporter_make arg = { .bytes = size, .flags = flags };
	int node = open("/dev/pld_test_exporter", O_RDWR | O_CLOEXEC);
	int64_t ret;

	if (node < 0)
		return -errno;
	ret = ioctl(node, TEST_EXPORTER_MAKE, &arg);
	ret = ret < 0 ? -errno : ret;
	close(node);
	return ret;
}

static struct fuzz_answer run_buffer(struct fuzz_worker *worker,
				     const struct fuzz_value *args)
{
	enum { FROM, SIZE, LACKS };

	(void)worker;
	switch (ARG(FROM)) {
	case 0:
		return fuzz_result(udmabuf(ARG(SIZE)));
	case 1:
		return fuzz_result(heap(ARG(SIZE)));
	default:
		return fuzz_result(lacking(ARG(SIZE), ARG(LACKS)));
	}
}

const struct fuzz_call fuzz_buffer_calls[] = {
	{ "buffer",
	  KIND_DMABUF,
	  4,
	  run_buffer,
	  { NUMBER("from", 0, 1, 2), NUMBER("size", 4096, 8192, 65536, 0x200000),
	    NUMBER("lacks", 0, 1, 2, 4, 8, 16, 32, 64) } },
	{ "sync",
	  KIND_NUMBER,
	  2,
	  run_sync,
	  { THING("fd", KIND_DMABUF),
	    NUMBER("flags", 3, 7, 1, 2, 5, 6, 0, -1) } },
	{ "name", KIND_NUMBER, 1, run_name, { THING("fd", KIND_DMABUF) } },
	{ "take_fence",
	  KIND_FENCE,
	  2,
	  run_take_fence,
	  { THING("fd", KIND_DMABUF), NUMBER("flags", 1, 2, 3, 0) } },
	{ "put_fence",
	  KIND_NUMBER,
	  3,
	  run_put_fence,
	  { THING("fd", KIND_DMABUF), THING("fence", KIND_FENCE),
	    NUMBER("flags", 2, 1, 3, 0) } },
	{ "card", KIND_CARD, 2, run_card, { NUMBER("node", 0, 1) } },
	{ "card_create",
	  KIND_HANDLE,
	  2,
	  run_card_create,
	  { THING("card", KIND_CARD), NUMBER("size", 4096, 8192, 65536) } },
	{ "card_import",
	  KIND_HANDLE,
	  3,
	  run_card_import,
	  { THING("card", KIND_CARD), THING("fd", KIND_DMABUF) } },
	{ "card_export",
	  KIND_DMABUF,
	  3,
	  run_card_export,
	  { THING("card", KIND_CARD), THING("handle", KIND_HANDLE),
	    NUMBER("flags", 02000002, 0, 02) } },
	{ "card_close",
	  KIND_NUMBER,
	  2,
	  run_card_close,
	  { THING("card", KIND_CARD), THING("handle", KIND_HANDLE) } },
	{ 0 },
};
