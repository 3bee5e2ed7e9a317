// SPDX-License-Identifier: GPL-2.0
/*
 * Step 12: broadcast.
 *
 * Shows	one to all: the root's slice reaches every rank. By hand, the
 *		root stages and every rank reads the root; the builtin turns it
 *		around, and the root puts to every rank.
 * Look at	--ir of rank 0 and of rank 1, in both modes: who moves the bytes,
 *		and on which side of the barrier.
 * Try		root = nranks in the builtin. The call is refused before a byte
 *		moves. By hand, remote_load refuses such a peer, too; but with 1
 *		instead of root in that line alone, all have zeros in silence,
 *		since nobody has staged there.
 */
#include "example.h"

#define SIZE 64
#define ROOT 0

enum { HAND, BUILTIN };

static const struct example example = {
	.name = "12_broadcast",
	.about = "Every rank's y is x of rank 0.",
	.modes = {
		{ "hand", "the root stages, barrier, every rank reads the root" },
		{ "builtin", "pld.tensor.broadcast" },
	},
};

static struct example_tensor xs, ys;
static pld_window_buffer *data_buffer, *signal_buffer;
static pld_tile local, recv;

static int broadcast_hand(const pld_tensor *x, const pld_tensor *y,
			  const pld_distributed_tensor *data,
			  const pld_distributed_tensor *signal, int root)
{
	pld_domain *ctx;
	int my_rank, nranks;

	PLD_TRY(pld_get_comm_ctx(data, &ctx));
	my_rank = pld_rank(ctx);
	nranks = pld_nranks(ctx);

	/* Stage: the root alone. */
	if (my_rank == root) {
		PLD_TRY(pld_load(x, PLD_AT(0, 0), PLD_SHAPE(1, SIZE), &local));
		PLD_TRY(pld_store(&local, PLD_AT(0, 0), data));
	}

	/* Barrier: the root has staged. */
	for (int peer = 0; peer < nranks; peer++)
		if (peer != my_rank)
			PLD_TRY(pld_system_notify(signal, peer,
						  PLD_AT(my_rank, 0), 1,
						  PLD_ATOMIC_ADD));
	for (int src = 0; src < nranks; src++)
		if (src != my_rank)
			PLD_TRY(pld_system_wait(signal, PLD_AT(src, 0), 1,
						PLD_GE));

	/* Pull: every rank from the root, the root too. */
	PLD_TRY(pld_tile_remote_load(data, root, PLD_AT(0, 0),
				     PLD_SHAPE(1, SIZE), &recv));
	return pld_store(&recv, PLD_AT(0, 0), y);
}

static int broadcast_builtin(const pld_tensor *x, const pld_tensor *y,
			     const pld_distributed_tensor *data,
			     const pld_distributed_tensor *signal, int root)
{
	pld_domain *ctx;

	PLD_TRY(pld_get_comm_ctx(data, &ctx));
	if (pld_rank(ctx) == root) {
		PLD_TRY(pld_load(x, PLD_AT(0, 0), PLD_SHAPE(1, SIZE), &local));
		PLD_TRY(pld_store(&local, PLD_AT(0, 0), data));
	}

	PLD_TRY(pld_tensor_broadcast(data, signal, root));

	PLD_TRY(pld_load(data, PLD_AT(0, 0), PLD_SHAPE(1, SIZE), &recv));
	return pld_store(&recv, PLD_AT(0, 0), y);
}

static double x_of_root(int nranks, int rank, int64_t row, int64_t column)
{
	(void)rank;
	return example_x(nranks, ROOT, row, column);
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
	if (run->mode == HAND)
		return broadcast_hand(&x, &y, &data, &signal, ROOT);
	return broadcast_builtin(&x, &y, &data, &signal, ROOT);
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
	example_check(&run, &ys, x_of_root);
	return example_end(&run);
}
