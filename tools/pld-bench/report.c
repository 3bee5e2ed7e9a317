// SPDX-License-Identifier: GPL-2.0
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/program.h"
#include "report.h"

/* More than two measurements of nothing else differ by. */
#define NOISY 1.25
/* More than it takes between any two CPUs. */
#define BUSY_NS 1000

int64_t report_wrong(const struct report *report)
{
	int64_t wrong = -1;

	for (size_t i = 0; i < report->count; i++) {
		int64_t here = report->results[i].wrong;

		if (here >= 0)
			wrong = (wrong < 0 ? 0 : wrong) + here;
	}
	return wrong;
}

bool report_is_noisy(const struct report *report)
{
	double before = report->noise_before, after = report->noise_after;

	if (before <= 0 || after <= 0)
		return false;
	return before > NOISY * after || after > NOISY * before ||
	       before > BUSY_NS || after > BUSY_NS;
}

static bool is_text(const struct report *report)
{
	return report->options->format == FORMAT_TABLE ||
	       report->options->format == FORMAT_OSU;
}

/* Where data goes to standard output, a warning does not. */
static void warn(const struct report *report, const char *format, ...)
{
	char line[256];
	va_list args;

	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	if (is_text(report))
		printf("# warning: %s\n", line);
	else
		complain("warning: %s", line);
}

void report_begin(const struct report *report)
{
	int nranks = report->options->nranks;

	if (is_text(report))
		table_begin(report);
	if (report->options->format == FORMAT_CSV)
		csv_begin();
	if (nranks > report->cpus)
		warn(report,
		     "%d ranks on %d %s take turns: a call takes longer than with a CPU for each",
		     nranks, report->cpus, report->cpus == 1 ? "CPU" : "CPUs");
}

bool report_add(struct report *report, const struct result *result)
{
	struct result *more =
		realloc(report->results, (report->count + 1) * sizeof(*more));

	if (!more)
		return false;
	report->results = more;
	more[report->count] = *result;
	if (is_text(report))
		table_add(report, result);
	if (report->options->format == FORMAT_CSV)
		csv_add(report, result);
	report->count++;
	return true;
}

bool report_end(const struct report *report, bool ok)
{
	bool written = true;

	if (report_is_noisy(report))
		warn(report,
		     "the machine was busy: a cache line took %.1f ns before and %.1f ns after",
		     report->noise_before, report->noise_after);
	if (is_text(report))
		table_end(report, ok);
	if (report->options->format == FORMAT_JSON)
		written = json_print(report, ok);
	return written;
}
