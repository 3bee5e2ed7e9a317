// SPDX-License-Identifier: GPL-2.0
/*
 * pld-allgather: the host side. Makes a domain of the devices, runs the job on
 * every rank, tells how it went.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "common/failures.h"
#include "common/ir.h"
#include "common/program.h"
#include "cost.h"
#include "guests.h"
#include "job.h"
#include "moment.h"

static const char *mode_name(enum mode mode)
{
	return mode == MODE_HAND ? "hand" : "builtin";
}

static int say_error(void)
{
	fprintf(stderr, "pld-allgather: %s\n", pld_last_error());
	return EXIT_USAGE;
}

static void tell_what_runs(const struct options *options,
			   const pld_domain *domain)
{
	printf("allgather %s on platform %s (%s): %d ranks on devices",
	       mode_name(options->mode), pld_domain_platform(domain),
	       pld_domain_platform_reason(domain), options->nranks);
	for (int i = 0; i < options->nranks; i++)
		printf("%c%d", i ? ',' : ' ', options->devices[i]);
	printf("; slices of %lld %s; %d %s\n", (long long)options->size,
	       pld_dtype_name(options->dtype), options->iters,
	       options->iters == 1 ? "call" : "calls");
}

/* Of a wrong result the rank has told itself. */
static void tell_failures(const struct options *options,
			  const pld_rank_report *reports, int error)
{
	failures_tell(reports, options->nranks, error, JOB_WRONG_RESULT,
		      options->verbose);
}

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void tell_mistake(const struct options *options)
{
	printf("mistake: %s\nto be seen: %s\n", fault_mistake(options->fault),
	       fault_symptom(options->fault));
}

/* Ranks that have no result to compare are left out. */
static void tell_agreement(const struct job *job)
{
	const uint64_t *digests = job->moment->digests;
	int nranks = job->options->nranks;

	for (int rank = 0; rank < nranks; rank++)
		if (!digests[rank] || digests[rank] != digests[0])
			return;
	printf("all %d ranks have the same result\n", nranks);
}

static int print_ir(const struct options *options, const pld_domain *domain)
{
	for (int rank = 0; rank < options->nranks; rank++) {
		struct ir ir;
		int error = ir_read(domain, rank, &ir);

		if (!error)
			ir_print(&ir, rank, mode_name(options->mode));
		ir_free(&ir);
		PLD_TRY(error);
	}
	return 0;
}

static int run_ranks(const struct options *options, pld_domain *domain,
		     struct job *job, pld_rank_report *reports, bool *started)
{
	int error;

	if (options->serve)
		return serve(options, domain, job, reports, started);
	error = pld_launch(domain, run_job, job, reports);
	*started = !error || !failures_never_started(reports, options->nranks);
	return error;
}

static int run(const struct options *options, pld_domain *domain,
	       struct job *job)
{
	static pld_rank_report reports[PLD_MAX_RANKS];
	double start = seconds();
	bool started, failed;
	int error = run_ranks(options, domain, job, reports, &started);
	double end = seconds();

	if (error && !started)
		return say_error();
	if (error)
		tell_failures(options, reports, error);
	if (options->fault != FAULT_NONE)
		tell_agreement(job);
	if (options->ir && print_ir(options, domain))
		return say_error();
	failed = (options->cost && !cost_card(options, domain)) || error;
	if (!failed && options->verbose && !options->serve)
		printf("%.3f ms from the launch to the last rank's end\n",
		       (end - start) * 1e3);
	puts(failed ? "FAILED" : "OK");
	return failed ? EXIT_RUN_FAILED : EXIT_OK;
}

/* One mode's run, for its operations alone; 0 or the exit status. */
static int trace_mode(struct options *options, enum mode mode,
		      pld_domain *domain, struct job *job, struct ir *irs)
{
	static pld_rank_report reports[PLD_MAX_RANKS];
	int error;

	options->mode = mode;
	error = pld_launch(domain, run_job, job, reports);
	if (error && failures_never_started(reports, options->nranks))
		return say_error();
	if (error) {
		tell_failures(options, reports, error);
		puts("FAILED");
		return EXIT_RUN_FAILED;
	}
	for (int rank = 0; rank < options->nranks; rank++)
		if (ir_read(domain, rank, &irs[rank]))
			return say_error();
	return EXIT_OK;
}

static int run_diff(struct options *options, pld_domain *domain, struct job *job)
{
	static struct ir hand[PLD_MAX_RANKS], builtin[PLD_MAX_RANKS];
	int status = trace_mode(options, MODE_HAND, domain, job, hand);

	if (!status)
		status = trace_mode(options, MODE_BUILTIN, domain, job, builtin);
	for (int rank = 0; rank < options->nranks; rank++) {
		if (!status)
			ir_print_diff(&hand[rank], mode_name(MODE_HAND),
				      &builtin[rank], mode_name(MODE_BUILTIN),
				      rank);
		ir_free(&hand[rank]);
		ir_free(&builtin[rank]);
	}
	if (!status)
		puts("OK");
	return status;
}

static int alloc_for_mistake(const struct options *options, pld_domain *domain,
			     struct job *job)
{
	if (options->fault == FAULT_NONE)
		return 0;
	job->moment = moment_create();
	if (!job->moment)
		return -ENOMEM;
	return pld_alloc_window_buffer_shaped(domain,
					      PLD_SHAPE(1, options->size),
					      options->dtype, &job->source);
}

static int alloc_windows(const struct options *options, pld_domain *domain,
			 struct job *job)
{
	pld_dims shape = PLD_SHAPE(options->nranks, options->size);

	for (int i = 0; i < 2 && i < options->iters; i++)
		PLD_TRY(pld_alloc_window_buffer_shaped(domain, shape,
						       options->dtype,
						       &job->data[i]));
	PLD_TRY(pld_alloc_signal(domain, PLD_SHAPE(options->nranks, 1),
				 &job->signal));
	return alloc_for_mistake(options, domain, job);
}

int main(int argc, char **argv)
{
	struct options options;
	struct job job = { .options = &options };
	pld_domain_options domain_options;
	pld_domain *domain;
	int status;

	program_begin("pld-allgather");
	if (!parse_options(argc, argv, &options))
		return close_output(EXIT_OK);
	if (options.join)
		return close_output(join(&options));
	domain_options = (pld_domain_options){
		.platform = options.platform,
		.timeout_ns = options.timeout_ns,
		.tile_bytes = options.tile_bytes,
		.observe = options.ir || options.ir_diff || options.cost,
	};
	if (pld_domain_create(options.devices, options.nranks, &domain_options,
			      &domain))
		return say_error();
	if (options.verbose)
		tell_what_runs(&options, domain);
	if (options.fault != FAULT_NONE)
		tell_mistake(&options);
	if (alloc_windows(&options, domain, &job))
		status = say_error();
	else if (options.ir_diff)
		status = run_diff(&options, domain, &job);
	else
		status = run(&options, domain, &job);
	pld_domain_destroy(domain);
	return close_output(status);
}
