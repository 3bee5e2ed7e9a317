// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * A domain's buffers by their number, and the server's note: what a rank that
 * came in has in place of its launcher's variables.
 */
#include <errno.h>

#include "error.h"
#include "join/joined.h"

int pld_domain_buffers(const pld_domain *domain)
{
	int count = 0;

	if (!domain)
		return pld_error(EINVAL,
				 "pld_domain_buffers: domain must not be NULL");
	for (pld_window_buffer *b = domain->buffers; b; b = b->next)
		count++;
	return count;
}

/* The list has the newest first. */
pld_window_buffer *pld_domain_buffer(const pld_domain *domain, int index)
{
	int count = pld_domain_buffers(domain);
	pld_window_buffer *buffer;

	if (count < 0)
		return NULL;
	if (index < 0 || index >= count) {
		pld_error(ERANGE,
			  "pld_domain_buffer: index is %d, the domain has %d buffers",
			  index, count);
		return NULL;
	}
	buffer = domain->buffers;
	while (++index < count)
		buffer = buffer->next;
	return buffer;
}

const void *pld_domain_note(const pld_domain *domain, size_t *bytes)
{
	const struct pld_joined *joined = domain ? domain->joined : NULL;

	if (bytes)
		*bytes = joined ? joined->note_bytes : 0;
	return joined ? joined->note : NULL;
}
