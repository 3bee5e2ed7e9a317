/* SPDX-License-Identifier: GPL-2.0 */
/*
 * /dev/pld_test_exporter, of the module pld_test_exporter: dma-bufs that lack
 * what those of real drivers have, and a count of what is done with them.
 */
#ifndef PLD_TEST_EXPORTER_H
#define PLD_TEST_EXPORTER_H

#include <linux/ioctl.h>
#include <linux/types.h>

enum {
	TEST_NO_MMAP = 1 << 0, /* has no mmap operation */
	TEST_MMAP_FAILS = 1 << 1, /* has one, which fails */
	TEST_ATTACH_FAILS = 1 << 2,
	TEST_MAP_FAILS = 1 << 3, /* for DMA */
	TEST_NO_VMAP = 1 << 4, /* has no vmap operation */
	TEST_VMAP_IOMEM = 1 << 5, /* says that it is I/O memory */
	TEST_END_FAILS = 1 << 6, /* the end of access by the CPU */
	TEST_PEER2PEER = 1 << 7, /* without struct pages: for DMA by peers only */
};

/**
 * struct test_exporter_make - ioctl(TEST_EXPORTER_MAKE), answers a descriptor
 * @bytes: size of the dma-buf, whole pages or not
 * @flags: what it lacks
 */
struct test_exporter_make {
	__u64 bytes;
	__u32 flags;
	__u32 pad;
};

/**
 * struct test_exporter_count - ioctl(TEST_EXPORTER_COUNT): of all dma-bufs
 * @buffers: that are there
 * @attachments: and so on, at this moment
 * @mappings: for DMA
 * @views: of the kernel (vmap)
 * @accesses: of the CPU that have begun and not ended
 * @views_made: ever
 * @accesses_made: ever
 */
struct test_exporter_count {
	__s32 buffers;
	__s32 attachments;
	__s32 mappings;
	__s32 views;
	__s32 accesses;
	__s32 views_made;
	__s32 accesses_made;
};

/**
 * struct test_importer_read - ioctl(TEST_IMPORTER_READ)
 * @to: address that gets all bytes of the dma-buf
 * @bytes: how many that are
 * @fd: the dma-buf, anybody's
 * @segments: out: of its table
 *
 * Reads it as a device would, by the DMA addresses of a device that takes
 * segments of up to 64 KiB. Maps it twice, and reads by the second mapping when
 * the first is gone. EMSGSIZE: the table has another size; EOVERFLOW: it has a
 * longer segment.
 */
struct test_importer_read {
	__u64 to;
	__u64 bytes;
	__s32 fd;
	__u32 segments;
};

#define TEST_IMPORTER_READ _IOWR('t', 3, struct test_importer_read)
#define TEST_EXPORTER_MAKE _IOW('t', 1, struct test_exporter_make)
#define TEST_EXPORTER_COUNT _IOR('t', 2, struct test_exporter_count)

#endif
