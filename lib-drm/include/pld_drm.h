/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * libpld-drm: windows as buffers of DRM devices, and buffers of DRM devices as
 * windows. No byte is copied: a GEM handle and a window are names of the same
 * pages, which a dma-buf (PRIME) brings from one driver to the other.
 *
 * As in pld.h, every call returns 0 or a negative errno, and pld_last_error()
 * then has the sentence. drm_fd is a descriptor of a DRM device, of its primary
 * (/dev/dri/card0) or render node; handles are those of that descriptor.
 */
#ifndef PLD_DRM_H
#define PLD_DRM_H

#include <pld.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Makes bytes from offset on of a rank's window a buffer of the DRM device:
 * *handle is its GEM handle. Both are multiples of the page size; 0 bytes: up to
 * the window's end. Who may call it, for which ranks and platforms, and its
 * other errors are those of pld_window_export().
 *
 * The pages live until the handle is closed (drmCloseBufferHandle), also when
 * the domain and all of its processes are gone by then. Each call makes a buffer
 * of its own, to be closed by itself.
 *
 * -EINVAL: handle is NULL. -ENOTTY, -EBADF: drm_fd is no DRM device. Other
 * errors are the device's: it cannot import, or not memory of that size.
 */
PLD_API int pld_drm_export(pld_window_buffer *buffer, int rank, size_t offset,
			   size_t bytes, int drm_fd, uint32_t *handle);

/**
 * Makes a window buffer of bytes per rank, of which rank r's memory is the
 * buffer handles[r], of bytes at least, or memory of its own, zeroed, where
 * handles[r] is 0, which no buffer has. Host side; freed as any other
 * (pld_free_window_buffer). What a buffer holds stays as it is.
 *
 * The window has the pages for as long as it lives: the handle may be closed.
 *
 * -EINVAL: NULL. -ENOENT: the device has no such handle. -ENOTTY, -EBADF: drm_fd
 * is no DRM device. Other errors are the device's, which does not export, or
 * pld_window_import()'s.
 */
PLD_API int pld_drm_import(pld_domain *domain, size_t bytes, int drm_fd,
			   const uint32_t *handles, pld_window_buffer **buffer);

/** A buffer of a DRM device; with handle 0 none, whatever drm_fd is. */
typedef struct pld_drm_buffer {
	int drm_fd;
	uint32_t handle;
} pld_drm_buffer;

/** The same with buffers of several devices, one for each rank. */
PLD_API int pld_drm_import_each(pld_domain *domain, size_t bytes,
				const pld_drm_buffer *buffers,
				pld_window_buffer **buffer);

#ifdef __cplusplus
}
#endif

#endif /* PLD_DRM_H */
