// SPDX-License-Identifier: GPL-2.0
/*
 * The parts that are the same in every program of the tutorial.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "common/ir.h"
#include "common/program.h"
#include "example.h"
#include "options.h"

/* Long enough for any machine, short enough to wait for after a mistake. */
#define TIMEOUT_NS INT64_C(10000000000)

double example_x(int nranks, int rank, int64_t row, int64_t column)
{
	(void)nranks;
	(void)row;
	return 100.0 * (rank + 1) + (double)column;
}

void example_must(int result)
{
	if (result >= 0)
		return;
	fprintf(stderr, "%s: %s\n", program_name, pld_last_error());
	exit(EXIT_USAGE);
}

void example_begin(struct example_run *run, const struct example *example,
		   int argc, char **argv)
{
	pld_domain_options domain_options = { .timeout_ns = TIMEOUT_NS };
	struct options options;

	program_begin(example->name);
	example_parse(example, argc, argv, &options);
	*run = (struct example_run){
		.nranks = options.nranks,
		.mode = options.mode,
		.mode_name = example->modes[options.mode].name,
		.ir = options.ir,
	};
	domain_options.platform = options.platform;
	domain_options.observe = options.ir;
	example_must(pld_domain_create(options.devices, options.nranks,
				       &domain_options, &run->domain));
}

static int64_t elements_of(const struct example_tensor *tensor)
{
	return tensor->shape.n[0] * tensor->shape.n[1];
}

/* Shared, so that the host has what the ranks write. */
static void allocate(const struct example_run *run,
		     struct example_tensor *tensor, const char *name,
		     pld_dims shape, pld_dtype dtype)
{
	*tensor = (struct example_tensor){
		.name = name,
		.shape = shape,
		.dtype = dtype,
	};
	tensor->bytes_of_rank =
		(size_t)(elements_of(tensor) * pld_dtype_size(dtype));
	tensor->data = mmap(NULL, tensor->bytes_of_rank * (size_t)run->nranks,
			    PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
			    -1, 0);
	if (tensor->data == MAP_FAILED) {
		fprintf(stderr, "%s: no memory for %s\n", program_name, name);
		exit(EXIT_USAGE);
	}
}

static void *element_of(const struct example_tensor *tensor, int rank,
			int64_t element)
{
	return tensor->data + (size_t)rank * tensor->bytes_of_rank +
	       element * pld_dtype_size(tensor->dtype);
}

void example_input(const struct example_run *run, struct example_tensor *tensor,
		   const char *name, pld_dims shape, example_value *value)
{
	allocate(run, tensor, name, shape, PLD_FP32);
	for (int rank = 0; rank < run->nranks; rank++) {
		float *element = element_of(tensor, rank, 0);

		for (int64_t row = 0; row < shape.n[0]; row++)
			for (int64_t column = 0; column < shape.n[1]; column++)
				*element++ = (float)value(run->nranks, rank,
							  row, column);
	}
}

void example_output(const struct example_run *run, struct example_tensor *tensor,
		    const char *name, pld_dims shape, pld_dtype dtype)
{
	allocate(run, tensor, name, shape, dtype);
	memset(tensor->data, 0xff, tensor->bytes_of_rank * (size_t)run->nranks);
}

void example_tile(pld_tile *tile, const char *name, int64_t elements)
{
	example_must(pld_tile_alloc(tile, (size_t)elements * sizeof(float)));
	tile->name = name;
}

pld_tensor example_of(const struct example_tensor *tensor, int rank)
{
	pld_tensor own;

	example_must(pld_tensor_init(&own, element_of(tensor, rank, 0),
				     tensor->shape, tensor->dtype));
	own.name = tensor->name;
	return own;
}

static void print_ir(const struct example_run *run)
{
	for (int rank = 0; rank < run->nranks; rank++) {
		struct ir ir;

		example_must(ir_read(run->domain, rank, &ir));
		ir_print(&ir, rank, run->mode_name);
		ir_free(&ir);
	}
}

void example_launch(struct example_run *run, pld_kernel *per_rank)
{
	run->ran = !pld_launch(run->domain, per_rank, run, NULL);
	if (!run->ran) {
		fprintf(stderr, "%s: %s\n", program_name, pld_last_error());
		run->failed = true;
	}
	if (run->ir)
		print_ir(run);
}

static double value_of(const struct example_tensor *tensor, int rank,
		       int64_t element)
{
	const void *at = element_of(tensor, rank, element);

	return tensor->dtype == PLD_INT32 ? (double)*(const int32_t *)at
					  : (double)*(const float *)at;
}

void example_check(struct example_run *run, const struct example_tensor *tensor,
		   example_value *golden)
{
	int64_t columns = tensor->shape.n[1], n = elements_of(tensor);
	int64_t wrong = 0;

	if (!run->ran)
		return;
	for (int64_t i = 0; i < n * run->nranks; i++) {
		int rank = (int)(i / n);
		int64_t row = i % n / columns, column = i % n % columns;
		double got = value_of(tensor, rank, i % n);
		double wanted = golden(run->nranks, rank, row, column);

		/* Whole numbers, which are exact; a NaN equals none. */
		if (got == wanted)
			continue;
		if (!wrong++)
			fprintf(stderr,
				"%s: rank %d, %s[%lld, %lld]: got %.9g, wanted %.9g\n",
				program_name, rank, tensor->name,
				(long long)row, (long long)column, got, wanted);
	}
	if (wrong > 1)
		fprintf(stderr, "%s: %lld of %lld elements of %s are wrong\n",
			program_name, (long long)wrong,
			(long long)(n * run->nranks), tensor->name);
	run->failed |= wrong > 0;
}

int example_end(struct example_run *run)
{
	pld_domain_destroy(run->domain);
	puts(run->failed ? "FAILED" : "OK");
	return close_output(run->failed ? EXIT_RUN_FAILED : EXIT_OK);
}
