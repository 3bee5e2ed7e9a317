/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * What a DRM device did not do, in words.
 */
#ifndef PLD_DRM_DEVICE_H
#define PLD_DRM_DEVICE_H

/*
 * Right after a call of libdrm that failed: returns -errno with a sentence of
 * op, in which the device's name stands before what, such as "has no ...".
 */
int pld_drm_failed(const char *op, int drm_fd, const char *what, ...)
	__attribute__((format(printf, 3, 4)));

#endif
