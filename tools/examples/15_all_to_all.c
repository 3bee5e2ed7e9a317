// SPDX-License-Identifier: GPL-2.0
/*
 * Step 15: all to all.
 *
 * Shows	all to all, each something else: row d of x goes to rank d, and
 *		row s of y came from rank s. Both modes push.
 * Look at	the put's two offsets: it reads row dest of x and writes row
 *		my_rank of dest's window. A put to the own rank is no special
 *		case. x is a plain Tensor: a put's source need not be a window.
 * Try		to swap the two offsets. Everything that comes to a rank lands in
 *		one row, where the last one wins; the other rows stay 0.
 */
#include "example.h"

#define SIZE 64

enum { HAND, BUILTIN };

static const struct example example = {
	.name = "15_all_to_all",
	.about = "Row s of rank d's y is row d of rank s's x.",
	.modes = {
		{ "hand", "put a row to every peer, barrier" },
		{ "builtin", "pld.tensor.all_to_all" },
	},
};

static struct example_tensor xs, ys;
static pld_window_buffer *data_buffer, *signal_buffer;
static pld_tile recv;

/* y: what has come into the window. */
static int read_back(const pld_distributed_tensor *data, const pld_tensor *y)
{
	for (int src = 0; src < data->shape.n[0]; src++) {
		PLD_TRY(pld_load(data, PLD_AT(src, 0), PLD_SHAPE(1, SIZE),
				 &recv));
		PLD_TRY(pld_store(&recv, PLD_AT(src, 0), y));
	}
	return 0;
}

static int all_to_all_hand(const pld_tensor *x, const pld_tensor *y,
			   const pld_distributed_tensor *data,
			   const pld_distributed_tensor *signal)
{
	pld_domain *ctx;
	int my_rank, nranks;

	PLD_TRY(pld_get_comm_ctx(data, &ctx));
	my_rank = pld_rank(ctx);
	nranks = pld_nranks(ctx);

	/* Push: row dest of x, to dest. */
	for (int dest = 0; dest < nranks; dest++) {
		pld_put_options row = {
			.dst_offsets = PLD_AT(my_rank, 0),
			.src_offsets = PLD_AT(dest, 0),
			.shape = PLD_SHAPE(1, SIZE),
		};

		PLD_TRY(pld_tensor_put(data, dest, x, &row));
	}

	/* Barrier: everything has come. */
	for (int peer = 0; peer < nranks; peer++)
		if (peer != my_rank)
			PLD_TRY(pld_system_notify(signal, peer,
						  PLD_AT(my_rank, 0), 1,
						  PLD_ATOMIC_ADD));
	for (int src = 0; src < nranks; src++)
		if (src != my_rank)
			PLD_TRY(pld_system_wait(signal, PLD_AT(src, 0), 1,
						PLD_GE));

	return read_back(data, y);
}

static int all_to_all_builtin(const pld_tensor *x, const pld_tensor *y,
			      const pld_distributed_tensor *data,
			      const pld_distributed_tensor *signal)
{
	PLD_TRY(pld_tensor_all_to_all(x, data, signal));
	return read_back(data, y);
}

/* What rank has for rank row. */
static double x_for(int nranks, int rank, int64_t row, int64_t column)
{
	(void)nranks;
	return 10000.0 * (rank + 1) + 100.0 * (double)row + (double)column;
}

static double x_from(int nranks, int rank, int64_t row, int64_t column)
{
	return x_for(nranks, (int)row, rank, column);
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
		return all_to_all_hand(&x, &y, &data, &signal);
	return all_to_all_builtin(&x, &y, &data, &signal);
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
	example_input(&run, &xs, "x", PLD_SHAPE(nranks, SIZE), x_for);
	example_output(&run, &ys, "y", PLD_SHAPE(nranks, SIZE), PLD_FP32);
	example_tile(&recv, "recv", SIZE);

	example_launch(&run, per_rank);
	example_check(&run, &ys, x_from);
	return example_end(&run);
}
