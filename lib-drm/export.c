// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * Windows as buffers of DRM devices.
 */
#include <errno.h>
#include <unistd.h>

#include <xf86drm.h>

#include "device.h"
#include "error.h"
#include "pld_dmabuf.h"
#include "pld_drm.h"

int pld_drm_export(pld_window_buffer *buffer, int rank, size_t offset,
		   size_t bytes, int drm_fd, uint32_t *handle)
{
	int error = 0, fd;

	if (!handle)
		return pld_error(EINVAL,
				 "pld_drm_export: handle must not be NULL");
	PLD_TRY(pld_window_export(buffer, rank, offset, bytes, &fd));
	if (drmPrimeFDToHandle(drm_fd, fd, handle))
		error = pld_drm_failed("pld_drm_export", drm_fd,
				       "cannot import the window of rank %d",
				       rank);
	/* The handle holds the buffer. */
	close(fd);
	return error;
}
