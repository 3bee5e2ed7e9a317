// SPDX-License-Identifier: GPL-2.0
/*
 * Step 14: reduce-scatter.
 *
 * Shows	all to one chunk each: every rank brings a chunk for every rank,
 *		and ends with the sum of those that are for it. It is the first
 *		phase of step 09; step 13 is the second.
 * Look at	the rows: rank r reads row r of every peer, no other. The
 *		builtin leaves the sum in row r of the window, in place.
 * Try		to read row peer instead of row my_rank. All ranks get the same
 *		y, the sum of chunks that belong to different ranks.
 */
#include "example.h"

#define SIZE 64

enum { HAND, BUILTIN };

static const struct example example = {
	.name = "14_reduce_scatter",
	.about = "Rank r's y is the sum of every rank's chunk r.",
	.modes = {
		{ "hand", "stage all chunks, barrier, add the own of every peer" },
		{ "builtin", "pld.tensor.reduce_scatter" },
	},
};

static struct example_tensor xs, ys;
static pld_window_buffer *data_buffer, *signal_buffer;
static pld_tile acc, recv;

/* Stage: chunk c of x into row c, for rank c to read. */
static int stage(const pld_tensor *x, const pld_distributed_tensor *data)
{
	for (int c = 0; c < data->shape.n[0]; c++) {
		PLD_TRY(pld_load(x, PLD_AT(0, c * SIZE), PLD_SHAPE(1, SIZE),
				 &recv));
		PLD_TRY(pld_store(&recv, PLD_AT(c, 0), data));
	}
	return 0;
}

static int reduce_scatter_hand(const pld_tensor *x, const pld_tensor *y,
			       const pld_distributed_tensor *data,
			       const pld_distributed_tensor *signal)
{
	pld_domain *ctx;
	int my_rank, nranks;

	PLD_TRY(pld_get_comm_ctx(data, &ctx));
	my_rank = pld_rank(ctx);
	nranks = pld_nranks(ctx);

	PLD_TRY(stage(x, data));

	/* Barrier: all chunks are staged. */
	for (int peer = 0; peer < nranks; peer++)
		if (peer != my_rank)
			PLD_TRY(pld_system_notify(signal, peer,
						  PLD_AT(my_rank, 0), 1,
						  PLD_ATOMIC_ADD));
	for (int src = 0; src < nranks; src++)
		if (src != my_rank)
			PLD_TRY(pld_system_wait(signal, PLD_AT(src, 0), 1,
						PLD_GE));

	/* Reduce: row my_rank of every rank. */
	PLD_TRY(pld_load(data, PLD_AT(my_rank, 0), PLD_SHAPE(1, SIZE), &acc));
	for (int peer = 0; peer < nranks; peer++)
		if (peer != my_rank) {
			PLD_TRY(pld_tile_remote_load(data, peer,
						     PLD_AT(my_rank, 0),
						     PLD_SHAPE(1, SIZE), &recv));
			PLD_TRY(pld_add(&acc, &recv, &acc));
		}

	return pld_store(&acc, PLD_AT(0, 0), y);
}

static int reduce_scatter_builtin(const pld_tensor *x, const pld_tensor *y,
				  const pld_distributed_tensor *data,
				  const pld_distributed_tensor *signal)
{
	pld_domain *ctx;

	PLD_TRY(pld_get_comm_ctx(data, &ctx));
	PLD_TRY(stage(x, data));

	PLD_TRY(pld_tensor_reduce_scatter(data, signal, PLD_SUM));

	PLD_TRY(pld_load(data, PLD_AT(pld_rank(ctx), 0), PLD_SHAPE(1, SIZE),
			 &acc));
	return pld_store(&acc, PLD_AT(0, 0), y);
}

/* The sum of 100 * k + rank * SIZE + column for k = 1 to nranks. */
static double sum_of_chunk(int nranks, int rank, int64_t row, int64_t column)
{
	(void)row;
	return 50.0 * nranks * (nranks + 1) +
	       (double)(rank * SIZE + column) * nranks;
}

static int per_rank(pld_domain *domain, void *arg)
{
	const struct example_run *run = arg;
	int nranks = pld_nranks(domain);
	pld_tensor x = example_of(&xs, pld_rank(domain));
	pld_tensor y = example_of(&ys, pld_rank(domain));
	pld_distributed_tensor data, signal;

	PLD_TRY(pld_window(data_buffer, PLD_SHAPE(nranks, SIZE), PLD_FP32,
			   &data));
	PLD_TRY(pld_window(signal_buffer, PLD_SHAPE(nranks, 1), PLD_INT32,
			   &signal));
	data.name = "data";
	signal.name = "signal";
	if (run->mode == HAND)
		return reduce_scatter_hand(&x, &y, &data, &signal);
	return reduce_scatter_builtin(&x, &y, &data, &signal);
}

int main(int argc, char **argv)
{
	struct example_run run;
	int nranks;

	example_begin(&run, &example, argc, argv);
	nranks = run.nranks;
	example_must(pld_alloc_window_buffer_shaped(run.domain,
						    PLD_SHAPE(nranks, SIZE),
						    PLD_FP32, &data_buffer));
	example_must(pld_alloc_signal(run.domain, PLD_SHAPE(nranks, 1),
				      &signal_buffer));
	example_input(&run, &xs, "x", PLD_SHAPE(1, nranks * SIZE), example_x);
	example_output(&run, &ys, "y", PLD_SHAPE(1, SIZE), PLD_FP32);
	example_tile(&acc, "acc", SIZE);
	example_tile(&recv, "recv", SIZE);

	example_launch(&run, per_rank);
	example_check(&run, &ys, sum_of_chunk);
	return example_end(&run);
}
