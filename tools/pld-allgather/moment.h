/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Who is late, when a mistake is made on purpose. It is arranged in memory that
 * all ranks share beside their windows: no operation, so that traces and costs
 * show the allgather alone.
 */
#ifndef PLD_ALLGATHER_MOMENT_H
#define PLD_ALLGATHER_MOMENT_H

#include <stdatomic.h>

#include <pld.h>

struct moment {
	/* ranks that have pulled, and that have a result to show */
	atomic_int pulled;
	atomic_int ready;
	/* of each rank's result; 0 where there is none */
	uint64_t digests[PLD_MAX_RANKS];
};

/* On the host side, before the launch; NULL: no memory. */
struct moment *moment_create(void);

void moment_tell(atomic_int *count);

/*
 * Until count is that much: 0, or the error of data's domain when it is broken,
 * or -ETIMEDOUT.
 */
int moment_wait(atomic_int *count, int much, const pld_distributed_tensor *data,
		int64_t timeout_ns);

#endif
