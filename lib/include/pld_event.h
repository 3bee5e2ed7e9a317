/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * libpld: signals for device drivers. A condition on a cell becomes a sync_file,
 * the descriptor that DRM and other drivers take for something to wait for. (For
 * an event loop: pld_system_defer_wait and pld_waiter_fd in pld.h.)
 *
 * Errors common to all calls: pld.h.
 */
#ifndef PLD_EVENT_H
#define PLD_EVENT_H

#include "pld.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The longest timeout of a fence, in ns. */
#define PLD_MAX_FENCE_NS 10000000000LL

/**
 * Makes a fence of the condition that the own cell at offsets satisfies the
 * comparison; *fd is a new sync_file descriptor of it, closed by exec, the
 * caller's to close. It polls readable when the fence has signalled, and
 * SYNC_IOC_FILE_INFO of linux/sync_file.h then tells its status: 1, or a negative
 * errno as of pld_system_wait_timeout(), -ENOTCONN when the kernel function has
 * returned. It signals timeout_ns from now at the latest, whatever happens: a
 * driver that waits for it cannot be kept longer.
 *
 * -EINVAL: timeout_ns is not 1 to PLD_MAX_FENCE_NS. -ENOSPC: the rank has 256
 * waiters and fences that wait. -EOPNOTSUPP: the platform is memfd, which has no
 * sync_files. -EMFILE: no descriptor is left.
 */
PLD_API int pld_signal_fence(const pld_distributed_tensor *signal,
			     pld_dims offsets, int32_t expected, pld_cmp cmp,
			     int64_t timeout_ns, int *fd);

#ifdef __cplusplus
}
#endif

#endif
