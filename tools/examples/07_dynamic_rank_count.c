// SPDX-License-Identifier: GPL-2.0
/*
 * Step 07: any number of ranks.
 *
 * Shows	that how many ranks there are is known when the program runs, by
 *		-d, and never before: shapes, loops and peers follow from
 *		pld_nranks(). Step 06 goes on until each x has been everywhere:
 *		nranks - 1 hops, each with a cell of its own. With two ranks it
 *		is step 06.
 * Look at	-d 0,1 and then -d 5,0,2,7,1: the same program. Rank r is the
 *		r-th device of the list, whatever its number.
 * Try		"% 2" instead of "% nranks" where next is computed. Two ranks are
 *		right as ever. Of three, one waits 10 seconds for a notify that
 *		goes elsewhere (put), or some have wrong numbers at once (get).
 */
#include "example.h"

#define SIZE 64

enum { PUT, GET };

static const struct example example = {
	.name = "07_dynamic_rank_count",
	.about = "Each rank's x goes around the whole ring: y[s] is x of rank s.",
	.modes = {
		{ "put", "each hop pushes to the next rank" },
		{ "get", "each hop pulls from the next rank" },
	},
};

static struct example_tensor xs, ys;
static pld_window_buffer *data_buffer, *signal_buffer;
static pld_tile local, recv;

/* Row row of data to a put or a get. */
static pld_put_options one_row(int row)
{
	return (pld_put_options){
		.dst_offsets = PLD_AT(row, 0),
		.src_offsets = PLD_AT(row, 0),
		.shape = PLD_SHAPE(1, SIZE),
	};
}

static int put_around(const pld_distributed_tensor *data,
		      const pld_distributed_tensor *signal)
{
	pld_domain *ctx;
	int my_rank, nranks, next;

	PLD_TRY(pld_get_comm_ctx(data, &ctx));
	my_rank = pld_rank(ctx);
	nranks = pld_nranks(ctx);
	next = (my_rank + 1) % nranks;

	/* The own row first, then what has just come. */
	for (int hop = 0; hop < nranks - 1; hop++) {
		pld_put_options row = one_row((my_rank - hop + nranks) % nranks);

		PLD_TRY(pld_tensor_put(data, next, data, &row));
		PLD_TRY(pld_system_notify(signal, next, PLD_AT(hop, 0), 1,
					  PLD_ATOMIC_ADD));
		PLD_TRY(pld_system_wait(signal, PLD_AT(hop, 0), 1, PLD_GE));
	}
	return 0;
}

static int get_around(const pld_distributed_tensor *data,
		      const pld_distributed_tensor *signal)
{
	pld_domain *ctx;
	int my_rank, nranks, next, last;

	PLD_TRY(pld_get_comm_ctx(data, &ctx));
	my_rank = pld_rank(ctx);
	nranks = pld_nranks(ctx);
	next = (my_rank + 1) % nranks;
	last = (my_rank + nranks - 1) % nranks;

	/* The next rank's own row first, then what it has just got. */
	for (int hop = 0; hop < nranks - 1; hop++) {
		pld_get_options row = one_row((next + hop) % nranks);

		PLD_TRY(pld_system_notify(signal, last, PLD_AT(hop, 0), 1,
					  PLD_ATOMIC_ADD));
		PLD_TRY(pld_system_wait(signal, PLD_AT(hop, 0), 1, PLD_GE));
		PLD_TRY(pld_tensor_get(data, next, data, &row));
	}
	return 0;
}

static double x_of_row(int nranks, int rank, int64_t row, int64_t column)
{
	(void)rank;
	return example_x(nranks, (int)row, 0, column);
}

static int per_rank(pld_domain *domain, void *arg)
{
	const struct example_run *run = arg;
	int nranks = pld_nranks(domain), my_rank = pld_rank(domain);
	pld_tensor x = example_of(&xs, my_rank), y = example_of(&ys, my_rank);
	pld_distributed_tensor data, signal;

	PLD_TRY(pld_window(data_buffer, PLD_SHAPE(nranks, SIZE), PLD_FP32,
			   &data));
	PLD_TRY(pld_window(signal_buffer, PLD_SHAPE(nranks - 1, 1), PLD_INT32,
			   &signal));
	data.name = "data";
	signal.name = "signal";

	PLD_TRY(pld_load(&x, PLD_AT(0, 0), PLD_SHAPE(1, SIZE), &local));
	PLD_TRY(pld_store(&local, PLD_AT(my_rank, 0), &data));
	if (run->mode == PUT)
		PLD_TRY(put_around(&data, &signal));
	else
		PLD_TRY(get_around(&data, &signal));
	PLD_TRY(pld_load(&data, PLD_AT(0, 0), PLD_SHAPE(nranks, SIZE), &recv));
	return pld_store(&recv, PLD_AT(0, 0), &y);
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
	example_must(pld_alloc_signal(run.domain, PLD_SHAPE(nranks - 1, 1),
				      &signal_buffer));
	example_input(&run, &xs, "x", PLD_SHAPE(1, SIZE), example_x);
	example_output(&run, &ys, "y", PLD_SHAPE(nranks, SIZE), PLD_FP32);
	example_tile(&local, "local", SIZE);
	example_tile(&recv, "recv", nranks * SIZE);

	example_launch(&run, per_rank);
	example_check(&run, &ys, x_of_row);
	return example_end(&run);
}
