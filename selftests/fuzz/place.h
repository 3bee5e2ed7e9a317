/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Where the arguments of an ioctl lie: in a worker's arena, which has a page that
 * can be written, one that is not there, one that can only be read, and two more
 * good ones.
 */
#ifndef FUZZ_PLACE_H
#define FUZZ_PLACE_H

#include "worker.h"

uint8_t *fuzz_new_arena(void);

/*
 * The parameters that each ioctl ends with: its structure's size, where it lies,
 * and a word of it that is overwritten (at an offset above 0).
 */
#define PLACE_PARAMS                                                           \
	NUMBER("size", 0, 1, 7, 8, 16, 24, 40, 56, 72, 128, 4096, 4097, -1),   \
		NUMBER("at", 0, 1, 2, 3, 4, 5),                                \
		NUMBER("poke_at", 0, 4, 8, 12, 16, 20, 24, 28, 32, 36, 40, 44, \
		       48, 52, 56, 60, 64, 72, 96),                            \
		NUMBER("poke", -1, 0, 1, 2, 0x7fffffff, 0x80000000, 4096)

enum fuzz_place {
	PLACE_GOOD,
	PLACE_AT_END, /* the next byte is not there */
	PLACE_NULL,
	PLACE_READ_ONLY,
	PLACE_KERNEL,
	PLACE_CUT, /* the second half is not there */
};

/* The ioctl with @args from "size" on; @data gets what came back. */
int64_t fuzz_ioctl(struct fuzz_worker *worker, int64_t fd, unsigned long cmd,
		   void *data, uint32_t size, const struct fuzz_value *args);

/* The deadline @ms from now; what is too much for that is taken as it is. */
int64_t fuzz_deadline(int64_t ms);

#endif /* FUZZ_PLACE_H */
