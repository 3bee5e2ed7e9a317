/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Other drivers' dma-bufs: those of the kernel that are memory and no device's.
 * Whoever makes one closes it.
 */
#ifndef PLD_DMABUF_DRIVERS_H
#define PLD_DMABUF_DRIVERS_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <fcntl.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <linux/dma-heap.h>
#include <linux/udmabuf.h>

/* A dma-buf of the system heap, open for what access says (O_RDWR), or -1. */
static inline int heap_buffer_for(size_t bytes, int access)
{
	struct dma_heap_allocation_data data = {
		.len = bytes,
		.fd_flags = (uint32_t)access | O_CLOEXEC,
	};
	int heap = open("/dev/dma_heap/system", O_RDWR | O_CLOEXEC);
	int error;

	if (heap < 0)
		return -1;
	error = ioctl(heap, DMA_HEAP_IOCTL_ALLOC, &data);
	close(heap);
	return error ? -1 : (int)data.fd;
}

static inline int heap_buffer(size_t bytes)
{
	return heap_buffer_for(bytes, O_RDWR);
}

/* A dma-buf of a memfd's pages, or -1. */
static inline int udmabuf_buffer(size_t bytes)
{
	int memory = memfd_create("buffer", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	struct udmabuf_create create = {
		.memfd = (uint32_t)memory,
		.flags = UDMABUF_FLAGS_CLOEXEC,
		.size = bytes,
	};
	int driver = open("/dev/udmabuf", O_RDWR | O_CLOEXEC);
	int fd = -1;

	if (driver >= 0 && memory >= 0 && !ftruncate(memory, (off_t)bytes) &&
	    !fcntl(memory, F_ADD_SEALS, F_SEAL_SHRINK))
		fd = ioctl(driver, UDMABUF_CREATE, &create);
	close(driver);
	close(memory);
	return fd;
}

#endif /* PLD_DMABUF_DRIVERS_H */
