// SPDX-License-Identifier: GPL-2.0
#include "host.h"

/* The data's bytes on each rank. */
static size_t bytes_of(const struct job *job)
{
	return (size_t)(job->size * pld_dtype_size(job->options->dtype));
}

static int window_alloc(const struct job *job, pld_domain *domain, int64_t *ns)
{
	pld_window_buffer *buffer;
	int64_t start = now_ns();

	PLD_TRY(pld_alloc_window_buffer(domain, bytes_of(job), &buffer));
	*ns = now_ns() - start;
	pld_free_window_buffer(buffer);
	return 0;
}

/* From start until the last rank's kernel has begun. */
static int launch(const struct job *job, pld_domain *domain, int64_t start,
		  pld_rank_report *reports, int64_t *ns)
{
	*ns = 0;
	PLD_TRY(pld_launch(domain, run_ranks, (void *)job, reports));
	for (int rank = 0; rank < job->options->nranks; rank++) {
		int64_t took = job->shared->ranks[rank].began - start;

		if (took > *ns)
			*ns = took;
	}
	return 0;
}

static int window_map(const struct job *job, pld_domain *domain,
		      pld_rank_report *reports, int64_t *ns)
{
	pld_window_buffer *buffer;
	int error;

	PLD_TRY(pld_alloc_window_buffer(domain, bytes_of(job), &buffer));
	error = launch(job, domain, now_ns(), reports, ns);
	pld_free_window_buffer(buffer);
	return error;
}

static int domain_start(const struct job *job,
			const pld_domain_options *domain_options,
			pld_rank_report *reports, int64_t *ns)
{
	const struct options *options = job->options;
	int64_t start = now_ns();
	pld_domain *domain;
	int error;

	PLD_TRY(pld_domain_create(options->devices, options->nranks,
				  domain_options, &domain));
	error = launch(job, domain, start, reports, ns);
	pld_domain_destroy(domain);
	return error;
}

static int call(const struct job *job, pld_domain *domain,
		const pld_domain_options *domain_options,
		pld_rank_report *reports, int64_t *ns)
{
	switch (job->operation->id) {
	case OP_WINDOW_ALLOC:
		return window_alloc(job, domain, ns);
	case OP_WINDOW_MAP:
		return window_map(job, domain, reports, ns);
	default:
		return domain_start(job, domain_options, reports, ns);
	}
}

static void count(struct host_times *times, int64_t ns)
{
	double n = (double)++times->count, took = (double)ns;

	times->mean_ns += (took - times->mean_ns) / n;
	if (times->count == 1 || took < times->min_ns)
		times->min_ns = took;
	if (times->count == 1 || took > times->max_ns)
		times->max_ns = took;
}

static bool enough(const struct job *job, const struct host_times *times,
		   int64_t start)
{
	if (job->options->iterations)
		return times->count == job->options->iterations;
	return times->count >= LEAST_CALLS &&
	       (double)(now_ns() - start) >= TIMED_NS;
}

int measure_on_host(const struct job *job, pld_domain *domain,
		    const pld_domain_options *domain_options,
		    pld_rank_report *reports, struct host_times *times)
{
	int64_t start, ns;

	*times = (struct host_times){ 0 };
	for (int64_t i = 0; i < job->options->warmups && i < LEAST_CALLS; i++)
		PLD_TRY(call(job, domain, domain_options, reports, &ns));
	start = now_ns();
	while (!enough(job, times, start)) {
		PLD_TRY(call(job, domain, domain_options, reports, &ns));
		count(times, ns);
	}
	return 0;
}
