/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * Memory of a memfd in huge pages.
 */
#ifndef PLD_HUGE_H
#define PLD_HUGE_H

#include <stddef.h>

#define PLD_HUGE_PAGE ((size_t)2 << 20)

/*
 * Allocates the whole huge pages of these bytes, whose offset is a multiple of one,
 * where the kernel gives them. That saves page faults and walks through page tables,
 * and nothing else: where it gives none, nothing has happened.
 */
void pld_fill_huge(int fd, size_t offset, size_t bytes);

#endif
