/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The ranks' operations: which buffers each has, how it is called, what goes in
 * and must come out.
 */
#ifndef PLD_BENCH_CALLS_H
#define PLD_BENCH_CALLS_H

#include "job.h"

/* Buffers that a call takes; with --rotate there are several of them. */
struct buffers {
	/* private memory: input and output */
	void *x_memory;
	void *y_memory;
	pld_tensor x;
	pld_tensor y;
	pld_distributed_tensor data;
	/* of data, of what takes them by turns */
	pld_distributed_tensor halves[2];
	/* where the result lies, of what returns a view */
	pld_distributed_tensor filled;
};

/* A rank in a measurement. */
struct bench {
	const struct job *job;
	int rank;
	int nranks;
	struct buffers buffers[MAX_ROTATE];
	pld_distributed_tensor signal;
	pld_distributed_tensor meet;
	pld_tile tile;
	int32_t counts[PLD_MAX_RANKS];
	/* calls so far, of what counts its credits up */
	int round;
};

/* Rows of size elements in a window of the operation; 0: it has none. */
int64_t rows_of_window(const struct operation *operation, int nranks);
pld_dims shape_of_signal(const struct operation *operation, int nranks);

/* Makes buffers and views; 0, or an error with pld_last_error(). */
int bench_begin(struct bench *bench);
void bench_end(struct bench *bench);

int call_operation(struct bench *bench, struct buffers *buffers);

/*
 * What the ranks bring to the call of that number, and nothing where its result
 * will be.
 */
void fill_input(const struct bench *bench, const struct buffers *buffers,
		int64_t call);
/* Elements of this rank's result that are not as they must be. */
int64_t count_wrong(const struct bench *bench, const struct buffers *buffers,
		    int64_t call);

#endif
