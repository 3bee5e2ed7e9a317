/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The driver of dma-bufs that lack something (modules/pld_test_exporter.c), as
 * tests speak to it. Whoever opens it closes it.
 */
#ifndef PLD_EXPORTER_H
#define PLD_EXPORTER_H

#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "modules/pld_test_exporter.h"

#define EXPORTER_NODE "/dev/pld_test_exporter"

/* -1: the module is not there, or not for this user. */
static inline int exporter_open(void)
{
	int fd = open(EXPORTER_NODE, O_RDWR | O_CLOEXEC);

	if (fd < 0 && !system("modprobe -q pld_test_exporter 2>/dev/null"))
		fd = open(EXPORTER_NODE, O_RDWR | O_CLOEXEC);
	return fd;
}

/* A new dma-buf, or -1. */
static inline int exporter_make(int exporter, __u64 bytes, __u32 flags)
{
	struct test_exporter_make make = { .bytes = bytes, .flags = flags };

	return ioctl(exporter, TEST_EXPORTER_MAKE, &make);
}

/* Segments of the dma-buf, all of whose bytes a device has read, or -1. */
static inline int importer_read(int exporter, int fd, void *to, __u64 bytes)
{
	struct test_importer_read read = {
		.to = (uintptr_t)to,
		.bytes = bytes,
		.fd = fd,
	};

	return ioctl(exporter, TEST_IMPORTER_READ, &read) ? -1
							  : (int)read.segments;
}

static inline struct test_exporter_count exporter_count(int exporter)
{
	struct test_exporter_count count;

	memset(&count, 0xff, sizeof(count));
	ioctl(exporter, TEST_EXPORTER_COUNT, &count);
	return count;
}

#endif /* PLD_EXPORTER_H */
