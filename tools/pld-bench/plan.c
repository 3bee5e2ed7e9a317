// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>

#include "plan.h"

static bool append(struct plan *plan, const struct operation *operation,
		   int64_t size)
{
	struct measurement *more =
		realloc(plan->measurements, (plan->count + 1) * sizeof(*more));

	if (!more)
		return false;
	plan->measurements = more;
	more[plan->count++] = (struct measurement){ operation, size };
	return true;
}

/* Elements of a slice of what the size column shall have, at least one. */
static int64_t slice_of(const struct options *options,
			const struct operation *operation, int64_t bytes)
{
	int64_t whole = pld_dtype_size(options->dtype), size;

	if (operation->sliced && options->format != FORMAT_OSU)
		whole *= options->nranks;
	size = bytes / whole;
	return size ? size : 1;
}

/* Sizes that are the same in whole elements are measured once. */
static bool append_sizes(const struct options *options,
			 const struct operation *operation, struct plan *plan)
{
	int64_t bytes = options->least, last = 0;

	while (bytes <= options->most) {
		int64_t size = slice_of(options, operation, bytes);

		if (size != last && !append(plan, operation, size))
			return false;
		last = size;
		bytes = options->step ? bytes + options->step
				      : bytes * options->factor;
	}
	return true;
}

bool plan_make(const struct options *options, struct plan *plan)
{
	bool made = true;

	*plan = (struct plan){ 0 };
	for (int i = 0; i < OPERATIONS && made; i++) {
		if (!options->chosen[i])
			continue;
		made = operations[i].sized
			       ? append_sizes(options, &operations[i], plan)
			       : append(plan, &operations[i], 0);
	}
	return made;
}

void plan_free(struct plan *plan)
{
	free(plan->measurements);
}
