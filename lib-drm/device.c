// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * Errors of DRM devices, in the sentences that libpld keeps.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <xf86drm.h>

#include "device.h"
#include "error.h"
#include "pld.h"

int pld_drm_failed(const char *op, int drm_fd, const char *what, ...)
{
	int error = errno;
	char text[PLD_MESSAGE_BYTES];
	char *name = drmGetDeviceNameFromFd2(drm_fd);
	va_list args;

	va_start(args, what);
	vsnprintf(text, sizeof(text), what, args);
	va_end(args);
	if (name)
		pld_error(error, "%s: %s %s: %s", op, name, text,
			  strerror(error));
	else
		pld_error(error,
			  "%s: drm_fd is %d, wanted a descriptor of a DRM device: %s",
			  op, drm_fd, strerror(error));
	free(name);
	return -error;
}
