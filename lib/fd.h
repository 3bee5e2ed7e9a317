/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
#ifndef PLD_FD_H
#define PLD_FD_H

/*
 * fd, or a duplicate of it above the standard streams': where one of those is
 * closed, a new descriptor takes its number, and what is printed ends up in it.
 * -1 with errno when there is none; fd is closed then. Close-on-exec.
 */
int pld_fd_above_stdio(int fd);

#endif
