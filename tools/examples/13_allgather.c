// SPDX-License-Identifier: GPL-2.0
/*
 * Step 13: allgather.
 *
 * Shows	all to all, the same: every rank ends with all slices in the
 *		order of the ranks. By hand by pulling: stage, barrier, read
 *		every peer. The builtin pushes: put to every peer, barrier.
 * Look at	where the barrier stands, before or after the bytes move; and
 *		that the builtin's result is the window itself, row s from rank
 *		s. pld-allgather is this step with any size and type.
 * Try		to stage at [0, 0] instead of [my_rank, 0], by hand. All ranks
 *		agree on y, and it is wrong: each reads row s of rank s, where
 *		nothing was staged unless s is 0.
 */
#include "example.h"

#define SIZE 64

enum { HAND, BUILTIN };

static const struct example example = {
	.name = "13_allgather",
	.about = "Every rank's y is all x in the order of the ranks.",
	.modes = {
		{ "hand", "stage, barrier, read every peer" },
		{ "builtin", "pld.tensor.allgather: put to every peer, barrier" },
	},
};

static struct example_tensor xs, ys;
static pld_window_buffer *data_buffer, *signal_buffer;
static pld_tile local, recv;

static int allgather_hand(const pld_tensor *x, const pld_tensor *y,
			  const pld_distributed_tensor *data,
			  const pld_distributed_tensor *signal)
{
	pld_domain *ctx;
	int my_rank, nranks;

	PLD_TRY(pld_get_comm_ctx(data, &ctx));
	my_rank = pld_rank(ctx);
	nranks = pld_nranks(ctx);

	/* Stage: the own slice into the own row. */
	PLD_TRY(pld_load(x, PLD_AT(0, 0), PLD_SHAPE(1, SIZE), &local));
	PLD_TRY(pld_store(&local, PLD_AT(my_rank, 0), data));

	/* Barrier: every slice is staged. */
	for (int peer = 0; peer < nranks; peer++)
		if (peer != my_rank)
			PLD_TRY(pld_system_notify(signal, peer,
						  PLD_AT(my_rank, 0), 1,
						  PLD_ATOMIC_ADD));
	for (int src = 0; src < nranks; src++)
		if (src != my_rank)
			PLD_TRY(pld_system_wait(signal, PLD_AT(src, 0), 1,
						PLD_GE));

	/* Pull: every rank's row, the own one too. */
	for (int peer = 0; peer < nranks; peer++) {
		PLD_TRY(pld_tile_remote_load(data, peer, PLD_AT(peer, 0),
					     PLD_SHAPE(1, SIZE), &recv));
		PLD_TRY(pld_store(&recv, PLD_AT(0, peer * SIZE), y));
	}
	return 0;
}

static int allgather_builtin(const pld_tensor *x, const pld_tensor *y,
			     const pld_distributed_tensor *data,
			     const pld_distributed_tensor *signal)
{
	PLD_TRY(pld_tensor_allgather(x, data, signal));

	for (int src = 0; src < data->shape.n[0]; src++) {
		PLD_TRY(pld_load(data, PLD_AT(src, 0), PLD_SHAPE(1, SIZE),
				 &recv));
		PLD_TRY(pld_store(&recv, PLD_AT(0, src * SIZE), y));
	}
	return 0;
}

static double every_x(int nranks, int rank, int64_t row, int64_t column)
{
	(void)rank;
	return example_x(nranks, (int)(column / SIZE), row, column % SIZE);
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
		return allgather_hand(&x, &y, &data, &signal);
	return allgather_builtin(&x, &y, &data, &signal);
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
	example_input(&run, &xs, "x", PLD_SHAPE(1, SIZE), example_x);
	example_output(&run, &ys, "y", PLD_SHAPE(1, nranks * SIZE), PLD_FP32);
	example_tile(&local, "local", SIZE);
	example_tile(&recv, "recv", SIZE);

	example_launch(&run, per_rank);
	example_check(&run, &ys, every_x);
	return example_end(&run);
}
