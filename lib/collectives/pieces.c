// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * A reduction piece by piece.
 */
#include <errno.h>

#include "collectives/barrier.h"
#include "collectives/pieces.h"
#include "collectives/reduce.h"
#include "domain.h"
#include "error.h"

/* So that no two arrays share a cache line. */
#define ALIGNMENT ((size_t)128)

static size_t aligned(size_t bytes)
{
	return (bytes + ALIGNMENT - 1) & ~(ALIGNMENT - 1);
}

static int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

int pld_pieces_init(struct pld_pieces *pieces, const char *op,
		    const pld_distributed_tensor *table, pld_reduce_op reduce,
		    int64_t longest)
{
	size_t size = pld_reduce_size(table->dtype);
	size_t fit = table->buffer->domain->tile_bytes / size;
	int64_t most = least((int64_t)fit, longest);
	size_t bytes = aligned((size_t)most * size);
	char *data;

	*pieces = (struct pld_pieces){
		.op = op,
		.table = *table,
		.reduce = reduce,
		.most = most,
	};
	if (pld_tile_alloc(&pieces->memory, 3 * bytes))
		return pld_collective_end(table->buffer->domain,
					  pld_error(ENOMEM,
						    "%s: no memory for %zu bytes of scratch",
						    op, 3 * bytes));
	data = pieces->memory.data;
	pieces->tile = (pld_tile){
		.kind = PLD_TILE,
		.data = data,
		.bytes = bytes,
	};
	pieces->sum = data + bytes;
	pieces->other_sum = data + 2 * bytes;
	return 0;
}

void pld_pieces_free(struct pld_pieces *pieces)
{
	pld_tile_free(&pieces->memory);
}

int pld_pieces_reduce(struct pld_pieces *pieces, int64_t row, int64_t from,
		      int64_t n)
{
	const pld_distributed_tensor *table = &pieces->table;
	pld_tile *tile = &pieces->tile;

	for (int rank = 0; rank < table->buffer->domain->nranks; rank++) {
		PLD_TRY(pld_tile_remote_load(table, rank, PLD_AT(row, from),
					     PLD_SHAPE(1, n), tile));
		if (!rank)
			pld_reduce_first(table->dtype, pieces->sum, tile->data,
					 n);
		else
			pld_reduce_next(table->dtype, pieces->reduce,
					pieces->sum, tile->data, n);
	}
	pld_reduce_result(table->dtype, tile->data, pieces->sum, n);
	return 0;
}

int pld_pieces_reduce_all(struct pld_pieces *pieces, int64_t row, int64_t from,
			  int64_t n)
{
	for (int64_t done = 0; done < n; done += pieces->most) {
		PLD_TRY(pld_pieces_reduce(pieces, row, from + done,
					  least(n - done, pieces->most)));
		PLD_TRY(pld_store(&pieces->tile, PLD_AT(row, from + done),
				  &pieces->table));
	}
	return 0;
}
