// SPDX-License-Identifier: GPL-2.0
/*
 * Step 09: allreduce, two phases.
 *
 * Shows	reduce-scatter, then allgather: each rank reduces one chunk, and
 *		all collect the chunks. Two phases need two barriers, and each
 *		has a row of the signal. The kernel is in
 *		09_allreduce_two_phase.h.
 * Look at	the bytes: 2 * (P - 1) / P slices come to each rank, where the
 *		mesh has P - 1. With two ranks that is the same; take four.
 * Try		row 0 for the second barrier too. Its cells are 1 already, so
 *		nobody waits, and y has chunks that were not reduced yet: zeros.
 */
#include "09_allreduce_two_phase.h"
#include "example.h"

/* Elements of a chunk; a slice has one for each rank. */
#define CHUNK 16

static const struct example example = {
	.name = "09_allreduce_two_phase",
	.about = "Every rank's y is the sum of all x: reduce one chunk, gather all.",
	.modes = { { "hand", "the only one; step 11 has the builtin" } },
};

static struct example_tensor xs, ys;
static pld_window_buffer *data_buffer, *result_buffer, *signal_buffer;
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
	int nranks = pld_nranks(domain);
	pld_dims shape = PLD_SHAPE(1, nranks * CHUNK);
	pld_tensor x = example_of(&xs, pld_rank(domain));
	pld_tensor y = example_of(&ys, pld_rank(domain));
	pld_distributed_tensor data, result, signal;

	(void)arg;
	PLD_TRY(pld_window(data_buffer, shape, PLD_FP32, &data));
	PLD_TRY(pld_window(result_buffer, shape, PLD_FP32, &result));
	PLD_TRY(pld_window(signal_buffer, PLD_SHAPE(2, nranks), PLD_INT32,
			   &signal));
	data.name = "data";
	result.name = "result";
	signal.name = "signal";
	return allreduce_two_phase(&x, &y, &data, &result, &signal, &acc, &recv);
}

int main(int argc, char **argv)
{
	struct example_run run;
	pld_dims shape;

	example_begin(&run, &example, argc, argv);
	shape = PLD_SHAPE(1, run.nranks * CHUNK);
	example_must(pld_alloc_window_buffer_shaped(run.domain, shape, PLD_FP32,
						    &data_buffer));
	example_must(pld_alloc_window_buffer_shaped(run.domain, shape, PLD_FP32,
						    &result_buffer));
	example_must(pld_alloc_signal(run.domain, PLD_SHAPE(2, run.nranks),
				      &signal_buffer));
	example_input(&run, &xs, "x", shape, example_x);
	example_output(&run, &ys, "y", shape, PLD_FP32);
	example_tile(&acc, "acc", CHUNK);
	example_tile(&recv, "recv", shape.n[1]);

	example_launch(&run, per_rank);
	example_check(&run, &ys, sum);
	return example_end(&run);
}
