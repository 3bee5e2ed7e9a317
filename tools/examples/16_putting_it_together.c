// SPDX-License-Identifier: GPL-2.0
/*
 * Step 16: putting it together.
 *
 * Shows	what a model does: weights are broadcast, activations are
 *		reduced, results are gathered and scaled, all in one kernel. The
 *		three collectives share one signal.
 * Look at	why they can. The builtins take out what they were given, so
 *		each finds the cells as the one before did. By hand nothing is
 *		taken out: barrier g waits for g credits, and a rank that is a
 *		barrier ahead does no harm, since wait asks for "at least".
 *		Each collective has a window of its own, though: a signal can be
 *		reused at once, a target cannot.
 * Try		to wait for 1 in every barrier by hand. The first is right, and
 *		the others let everybody through: y is the sum of what was there
 *		in time.
 */
#include "example.h"

#define SIZE 64
#define ROOT 0

enum { HAND, BUILTIN };

static const struct example example = {
	.name = "16_putting_it_together",
	.about = "y is the sum of all x, z is every x times the root's w.",
	.modes = {
		{ "hand", "three barriers that count up on one signal" },
		{ "builtin", "broadcast, allreduce and allgather, one after the other" },
	},
};

static struct example_tensor xs, ws, ys, zs;
static pld_window_buffer *w_buffer, *sum_buffer, *all_buffer, *signal_buffer;
static pld_tile weight, acc, recv;

/* The windows of the three collectives, and their signal. */
struct windows {
	pld_distributed_tensor w, sum, all, signal;
};

/* Step 04, for the g-th time on this signal. */
static int barrier(const pld_distributed_tensor *signal, int g)
{
	pld_domain *ctx;
	int my_rank, nranks;

	PLD_TRY(pld_get_comm_ctx(signal, &ctx));
	my_rank = pld_rank(ctx);
	nranks = pld_nranks(ctx);
	for (int peer = 0; peer < nranks; peer++)
		if (peer != my_rank)
			PLD_TRY(pld_system_notify(signal, peer,
						  PLD_AT(my_rank, 0), 1,
						  PLD_ATOMIC_ADD));
	for (int src = 0; src < nranks; src++)
		if (src != my_rank)
			PLD_TRY(pld_system_wait(signal, PLD_AT(src, 0), g,
						PLD_GE));
	return 0;
}

static int together_by_hand(const pld_tensor *x, const pld_tensor *w,
			    const pld_tensor *y, const pld_tensor *z,
			    const struct windows *windows)
{
	pld_dims slice = PLD_SHAPE(1, SIZE);
	pld_domain *ctx;
	int my_rank, nranks;

	PLD_TRY(pld_get_comm_ctx(&windows->signal, &ctx));
	my_rank = pld_rank(ctx);
	nranks = pld_nranks(ctx);

	/* Broadcast: the root's weights. */
	if (my_rank == ROOT) {
		PLD_TRY(pld_load(w, PLD_AT(0, 0), slice, &recv));
		PLD_TRY(pld_store(&recv, PLD_AT(0, 0), &windows->w));
	}
	PLD_TRY(barrier(&windows->signal, 1));
	PLD_TRY(pld_tile_remote_load(&windows->w, ROOT, PLD_AT(0, 0), slice,
				     &weight));

	/* Allreduce: every rank's x. */
	PLD_TRY(pld_load(x, PLD_AT(0, 0), slice, &acc));
	PLD_TRY(pld_store(&acc, PLD_AT(0, 0), &windows->sum));
	PLD_TRY(barrier(&windows->signal, 2));
	for (int peer = 0; peer < nranks; peer++)
		if (peer != my_rank) {
			PLD_TRY(pld_tile_remote_load(&windows->sum, peer,
						     PLD_AT(0, 0), slice, &recv));
			PLD_TRY(pld_add(&acc, &recv, &acc));
		}
	PLD_TRY(pld_store(&acc, PLD_AT(0, 0), y));

	/* Allgather: every rank's x, times the weights. */
	PLD_TRY(pld_load(x, PLD_AT(0, 0), slice, &recv));
	PLD_TRY(pld_store(&recv, PLD_AT(my_rank, 0), &windows->all));
	PLD_TRY(barrier(&windows->signal, 3));
	for (int src = 0; src < nranks; src++) {
		PLD_TRY(pld_tile_remote_load(&windows->all, src, PLD_AT(src, 0),
					     slice, &recv));
		PLD_TRY(pld_mul(&recv, &weight, &recv));
		PLD_TRY(pld_store(&recv, PLD_AT(0, src * SIZE), z));
	}
	return 0;
}

