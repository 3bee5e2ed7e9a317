/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the tests of libpld-drm have in common.
 */
#ifndef PLD_LIB_DRM_H
#define PLD_LIB_DRM_H

#include <sched.h>

#include <pld_dmabuf.h>
#include <pld_drm.h>

#include "drm_device.h"
#include "lib_golden.h"
#include "lib_test.h"

#define NRANKS 3
#define SLICE 4096
#define BYTES ((size_t)NRANKS * SLICE)
#define CYCLES 100

/* The same before and after: no descriptor was kept. */
static inline int lowest_free_fd(void)
{
	int fd = dup(0);

	close(fd);
	return fd;
}

/* Who uses a kernel module; -1: there is none of that name. */
static inline int references(const char *module)
{
	char path[64];
	int count = -1;
	FILE *file;

	snprintf(path, sizeof(path), "/sys/module/%s/refcnt", module);
	file = fopen(path, "r");
	if (!file)
		return -1;
	if (fscanf(file, "%d", &count) != 1)
		count = -1;
	fclose(file);
	return count;
}

/* The same when it has come down to that many; a test that hangs is ended. */
static inline int references_after(const char *module, int users)
{
	while (references(module) > users)
		sched_yield();
	return references(module);
}

/* Puts a slice with the pattern of @seed to where the peer has rank @me's. */
static inline int put_slice(const pld_distributed_tensor *data, int me,
			    int peer, unsigned int seed)
{
	unsigned char slice[SLICE];
	pld_put_options options = {
		.dst_offsets = PLD_AT(me * SLICE),
		.src_offsets = PLD_AT(0),
		.shape = PLD_SHAPE(SLICE),
	};
	pld_tensor src;

	golden_fill(slice, SLICE, seed);
	PLD_TRY(pld_tensor_init(&src, slice, PLD_SHAPE(SLICE), PLD_UINT8));
	return pld_tensor_put(data, peer, &src, &options);
}

/* In place of LIB_TEST_MAIN. */
#define VGEM_TEST_MAIN                                                           \
	static void __attribute__((constructor)) skip_without_vgem(void)         \
	{                                                                        \
		int drm = vgem_open();                                           \
                                                                                 \
		if (drm < 0)                                                     \
			ksft_exit_skip(                                          \
				"there is no vgem device that can be opened\n"); \
		close(drm);                                                      \
	}                                                                        \
	LIB_TEST_MAIN

#endif /* PLD_LIB_DRM_H */
