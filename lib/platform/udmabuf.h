/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
#ifndef PLD_UDMABUF_H
#define PLD_UDMABUF_H

#include <stddef.h>

/* A new descriptor of a dma-buf of whole pages of a memfd, or a sentence. */
int pld_udmabuf_create(int memfd, size_t offset, size_t bytes);

#endif
