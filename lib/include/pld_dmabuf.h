/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * libpld: windows as dma-bufs, and dma-bufs as windows. A dma-buf is a file
 * descriptor of memory that drivers of other devices, and other processes, can
 * use: what a window's memory is handed to a GPU, a camera or a NIC as, and what
 * their memory comes as.
 *
 * Errors common to all calls: pld.h.
 */
#ifndef PLD_DMABUF_H
#define PLD_DMABUF_H

#include "pld.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Exports bytes offset to offset + bytes of a rank's memory of a buffer as a
 * dma-buf; *fd is a new descriptor of it, closed by exec, the caller's to close.
 * Both are multiples of the page size; bytes 0 is to the end, the buffer's bytes
 * rounded up to pages. On the host side, and on the rank side for any rank of
 * the buffer's domain. The dma-buf keeps the memory, also beyond the end of the
 * buffer, the domain and their process.
 *
 * -ERANGE: no such rank, or more than its memory. -EINVAL: offset or bytes is not
 * a multiple of the page size; a part of memory that was imported, which is
 * exported as a whole only, as the dma-buf that it was. Platform memfd exports
 * on the host side only, through /dev/udmabuf: -EOPNOTSUPP in a rank, or where
 * the kernel has none; -EACCES: this user may not open it; -EFBIG: more bytes
 * than it takes. -EMFILE: no descriptor is left.
 */
PLD_API int pld_window_export(pld_window_buffer *buffer, int rank,
			      size_t offset, size_t bytes, int *fd);

/**
 * Host side: a window buffer of that many bytes per rank, in which rank r's
 * memory is the dma-buf fds[r], which is as large as bytes rounded up to pages,
 * or zeroed memory of its own where fds[r] is -1. Imported bytes are left as they are. The descriptors stay
 * the caller's, who may close them at once. The buffer is used and freed like
 * one of pld_alloc_window_buffer.
 *
 * Refused, with a message that names the rank: -EBADF: a descriptor that is not
 * open. -EINVAL: not a dma-buf. -ERANGE: smaller or larger than bytes, rounded up to
 * pages. -EACCES: can only be read. -ENODEV: a process cannot map it. Platform kmod
 * also: -EIO: its driver does not map it for the rank's device, as memory without
 * struct pages that it cannot move. -ENXIO: as a
 * signal: the kernel cannot see it, and so not wait for its cells. (A wait for a
 * cell of such a data buffer fails with the same.)
 */
PLD_API int pld_window_import(pld_domain *domain, size_t bytes, const int *fds,
			      pld_window_buffer **buffer);

/**
 * The same for a signal of that many cells, which lie 128 bytes apart: so many
 * bytes, rounded up to pages, has each dma-buf, and no more. Cells are zeroed when a launch
 * begins, imported ones too.
 */
PLD_API int pld_signal_import(pld_domain *domain, pld_dims shape,
			      const int *fds, pld_window_buffer **buffer);

#ifdef __cplusplus
}
#endif

#endif
