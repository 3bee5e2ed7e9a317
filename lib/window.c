// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * Window buffers, on the host side. A buffer's addresses are set aside before
 * the ranks are forked; each rank then maps the memory there, so that every
 * rank's memory has the same address in every process.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "dims.h"
#include "domain.h"
#include "error.h"
#include "platform/platform.h"
#include "window.h"

/* So that huge pages fit wherever a platform has them. */
#define ALIGNMENT ((size_t)2 << 20)

/*
 * Where programs, their heaps and libraries, and the shadows of sanitizers
 * seldom are, on x86-64 and on 48-bit arm64: a process that joins later must
 * have the same addresses free. Windows go up from a place that differs between
 * processes, for one that joins two of them.
 */
#define QUIET_START UINT64_C(0x550000000000)
#define QUIET_BYTES UINT64_C(0x005500000000)
#define QUIET_TRIES 16

static uint64_t quiet_place(size_t span)
{
	static _Atomic uint64_t used;
	uint64_t slots = QUIET_BYTES / ALIGNMENT;
	uint64_t first = (uint64_t)getpid() * UINT64_C(0x9e3779b97f4a7c15);
	uint64_t step = (span + 2 * ALIGNMENT - 1) / ALIGNMENT;
	/* Relaxed: a number that differs is all that is asked for. */
	uint64_t slot =
		first % slots +
		atomic_fetch_add_explicit(&used, step, memory_order_relaxed);

	return QUIET_START + slot % slots * ALIGNMENT;
}

static bool reserve_quiet(pld_window_buffer *buffer)
{
	size_t span = pld_span(buffer);

	for (int i = 0; i < QUIET_TRIES && span < QUIET_BYTES / 2; i++) {
		uint64_t place = quiet_place(span);
		char *there;

		if (place + span > QUIET_START + QUIET_BYTES)
			continue;
		there = mmap((char *)(uintptr_t)place, span, PROT_NONE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE |
				     MAP_FIXED_NOREPLACE,
			     -1, 0);
		if (there == (char *)(uintptr_t)place) {
			buffer->base = there;
			return true;
		}
		if (there != MAP_FAILED)
			munmap(there, span);
	}
	return false;
}

static int reserve_addresses(pld_window_buffer *buffer)
{
	size_t span = pld_span(buffer);
	size_t skip;
	char *start;

	if (reserve_quiet(buffer))
		return 0;
	start = mmap(NULL, span + ALIGNMENT, PROT_NONE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (start == MAP_FAILED)
		return pld_error(ENOMEM,
				 "pld.alloc_window_buffer: no %zu bytes of addresses left: %s",
				 span, strerror(errno));
	skip = -(uintptr_t)start % ALIGNMENT;
	if (skip)
		munmap(start, skip);
	munmap(start + skip + span, ALIGNMENT - skip);
	buffer->base = start + skip;
	return 0;
}

static int fill(pld_window_buffer *buffer, const int *fds)
{
	const struct pld_platform *platform = buffer->domain->platform;
	int error;

	for (int rank = 0; fds && rank < buffer->domain->nranks; rank++)
		buffer->imported[rank] = fds[rank] != -1;
	error = platform->window_alloc(buffer, fds);
	if (error)
		return error;
	error = reserve_addresses(buffer);
	if (error)
		platform->window_free(buffer);
	return error;
}

int pld_window_make(const char *op, const struct pld_window_wish *wish,
		    pld_window_buffer **out)
{
	pld_domain *domain = wish->domain;
	pld_window_buffer *buffer;
	size_t span;
	int error;

	if (!domain || !out)
		return pld_error(EINVAL,
				 "%s: domain and buffer must not be NULL", op);
	PLD_TRY(pld_host_only(domain, op));
	if (!wish->bytes)
		return pld_error(EINVAL, "%s: 0 bytes, wanted at least 1", op);
	if (wish->bytes > PTRDIFF_MAX - ALIGNMENT ||
	    __builtin_mul_overflow(wish->bytes + ALIGNMENT,
				   (size_t)domain->nranks, &span) ||
	    span > PTRDIFF_MAX)
		return pld_error(EOVERFLOW,
				 "%s: %zu bytes on each of %d ranks are more than addresses can count",
				 op, wish->bytes, domain->nranks);
	buffer = calloc(1, sizeof(*buffer));
	if (!buffer)
		return pld_error(ENOMEM, "%s: out of memory", op);
	buffer->domain = domain;
	buffer->bytes = wish->bytes;
	buffer->cells = wish->cells;
	error = fill(buffer, wish->fds);
	if (error) {
		free(buffer);
		return error;
	}
	buffer->next = domain->buffers;
	domain->buffers = buffer;
	*out = buffer;
	return 0;
}

static int alloc(pld_domain *domain, size_t bytes, int64_t cells,
		 pld_window_buffer **out)
{
	struct pld_window_wish wish = {
		.domain = domain,
		.bytes = bytes,
		.cells = cells,
	};

	return pld_window_make("pld.alloc_window_buffer", &wish, out);
}

int pld_alloc_window_buffer(pld_domain *domain, size_t bytes,
			    pld_window_buffer **buffer)
{
	return alloc(domain, bytes, 0, buffer);
}

int pld_alloc_window_buffer_shaped(pld_domain *domain, pld_dims shape,
				   pld_dtype dtype, pld_window_buffer **buffer)
{
	size_t bytes;

	PLD_TRY(pld_dims_bytes("pld.alloc_window_buffer", &shape, dtype, &bytes));
	return alloc(domain, bytes, 0, buffer);
}

int pld_signal_bytes(const char *op, pld_dims shape, size_t *bytes,
		     int64_t *cells)
{
	size_t dense;

	PLD_TRY(pld_dims_bytes(op, &shape, PLD_INT32, &dense));
	*cells = (int64_t)(dense / sizeof(int32_t));
	if (__builtin_mul_overflow(dense, PLD_CELL_STRIDE / sizeof(int32_t),
				   bytes))
		return pld_error(EOVERFLOW,
				 "%s: %zu cells are more than addresses can count",
				 op, dense / sizeof(int32_t));
	return 0;
}

int pld_alloc_signal(pld_domain *domain, pld_dims shape,
		     pld_window_buffer **buffer)
{
	size_t bytes;
	int64_t cells;

	PLD_TRY(pld_signal_bytes("pld_alloc_signal", shape, &bytes, &cells));
	return alloc(domain, bytes, cells, buffer);
}

void pld_free_window_buffer(pld_window_buffer *buffer)
{
	pld_window_buffer **link;

	if (!buffer || pld_on_rank_side(buffer->domain))
		return;
	link = &buffer->domain->buffers;
	while (*link != buffer)
		link = &(*link)->next;
	*link = buffer->next;
	munmap(buffer->base, pld_span(buffer));
	buffer->domain->platform->window_free(buffer);
	free(buffer);
}
