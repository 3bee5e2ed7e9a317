// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * Memory of a memfd as a dma-buf, by the kernel's own udmabuf.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <linux/udmabuf.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "error.h"
#include "fd.h"
#include "udmabuf.h"

#define DEVICE "/dev/udmabuf"

static int refused(int error, size_t bytes)
{
	if (error == EINVAL)
		return pld_error(EFBIG,
				 "pld_window_export: platform memfd: " DEVICE
				 " does not take %zu bytes; its limit is in /sys/module/udmabuf/parameters/size_limit_mb",
				 bytes);
	return pld_error(error,
			 "pld_window_export: platform memfd: " DEVICE ": %s",
			 strerror(error));
}

static int open_device(void)
{
	int fd = open(DEVICE, O_RDWR | O_CLOEXEC);

	if (fd < 0 && (errno == ENOENT || errno == ENXIO || errno == ENODEV))
		return pld_error(EOPNOTSUPP,
				 "pld_window_export: platform memfd: the kernel has no " DEVICE
				 " (CONFIG_UDMABUF); platform kmod needs none");
	if (fd < 0 && (errno == EACCES || errno == EPERM))
		return pld_error(EACCES,
				 "pld_window_export: platform memfd: no permission to open " DEVICE
				 "; join the group that owns it");
	return fd < 0 ? refused(errno, 0) : fd;
}

int pld_udmabuf_create(int memfd, size_t offset, size_t bytes)
{
	struct udmabuf_create create = {
		.memfd = (uint32_t)memfd,
		.flags = UDMABUF_FLAGS_CLOEXEC,
		.offset = offset,
		.size = bytes,
	};
	int device = open_device();
	int fd, error;

	if (device < 0)
		return device;
	fd = pld_fd_above_stdio(ioctl(device, UDMABUF_CREATE, &create));
	error = errno;
	close(device);
	return fd < 0 ? refused(error, bytes) : fd;
}
