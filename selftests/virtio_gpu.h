/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The guest's virtio-gpu: a second DRM driver, and one with syncobj from kernel
 * 6.6 on. Loaded after vgem, whose device is the first one so, and not unloaded:
 * that warns when the host has not yet given a buffer back (6.12). Outside of the
 * guest it is not loaded, but used where it is.
 */
#ifndef PLD_VIRTIO_GPU_H
#define PLD_VIRTIO_GPU_H

#include <stdlib.h>

/* Each where it is a module, and there; who opens the device sees if it is. */
static inline int virtio_gpu_load(void)
{
	static const char command[] =
		"for m in vgem virtio_pci virtio-gpu; do modprobe -q $m; done 2>/dev/null";

	return getenv("PLD_GUEST") ? system(command) : 0;
}

#endif /* PLD_VIRTIO_GPU_H */
