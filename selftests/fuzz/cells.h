/* SPDX-License-Identifier: GPL-2.0 */
/* Cells that calls wait for: the parameters that say which, and their array. */
#ifndef FUZZ_CELLS_H
#define FUZZ_CELLS_H

#include <linux/pld_sim.h>

#include "calls.h"

/* As many as a caller can have, and one more. */
#define FUZZ_CELLS (PLD_SIM_MAX_CONDITIONS + 1)

#define CELL_OFFSETS 0, 4, 128, 4092, 4096, 2, -4, 1LL << 32, 0x200000

/* "nr" is 0 where a call has a cell in its structure. */
#define CELL_PARAMS                                                    \
	THING("window", KIND_WINDOW), NUMBER("offset", CELL_OFFSETS),  \
		NUMBER("cmp", 1, 0, 2, -1),                            \
		NUMBER("expected", 1, 0, 2, -1, INT32_MIN, INT32_MAX), \
		NUMBER("nr", 0, 1, 2, 3, 64, 65, -1)

/* @args from "window" on. Neighbours, all of which are the same but for that. */
static inline void fuzz_fill_cells(struct pld_sim_condition *cells,
				   const struct fuzz_value *args)
{
	for (int i = 0; i < FUZZ_CELLS; i++)
		cells[i] = (struct pld_sim_condition){
			.window = args[0].n,
			.offset = args[1].n + 4 * i,
			.cmp = args[2].n,
			.expected = args[3].n,
		};
}

#endif /* FUZZ_CELLS_H */
