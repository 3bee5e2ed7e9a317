// SPDX-License-Identifier: GPL-2.0
/*
 * The windows of a measurement.
 */
#include "calls.h"

static int alloc_data(struct job *job, pld_domain *domain, int64_t rows,
		      pld_window_buffer **buffer)
{
	const struct options *options = job->options;
	int64_t elements;

	/* More than the counter has is more than the library refuses. */
	if (__builtin_mul_overflow(rows, job->size, &elements) ||
	    __builtin_add_overflow(elements, options->offset, &elements))
		elements = INT64_MAX;
	return pld_alloc_window_buffer_shaped(domain, PLD_SHAPE(elements),
					      options->dtype, buffer);
}

int job_alloc(struct job *job, pld_domain *domain)
{
	int nranks = job->options->nranks;
	int64_t rows = rows_of_window(job->operation, nranks);

	for (int i = 0; rows && i < job->options->rotate; i++)
		PLD_TRY(alloc_data(job, domain, rows, &job->data[i]));
	PLD_TRY(pld_alloc_signal(domain, shape_of_signal(job->operation, nranks),
				 &job->signal));
	return pld_alloc_signal(domain, PLD_SHAPE(nranks, 1), &job->meet);
}

void job_free(struct job *job)
{
	for (int i = 0; i < MAX_ROTATE; i++)
		pld_free_window_buffer(job->data[i]);
	pld_free_window_buffer(job->signal);
	pld_free_window_buffer(job->meet);
}
