// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * Is there room for a window? Asked before any platform takes memory: filling a
 * memory cgroup to its limit gets the process killed, not refused.
 */
#include <errno.h>
#include <unistd.h>

#include "available.h"
#include "error.h"
#include "memory_limit.h"

/* What one page table maps. */
#define TABLE_SPAN ((size_t)2 << 20)
#define TABLE_BYTES 4096
/* Of a process that has little more than windows: stacks, stage, copied pages. */
#define RANK_BYTES ((size_t)1 << 20)

/*
 * Of memory that all ranks map, at addresses that begin with a page table of
 * their own.
 */
static uint64_t page_tables(const pld_domain *domain, uint64_t span)
{
	return (uint64_t)domain->nranks * (span / TABLE_SPAN + 2) * TABLE_BYTES;
}

/* What the ranks will need besides their windows. */
static uint64_t ranks_need(const pld_domain *domain)
{
	uint64_t need = (uint64_t)domain->nranks * RANK_BYTES;

	for (const pld_window_buffer *b = domain->buffers; b; b = b->next)
		need += page_tables(domain, pld_span(b));
	return need;
}

int pld_not_available(const pld_window_buffer *buffer, uint64_t available)
{
	return pld_error(ENOMEM,
			 "pld.alloc_window_buffer: asked for %zu bytes on each of %d ranks, %llu bytes each are available",
			 buffer->bytes, pld_own_memories(buffer),
			 (unsigned long long)available);
}

int pld_check_available(const pld_window_buffer *buffer)
{
	const pld_domain *domain = buffer->domain;
	uint64_t available = pld_memory_available();
	uint64_t need = ranks_need(domain);
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t memory = (buffer->bytes + page - 1) / page * page;
	uint64_t asked = memory * (uint64_t)pld_own_memories(buffer);
	uint64_t mapped = memory * (uint64_t)domain->nranks;

	available = available > need ? available - need : 0;
	if (asked + page_tables(domain, mapped) <= available)
		return 0;
	return pld_not_available(buffer, available / (uint64_t)domain->nranks);
}
