/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What libpld says of an imported dma-buf, called _fd in it, whose memory cannot hold
 * signals: on platform kmod the kernel looks at cells.
 */
#ifndef PLD_LIB_DMABUF_H
#define PLD_LIB_DMABUF_H

#define UNSEEN(_fd)                                                             \
	"pld_signal_import: the dma-buf " _fd " cannot be seen by the kernel, " \
	"wanted memory whose cells it can wait for"

#endif /* PLD_LIB_DMABUF_H */
