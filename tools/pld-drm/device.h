/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The DRM device: its node, its buffers, and their bytes as it shows them.
 *
 * Functions that return int return 0, or -1 when they have said what is wrong.
 */
#ifndef PLD_DRM_DEVICE_H
#define PLD_DRM_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct device {
	int fd;
	/* of its node and of its driver */
	char *node;
	char *driver;
};

/* node NULL: the first vgem device. */
int device_open(const char *node, struct device *device);
void device_close(struct device *device);

/* A buffer of bytes at least, all zero: a handle, which ends with the device. */
int device_create_buffer(const struct device *device, size_t bytes,
			 uint32_t *handle);

/* Bytes of a buffer, to be read. */
struct mapping {
	/* the buffer's dma-buf */
	int fd;
	void *bytes;
	size_t length;
};

/*
 * own: the device has made the buffer, and maps it itself. One that it has
 * imported it does not map; its dma-buf does.
 */
int mapping_begin(const struct device *device, uint32_t handle, bool own,
		  size_t length, struct mapping *mapping);
void mapping_end(struct mapping *mapping);

#endif
