// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * pld.tensor.allreduce: its checks, and its modes mesh and two-phase.
 */
#include <errno.h>

#include "collectives/allreduce.h"
#include "collectives/barrier.h"
#include "collectives/check.h"
#include "dims.h"
#include "dtype.h"
#include "domain.h"
#include "error.h"
#include "view.h"

static const char op[] = "pld.tensor.allreduce";

/*
 * Mesh: every rank reads every peer. The result of a piece is written when all
 * ranks have read what was there; the barrier that tells so is the one before
 * the next piece's write.
 */
int pld_allreduce_mesh(struct pld_allreduce *call)
{
	struct pld_pieces *pieces = &call->pieces;
	int32_t g = 1;

	PLD_TRY(pld_barrier(op, call->signal, 0, g));
	for (int64_t from = 0; from < call->n; from += pieces->most) {
		int64_t left = call->n - from;

		PLD_TRY(pld_pieces_reduce(pieces, 0, from,
					  left < pieces->most ? left
							      : pieces->most));
		PLD_TRY(pld_barrier(op, call->signal, 0, ++g));
		PLD_TRY(pld_store(&pieces->tile, PLD_AT(0, from),
				  &pieces->table));
	}
	return pld_barrier_epilogue(call->signal, 0, g);
}

/*
 * Two-phase: each rank reduces its part of the target and puts it to all. Only
 * it has read the others' bytes there, so they can be written at once; after
 * the second barrier nobody touches anybody's target.
 */
int pld_allreduce_two_phase(struct pld_allreduce *call)
{
	int64_t from = pld_part_start(call->n, call->nranks, call->me);
	int64_t n = pld_part_start(call->n, call->nranks, call->me + 1) - from;
	pld_distributed_tensor *table = &call->pieces.table;
	pld_put_options part = {
		.dst_offsets = PLD_AT(0, from),
		.src_offsets = PLD_AT(0, from),
		.shape = PLD_SHAPE(1, n),
	};

	PLD_TRY(pld_barrier(op, call->signal, 0, 1));
	PLD_TRY(pld_pieces_reduce_all(&call->pieces, 0, from, n));
	for (int peer = 0; n && peer < call->nranks; peer++)
		if (peer != call->me)
			PLD_TRY(pld_tensor_put(table, peer, table, &part));
	PLD_TRY(pld_barrier(op, call->signal, 1, 1));
	PLD_TRY(pld_barrier_epilogue(call->signal, 0, 1));
	return pld_barrier_epilogue(call->signal, 1, 1);
}

/* In the order of pld_allreduce_mode. */
static const struct {
	const char *name;
	int (*run)(struct pld_allreduce *call);
} modes[] = {
	[PLD_MESH] = { "mesh", pld_allreduce_mesh },
	[PLD_TWO_PHASE] = { "two-phase", pld_allreduce_two_phase },
	[PLD_RING] = { "ring", pld_allreduce_ring },
};

#define NR_MODES ((int)(sizeof(modes) / sizeof(modes[0])))

/* A ring of one rank has no steps; its signal is a cell all the same. */
static pld_dims signal_shape(int mode, int nranks)
{
	switch (mode) {
	case PLD_MESH:
		return PLD_SHAPE(nranks, 1);
	case PLD_TWO_PHASE:
		return PLD_SHAPE(2, nranks);
	default:
		return PLD_SHAPE(nranks > 1 ? 2 * (nranks - 1) : 1, nranks);
	}
}

static bool is_for(const pld_dims *shape, int mode, int nranks)
{
	pld_dims want = signal_shape(mode, nranks);

	return pld_dims_equal(shape, &want);
}

/* The mode that a signal of that shape is for, or NULL; two are for two. */
static const char *mode_of(const pld_dims *shape, int nranks)
{
	if (nranks == 2 && is_for(shape, PLD_RING, 2))
		return "two-phase or ring";
	for (int mode = 0; mode < NR_MODES; mode++)
		if (is_for(shape, mode, nranks))
			return nranks == 1 && mode == PLD_MESH
				       ? "mesh or ring"
				       : modes[mode].name;
	return NULL;
}

static int check_signal(const pld_view *signal, pld_allreduce_mode mode,
			int nranks)
{
	char want[PLD_DIMS_TEXT_BYTES], got[PLD_DIMS_TEXT_BYTES];
	pld_dims shape = signal_shape((int)mode, nranks);
	const char *other = NULL;

	PLD_TRY(pld_check_window_kind(op, "signal", signal));
	if (!pld_dims_equal(&signal->shape, &shape))
		other = mode_of(&signal->shape, nranks);
	else if (signal->dtype == PLD_INT32)
		return pld_check_cells(op, signal);
	return pld_error(EINVAL,
			 "%s signal of mode %s must be int32 %s, got %s %s%s%s",
			 op, modes[mode].name, pld_dims_text(shape, want),
			 pld_dtype_text(signal->dtype),
			 pld_dims_text(signal->shape, got),
			 other ? ", which is for mode " : "",
			 other ? other : "");
}

static int check(const pld_view *target, const pld_view *signal,
		 pld_reduce_op reduce, pld_allreduce_mode mode)
{
	PLD_TRY(pld_check_given(op, "target", target));
	PLD_TRY(pld_check_given(op, "signal", signal));
	PLD_TRY(pld_check_window_kind(op, "target", target));
	PLD_TRY(pld_check_reduce_op(op, reduce));
	if ((unsigned int)mode > PLD_RING)
		return pld_error(EINVAL,
				 "%s mode must be mesh (0), two-phase (1) or ring (2), got %d",
				 op, (int)mode);
	PLD_TRY(check_signal(signal, mode, target->buffer->domain->nranks));
	PLD_TRY(pld_check_ready(op, target, signal));
	if (!pld_dims_dense(target))
		return pld_error(EINVAL, "%s target must be dense", op);
	return 0;
}

int pld_tensor_allreduce(const pld_distributed_tensor *target,
			 const pld_distributed_tensor *signal,
			 pld_reduce_op reduce, pld_allreduce_mode mode)
{
	struct pld_allreduce call = { .signal = signal };
	pld_distributed_tensor table;
	int error;

	PLD_TRY(check(target, signal, reduce, mode));
	if (target->buffer->domain->nranks == 1)
		return 0;
	call.n = pld_dims_count(&target->shape);
	call.nranks = target->buffer->domain->nranks;
	call.me = target->buffer->domain->rank;
	table = *target;
	table.shape = PLD_SHAPE(1, call.n);
	pld_dims_strides(&table.shape, 1, table.stride);
	PLD_TRY(pld_pieces_init(&call.pieces, op, &table, reduce, call.n));
	error = pld_collective_end(target->buffer->domain,
				   modes[mode].run(&call));
	pld_pieces_free(&call.pieces);
	return error;
}
