// SPDX-License-Identifier: GPL-2.0
/* The tracepoints' definitions. */
#include "domain.h"

#define CREATE_TRACE_POINTS
#include "trace.h"
