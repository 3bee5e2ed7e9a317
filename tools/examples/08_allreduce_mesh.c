// SPDX-License-Identifier: GPL-2.0
/*
 * Step 08: allreduce, the mesh.
 *
 * Shows	the four parts that every collective by hand has: stage, barrier,
 *		work, store. Each rank reads every peer's slice and adds, so each
 *		ends with the same sum. The kernel is in 08_allreduce_mesh.h.
 * Look at	what it costs: P - 1 slices come to each rank, and all ranks
 *		compute the same. Steps 09 and 10 do better.
 * Try		to load from my_rank instead of from peer. Nothing complains, and
 *		each rank's y is its own x times nranks.
 */
#include "08_allreduce_mesh.h"
#include "example.h"

#define SIZE 64

static const struct example example = {
	.name = "08_allreduce_mesh",
	.about = "Every rank's y is the sum of all x: read every peer, and add.",
	.modes = { { "hand", "the only one; step 11 has the builtin" } },
};

static struct example_tensor xs, ys;
static pld_window_buffer *data_buffer, *signal_buffer;
static pld_tile acc, recv;

/* The sum of 100 * k + column for k = 1 to nranks. */
static double sum(int nranks, int rank, int64_t row, int64_t column)
{
	(void)rank;
	(void)row;
	return 50.0 * nranks * (nranks + 1) + (double)column * nranks;
}

static int per_rank(pld_domain *domain, void *arg)
{
	pld_tensor x = example_of(&xs, pld_rank(domain));
	pld_tensor y = example_of(&ys, pld_rank(domain));
	pld_distributed_tensor data, signal;

	(void)arg;
	PLD_TRY(pld_window(data_buffer, PLD_SHAPE(1, SIZE), PLD_FP32, &data));
	PLD_TRY(pld_window(signal_buffer, PLD_SHAPE(pld_nranks(domain), 1),
			   PLD_INT32, &signal));
	data.name = "data";
	signal.name = "signal";
	return allreduce_mesh(&x, &y, &data, &signal, &acc, &recv);
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
	example_tile(&acc, "acc", SIZE);
	example_tile(&recv, "recv", SIZE);

	example_launch(&run, per_rank);
	example_check(&run, &ys, sum);
	return example_end(&run);
}
