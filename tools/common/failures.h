/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How a tool tells that a launch has failed.
 */
#ifndef PLD_COMMON_FAILURES_H
#define PLD_COMMON_FAILURES_H

#include <stdbool.h>

#include <pld.h>

/*
 * After a launch that returned error: says its cause, and with verbose what the
 * other ranks had to say, else how many they are. Ranks that failed with told,
 * if that is not 0, have said themselves what is wrong.
 */
void failures_tell(const pld_rank_report *reports, int nranks, int error,
		   int told, bool verbose);

/* After a launch that failed: was there no rank to fail? */
bool failures_never_started(const pld_rank_report *reports, int nranks);

#endif
