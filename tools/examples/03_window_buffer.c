// SPDX-License-Identifier: GPL-2.0
/*
 * Step 03: a window buffer.
 *
 * Shows	memory that the whole domain has: the host allocates one buffer,
 *		and each rank makes a typed view of it. Nothing is shared yet:
 *		each rank writes to its own part and reads it back, so y == x.
 * Look at	the two names: pld_alloc_window_buffer_shaped() makes the memory,
 *		once; pld_window() makes a view of it, in every rank. With --ir,
 *		data is a DistributedTensor, x and y are plain Tensors.
 * Try		to view more than was allocated: PLD_SHAPE(2, SIZE) in
 *		pld_window(). It is refused, and no byte is touched.
 */
#include "example.h"

/* 1 KiB for each rank; a window has 4 KiB at least. */
#define SIZE 256

static const struct example example = {
	.name = "03_window_buffer",
	.about = "Each rank writes its own window and reads it back: y == x.",
	.modes = { { "hand", "the only one, there is no builtin for it" } },
};

static struct example_tensor xs, ys;
static pld_window_buffer *data_buffer;
static pld_tile local, back;

static int window_roundtrip(const pld_tensor *x, const pld_tensor *y,
			    const pld_distributed_tensor *data)
{
	PLD_TRY(pld_load(x, PLD_AT(0, 0), PLD_SHAPE(1, SIZE), &local));
	PLD_TRY(pld_store(&local, PLD_AT(0, 0), data));
	PLD_TRY(pld_load(data, PLD_AT(0, 0), PLD_SHAPE(1, SIZE), &back));
	return pld_store(&back, PLD_AT(0, 0), y);
}

static int per_rank(pld_domain *domain, void *arg)
{
	pld_tensor x = example_of(&xs, pld_rank(domain));
	pld_tensor y = example_of(&ys, pld_rank(domain));
	pld_distributed_tensor data;

	(void)arg;
	PLD_TRY(pld_window(data_buffer, PLD_SHAPE(1, SIZE), PLD_FP32, &data));
	data.name = "data";
	return window_roundtrip(&x, &y, &data);
}

int main(int argc, char **argv)
{
	struct example_run run;

	example_begin(&run, &example, argc, argv);
	example_must(pld_alloc_window_buffer_shaped(run.domain,
						    PLD_SHAPE(1, SIZE),
						    PLD_FP32, &data_buffer));
	example_input(&run, &xs, "x", PLD_SHAPE(1, SIZE), example_x);
	example_output(&run, &ys, "y", PLD_SHAPE(1, SIZE), PLD_FP32);
	example_tile(&local, "local", SIZE);
	example_tile(&back, "back", SIZE);

	example_launch(&run, per_rank);
	example_check(&run, &ys, example_x);
	return example_end(&run);
}
