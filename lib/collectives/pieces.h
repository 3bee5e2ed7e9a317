/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * A reduction piece by piece, with scratch memory that holds one piece.
 *
 * A piece has as many elements as fit the domain's tile_bytes while they are
 * reduced; every rank finds the same number.
 */
#ifndef PLD_PIECES_H
#define PLD_PIECES_H

#include "pld.h"

struct pld_pieces {
	const char *op;
	/* [rows, SIZE] */
	pld_distributed_tensor table;
	pld_reduce_op reduce;
	/* most elements of a piece */
	int64_t most;
	/* a piece as table has it, and one or two as they are reduced */
	pld_tile tile;
	void *sum;
	void *other_sum;
	/* what both are in; owned by this */
	pld_tile memory;
};

/*
 * For pieces of at most longest elements. -ENOMEM: no memory for them, which breaks
 * the domain: the peers are in the call.
 */
int pld_pieces_init(struct pld_pieces *pieces, const char *op,
		    const pld_distributed_tensor *table, pld_reduce_op reduce,
		    int64_t longest);
void pld_pieces_free(struct pld_pieces *pieces);

/*
 * The tile becomes the reduction of all ranks' n elements at [row, from], in
 * the order of the ranks.
 */
int pld_pieces_reduce(struct pld_pieces *pieces, int64_t row, int64_t from,
		      int64_t n);

/* The same of n elements, more than a piece, into the own table. */
int pld_pieces_reduce_all(struct pld_pieces *pieces, int64_t row, int64_t from,
			  int64_t n);

#endif
