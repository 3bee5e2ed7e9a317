// SPDX-License-Identifier: GPL-2.0
/*
 * The run as JSON. What a result does not have is null.
 */
#include <stdio.h>

#include <jansson.h>

#include "report.h"

static json_t *if_measured(double number)
{
	return number < 0 ? json_null() : json_real(number);
}

static json_t *if_has(bool has, double number)
{
	return has ? json_real(number) : json_null();
}

static json_t *if_counted(bool counted, int64_t number)
{
	return counted ? json_integer(number) : json_null();
}

static json_t *result_json(const struct result *result)
{
	bool has_bandwidth = result_has_bandwidth(result);
	bool sized = result->operation->sized;

	return json_pack("{s:s, s:o, s:o, s:o, s:o, s:I, s:f, s:f, s:f, s:o, s:o, s:o, s:o}",
			 "operation", result->operation->name, "size",
			 if_counted(sized, result->bytes), "size_per_rank",
			 if_counted(sized, result->slice_bytes), "count",
			 if_counted(sized, result->count), "type",
			 sized ? json_string(pld_dtype_name(result->dtype))
			       : json_null(),
			 "iterations", (json_int_t)result->iterations,
			 "time_us", result->us, "min_us", result->min_us,
			 "max_us", result->max_us, "algbw_gbs",
			 if_has(has_bandwidth, result_algbw(result)),
			 "busbw_gbs",
			 if_has(has_bandwidth, result_busbw(result)), "wrong",
			 if_counted(result->wrong >= 0, result->wrong),
			 "cpu_percent", if_measured(result->cpu_percent));
}

static json_t *report_json(const struct report *report, bool ok)
{
	const struct options *options = report->options;
	json_t *devices = json_array(), *results = json_array();
	int64_t wrong = report_wrong(report);

	for (int i = 0; i < options->nranks; i++)
		json_array_append_new(devices,
				      json_integer(options->devices[i]));
	for (size_t i = 0; i < report->count; i++)
		json_array_append_new(results, result_json(&report->results[i]));
	return json_pack("{s:s, s:s, s:i, s:o, s:i, s:I, s:i, s:I, s:{s:o, s:o}, s:b, s:o, s:b, s:o}",
			 "version", pld_version(), "platform", report->platform,
			 "ranks", options->nranks, "devices", devices, "cpus",
			 report->cpus, "warmups", (json_int_t)options->warmups,
			 "rotate", options->rotate, "offset",
			 (json_int_t)options->offset, "cache_line_ns", "before",
			 if_measured(report->noise_before), "after",
			 if_measured(report->noise_after), "noisy",
			 report_is_noisy(report), "wrong",
			 if_counted(wrong >= 0, wrong), "ok", ok && wrong <= 0,
			 "results", results);
}

bool json_print(const struct report *report, bool ok)
{
	json_t *json = report_json(report, ok);
	bool printed = json && !json_dumpf(json, stdout, JSON_INDENT(1));

	if (printed)
		putchar('\n');
	json_decref(json);
	return printed;
}
