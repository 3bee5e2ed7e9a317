/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the programs of the tutorial share: the command line, the domain, the
 * tensors that go in and come out, the check of what came out.
 *
 * A program's main() is the host side, and calls these in this order: begin,
 * what it allocates, launch, check, end. Each of them ends the process with one
 * line on standard error when it cannot be done.
 */
#ifndef EXAMPLE_H
#define EXAMPLE_H

#include <stdbool.h>

#include <pld.h>

#define EXAMPLE_MODES 3

/* What a program says of itself. */
struct example {
	const char *name;
	const char *about;
	/* what --mode takes; the first is the default */
	struct example_mode {
		const char *name;
		const char *about;
	} modes[EXAMPLE_MODES];
};

/* One run of it. */
struct example_run {
	pld_domain *domain;
	int nranks;
	/* index of modes */
	int mode;
	const char *mode_name;
	bool ir;
	/* did all ranks run to their end, and is something not as it should be */
	bool ran;
	bool failed;
};

/*
 * A tensor of each rank, as the original's x[r] and y[r]: plain memory that no
 * peer can reach. The host can.
 */
struct example_tensor {
	const char *name;
	pld_dims shape;
	pld_dtype dtype;
	char *data;
	size_t bytes_of_rank;
};

/* What belongs to [row, column] of a rank's tensor. */
typedef double example_value(int nranks, int rank, int64_t row, int64_t column);

/*
 * The value of most steps' x: 100 * (rank + 1) + column. It is never 0, which is
 * what a window has in the beginning, and sums of it are exact.
 */
example_value example_x;

void example_begin(struct example_run *run, const struct example *example,
		   int argc, char **argv);

/* The result of a call of the library on the host side. */
void example_must(int result);

/* An fp32 tensor for the ranks to read. */
void example_input(const struct example_run *run, struct example_tensor *tensor,
		   const char *name, pld_dims shape, example_value *value);

/* One to write; until then its elements are no result: NaN, or -1. */
void example_output(const struct example_run *run, struct example_tensor *tensor,
		    const char *name, pld_dims shape, pld_dtype dtype);

/* A tile of fp32; as with all of the host's variables, each rank has its own. */
void example_tile(pld_tile *tile, const char *name, int64_t elements);

/* The own rank's part of a tensor. */
pld_tensor example_of(const struct example_tensor *tensor, int rank);

/* Runs per_rank(domain, run) on every rank; prints the IR when it was asked for. */
void example_launch(struct example_run *run, pld_kernel *per_rank);

/* Compares each element of each rank's tensor with what it should be. */
void example_check(struct example_run *run, const struct example_tensor *tensor,
		   example_value *golden);

/* Prints OK or FAILED; the program's exit status. */
int example_end(struct example_run *run);

#endif
