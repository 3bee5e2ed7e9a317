// SPDX-License-Identifier: GPL-2.0
/*
 * Step 04: a barrier.
 *
 * Shows	signals: notify adds to a cell of a peer, wait blocks on a cell of
 *		the own. Each rank notifies every peer and waits for every peer,
 *		so nobody leaves before everybody came.
 * Look at	who writes what: rank s has cell [s, 0] in every rank. By hand,
 *		y is the rank's own signal afterwards: 1 from each peer, 0 at
 *		its own place. The builtin takes its credits out again, so here
 *		data proves it: y is the next rank's x, read after the barrier.
 * Try		to leave one notify out: "if (peer != my_rank && peer != 1)".
 *		Rank 1 waits for 10 seconds, and is told the cell and who should
 *		have notified it.
 */
#include "example.h"

#define SIZE 64

enum { HAND, BUILTIN };

static const struct example example = {
	.name = "04_barrier",
	.about = "Nobody leaves before everybody came.",
	.modes = {
		{ "hand", "notify every peer, wait for every peer" },
		{ "builtin", "pld.tensor.barrier, then a look at the next rank's x" },
	},
};

static struct example_tensor xs, ys;
static pld_window_buffer *data_buffer, *signal_buffer;
static pld_tile local, recv;

static int barrier_hand(const pld_tensor *y,
			const pld_distributed_tensor *signal)
{
	pld_domain *ctx;
	int my_rank, nranks;

	PLD_TRY(pld_get_comm_ctx(signal, &ctx));
	my_rank = pld_rank(ctx);
	nranks = pld_nranks(ctx);

	/* Add, do not set: what is there already must not get lost. */
	for (int peer = 0; peer < nranks; peer++)
		if (peer != my_rank)
			PLD_TRY(pld_system_notify(signal, peer,
						  PLD_AT(my_rank, 0), 1,
						  PLD_ATOMIC_ADD));
	for (int src = 0; src < nranks; src++)
		if (src != my_rank)
			PLD_TRY(pld_system_wait(signal, PLD_AT(src, 0), 1,
						PLD_GE));

	/* What came. A second barrier on these cells would wait for 2. */
	for (int i = 0; i < nranks; i++) {
		int32_t cell;

		PLD_TRY(pld_read(signal, PLD_AT(i, 0), &cell));
		PLD_TRY(pld_write(y, PLD_AT(i, 0), &cell));
	}
	return 0;
}

static double cells(int nranks, int rank, int64_t row, int64_t column)
{
	(void)nranks;
	(void)column;
	return row != rank;
}

static int barrier_builtin(const pld_tensor *x, const pld_tensor *y,
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

static int per_rank(pld_domain *domain, void *arg)
{
	const struct example_run *run = arg;
	int nranks = pld_nranks(domain);
	pld_tensor x = example_of(&xs, pld_rank(domain));
	pld_tensor y = example_of(&ys, pld_rank(domain));
	pld_distributed_tensor data, signal;

	PLD_TRY(pld_window(data_buffer, PLD_SHAPE(1, SIZE), PLD_FP32, &data));
	PLD_TRY(pld_window(signal_buffer, PLD_SHAPE(nranks, 1), PLD_INT32,
			   &signal));
	data.name = "data";
	signal.name = "signal";
	if (run->mode == HAND)
		return barrier_hand(&y, &signal);
	return barrier_builtin(&x, &y, &data, &signal);
}

int main(int argc, char **argv)
{
	struct example_run run;
	bool hand;

	example_begin(&run, &example, argc, argv);
	hand = run.mode == HAND;
	example_must(pld_alloc_window_buffer_shaped(run.domain,
						    PLD_SHAPE(1, SIZE),
						    PLD_FP32, &data_buffer));
	example_must(pld_alloc_signal(run.domain, PLD_SHAPE(run.nranks, 1),
				      &signal_buffer));
	example_input(&run, &xs, "x", PLD_SHAPE(1, SIZE), example_x);
	example_output(&run, &ys, "y",
		       hand ? PLD_SHAPE(run.nranks, 1) : PLD_SHAPE(1, SIZE),
		       hand ? PLD_INT32 : PLD_FP32);
	example_tile(&local, "local", SIZE);
	example_tile(&recv, "recv", SIZE);

	example_launch(&run, per_rank);
	example_check(&run, &ys, hand ? cells : next_x);
	return example_end(&run);
}
