// SPDX-License-Identifier: GPL-2.0
/*
 * DRM devices by libdrm, and the CPU's access to their buffers.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <linux/dma-buf.h>
#include <xf86drm.h>
#include <xf86drmMode.h>

#include "common/program.h"
#include "device.h"

/* A dumb buffer has rows, of pixels of a byte. */
#define ROW 4096

/* The first node that is there but not for this user, in path. */
static bool find_forbidden(char path[64])
{
	for (int i = 0; i < DRM_MAX_MINOR; i++) {
		snprintf(path, 64, DRM_DEV_NAME, DRM_DIR_NAME, i);
		if (access(path, R_OK | W_OK) && errno == EACCES)
			return true;
	}
	return false;
}

static int open_vgem(void)
{
	int fd = drmOpen("vgem", NULL);
	char path[64];

	if (fd >= 0)
		return fd;
	if (find_forbidden(path))
		complain("no permission to open %s, which may be vgem's; join the group that owns it",
			 path);
	else
		complain("there is no vgem device to open: modprobe vgem, or name a DRM device with --drm");
	return -1;
}

static int open_node(const char *node)
{
	int fd;

	if (!node)
		return open_vgem();
	fd = open(node, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		complain("cannot open %s: %s", node, strerror(errno));
	return fd;
}

int device_open(const char *node, struct device *device)
{
	drmVersion *version;

	device->fd = open_node(node);
	if (device->fd < 0)
		return -1;
	version = drmGetVersion(device->fd);
	if (!version) {
		complain("%s is no DRM device", node ? node : "vgem");
		close(device->fd);
		return -1;
	}
	device->driver = strdup(version->name);
	device->node = drmGetDeviceNameFromFd2(device->fd);
	drmFreeVersion(version);
	if (device->driver && device->node)
		return 0;
	complain("out of memory");
	device_close(device);
	return -1;
}

void device_close(struct device *device)
{
	free(device->node);
	free(device->driver);
	close(device->fd);
}

int device_create_buffer(const struct device *device, size_t bytes,
			 uint32_t *handle)
{
	size_t rows = bytes / ROW + !!(bytes % ROW);
	uint32_t pitch;
	uint64_t size;
	int error = -EOVERFLOW;

	if (rows <= UINT32_MAX)
		error = drmModeCreateDumbBuffer(device->fd, ROW, (uint32_t)rows,
						8, 0, handle, &pitch, &size);
	if (!error)
		return 0;
	complain("%s makes no buffer of %zu bytes: %s", device->node, bytes,
		 strerror(-error));
	return -1;
}

static int sync_access(int fd, uint64_t flags)
{
	struct dma_buf_sync sync = { .flags = flags | DMA_BUF_SYNC_READ };

	return drmIoctl(fd, DMA_BUF_IOCTL_SYNC, &sync);
}

static int map(const struct device *device, uint32_t handle, bool own,
	       struct mapping *mapping)
{
	uint64_t offset = 0;
	int error = 0;

	if (own)
		error = drmModeMapDumbBuffer(device->fd, handle, &offset);
	if (error) {
		errno = -error;
		return -1;
	}
	mapping->bytes = mmap(NULL, mapping->length, PROT_READ, MAP_SHARED,
			      own ? device->fd : mapping->fd, (off_t)offset);
	if (mapping->bytes == MAP_FAILED)
		return -1;
	if (!sync_access(mapping->fd, DMA_BUF_SYNC_START))
		return 0;
	munmap(mapping->bytes, mapping->length);
	return -1;
}

int mapping_begin(const struct device *device, uint32_t handle, bool own,
		  size_t length, struct mapping *mapping)
{
	mapping->length = length;
	if (drmPrimeHandleToFD(device->fd, handle, DRM_CLOEXEC | DRM_RDWR,
			       &mapping->fd)) {
		complain("%s does not export handle %u: %s", device->node,
			 handle, strerror(errno));
		return -1;
	}
	if (!map(device, handle, own, mapping))
		return 0;
	complain("%s does not map %zu bytes of handle %u: %s", device->node,
		 length, handle, strerror(errno));
	close(mapping->fd);
	return -1;
}

void mapping_end(struct mapping *mapping)
{
	sync_access(mapping->fd, DMA_BUF_SYNC_END);
	munmap(mapping->bytes, mapping->length);
	close(mapping->fd);
}
