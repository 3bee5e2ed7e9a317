// SPDX-License-Identifier: GPL-2.0
#include <stddef.h>
#include <string.h>

#include "operation.h"

const struct operation operations[OPERATIONS] = {
	{ OP_ALLGATHER_HAND, "allgather-hand",
	  "stage, barrier, remote_load of every peer into private memory", true,
	  true, false, BUS_OTHERS, TIMED_ALL },
	{ OP_ALLGATHER_BUILTIN, "allgather-builtin",
	  "pld_tensor_allgather: the result is in the window", true, true,
	  false, BUS_OTHERS, TIMED_ALL },
	{ OP_ALLGATHER_REUSE, "allgather-reuse",
	  "the same with PLD_REUSE_TARGET, safe in a loop", true, true, false,
	  BUS_OTHERS, TIMED_ALL },
	{ OP_BROADCAST, "broadcast", "from rank 0", true, false, false,
	  BUS_ALGORITHM, TIMED_ALL },
	{ OP_REDUCE_SCATTER, "reduce-scatter", "sum", true, true, true,
	  BUS_OTHERS, TIMED_ALL },
	{ OP_ALLREDUCE_MESH, "allreduce-mesh", "sum, PLD_MESH", true, false,
	  true, BUS_TWICE, TIMED_ALL },
	{ OP_ALLREDUCE_TWO_PHASE, "allreduce-two-phase", "sum, PLD_TWO_PHASE",
	  true, false, true, BUS_TWICE, TIMED_ALL },
	{ OP_ALLREDUCE_RING, "allreduce-ring", "sum, PLD_RING", true, false,
	  true, BUS_TWICE, TIMED_ALL },
	{ OP_ALL_TO_ALL, "all-to-all", "a row for each rank", true, true, false,
	  BUS_OTHERS, TIMED_ALL },
	{ OP_ALL_TO_ALL_V, "all-to-all-v",
	  "the same by pld_tensor_all_to_all_v, blocks of one row", true, true,
	  false, BUS_OTHERS, TIMED_ALL },
	{ OP_PUT, "put", "rank 0 to rank 1, nothing else running", true, false,
	  false, BUS_ALGORITHM, TIMED_FIRST },
	{ OP_GET, "get", "rank 0 from rank 1, nothing else running", true,
	  false, false, BUS_ALGORITHM, TIMED_FIRST },
	{ OP_PING_PONG, "ping-pong",
	  "notify to wait between ranks 0 and 1, half a round trip", false,
	  false, false, BUS_NONE, TIMED_PAIR },
	{ OP_BARRIER, "barrier", "pld_tensor_barrier", false, false, false,
	  BUS_NONE, TIMED_ALL },
	{ OP_BLOCKED_WAIT, "blocked-wait",
	  "from the notify until a wait that slept 200 ms returns", false,
	  false, false, BUS_NONE, TIMED_ALL },
	{ OP_WINDOW_ALLOC, "window-alloc",
	  "pld_alloc_window_buffer; size: of all ranks", true, true, false,
	  BUS_NONE, TIMED_HOST },
	{ OP_WINDOW_MAP, "window-map",
	  "from pld_launch until the last rank runs, with a window of that size",
	  true, true, false, BUS_NONE, TIMED_HOST },
	{ OP_DOMAIN_START, "domain-start",
	  "from pld_domain_create until the last rank runs", false, false,
	  false, BUS_NONE, TIMED_HOST },
};

const struct operation *operation_find(const char *name)
{
	for (int i = 0; i < OPERATIONS; i++)
		if (!strcmp(operations[i].name, name))
			return &operations[i];
	return NULL;
}
