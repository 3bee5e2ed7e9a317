/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * The rank's own staging tile, one for each of its threads: made when the
 * thread first needs it, freed when the thread ends.
 */
#ifndef PLD_STAGE_H
#define PLD_STAGE_H

#include "domain.h"

/* The calling thread's tile of domain->tile_bytes, or -ENOMEM for op. */
int pld_stage(const char *op, const pld_domain *domain, const pld_tile **tile);

#endif
