// SPDX-License-Identifier: GPL-2.0
/*
 * pld-bench: makes a domain of the devices, measures what the options ask for,
 * an operation and a size at a time, and reports it.
 */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/arguments.h"
#include "common/failures.h"
#include "common/program.h"
#include "host.h"
#include "noise.h"
#include "plan.h"
#include "plot_file.h"
#include "progress.h"
#include "report.h"

/* What a run is about, from its begin to its end. */
struct run {
	const struct options *options;
	pld_domain_options domain_options;
	pld_domain *domain;
	struct shared *shared;
	struct plan plan;
	struct report report;
	struct plot_file plot;
};

static int say_error(void)
{
	progress_hide();
	complain("%s", pld_last_error());
	return EXIT_USAGE;
}

static int no_memory(void)
{
	complain("no memory");
	return EXIT_USAGE;
}

static int cpus_of_this_process(void)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof(set), &set) ? 1 : CPU_COUNT(&set);
}

static struct result empty_result(const struct job *job)
{
	const struct options *options = job->options;
	int64_t slice = job->size * pld_dtype_size(options->dtype);

	return (struct result){
		.operation = job->operation,
		.dtype = options->dtype,
		.nranks = options->nranks,
		.count = job->size,
		.slice_bytes = slice,
		.bytes = job->operation->sliced ? slice * options->nranks
						: slice,
		.wrong = -1,
		.cpu_percent = -1,
	};
}

/* Mean, least and most over the ranks that take part. */
static void sum_up(const struct job *job, struct result *result)
{
	const struct shared *shared = job->shared;
	double sum = 0;
	int timed = 0;

	result->iterations = shared->iterations;
	if (job->options->checks && job->operation->sized)
		result->wrong = 0;
	for (int rank = 0; rank < job->options->nranks; rank++) {
		const struct rank_result *one = &shared->ranks[rank];
		double us = one->ns / 1e3;

		if (result->wrong >= 0)
			result->wrong += one->wrong;
		if (one->cpu_percent > result->cpu_percent)
			result->cpu_percent = one->cpu_percent;
		if (!one->timed)
			continue;
		if (!timed || us < result->min_us)
			result->min_us = us;
		if (us > result->max_us)
			result->max_us = us;
		sum += us;
		timed++;
	}
	result->us = sum / timed;
}

static void reset_shared(const struct job *job)
{
	*job->shared = (struct shared){
		.iterations = job->options->iterations,
	};
	for (int rank = 0; rank < job->options->nranks; rank++)
		job->shared->ranks[rank].cpu_percent = -1;
}

/* 0 or the exit status. */
static int say_failure(const struct options *options,
		       const pld_rank_report *reports, int error)
{
	if (failures_never_started(reports, options->nranks))
		return say_error();
	progress_hide();
	failures_tell(reports, options->nranks, error, 0, options->verbose);
	return EXIT_RUN_FAILED;
}

static int measure_ranks(const struct run *run, struct job *job,
			 struct result *result)
{
	static pld_rank_report reports[PLD_MAX_RANKS];
	int error;

	if (job_alloc(job, run->domain))
		return say_error();
	error = pld_launch(run->domain, run_ranks, job, reports);
	if (error)
		return say_failure(run->options, reports, error);
	sum_up(job, result);
	return EXIT_OK;
}

static int measure_host(const struct run *run, const struct job *job,
			struct result *result)
{
	static pld_rank_report reports[PLD_MAX_RANKS];
	struct host_times times;
	int error;

	memset(reports, 0, sizeof(reports));
	error = measure_on_host(job, run->domain, &run->domain_options, reports,
				&times);
	if (error)
		return say_failure(run->options, reports, error);
	result->iterations = times.count;
	result->us = times.mean_ns / 1e3;
	result->min_us = times.min_ns / 1e3;
	result->max_us = times.max_ns / 1e3;
	return EXIT_OK;
}

static int measure(const struct run *run, const struct measurement *wanted,
		   struct result *result)
{
	struct job job = {
		.options = run->options,
		.operation = wanted->operation,
		.size = wanted->size,
		.shared = run->shared,
	};
	int status;

	reset_shared(&job);
	*result = empty_result(&job);
	status = wanted->operation->timed == TIMED_HOST
			 ? measure_host(run, &job, result)
			 : measure_ranks(run, &job, result);
	job_free(&job);
	return status;
}

static void tell_wrong(const struct result *result)
{
	if (result->wrong > 0)
		complain("%s, slices of %lld bytes: %lld wrong elements",
			 result->operation->name, (long long)result->slice_bytes,
			 (long long)result->wrong);
}

static int measure_all(struct run *run)
{
	struct report *report = &run->report;

	for (size_t i = 0; i < run->plan.count; i++) {
		const struct measurement *wanted = &run->plan.measurements[i];
		struct result result;
		int status;

		progress_show(i, run->plan.count, wanted->operation->name);
		status = measure(run, wanted, &result);
		progress_hide();
		/* What has measured something did start. */
		if (status)
			return report->count ? EXIT_RUN_FAILED : status;
		tell_wrong(&result);
		if (!report_add(report, &result))
			return no_memory();
	}
	return report_wrong(report) > 0 ? EXIT_RUN_FAILED : EXIT_OK;
}

static int run_all(struct run *run)
{
	struct report *report = &run->report;
	int status;

	report->platform = pld_domain_platform(run->domain);
	report->platform_reason = pld_domain_platform_reason(run->domain);
	report->cpus = cpus_of_this_process();
	report->noise_before = noise_measure();
	report_begin(report);
	status = measure_all(run);
	report->noise_after = noise_measure();
	if (!report_end(report, status == EXIT_OK) && !status)
		status = EXIT_RUN_FAILED;
	return status;
}

/* Of all that was asked for, or none. */
static int write_plot(struct run *run, int status)
{
	if (!run->options->plot || run->report.count < run->plan.count ||
	    plot_file_write(&run->plot, &run->report))
		return status;
	return status ? status : EXIT_RUN_FAILED;
}

int main(int argc, char **argv)
{
	struct options options;
	struct run run = { .options = &options };
	int status;

	program_begin("pld-bench");
	if (!parse_options(argc, argv, &options))
		return close_output(EXIT_OK);
	run.report.options = &options;
	run.domain_options = (pld_domain_options){
		.platform = options.platform,
		.timeout_ns = options.timeout_ns,
		.tile_bytes = options.tile_bytes,
	};
	if (options.plot && !plot_file_begin(&run.plot, options.plot))
		return EXIT_USAGE;
	run.shared = shared_create();
	if (!run.shared || !plan_make(&options, &run.plan))
		return no_memory();
	if (pld_domain_create(options.devices, options.nranks,
			      &run.domain_options, &run.domain))
		return say_error();
	status = run_all(&run);
	pld_domain_destroy(run.domain);
	status = write_plot(&run, status);
	plot_file_end(&run.plot);
	plan_free(&run.plan);
	free(run.report.results);
	return close_output(status);
}
