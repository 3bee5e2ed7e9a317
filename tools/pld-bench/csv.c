// SPDX-License-Identifier: GPL-2.0
/*
 * A line for each result, as it comes. What a result does not have is empty.
 */
#include <inttypes.h>
#include <stdio.h>

#include "report.h"

void csv_begin(void)
{
	puts("operation,platform,ranks,size,count,type,iterations,time_us,min_us,max_us,algbw_gbs,busbw_gbs,wrong,cpu_percent");
}

void csv_add(const struct report *report, const struct result *result)
{
	printf("%s,%s,%d,", result->operation->name, report->platform,
	       result->nranks);
	if (result->operation->sized)
		printf("%" PRId64 ",%" PRId64 ",%s,", result->bytes,
		       result->count, pld_dtype_name(result->dtype));
	else
		printf(",,,");
	printf("%" PRId64 ",%.6g,%.6g,%.6g,", result->iterations, result->us,
	       result->min_us, result->max_us);
	if (result_has_bandwidth(result))
		printf("%.6g,%.6g,", result_algbw(result), result_busbw(result));
	else
		printf(",,");
	if (result->wrong >= 0)
		printf("%" PRId64, result->wrong);
	putchar(',');
	if (result->cpu_percent >= 0)
		printf("%.6g", result->cpu_percent);
	putchar('\n');
	fflush(stdout);
}
