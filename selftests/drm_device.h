/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The driver vgem, whose buffers are memory and no graphics: its device, its
 * buffers, and their bytes, by libdrm.
 *
 * A mapping is the caller's, as long as its process lives.
 */
#ifndef PLD_DRM_DEVICE_H
#define PLD_DRM_DEVICE_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <linux/dma-buf.h>
#include <xf86drm.h>
#include <xf86drmMode.h>

#include "dmabuf_drivers.h"

#define GEM_ROW 4096

/* A descriptor of the device, with handles of its own; -1: there is none. */
static inline int vgem_open(void)
{
	int fd = drmOpen("vgem", NULL);

	if (fd < 0 && !geteuid() && !system("modprobe -q vgem 2>/dev/null"))
		fd = drmOpen("vgem", NULL);
	return fd;
}

/* A zeroed buffer; its handle, or 0. */
static inline uint32_t gem_create(int drm, size_t bytes)
{
	uint32_t handle, pitch;
	uint64_t size;

	return drmModeCreateDumbBuffer(drm, GEM_ROW / 4,
				       (uint32_t)(bytes / GEM_ROW), 32, 0,
				       &handle, &pitch, &size)
		       ? 0
		       : handle;
}

static inline unsigned char *map_shared(int fd, size_t bytes, off_t offset)
{
	void *address = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
			     fd, offset);

	return address == MAP_FAILED ? NULL : address;
}

/* The bytes of a buffer of the device's own, or NULL. */
static inline unsigned char *gem_map(int drm, uint32_t handle, size_t bytes)
{
	uint64_t offset;

	if (drmModeMapDumbBuffer(drm, handle, &offset))
		return NULL;
	return map_shared(drm, bytes, (off_t)offset);
}

/* A new descriptor of the handle's dma-buf, or -1. */
static inline int gem_fd(int drm, uint32_t handle)
{
	int fd;

	return drmPrimeHandleToFD(drm, handle, DRM_CLOEXEC | DRM_RDWR, &fd) ? -1
									    : fd;
}

/* The bytes of a handle's dma-buf, or NULL, and its descriptor. */
static inline unsigned char *gem_map_import(int drm, uint32_t handle,
					    size_t bytes, int *fd)
{
	*fd = gem_fd(drm, handle);
	return *fd < 0 ? NULL : map_shared(*fd, bytes, 0);
}

/* Around what the CPU does with a dma-buf's bytes. */
static inline int dmabuf_begin(int fd)
{
	return ioctl(fd, DMA_BUF_IOCTL_SYNC,
		     &(struct dma_buf_sync){ DMA_BUF_SYNC_START |
					     DMA_BUF_SYNC_RW });
}

static inline int dmabuf_end(int fd)
{
	return ioctl(fd, DMA_BUF_IOCTL_SYNC,
		     &(struct dma_buf_sync){ DMA_BUF_SYNC_END |
					     DMA_BUF_SYNC_RW });
}

/* Are they one file? */
static inline int same_file(int a, int b)
{
	struct stat of_a, of_b;

	return !fstat(a, &of_a) && !fstat(b, &of_b) &&
	       of_a.st_dev == of_b.st_dev && of_a.st_ino == of_b.st_ino;
}

#endif /* PLD_DRM_DEVICE_H */
