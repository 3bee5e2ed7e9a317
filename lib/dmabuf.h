/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * What platforms say of dma-bufs.
 */
#ifndef PLD_DMABUF_INTERNAL_H
#define PLD_DMABUF_INTERNAL_H

#include "domain.h"

/*
 * That the dma-buf fd cannot be that rank's memory of the buffer, with the
 * sentence of why: a positive errno of those that pld_window_import() lists.
 */
int pld_import_refused(const pld_window_buffer *buffer, int rank, int fd,
		       int error);

#endif
