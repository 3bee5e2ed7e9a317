// SPDX-License-Identifier: GPL-2.0
/*
 * Step 05: remote load and remote store.
 *
 * Shows	a tile that comes from a peer's window, or goes into one: each
 *		rank's data moves one place around the ring.
 * Look at	where the barrier is. Who pulls needs it before the transfer,
 *		since the peer must have staged; who pushes needs it after, since
 *		the peer must have pushed. And at the direction: both talk to
 *		rank + 1, and get different data.
 * Try		to leave the barrier out. Who was faster than its peer finds what
 *		was there before: 0. Which elements are wrong may differ from
 *		run to run.
 */
#include "example.h"

#define SIZE 64

enum { LOAD, STORE };

static const struct example example = {
	.name = "05_remote_load_store",
	.about = "Each rank's x moves one place around the ring.",
	.modes = {
		{ "load", "pull the next rank's: y is x of rank + 1" },
		{ "store", "push to the next rank: y is x of rank - 1" },
	},
};

static struct example_tensor xs, ys;
static pld_window_buffer *data_buffer, *signal_buffer;
static pld_tile local, recv;

static int shift_by_load(const pld_tensor *x, const pld_tensor *y,
			 const pld_distributed_tensor *data,
			 const pld_distributed_tensor *signal)
{
	pld_domain *ctx;
	int peer;

	PLD_TRY(pld_get_comm_ctx(data, &ctx));
	peer = (pld_rank(ctx) + 1) % pld_nranks(ctx);

	PLD_TRY(pld_load(x, PLD_AT(0, 0), PLD_SHAPE(1, SIZE), &local));
	PLD_TRY(pld_store(&local, PLD_AT(0, 0), data));

	PLD_TRY(pld_tensor_barrier(signal));

	PLD_TRY(pld_tile_remote_load(data, peer, PLD_AT(0, 0),
				     PLD_SHAPE(1, SIZE), &recv));
	return pld_store(&recv, PLD_AT(0, 0), y);
}

static double next_x(int nranks, int rank, int64_t row, int64_t column)
{
	return example_x(nranks, (rank + 1) % nranks, row, column);
}

static int shift_by_store(const pld_tensor *x, const pld_tensor *y,
			  const pld_distributed_tensor *data,
			  const pld_distributed_tensor *signal)
{
	pld_domain *ctx;
	int peer;

	PLD_TRY(pld_get_comm_ctx(data, &ctx));
	peer = (pld_rank(ctx) + 1) % pld_nranks(ctx);

	PLD_TRY(pld_load(x, PLD_AT(0, 0), PLD_SHAPE(1, SIZE), &local));
	PLD_TRY(pld_tile_remote_store(&local, data, peer, PLD_AT(0, 0),
				      PLD_NONE));

	PLD_TRY(pld_tensor_barrier(signal));

	PLD_TRY(pld_load(data, PLD_AT(0, 0), PLD_SHAPE(1, SIZE), &recv));
	return pld_store(&recv, PLD_AT(0, 0), y);
}

static double last_x(int nranks, int rank, int64_t row, int64_t column)
{
	return example_x(nranks, rank ? rank - 1 : nranks - 1, row, column);
}

static int per_rank(pld_domain *domain, void *arg)
{
	const struct example_run *run = arg;
	pld_tensor x = example_of(&xs, pld_rank(domain));
	pld_tensor y = example_of(&ys, pld_rank(domain));
	pld_distributed_tensor data, signal;

	PLD_TRY(pld_window(data_buffer, PLD_SHAPE(1, SIZE), PLD_FP32, &data));
	PLD_TRY(pld_window(signal_buffer, PLD_SHAPE(pld_nranks(domain), 1),
			   PLD_INT32, &signal));
	data.name = "data";
	signal.name = "signal";
	if (run->mode == LOAD)
		return shift_by_load(&x, &y, &data, &signal);
	return shift_by_store(&x, &y, &data, &signal);
}

int main(int argc, char **argv)
{
	struct example_run run;

	example_begin(&run, &example, argc, argv);
	example_must(pld_alloc_window_buffer_shaped(run.domain,
						    PLD_SHAPE(1, SIZE),
						    PLD_FP32, &data_buffer));
	example_must(pld_alloc_signal(run.domain, PLD_SHAPE(run.nranks, 1),
				      &signal_buffer));
	example_input(&run, &xs, "x", PLD_SHAPE(1, SIZE), example_x);
	example_output(&run, &ys, "y", PLD_SHAPE(1, SIZE), PLD_FP32);
	example_tile(&local, "local", SIZE);
	example_tile(&recv, "recv", SIZE);

	example_launch(&run, per_rank);
	example_check(&run, &ys, run.mode == LOAD ? next_x : last_x);
	return example_end(&run);
}
