// SPDX-License-Identifier: GPL-2.0
/*
 * pld-drm: an allgather into windows that a DRM device has too. Some ranks'
 * windows are buffers that the device has made, the others are exported to it;
 * each is then read as the device shows it.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pld_drm.h>

#include "common/program.h"
#include "device.h"
#include "job.h"

static int say_error(void)
{
	complain("%s", pld_last_error());
	return EXIT_USAGE;
}

static void tell_what_runs(const struct options *options,
			   const pld_domain *domain, const struct device *device)
{
	printf("allgather of %d ranks on platform %s (%s), slices of %lld %s\n",
	       options->nranks, pld_domain_platform(domain),
	       pld_domain_platform_reason(domain), (long long)options->size,
	       pld_dtype_name(options->dtype));
	printf("DRM device %s (%s)\n", device->node, device->driver);
}

/* A buffer of the device for each rank that is to have one. */
static int alloc_windows(const struct options *options, pld_domain *domain,
			 const struct device *device, uint32_t *handles,
			 struct job *job)
{
	size_t bytes = job_bytes(options);

	if (!bytes) {
		complain("%lld elements on each of %d ranks are more bytes than can be counted",
			 (long long)options->size, options->nranks);
		return EXIT_USAGE;
	}
	for (int rank = 0; rank < options->nranks; rank++)
		if (options->imported[rank] &&
		    device_create_buffer(device, bytes, &handles[rank]))
			return EXIT_USAGE;
	if (pld_drm_import(domain, bytes, device->fd, handles, &job->data) ||
	    pld_alloc_signal(domain, PLD_SHAPE(options->nranks, 1), &job->signal))
		return say_error();
	return EXIT_OK;
}

/* The windows that are not the device's yet. */
static int export_windows(const struct options *options,
			  const struct device *device, uint32_t *handles,
			  const struct job *job)
{
	for (int rank = 0; rank < options->nranks; rank++)
		if (!options->imported[rank] &&
		    pld_drm_export(job->data, rank, 0, 0, device->fd,
				   &handles[rank]))
			return say_error();
	return EXIT_OK;
}

static int run(pld_domain *domain, struct job *job)
{
	static pld_rank_report reports[PLD_MAX_RANKS];
	int error = pld_launch(domain, run_job, job, reports);

	if (error && error != JOB_WRONG_RESULT)
		complain("%s", pld_last_error());
	return error ? EXIT_RUN_FAILED : EXIT_OK;
}

static int compare(const struct options *options, const struct device *device,
		   uint32_t handle, int rank)
{
	size_t bytes = job_bytes(options);
	bool own = options->imported[rank], right;
	struct mapping mapping;
	char who[64];

	if (mapping_begin(device, handle, own, bytes, &mapping))
		return EXIT_RUN_FAILED;
	snprintf(who, sizeof(who), "rank %d through handle %u", rank, handle);
	right = job_is_right(options, who, mapping.bytes);
	mapping_end(&mapping);
	if (!right)
		return EXIT_RUN_FAILED;
	printf("rank %d: %zu bytes are right in the window and in %s, handle %u\n",
	       rank, bytes,
	       own ? "the device's buffer that it is"
		   : "the device's buffer that it was made",
	       handle);
	return EXIT_OK;
}

static int run_and_compare(const struct options *options, pld_domain *domain,
			   const struct device *device, const uint32_t *handles,
			   struct job *job)
{
	int status = run(domain, job);

	for (int rank = 0; rank < options->nranks && !status; rank++)
		status = compare(options, device, handles[rank], rank);
	puts(status ? "FAILED" : "OK");
	return status;
}

static int with_device(const struct options *options, pld_domain *domain,
		       const struct device *device)
{
	static uint32_t handles[PLD_MAX_RANKS];
	struct job job = { .options = options };
	int status = alloc_windows(options, domain, device, handles, &job);

	if (!status)
		status = export_windows(options, device, handles, &job);
	if (status)
		return status;
	tell_what_runs(options, domain, device);
	return run_and_compare(options, domain, device, handles, &job);
}

int main(int argc, char **argv)
{
	pld_domain_options domain_options = { 0 };
	struct options options;
	struct device device;
	pld_domain *domain;
	int status;

	program_begin("pld-drm");
	if (!parse_options(argc, argv, &options))
		return close_output(EXIT_OK);
	if (device_open(options.node, &device))
		return EXIT_USAGE;
	domain_options.platform = options.platform;
	if (pld_domain_create(options.devices, options.nranks, &domain_options,
			      &domain)) {
		status = say_error();
	} else {
		status = with_device(&options, domain, &device);
		pld_domain_destroy(domain);
	}
	device_close(&device);
	return close_output(status);
}
