// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * pld.tensor.reduce_scatter: each rank reads its own row of every rank.
 *
 * Row r is read by rank r alone, so the result is written without asking; the
 * second barrier tells that the other rows are the caller's again too.
 */
#include "collectives/barrier.h"
#include "collectives/check.h"
#include "collectives/pieces.h"
#include "domain.h"

static const char op[] = "pld.tensor.reduce_scatter";

static int check(const pld_view *target, const pld_view *signal,
		 pld_reduce_op reduce)
{
	PLD_TRY(pld_check_given(op, "target", target));
	PLD_TRY(pld_check_given(op, "signal", signal));
	PLD_TRY(pld_check_table(op, "target", target, "[nranks, SIZE]"));
	PLD_TRY(pld_check_rows(op, "target", target));
	PLD_TRY(pld_barrier_check(op, signal, target->buffer->domain->nranks));
	PLD_TRY(pld_check_reduce_op(op, reduce));
	return pld_check_ready(op, target, signal);
}

static int run(struct pld_pieces *pieces, const pld_view *signal)
{
	const pld_view *target = &pieces->table;

	PLD_TRY(pld_barrier(op, signal, 0, 1));
	PLD_TRY(pld_pieces_reduce_all(pieces, target->buffer->domain->rank, 0,
				      target->shape.n[1]));
	PLD_TRY(pld_barrier(op, signal, 0, 2));
	return pld_barrier_epilogue(signal, 0, 2);
}

int pld_tensor_reduce_scatter(const pld_distributed_tensor *target,
			      const pld_distributed_tensor *signal,
			      pld_reduce_op reduce)
{
	struct pld_pieces pieces;
	int error;

	PLD_TRY(check(target, signal, reduce));
	if (target->buffer->domain->nranks == 1)
		return 0;
	PLD_TRY(pld_pieces_init(&pieces, op, target, reduce, target->shape.n[1]));
	error = pld_collective_end(target->buffer->domain, run(&pieces, signal));
	pld_pieces_free(&pieces);
	return error;
}
