// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * Error sentences: one per thread, kept until the thread's next failure.
 */
#include <stdarg.h>
#include <stdio.h>

#include "error.h"
#include "pld.h"

static _Thread_local struct pld_failure failure = { .culprit = -1 };

_Static_assert(sizeof(failure.message) == PLD_MESSAGE_BYTES,
	       "a report has room for every message");

int pld_error(int error, const char *format, ...)
{
	va_list args;

	failure.error = -error;
	failure.culprit = -1;
	failure.secondhand = false;
	va_start(args, format);
	vsnprintf(failure.message, sizeof(failure.message), format, args);
	va_end(args);
	return -error;
}

struct pld_failure *pld_failure(void)
{
	return &failure;
}

const char *pld_last_error(void)
{
	return failure.message;
}
