// SPDX-License-Identifier: GPL-2.0
/* The tables of calls as one. */
#include <errno.h>
#include <string.h>

#include "calls.h"

static const struct fuzz_call *const tables[] = {
	fuzz_ioctl_calls, fuzz_signal_calls,  fuzz_memory_calls,
	fuzz_file_calls,  fuzz_process_calls, fuzz_buffer_calls,
};

const struct fuzz_call *fuzz_call_at(int number)
{
	for (size_t i = 0; i < sizeof(tables) / sizeof(*tables); i++)
		for (const struct fuzz_call *call = tables[i]; call->name;
		     call++)
			if (!number--)
				return call;
	return NULL;
}

const struct fuzz_call *fuzz_call_named(const char *name)
{
	const struct fuzz_call *call;

	for (int i = 0; (call = fuzz_call_at(i)); i++)
		if (!strcmp(call->name, name))
			return call;
	return NULL;
}

int fuzz_count_params(const struct fuzz_call *call)
{
	int nr = 0;

	while (nr < FUZZ_MAX_ARGS && call->params[nr].name)
		nr++;
	return nr;
}

struct fuzz_answer fuzz_result(int64_t result)
{
	return (struct fuzz_answer){ .value = result == -1 ? -errno : result };
}
