// SPDX-License-Identifier: GPL-2.0
/*
 * Tables for readers: the columns of nccl-tests, or of the OSU benchmarks.
 */
#include <inttypes.h>
#include <stdio.h>

#include "report.h"

static bool is_osu(const struct report *report)
{
	return report->options->format == FORMAT_OSU;
}

void table_begin(const struct report *report)
{
	const struct options *options = report->options;

	printf("# pld-bench %s: %d ranks on platform %s (%s), devices",
	       pld_version(), options->nranks, report->platform,
	       report->platform_reason);
	for (int i = 0; i < options->nranks; i++)
		printf("%c%d", i ? ',' : ' ', options->devices[i]);
	putchar('\n');
}

static void print_heading(const struct report *report,
			  const struct operation *operation)
{
	printf("#\n# %s: %s\n", operation->name, operation->what);
	if (is_osu(report)) {
		printf("# %-12s%20s%20s%20s%12s\n", "Size", "Avg Latency(us)",
		       "Min Latency(us)", "Max Latency(us)", "Iterations");
		return;
	}
	printf("# %12s %13s %8s %12s %9s %9s %9s\n", "size", "count", "type",
	       "time", "algbw", "busbw", "#wrong");
	printf("# %12s %13s %8s %12s %9s %9s %9s\n", "(B)", "(elements)", "",
	       "(us)", "(GB/s)", "(GB/s)", "");
}

static void print_osu(const struct result *result)
{
	printf("%-14" PRId64 "%20.2f%20.2f%20.2f%12" PRId64 "\n",
	       result->slice_bytes, result->us, result->min_us, result->max_us,
	       result->iterations);
}

static void print_number(int width, int64_t number)
{
	if (number < 0)
		printf(" %*s", width, "N/A");
	else
		printf(" %*" PRId64, width, number);
}

static void print_nccl(const struct result *result)
{
	bool sized = result->operation->sized;

	printf("  %12" PRId64 " %13" PRId64 " %8s %12.3f", result->bytes,
	       result->count, sized ? pld_dtype_name(result->dtype) : "none",
	       result->us);
	if (result_has_bandwidth(result))
		printf(" %9.3f %9.3f", result_algbw(result),
		       result_busbw(result));
	else
		printf(" %9s %9s", "-", "-");
	print_number(9, result->wrong);
	putchar('\n');
}

void table_add(const struct report *report, const struct result *result)
{
	const struct result *last = report->results + report->count - 1;

	if (!report->count || last->operation != result->operation)
		print_heading(report, result->operation);
	if (is_osu(report))
		print_osu(result);
	else
		print_nccl(result);
	if (result->cpu_percent >= 0)
		printf("# from 1 ms on, who waits takes %.2f %% of a CPU\n",
		       result->cpu_percent);
	/* A reader sees it as it comes. */
	fflush(stdout);
}

static void print_noise(const struct report *report)
{
	if (report->noise_before < 0 || report->noise_after < 0)
		printf("# cache line from CPU to CPU: not measured\n");
	else
		printf("# cache line from CPU to CPU: %.1f ns before, %.1f ns after\n",
		       report->noise_before, report->noise_after);
}

void table_end(const struct report *report, bool ok)
{
	int64_t wrong = report_wrong(report);

	printf("#\n");
	print_noise(report);
	printf("# wrong elements:");
	print_number(0, wrong);
	/* Where nothing was checked, nothing is known to be right. */
	if (!ok || wrong > 0)
		printf(" FAILED");
	else if (!wrong)
		printf(" OK");
	putchar('\n');
}