static int together_by_builtins(const pld_tensor *x, const pld_tensor *w,
				const pld_tensor *y, const pld_tensor *z,
				const struct windows *windows)
{
	pld_dims slice = PLD_SHAPE(1, SIZE);
	pld_domain *ctx;

	PLD_TRY(pld_get_comm_ctx(&windows->signal, &ctx));

	/* Broadcast: the root's weights. */
	if (pld_rank(ctx) == ROOT) {
		PLD_TRY(pld_load(w, PLD_AT(0, 0), slice, &recv));
		PLD_TRY(pld_store(&recv, PLD_AT(0, 0), &windows->w));
	}
	PLD_TRY(pld_tensor_broadcast(&windows->w, &windows->signal, ROOT));
	PLD_TRY(pld_load(&windows->w, PLD_AT(0, 0), slice, &weight));

	/* Allreduce: every rank's x. */
	PLD_TRY(pld_load(x, PLD_AT(0, 0), slice, &recv));
	PLD_TRY(pld_store(&recv, PLD_AT(0, 0), &windows->sum));
	PLD_TRY(pld_tensor_allreduce(&windows->sum, &windows->signal, PLD_SUM,
				     PLD_MESH));
	PLD_TRY(pld_load(&windows->sum, PLD_AT(0, 0), slice, &acc));
	PLD_TRY(pld_store(&acc, PLD_AT(0, 0), y));

	/* Allgather: every rank's x, times the weights. */
	PLD_TRY(pld_tensor_allgather(x, &windows->all, &windows->signal));
	for (int src = 0; src < pld_nranks(ctx); src++) {
		PLD_TRY(pld_load(&windows->all, PLD_AT(src, 0), slice, &recv));
		PLD_TRY(pld_mul(&recv, &weight, &recv));
		PLD_TRY(pld_store(&recv, PLD_AT(0, src * SIZE), z));
	}
	return 0;
}

/* Only the root's are to be seen again. */
static double w_value(int nranks, int rank, int64_t row, int64_t column)
{
	(void)nranks;
	(void)row;
	return rank == ROOT ? 1.0 + (double)column : -1.0;
}

/* The sum of 100 * k + column for k = 1 to nranks. */
static double sum(int nranks, int rank, int64_t row, int64_t column)
{
	(void)rank;
	(void)row;
	return 50.0 * nranks * (nranks + 1) + (double)column * nranks;
}

static double scaled(int nranks, int rank, int64_t row, int64_t column)
{
	(void)rank;
	return example_x(nranks, (int)(column / SIZE), row, column % SIZE) *
	       w_value(nranks, ROOT, row, column % SIZE);
}

static int per_rank(pld_domain *domain, void *arg)
{
	const struct example_run *run = arg;
	int nranks = pld_nranks(domain), my_rank = pld_rank(domain);
	pld_tensor x = example_of(&xs, my_rank), w = example_of(&ws, my_rank);
	pld_tensor y = example_of(&ys, my_rank), z = example_of(&zs, my_rank);
	struct windows windows;

	PLD_TRY(pld_window(w_buffer, PLD_SHAPE(1, SIZE), PLD_FP32, &windows.w));
	PLD_TRY(pld_window(sum_buffer, PLD_SHAPE(1, SIZE), PLD_FP32,
			   &windows.sum));
	PLD_TRY(pld_window(all_buffer, PLD_SHAPE(nranks, SIZE), PLD_FP32,
			   &windows.all));
	PLD_TRY(pld_window(signal_buffer, PLD_SHAPE(nranks, 1), PLD_INT32,
			   &windows.signal));
	windows.w.name = "w_data";
	windows.sum.name = "sum_data";
	windows.all.name = "all_data";
	windows.signal.name = "signal";
	if (run->mode == HAND)
		return together_by_hand(&x, &w, &y, &z, &windows);
	return together_by_builtins(&x, &w, &y, &z, &windows);
}

int main(int argc, char **argv)
{
	pld_dims slice = PLD_SHAPE(1, SIZE);
	struct example_run run;
	int nranks;

	example_begin(&run, &example, argc, argv);
	nranks = run.nranks;
	example_must(pld_alloc_window_buffer_shaped(run.domain, slice, PLD_FP32,
						    &w_buffer));
	example_must(pld_alloc_window_buffer_shaped(run.domain, slice, PLD_FP32,
						    &sum_buffer));
	example_must(pld_alloc_window_buffer_shaped(run.domain,
						    PLD_SHAPE(nranks, SIZE),
						    PLD_FP32, &all_buffer));
	example_must(pld_alloc_signal(run.domain, PLD_SHAPE(nranks, 1),
				      &signal_buffer));
	example_input(&run, &xs, "x", slice, example_x);
	example_input(&run, &ws, "w", slice, w_value);
	example_output(&run, &ys, "y", slice, PLD_FP32);
	example_output(&run, &zs, "z", PLD_SHAPE(1, nranks * SIZE), PLD_FP32);
	example_tile(&weight, "weight", SIZE);
	example_tile(&acc, "acc", SIZE);
	example_tile(&recv, "recv", SIZE);

	example_launch(&run, per_rank);
	example_check(&run, &ys, sum);
	example_check(&run, &zs, scaled);
	return example_end(&run);
}
