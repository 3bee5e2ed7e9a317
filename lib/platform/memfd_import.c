// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * Imported memory on platform memfd. What this is: memfd_import.h.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <linux/dma-buf.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "dmabuf.h"
#include "error.h"
#include "memfd_import.h"

/* 0, or the positive errno of why fd cannot be a rank's memory. */
static int check_dmabuf(int fd, size_t bytes)
{
	int flags = fcntl(fd, F_GETFL);
	struct statfs fs;
	void *address;
	off_t size;

	if (flags < 0)
		return EBADF;
	if (fstatfs(fd, &fs) || fs.f_type != DMA_BUF_MAGIC)
		return EINVAL;
	size = lseek(fd, 0, SEEK_END);
	if (size < 0)
		return errno;
	if ((size_t)size != bytes)
		return ERANGE;
	if ((flags & O_ACCMODE) != O_RDWR)
		return EACCES;
	address = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (address == MAP_FAILED)
		return errno == ENOMEM ? ENOMEM : ENODEV;
	munmap(address, bytes);
	return 0;
}

/* What the exporter's caches have to know of; most have nothing to do. */
static int sync_dmabuf(int fd, uint64_t flags)
{
	struct dma_buf_sync sync = { .flags = flags | DMA_BUF_SYNC_RW };

	while (ioctl(fd, DMA_BUF_IOCTL_SYNC, &sync))
		if (errno != EINTR && errno != EAGAIN)
			return errno;
	return 0;
}

int pld_memfd_zero(int fd, size_t at, size_t bytes)
{
	void *address = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
			     fd, (off_t)at);

	if (address == MAP_FAILED)
		return errno;
	memset(address, 0, bytes);
	munmap(address, bytes);
	return 0;
}

int pld_import_zero(int fd, size_t bytes)
{
	int error = sync_dmabuf(fd, DMA_BUF_SYNC_START);

	if (error)
		return error;
	error = pld_memfd_zero(fd, 0, bytes);
	if (error)
		return error;
	return sync_dmabuf(fd, DMA_BUF_SYNC_END);
}

void pld_imports_close(pld_window_buffer *buffer)
{
	for (int rank = 0; rank < buffer->domain->nranks; rank++) {
		if (!buffer->imported[rank] || !buffer->imports ||
		    buffer->imports[rank] < 0)
			continue;
		close(buffer->imports[rank]);
		buffer->imports[rank] = -1;
	}
}

/* Before anything is opened, which would take a closed descriptor's number. */
int pld_imports_check(const pld_window_buffer *buffer, const int *fds)
{
	size_t bytes = pld_page_align(buffer->bytes);

	for (int rank = 0; rank < buffer->domain->nranks; rank++) {
		int error = 0;

		if (buffer->imported[rank])
			error = check_dmabuf(fds[rank], bytes);
		if (error)
			return pld_import_refused(buffer, rank, fds[rank],
						  error);
	}
	return 0;
}

static int import_one(pld_window_buffer *buffer, int rank, int fd)
{
	int kept = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);

	if (kept < 0)
		return pld_import_refused(buffer, rank, fd, errno);
	buffer->imports[rank] = kept;
	return 0;
}

int pld_imports_take(pld_window_buffer *buffer, const int *fds)
{
	size_t nranks = (size_t)buffer->domain->nranks;

	buffer->imports = malloc(nranks * sizeof(*fds));
	if (!buffer->imports)
		return pld_error(ENOMEM, "pld_window_import: out of memory");
	for (size_t rank = 0; rank < nranks; rank++)
		buffer->imports[rank] = -1;
	for (size_t rank = 0; rank < nranks; rank++)
		if (buffer->imported[rank])
			PLD_TRY(import_one(buffer, (int)rank, fds[rank]));
	return 0;
}

int pld_imports_zero(const pld_window_buffer *buffer, const int *fds)
{
	size_t bytes = pld_page_align(buffer->bytes);

	for (int rank = 0; rank < buffer->domain->nranks; rank++) {
		int error = 0;

		if (buffer->imported[rank])
			error = pld_import_zero(buffer->imports[rank], bytes);
		if (error)
			return pld_import_refused(buffer, rank, fds[rank],
						  error);
	}
	return 0;
}

/* Each over the hole that it leaves in the window's own memory. */
int pld_imports_map(pld_window_buffer *buffer)
{
	size_t bytes = pld_page_align(buffer->bytes);

	for (int rank = 0; rank < buffer->domain->nranks; rank++) {
		char *at = buffer->base + (size_t)rank * buffer->stride;

		if (!buffer->imported[rank])
			continue;
		if (mmap(at, bytes, PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_FIXED, buffer->imports[rank],
			 0) == MAP_FAILED ||
		    madvise(at, bytes, MADV_DONTFORK))
			return pld_error(errno,
					 "platform memfd: cannot map the dma-buf of rank %d: %s",
					 rank, strerror(errno));
	}
	return 0;
}
