/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * The modes of pld.tensor.allreduce. Each is called with all arguments checked, on
 * two ranks at least, over a table [1, n] that has all elements of the target.
 */
#ifndef PLD_ALLREDUCE_H
#define PLD_ALLREDUCE_H

#include "collectives/pieces.h"

/* What a mode moves, and the signal of its shape. */
struct pld_allreduce {
	struct pld_pieces pieces;
	const pld_distributed_tensor *signal;
	int64_t n;
	int nranks;
	int me;
};

/* The first element of part part of n elements in parts parts, as even as can be. */
static inline int64_t pld_part_start(int64_t n, int parts, int part)
{
	int64_t longer = n % parts;

	return n / parts * part + (part < longer ? part : longer);
}

int pld_allreduce_mesh(struct pld_allreduce *call);
int pld_allreduce_two_phase(struct pld_allreduce *call);
int pld_allreduce_ring(struct pld_allreduce *call);

#endif
