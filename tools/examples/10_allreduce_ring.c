// SPDX-License-Identifier: GPL-2.0
/*
 * Step 10: allreduce, the ring.
 *
 * Shows	the two phases of step 09 where each rank reads from its left
 *		neighbour only, a chunk in each of 2 * (P - 1) rounds; what is
 *		read, and what is waited for, never grows with P. The kernel is
 *		in 10_allreduce_ring.h.
 * Look at	the signal: no barrier, but a cell of each round that says "I
 *		have stored", from the left neighbour, to the right one. With
 *		--ir, see how the chunk's offset moves.
 * Try		"left - step + 1" in the first loop too. Nothing complains, each
 *		wait is over as before, and every sum is wrong.
 */
#include "10_allreduce_ring.h"
#include "example.h"

/* Elements of a chunk; a slice has one for each rank. */
#define CHUNK 16

static const struct example example = {
	.name = "10_allreduce_ring",
	.about = "Every rank's y is the sum of all x: chunks go around the ring.",
	.modes = { { "hand", "the only one; step 11 has the builtin" } },
};

static struct example_tensor xs, ys;
static pld_window_buffer *scratch_buffer, *signal_buffer;
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
	pld_tensor x = example_of(&xs, pld_rank(domain));
	pld_tensor y = example_of(&ys, pld_rank(domain));
	pld_distributed_tensor scratch, signal;

	(void)arg;
	PLD_TRY(pld_window(scratch_buffer, PLD_SHAPE(1, nranks * CHUNK),
			   PLD_FP32, &scratch));
	PLD_TRY(pld_window(signal_buffer, PLD_SHAPE(2 * (nranks - 1), nranks),
			   PLD_INT32, &signal));
	scratch.name = "scratch";
	signal.name = "signal";
	return allreduce_ring(&x, &y, &scratch, &signal, &acc, &recv);
}

int main(int argc, char **argv)
{
	struct example_run run;
	pld_dims shape;

	example_begin(&run, &example, argc, argv);
	shape = PLD_SHAPE(1, run.nranks * CHUNK);
	example_must(pld_alloc_window_buffer_shaped(run.domain, shape, PLD_FP32,
						    &scratch_buffer));
	example_must(pld_alloc_signal(run.domain,
				      PLD_SHAPE(2 * (run.nranks - 1), run.nranks),
				      &signal_buffer));
	example_input(&run, &xs, "x", shape, example_x);
	example_output(&run, &ys, "y", shape, PLD_FP32);
	example_tile(&acc, "acc", CHUNK);
	example_tile(&recv, "recv", shape.n[1]);

	example_launch(&run, per_rank);
	example_check(&run, &ys, sum);
	return example_end(&run);
}
