/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
#ifndef PLD_MEMORY_LIMIT_H
#define PLD_MEMORY_LIMIT_H

#include <stdint.h>

/*
 * Bytes that this process can still take without reclaim going out of hand: the
 * least of what the machine and each of its memory cgroups (v1 or v2) have
 * left. An estimate: others allocate too.
 */
uint64_t pld_memory_available(void);

#endif
