// SPDX-License-Identifier: GPL-2.0
/*
 * Step 06: put and get.
 *
 * Shows	transfers from window to window, or from plain memory: put pushes
 *		into a peer's, get pulls from a peer's, of any size. On the
 *		hardware they pass through a staging tile, in chunks that fit
 *		it; --ir names it.
 * Look at	who is notified. Who put tells the rank that it put to, after
 *		the put. Who staged tells the rank that will get it, which is
 *		the one before, not the one that it gets from itself.
 * Try		to put after the wait. Nothing complains, and y has some 0, or
 *		is right by luck: that is what a race looks like. Or, in get,
 *		to notify next instead of last: right with two ranks alone.
 */
#include "example.h"

#define SIZE 64

enum { PUT, GET };

static const struct example example = {
	.name = "06_put_get",
	.about = "Each rank's x moves one place around the ring, by put or get.",
	.modes = {
		{ "put", "push to the next rank: y is x of rank - 1" },
		{ "get", "pull from the next rank: y is x of rank + 1" },
	},
};

static struct example_tensor xs, ys;
static pld_window_buffer *src_buffer, *dst_buffer, *signal_buffer;
static pld_tile local, recv;

static int put_step(const pld_tensor *x, const pld_tensor *y,
		    const pld_distributed_tensor *src,
		    const pld_distributed_tensor *dst,
		    const pld_distributed_tensor *signal)
{
	pld_domain *ctx;
	int next;

	PLD_TRY(pld_get_comm_ctx(src, &ctx));
	next = (pld_rank(ctx) + 1) % pld_nranks(ctx);

	PLD_TRY(pld_load(x, PLD_AT(0, 0), PLD_SHAPE(1, SIZE), &local));
	PLD_TRY(pld_store(&local, PLD_AT(0, 0), src));

	PLD_TRY(pld_tensor_put(dst, next, src, NULL));

	/* To the rank that was put to; from the rank that put here. */
	PLD_TRY(pld_system_notify(signal, next, PLD_AT(0, 0), 1, PLD_ATOMIC_ADD));
	PLD_TRY(pld_system_wait(signal, PLD_AT(0, 0), 1, PLD_GE));

	PLD_TRY(pld_load(dst, PLD_AT(0, 0), PLD_SHAPE(1, SIZE), &recv));
	return pld_store(&recv, PLD_AT(0, 0), y);
}

static double last_x(int nranks, int rank, int64_t row, int64_t column)
{
	return example_x(nranks, rank ? rank - 1 : nranks - 1, row, column);
}

static int get_step(const pld_tensor *x, const pld_tensor *y,
		    const pld_distributed_tensor *src,
		    const pld_distributed_tensor *dst,
		    const pld_distributed_tensor *signal)
{
	pld_domain *ctx;
	int nranks, next, last;

	PLD_TRY(pld_get_comm_ctx(src, &ctx));
	nranks = pld_nranks(ctx);
	next = (pld_rank(ctx) + 1) % nranks;
	last = (pld_rank(ctx) + nranks - 1) % nranks;

	PLD_TRY(pld_load(x, PLD_AT(0, 0), PLD_SHAPE(1, SIZE), &local));
	PLD_TRY(pld_store(&local, PLD_AT(0, 0), src));

	/* To the rank that gets from here; from the rank to get from. */
	PLD_TRY(pld_system_notify(signal, last, PLD_AT(0, 0), 1, PLD_ATOMIC_ADD));
	PLD_TRY(pld_system_wait(signal, PLD_AT(0, 0), 1, PLD_GE));

	PLD_TRY(pld_tensor_get(dst, next, src, NULL));

	PLD_TRY(pld_load(dst, PLD_AT(0, 0), PLD_SHAPE(1, SIZE), &recv));
	return pld_store(&recv, PLD_AT(0, 0), y);
}

static double next_x(int nranks, int rank, int64_t row, int64_t column)
{
	return example_x(nranks, (rank + 1) % nranks, row, column);
}

static int per_rank(pld_domain *domain, void *arg)
{
	const struct example_run *run = arg;
	pld_tensor x = example_of(&xs, pld_rank(domain));
	pld_tensor y = example_of(&ys, pld_rank(domain));
	pld_distributed_tensor src, dst, signal;

	PLD_TRY(pld_window(src_buffer, PLD_SHAPE(1, SIZE), PLD_FP32, &src));
	PLD_TRY(pld_window(dst_buffer, PLD_SHAPE(1, SIZE), PLD_FP32, &dst));
	PLD_TRY(pld_window(signal_buffer, PLD_SHAPE(1, 1), PLD_INT32, &signal));
	src.name = "src";
	dst.name = "dst";
	signal.name = "signal";
	if (run->mode == PUT)
		return put_step(&x, &y, &src, &dst, &signal);
	return get_step(&x, &y, &src, &dst, &signal);
}

int main(int argc, char **argv)
{
	struct example_run run;

	example_begin(&run, &example, argc, argv);
	example_must(pld_alloc_window_buffer_shaped(run.domain,
						    PLD_SHAPE(1, SIZE),
						    PLD_FP32, &src_buffer));
	example_must(pld_alloc_window_buffer_shaped(run.domain,
						    PLD_SHAPE(1, SIZE),
						    PLD_FP32, &dst_buffer));
	example_must(
		pld_alloc_signal(run.domain, PLD_SHAPE(1, 1), &signal_buffer));
	example_input(&run, &xs, "x", PLD_SHAPE(1, SIZE), example_x);
	example_output(&run, &ys, "y", PLD_SHAPE(1, SIZE), PLD_FP32);
	example_tile(&local, "local", SIZE);
	example_tile(&recv, "recv", SIZE);

	example_launch(&run, per_rank);
	example_check(&run, &ys, run.mode == PUT ? last_x : next_x);
	return example_end(&run);
}
