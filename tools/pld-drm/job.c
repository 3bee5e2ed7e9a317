// SPDX-License-Identifier: GPL-2.0
/*
 * A rank's work: an allgather into the window, and its check.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/pattern.h"
#include "job.h"

static uint64_t first_element(const struct options *options, int rank)
{
	return pattern_first(options->dtype, (uint64_t)rank,
			     (uint64_t)options->nranks, (uint64_t)options->size);
}

size_t job_bytes(const struct options *options)
{
	size_t slices = (size_t)options->nranks *
			(size_t)pld_dtype_size(options->dtype);
	size_t bytes;

	return __builtin_mul_overflow(slices, (size_t)options->size, &bytes)
		       ? 0
		       : bytes;
}

bool job_is_right(const struct options *options, const char *who,
		  const void *window)
{
	int64_t size = options->size;
	int64_t slice = size * pld_dtype_size(options->dtype);

	for (int slot = 0; slot < options->nranks; slot++) {
		const char *at = (const char *)window + slot * slice;
		uint64_t first = first_element(options, slot);
		int64_t right = pattern_match(at, options->dtype, first, size);
		char where[128];

		if (right == size)
			continue;
		snprintf(where, sizeof(where), "%s, slot %d", who, slot);
		pattern_say_wrong(where, options->dtype, first, right,
				  at + right * pld_dtype_size(options->dtype));
		return false;
	}
	return true;
}

static int gather(const struct job *job, int rank, void *slice)
{
	const struct options *options = job->options;
	int64_t nranks = options->nranks, size = options->size;
	pld_distributed_tensor data, signal;
	char who[32];
	pld_tensor x;

	PLD_TRY(pld_window(job->data, PLD_SHAPE(nranks, size), options->dtype,
			   &data));
	PLD_TRY(pld_window(job->signal, PLD_SHAPE(nranks, 1), PLD_INT32,
			   &signal));
	PLD_TRY(pld_tensor_init(&x, slice, PLD_SHAPE(1, size), options->dtype));
	pattern_fill(slice, options->dtype, first_element(options, rank), size);
	PLD_TRY(pld_tensor_allgather(&x, &data, &signal));
	snprintf(who, sizeof(who), "rank %d", rank);
	return job_is_right(options, who, data.data) ? 0 : JOB_WRONG_RESULT;
}

int run_job(pld_domain *domain, void *arg)
{
	const struct job *job = arg;
	void *slice =
		malloc(job_bytes(job->options) / (size_t)job->options->nranks);
	int error = -ENOMEM;

	if (slice)
		error = gather(job, pld_rank(domain), slice);
	free(slice);
	return error;
}
