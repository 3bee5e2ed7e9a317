// SPDX-License-Identifier: GPL-2.0
/*
 * Step 11: the reveal.
 *
 * Shows	that pld.tensor.allreduce is what you wrote. The kernel of step
 *		08, 09 or 10 gives y; then one call does it again, and gives z.
 *		Both are checked against the same sum.
 * Look at	--ir, with each mode: where hand_signal ends and signal begins,
 *		the builtin starts. It also owns what the kernels by hand do not
 *		care for: it works in place, so nobody may write before all have
 *		read; and it takes its credits out again, so the next call finds
 *		the signal as this one did. Staging stays yours.
 * Try		PLD_RING instead of mode in by_builtin(), and run it with --mode
 *		mesh. The call refuses the mesh's signal, and names the shape
 *		that it wants.
 */
#include "08_allreduce_mesh.h"
#include "09_allreduce_two_phase.h"
#include "10_allreduce_ring.h"
#include "example.h"

/* Elements of a chunk; a slice has one for each rank. */
#define CHUNK 16

static const struct example example = {
	.name = "11_allreduce_reveal",
	.about = "Every rank's y and z are the sum of all x, by hand and by pld.tensor.allreduce.",
	.modes = {
		[PLD_MESH] = { "mesh", "step 08 and the builtin's mesh" },
		[PLD_TWO_PHASE] = { "two-phase",
				    "step 09 and the builtin's two-phase" },
		[PLD_RING] = { "ring", "step 10 and the builtin's ring" },
	},
};

static struct example_tensor xs, ys, zs;
static pld_window_buffer *hand_buffer, *result_buffer, *hand_signal_buffer;
static pld_window_buffer *data_buffer, *signal_buffer;
static pld_tile acc, recv;

/* The sum of 100 * k + column for k = 1 to nranks. */
static double sum(int nranks, int rank, int64_t row, int64_t column)
{
	(void)rank;
	(void)row;
	return 50.0 * nranks * (nranks + 1) + (double)column * nranks;
}

/* Each mode has a signal of its own shape. */
static pld_dims signal_shape(int mode, int nranks)
{
	if (mode == PLD_MESH)
		return PLD_SHAPE(nranks, 1);
	if (mode == PLD_TWO_PHASE)
		return PLD_SHAPE(2, nranks);
	return PLD_SHAPE(2 * (nranks - 1), nranks);
}

static int by_hand(int mode, const pld_tensor *x, const pld_tensor *y,
		   const pld_distributed_tensor *data,
		   const pld_distributed_tensor *result,
		   const pld_distributed_tensor *signal)
{
	if (mode == PLD_MESH)
		return allreduce_mesh(x, y, data, signal, &acc, &recv);
	if (mode == PLD_TWO_PHASE)
		return allreduce_two_phase(x, y, data, result, signal, &acc,
					   &recv);
	return allreduce_ring(x, y, data, signal, &acc, &recv);
}

static int by_builtin(int mode, const pld_tensor *x, const pld_tensor *z,
		      const pld_distributed_tensor *data,
		      const pld_distributed_tensor *signal)
{
	PLD_TRY(pld_load(x, PLD_AT(0, 0), x->shape, &recv));
	PLD_TRY(pld_store(&recv, PLD_AT(0, 0), data));

	PLD_TRY(pld_tensor_allreduce(data, signal, PLD_SUM, mode));

	PLD_TRY(pld_load(data, PLD_AT(0, 0), x->shape, &recv));
	return pld_store(&recv, PLD_AT(0, 0), z);
}

static int view(pld_window_buffer *buffer, const char *name, pld_dims shape,
		pld_dtype dtype, pld_distributed_tensor *tensor)
{
	PLD_TRY(pld_window(buffer, shape, dtype, tensor));
	tensor->name = name;
	return 0;
}

static int per_rank(pld_domain *domain, void *arg)
{
	const struct example_run *run = arg;
	int my_rank = pld_rank(domain);
	pld_tensor x = example_of(&xs, my_rank), y = example_of(&ys, my_rank);
	pld_tensor z = example_of(&zs, my_rank);
	pld_dims cells = signal_shape(run->mode, run->nranks);
	pld_distributed_tensor data, result, signal;

	PLD_TRY(view(hand_buffer, "hand_data", x.shape, PLD_FP32, &data));
	PLD_TRY(view(result_buffer, "result", x.shape, PLD_FP32, &result));
	PLD_TRY(view(hand_signal_buffer, "hand_signal", cells, PLD_INT32,
		     &signal));
	PLD_TRY(by_hand(run->mode, &x, &y, &data, &result, &signal));

	PLD_TRY(view(data_buffer, "data", x.shape, PLD_FP32, &data));
	PLD_TRY(view(signal_buffer, "signal", cells, PLD_INT32, &signal));
	return by_builtin(run->mode, &x, &z, &data, &signal);
}

int main(int argc, char **argv)
{
	struct example_run run;
	pld_dims shape, cells;

	example_begin(&run, &example, argc, argv);
	shape = PLD_SHAPE(1, run.nranks * CHUNK);
	cells = signal_shape(run.mode, run.nranks);
	example_must(pld_alloc_window_buffer_shaped(run.domain, shape, PLD_FP32,
						    &hand_buffer));
	example_must(pld_alloc_window_buffer_shaped(run.domain, shape, PLD_FP32,
						    &result_buffer));
	example_must(pld_alloc_window_buffer_shaped(run.domain, shape, PLD_FP32,
						    &data_buffer));
	example_must(pld_alloc_signal(run.domain, cells, &hand_signal_buffer));
	example_must(pld_alloc_signal(run.domain, cells, &signal_buffer));
	example_input(&run, &xs, "x", shape, example_x);
	example_output(&run, &ys, "y", shape, PLD_FP32);
	example_output(&run, &zs, "z", shape, PLD_FP32);
	example_tile(&acc, "acc", shape.n[1]);
	example_tile(&recv, "recv", shape.n[1]);

	example_launch(&run, per_rank);
	example_check(&run, &ys, sum);
	example_check(&run, &zs, sum);
	return example_end(&run);
}
