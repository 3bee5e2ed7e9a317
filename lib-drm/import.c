// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * Buffers of DRM devices as windows.
 */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include <xf86drm.h>

#include "device.h"
#include "error.h"
#include "pld_dmabuf.h"
#include "pld_drm.h"

/* How many descriptors there are; those of ranks without a buffer are -1. */
static int open_buffers(const pld_drm_buffer *buffers, int nranks,
			int fds[PLD_MAX_RANKS], int *opened)
{
	for (*opened = 0; *opened < nranks; *opened += 1) {
		const pld_drm_buffer *b = &buffers[*opened];
		int *fd = &fds[*opened];

		*fd = -1;
		if (b->handle && drmPrimeHandleToFD(b->drm_fd, b->handle,
						    DRM_CLOEXEC | DRM_RDWR, fd))
			return pld_drm_failed("pld_drm_import", b->drm_fd,
					      "cannot export handle %u, for rank %d",
					      b->handle, *opened);
	}
	return 0;
}

int pld_drm_import_each(pld_domain *domain, size_t bytes,
			const pld_drm_buffer *buffers,
			pld_window_buffer **buffer)
{
	int fds[PLD_MAX_RANKS];
	int opened, error;

	if (!domain || !buffers || !buffer)
		return pld_error(EINVAL,
				 "pld_drm_import: domain, buffers and buffer must not be NULL");
	error = open_buffers(buffers, pld_world_size(domain), fds, &opened);
	if (!error)
		error = pld_window_import(domain, bytes, fds, buffer);
	/* The window holds the buffers. */
	while (opened-- > 0)
		if (fds[opened] >= 0)
			close(fds[opened]);
	return error;
}

int pld_drm_import(pld_domain *domain, size_t bytes, int drm_fd,
		   const uint32_t *handles, pld_window_buffer **buffer)
{
	pld_drm_buffer buffers[PLD_MAX_RANKS];

	if (!domain || !handles || !buffer)
		return pld_error(EINVAL,
				 "pld_drm_import: domain, handles and buffer must not be NULL");
	for (int rank = 0; rank < pld_world_size(domain); rank++)
		buffers[rank] = (pld_drm_buffer){ drm_fd, handles[rank] };
	return pld_drm_import_each(domain, bytes, buffers, buffer);
}
