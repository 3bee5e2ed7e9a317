// SPDX-License-Identifier: GPL-2.0
/*
 * The kernels of common/allgather.c, each line as it is there but for the mistake. In
 * comparing the two, one finds it.
 */
#include <signal.h>
#include <string.h>

#include "fault.h"
#include "moment.h"

static const struct {
	const char *name;
	int builtin;
	const char *mistake;
	const char *symptom;
} faults[FAULTS] = {
	[FAULT_WRONG_SLOT] = {
		"wrong-slot", 0,
		"each slice is stored one slot further than where it belongs",
		"all ranks have the same result, and the golden check fails in every one",
	},
	[FAULT_OWN_WINDOW] = {
		"own-window", 0,
		"remote_load names the own rank where it should name the peer",
		"the own slot is right and every other one is 0",
	},
	[FAULT_NO_BARRIER] = {
		"no-barrier", 0,
		"nothing is notified and nothing waited for; the last rank stages late",
		"stale data: slots whose ranks have not staged yet are still 0, the last rank's always",
	},
	[FAULT_STAGE_OFFSET] = {
		"stage-offset", 0,
		"every rank stages at [0, 0], not at [my_rank, 0]",
		"slot 0 is right and every other one is 0",
	},
	[FAULT_TILE_SOURCE] = {
		"tile-source", 1,
		"local_data of the builtin is a Tile",
		"the call is refused before a byte moves",
	},
	[FAULT_WINDOW_SOURCE] = {
		"window-source", 1,
		"local_data of the builtin is a DistributedTensor",
		"the call is refused before a byte moves",
	},
	[FAULT_DEAD_RANK] = {
		"dead-rank", 0,
		"the last rank is killed when it has staged",
		"the others' waits end within 100 ms with an error that names it",
	},
	[FAULT_MISSING_NOTIFY] = {
		"missing-notify", 0,
		"the last rank does not notify rank 0",
		"rank 0's wait times out, and names the cell and who owed it",
	},
};

int fault_parse(const char *name)
{
	for (int fault = FAULT_NONE + 1; fault < FAULTS; fault++)
		if (!strcmp(faults[fault].name, name))
			return fault;
	return -1;
}

const char *fault_name(enum fault fault)
{
	return faults[fault].name;
}

const char *fault_mistake(enum fault fault)
{
	return faults[fault].mistake;
}

const char *fault_symptom(enum fault fault)
{
	return faults[fault].symptom;
}

int fault_is_builtin(enum fault fault)
{
	return faults[fault].builtin;
}

static int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

int faulty_hand(enum fault fault, const pld_tensor *x, const pld_tensor *y,
		const pld_distributed_tensor *data,
		const pld_distributed_tensor *signal, struct moment *moment,
		int64_t timeout_ns, pld_tile *tile)
{
	int64_t size = x->shape.n[1];
	int64_t piece = (int64_t)tile->bytes / pld_dtype_size(x->dtype);
	int my_rank, nranks, last;
	pld_domain *ctx;

	PLD_TRY(pld_get_comm_ctx(data, &ctx));
	my_rank = pld_rank(ctx);
	nranks = pld_nranks(ctx);
	last = my_rank == nranks - 1;

	if (fault == FAULT_NO_BARRIER && last)
		PLD_TRY(moment_wait(&moment->pulled, nranks - 1, data,
				    timeout_ns));

	/* Stage: the own slice into the own window, piece by piece. */
	for (int64_t at = 0; at < size; at += piece) {
		pld_dims shape = PLD_SHAPE(1, least(piece, size - at));
		int row = fault == FAULT_STAGE_OFFSET ? 0 : my_rank;

		PLD_TRY(pld_load(x, PLD_AT(0, at), shape, tile));
		PLD_TRY(pld_store(tile, PLD_AT(row, at), data));
	}

	if (fault == FAULT_DEAD_RANK && last)
		raise(SIGKILL);

	/* Barrier: every slice is staged. */
	for (int peer = 0; peer < nranks && fault != FAULT_NO_BARRIER; peer++)
		if (peer != my_rank &&
		    !(fault == FAULT_MISSING_NOTIFY && last && peer == 0))
			PLD_TRY(pld_system_notify(signal, peer,
						  PLD_AT(my_rank, 0), 1,
						  PLD_ATOMIC_ADD));
	for (int src = 0; src < nranks && fault != FAULT_NO_BARRIER; src++)
		if (src != my_rank)
			PLD_TRY(pld_system_wait(signal, PLD_AT(src, 0), 1,
						PLD_GE));

	/* Pull: every rank's slice from the next rank's on, the own one too. */
	for (int i = 1; i <= nranks; i++) {
		int peer = (my_rank + i) % nranks;
		int from = fault == FAULT_OWN_WINDOW ? my_rank : peer;
		int slot = fault == FAULT_WRONG_SLOT ? (peer + 1) % nranks
						     : peer;

		for (int64_t at = 0; at < size; at += piece) {
			pld_dims shape = PLD_SHAPE(1, least(piece, size - at));

			PLD_TRY(pld_tile_remote_load(data, from, PLD_AT(peer, at),
						     shape, tile));
			PLD_TRY(pld_store(tile, PLD_AT(0, slot * size + at), y));
		}
	}

	if (fault == FAULT_NO_BARRIER && !last)
		moment_tell(&moment->pulled);
	return 0;
}

int faulty_builtin(enum fault fault, const pld_tensor *x,
		   const pld_distributed_tensor *source,
		   const pld_distributed_tensor *data,
		   const pld_distributed_tensor *signal, pld_tile *tile)
{
	PLD_TRY(pld_load(x, PLD_AT(0, 0), x->shape, tile));
	if (fault == FAULT_TILE_SOURCE)
		return pld_tensor_allgather(tile, data, signal);
	PLD_TRY(pld_store(tile, PLD_AT(0, 0), source));
	return pld_tensor_allgather(source, data, signal);
}
