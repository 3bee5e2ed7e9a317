// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * Windows as dma-bufs, and dma-bufs as windows: what is the same on every
 * platform.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "dmabuf.h"
#include "error.h"
#include "health.h"
#include "pld_dmabuf.h"
#include "platform/platform.h"
#include "window.h"

static const char export_op[] = "pld_window_export";

static size_t page_size(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

static size_t page_align(size_t bytes)
{
	return (bytes + page_size() - 1) / page_size() * page_size();
}

/* On the host side only the host; on the rank side only ranks of the domain. */
static int check_caller(const pld_domain *domain)
{
	if (!pld_on_rank_side(domain))
		return pld_host_only(domain, export_op);
	if (!*domain->alive || domain->outsider)
		return pld_unhealthy(domain, export_op);
	return 0;
}

static int check_range(const pld_window_buffer *buffer, size_t offset,
		       size_t bytes)
{
	size_t memory = page_align(buffer->bytes);

	if (offset % page_size() || bytes % page_size())
		return pld_error(EINVAL,
				 "%s: offset is %zu and bytes is %zu, wanted multiples of %zu",
				 export_op, offset, bytes, page_size());
	if (offset >= memory || bytes > memory - offset)
		return pld_error(ERANGE,
				 "%s: offset is %zu and bytes is %zu, wanted at most %zu bytes in all",
				 export_op, offset, bytes, memory);
	return 0;
}

int pld_window_export(pld_window_buffer *buffer, int rank, size_t offset,
		      size_t bytes, int *fd)
{
	const pld_domain *domain;
	size_t memory;
	int made;

	if (!buffer || !fd)
		return pld_error(EINVAL, "%s: buffer and fd must not be NULL",
				 export_op);
	domain = buffer->domain;
	PLD_TRY(check_caller(domain));
	if (rank < 0 || rank >= domain->nranks)
		return pld_error(ERANGE, "%s: rank is %d, wanted 0 to %d",
				 export_op, rank, domain->nranks - 1);
	PLD_TRY(check_range(buffer, offset, bytes));
	memory = page_align(buffer->bytes);
	if (!bytes)
		bytes = memory - offset;
	if (buffer->imported[rank] && bytes != memory)
		return pld_error(EINVAL,
				 "%s: the memory of rank %d was imported, wanted all of its %zu bytes, not %zu",
				 export_op, rank, memory, bytes);
	made = domain->platform->window_export(buffer, rank, offset, bytes);
	if (made < 0)
		return made;
	*fd = made;
	return 0;
}

static const char *import_op(const pld_window_buffer *buffer)
{
	return buffer->cells ? "pld_signal_import" : "pld_window_import";
}

int pld_import_refused(const pld_window_buffer *buffer, int rank, int fd,
		       int error)
{
	const char *op = import_op(buffer);

	switch (error) {
	case EBADF:
		return pld_error(error,
				 "%s: fds[%d] is %d, which is not an open descriptor",
				 op, rank, fd);
	case EINVAL:
		return pld_error(error,
				 "%s: fds[%d] is %d, which is not a dma-buf",
				 op, rank, fd);
	case ERANGE:
		return pld_error(error,
				 "%s: the dma-buf fds[%d] has %lld bytes, wanted %zu",
				 op, rank, (long long)lseek(fd, 0, SEEK_END),
				 page_align(buffer->bytes));
	case EACCES:
		return pld_error(error,
				 "%s: the dma-buf fds[%d] can only be read, wanted one that can be written",
				 op, rank);
	case ENODEV:
		return pld_error(error,
				 "%s: the dma-buf fds[%d] cannot be mapped by a process",
				 op, rank);
	case EIO:
		return pld_error(error,
				 "%s: the dma-buf fds[%d] cannot be mapped by the device of rank %d",
				 op, rank, rank);
	case ENXIO:
		return pld_error(error,
				 "%s: the dma-buf fds[%d] cannot be seen by the kernel, wanted memory whose cells it can wait for",
				 op, rank);
	default:
		return pld_error(error,
				 "%s: the dma-buf fds[%d] cannot be used: %s",
				 op, rank, strerror(error));
	}
}

int pld_window_import(pld_domain *domain, size_t bytes, const int *fds,
		      pld_window_buffer **buffer)
{
	struct pld_window_wish wish = {
		.domain = domain,
		.bytes = bytes,
		.fds = fds,
	};

	if (!fds)
		return pld_error(EINVAL,
				 "pld_window_import: fds must not be NULL");
	return pld_window_make("pld_window_import", &wish, buffer);
}

int pld_signal_import(pld_domain *domain, pld_dims shape, const int *fds,
		      pld_window_buffer **buffer)
{
	struct pld_window_wish wish = {
		.domain = domain,
		.fds = fds,
	};

	if (!fds)
		return pld_error(EINVAL,
				 "pld_signal_import: fds must not be NULL");
	PLD_TRY(pld_signal_bytes("pld_signal_import", shape, &wish.bytes,
				 &wish.cells));
	return pld_window_make("pld_signal_import", &wish, buffer);
}
