/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * The allgather as the host path runs it.
 */
#ifndef PLD_ALLGATHER_H
#define PLD_ALLGATHER_H

#include "pld.h"

/* pld_tensor_allgather() of a window's rows, which the in-core path refuses. */
int pld_allgather_from_window(const pld_distributed_tensor *local_data,
			      const pld_distributed_tensor *target,
			      const pld_distributed_tensor *signal);

#endif
