/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The guest's virtio-gpu: a second DRM driver, and one with syncobj from kernel
 * 6.6 on. Loaded by who needs it, so that vgem's device stays the first; never
 * outside of the guest, where somebody may look at what it shows.
 */
#ifndef PLD_VIRTIO_GPU_H
#define PLD_VIRTIO_GPU_H

#include <stdbool.h>
#include <stdlib.h>

/* false: there is none to load. */
static inline bool virtio_gpu_load(void)
{
	return getenv("PLD_GUEST") &&
	       !system("modprobe -q virtio_pci 2>/dev/null; modprobe -q virtio-gpu 2>/dev/null");
}

/* When all its descriptors are closed. */
static inline bool virtio_gpu_unload(void)
{
	return !system("rmmod virtio_gpu");
}

#endif /* PLD_VIRTIO_GPU_H */
