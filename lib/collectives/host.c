// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * pld_host_allgather: the host side has all ranks run an allgather.
 */
#include <errno.h>

#include "collectives/allgather.h"
#include "collectives/check.h"
#include "dims.h"
#include "dtype.h"
#include "domain.h"
#include "error.h"

static const char op[] = "pld_host_allgather";

struct call {
	pld_window_buffer *local_data;
	pld_window_buffer *target;
	pld_window_buffer *signal;
	int64_t size;
	pld_dtype dtype;
};

static int check_given(const struct call *call)
{
	PLD_TRY(pld_check_given(op, "local_data", call->local_data));
	PLD_TRY(pld_check_given(op, "target", call->target));
	PLD_TRY(pld_check_given(op, "signal", call->signal));
	if (call->local_data == call->target)
		return pld_error(EINVAL,
				 "%s local_data and target must be different buffers, got the same one",
				 op);
	if (call->signal == call->target || call->signal == call->local_data)
		return pld_error(EINVAL,
				 "%s signal must be a buffer of its own, got that of %s",
				 op,
				 call->signal == call->target ? "target"
							      : "local_data");
	if (call->local_data->domain != call->target->domain ||
	    call->signal->domain != call->target->domain)
		return pld_error(EINVAL, "%s buffers must be of one domain", op);
	return 0;
}

/* Data in a data window: a signal's bytes are not next to each other. */
static int check_fits(const char *argument, const pld_window_buffer *buffer,
		      pld_dims shape, pld_dtype dtype)
{
	char text[PLD_DIMS_TEXT_BYTES];
	size_t bytes;

	if (buffer->cells)
		return pld_error(EINVAL,
				 "%s %s must be a buffer for data, got a signal",
				 op, argument);
	PLD_TRY(pld_dims_bytes(op, &shape, dtype, &bytes));
	if (bytes > buffer->bytes)
		return pld_error(EINVAL,
				 "%s %s must hold %s %s of %zu bytes, got a buffer of %zu",
				 op, argument, pld_dtype_text(dtype),
				 pld_dims_text(shape, text), bytes,
				 buffer->bytes);
	return 0;
}

/* A dense INT32 view of an ordinary window will do. */
static int check_signal(const pld_window_buffer *signal)
{
	int nranks = signal->domain->nranks;
	int64_t cells = signal->cells
				? signal->cells
				: (int64_t)(signal->bytes / sizeof(int32_t));

	if (cells < nranks)
		return pld_error(EINVAL,
				 "%s signal must have nranks = %d cells, got %lld",
				 op, nranks, (long long)cells);
	return 0;
}

static int check(const struct call *call)
{
	int nranks;

	PLD_TRY(check_given(call));
	PLD_TRY(pld_host_only(call->target->domain, op));
	nranks = call->target->domain->nranks;
	PLD_TRY(check_fits("local_data", call->local_data,
			   PLD_SHAPE(1, call->size), call->dtype));
	PLD_TRY(check_fits("target", call->target,
			   PLD_SHAPE(nranks, call->size), call->dtype));
	return check_signal(call->signal);
}

static int kernel(pld_domain *domain, void *arg)
{
	const struct call *call = arg;
	pld_distributed_tensor local, target, signal;
	int nranks = pld_nranks(domain);

	PLD_TRY(pld_window(call->local_data, PLD_SHAPE(1, call->size),
			   call->dtype, &local));
	PLD_TRY(pld_window(call->target, PLD_SHAPE(nranks, call->size),
			   call->dtype, &target));
	PLD_TRY(pld_window(call->signal, PLD_SHAPE(nranks, 1), PLD_INT32,
			   &signal));
	return pld_allgather_from_window(&local, &target, &signal);
}

int pld_host_allgather(pld_window_buffer *local_data, pld_window_buffer *target,
		       pld_window_buffer *signal, int64_t size, pld_dtype dtype)
{
	struct call call = {
		.local_data = local_data,
		.target = target,
		.signal = signal,
		.size = size,
		.dtype = dtype,
	};

	PLD_TRY(check(&call));
	return pld_launch(target->domain, kernel, &call, NULL);
}
