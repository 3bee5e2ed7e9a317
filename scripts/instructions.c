// SPDX-License-Identifier: GPL-2.0
/*
 * Calls that instructions.sh counts the instructions of, under callgrind. Rank 0
 * alone makes them: whatever a wait would wait for is there already, and nobody
 * sleeps whom a notify would have to wake. So each takes the same way every time.
 */
#include <pld.h>
#include <stdio.h>
#include <valgrind/callgrind.h>

#include "common/allgather.h"

#define CALLS 1000
/* More than all calls take out. */
#define CREDITS (1 << 20)

/* Once unmeasured, for what a first call does. */
#define COUNT(name, call)                          \
	do {                                       \
		PLD_TRY(call);                     \
		CALLGRIND_ZERO_STATS;              \
		for (int i_ = 0; i_ < CALLS; i_++) \
			PLD_TRY(call);             \
		CALLGRIND_DUMP_STATS_AT(name);     \
	} while (0)

static pld_window_buffer *window, *rows, *cells;

static int kernel(pld_domain *domain, void *arg)
{
	pld_distributed_tensor data, table, signal;
	double mine = 1, all[2];
	pld_tensor x, y;
	pld_tile tile;

	(void)arg;
	if (pld_rank(domain))
		return 0;
	PLD_TRY(pld_tensor_init(&x, &mine, PLD_SHAPE(1, 1), PLD_FP64));
	PLD_TRY(pld_tensor_init(&y, all, PLD_SHAPE(1, 2), PLD_FP64));
	PLD_TRY(pld_tile_alloc(&tile, sizeof(mine)));
	PLD_TRY(pld_window(window, PLD_SHAPE(1, 1), PLD_FP64, &data));
	PLD_TRY(pld_window(rows, PLD_SHAPE(2, 1), PLD_FP64, &table));
	PLD_TRY(pld_window(cells, PLD_SHAPE(2, 1), PLD_INT32, &signal));
	PLD_TRY(pld_system_notify(&signal, 0, PLD_AT(1, 0), CREDITS,
				  PLD_ATOMIC_ADD));
	COUNT("notify",
	      pld_system_notify(&signal, 1, PLD_AT(0, 0), 1, PLD_ATOMIC_ADD));
	COUNT("wait", pld_system_wait(&signal, PLD_AT(1, 0), 1, PLD_GE));
	COUNT("put", pld_tensor_put(&data, 1, &x, NULL));
	COUNT("barrier", pld_tensor_barrier(&signal));
	COUNT("allgather", allgather_builtin(&x, &table, &signal));
	COUNT("hand", allgather_hand(&x, &y, &table, &signal, &tile, 1));
	COUNT("hand-direct", allgather_hand_direct(&x, &y, &table, &signal, 1));
	pld_tile_free(&tile);
	return 0;
}

int main(void)
{
	const pld_domain_options options = { .platform = "memfd" };
	const int devices[] = { 0, 1 };
	pld_domain *domain;
	int error;

	error = pld_domain_create(devices, 2, &options, &domain);
	if (!error)
		error = pld_alloc_window_buffer(domain, 8, &window);
	if (!error)
		error = pld_alloc_window_buffer(domain, 16, &rows);
	if (!error)
		error = pld_alloc_signal(domain, PLD_SHAPE(2, 1), &cells);
	if (!error)
		error = pld_launch(domain, kernel, NULL, NULL);
	if (error)
		fprintf(stderr, "instructions: %s\n", pld_last_error());
	return error ? 1 : 0;
}
