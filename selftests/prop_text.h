/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A program of the property test as text, a line per step.
 */
#ifndef PLD_PROP_TEXT_H
#define PLD_PROP_TEXT_H

#include <stdio.h>

#include "prop_program.h"

static const char *const prop_op_names[PROP_OPS] = {
	[PROP_LOAD] = "load",
	[PROP_STORE] = "store",
	[PROP_READ] = "read",
	[PROP_WRITE] = "write",
	[PROP_REMOTE_LOAD] = "remote_load",
	[PROP_REMOTE_STORE] = "remote_store",
	[PROP_PUT] = "put",
	[PROP_GET] = "get",
	[PROP_FILL] = "fill",
	[PROP_PAUSE] = "pause",
	[PROP_HANDOVER] = "handover",
	[PROP_CREDIT_BARRIER] = "credit barrier",
	[PROP_CENTRAL_BARRIER] = "central barrier",
	[PROP_BARRIER] = "barrier",
	[PROP_BROADCAST] = "broadcast",
	[PROP_ALLGATHER] = "allgather",
	[PROP_ALLGATHER_REUSE] = "allgather that reuses its target",
	[PROP_REDUCE_SCATTER] = "reduce_scatter",
	[PROP_ALLREDUCE] = "allreduce",
	[PROP_ALL_TO_ALL] = "all_to_all",
	[PROP_ALL_TO_ALL_V] = "all_to_all_v",
};

static const char *const prop_way_names[PROP_WAYS] = {
	[PROP_WAIT_EACH] = "wait",
	[PROP_WAIT_ALL] = "wait_all",
	[PROP_WAIT_ANY] = "wait_any",
	[PROP_WAIT_EVENT] = "defer_wait",
};

static const char *const prop_wrong_names[PROP_WRONGS] = {
	[PROP_WRONG_PEER] = "peer",
	[PROP_WRONG_OFFSET] = "offset",
	[PROP_WRONG_NDIM] = "number of dimensions",
	[PROP_WRONG_KIND] = "kind",
	[PROP_WRONG_NULL] = "NULL",
	[PROP_WRONG_DTYPE] = "dtype",
	[PROP_WRONG_ADDRESS] = "address",
	[PROP_WRONG_STAGE] = "stage",
	[PROP_WRONG_CHUNK] = "chunk",
	[PROP_WRONG_CHUNK_SIZE] = "chunk size",
	[PROP_WRONG_PIPELINE] = "pipeline",
	[PROP_WRONG_SUBREGION] = "subregion",
	[PROP_WRONG_SHAPE] = "shape",
	[PROP_WRONG_ATOMIC] = "atomic",
	[PROP_WRONG_ATOMIC_DTYPE] = "dtype of atomic",
	[PROP_WRONG_ALIGNMENT] = "alignment",
	[PROP_WRONG_OVERLAP] = "overlap",
	[PROP_WRONG_TILE_BYTES] = "bytes of tile",
	[PROP_WRONG_TILE_KIND] = "kind of tile",
	[PROP_WRONG_VALID_SHAPE] = "valid_shape",
	[PROP_WRONG_NOTIFY_OP] = "op",
	[PROP_WRONG_SIGNAL_SHAPE] = "shape of signal",
	[PROP_WRONG_SIGNAL_DTYPE] = "dtype of signal",
	[PROP_WRONG_ROOT] = "root",
	[PROP_WRONG_ROWS] = "rows",
	[PROP_WRONG_REDUCE_OP] = "op",
	[PROP_WRONG_MODE] = "mode",
	[PROP_WRONG_COUNT] = "count",
	[PROP_WRONG_FLAGS] = "flags",
};

static inline void prop_print_dims(const char *name, pld_dims dims)
{
	if (!dims.ndim)
		return;
	printf(" %s [", name);
	for (int i = 0; i < dims.ndim; i++)
		printf("%s%lld", i ? ", " : "", (long long)dims.n[i]);
	printf("]");
}

static inline void prop_print_view(const char *name,
				   const struct prop_view *view)
{
	if (!view->full.ndim)
		return;
	if (view->place == PROP_PRIVATE)
		printf(" %s=private", name);
	else
		printf(" %s=window%d", name, view->place);
	printf("+%d %s", view->start, pld_dtype_name(view->dtype));
	prop_print_dims("", view->full);
	for (int i = 0; i < view->moves; i++) {
		const struct prop_move *move = &view->move[i];

		prop_print_dims(move->strides ? "strides" : "slice",
				move->offsets);
		if (!move->strides)
			prop_print_dims("of", move->shape);
	}
}

static inline void prop_print_data(const struct prop_step *step)
{
	prop_print_view("dst", &step->dst);
	prop_print_dims("at", step->dst_offsets);
	prop_print_view("src", &step->src);
	prop_print_dims("at", step->src_offsets);
	prop_print_dims("shape", step->shape);
	prop_print_dims("valid", step->valid);
	if (step->op != PROP_PUT && step->op != PROP_GET && step->op != PROP_FILL)
		printf(" tile %d", step->tile);
	prop_print_dims("slice", step->tile_offsets);
	prop_print_dims("of", step->tile_shape);
	if (step->op == PROP_READ || step->op == PROP_WRITE ||
	    step->op == PROP_FILL)
		printf(" private byte %d", step->value_at);
	if (step->stage_bytes)
		printf(" stage of %d", step->stage_bytes);
	if (step->chunk_rows || step->chunk_cols)
		printf(" chunks %lld by %lld%s", (long long)step->chunk_rows,
		       (long long)step->chunk_cols,
		       step->pipeline ? " pipelined" : "");
	if (step->atomic)
		printf(" Add");
}

static inline void prop_print_collective(const struct prop_step *step)
{
	static const char *const ops[] = { "Sum", "Max", "Min", "Prod" };
	static const char *const modes[] = { "mesh", "two-phase", "ring" };

	printf(" %s signal", step->dense_signal ? "dense" : "spread");
	if (step->op == PROP_CREDIT_BARRIER)
		printf(" by %s", prop_way_names[step->way]);
	if (step->op == PROP_CENTRAL_BARRIER || step->op == PROP_BROADCAST)
		printf(" root %d", step->root);
	prop_print_view("target", &step->dst);
	prop_print_view("input", &step->src);
	if (step->op == PROP_ALLREDUCE)
		printf(" %s", modes[step->mode]);
	if (step->op == PROP_ALLREDUCE || step->op == PROP_REDUCE_SCATTER)
		printf(" %s", ops[step->reduce]);
	if (step->op == PROP_ALLGATHER_REUSE)
		printf(" slot %d", step->slot);
	if (step->op == PROP_ALL_TO_ALL_V)
		printf(" up to %d rows", step->most);
}

static inline void prop_print_step(const struct prop_program *p, int number)
{
	const struct prop_step *step = &p->step[number];

	printf("%3d ", number);
	if (step->rank < 0)
		printf("all   ");
	else
		printf("rank %d", step->rank);
	printf(" %s", prop_op_names[step->op]);
	if (step->op <= PROP_FILL)
		prop_print_data(step);
	if (step->op == PROP_HANDOVER)
		printf(" column %d sends %d for %d by %s", step->column,
		       step->sent, step->expected, prop_way_names[step->way]);
	if (step->peer >= 0)
		printf(" peer %d", step->peer);
	if (step->op >= PROP_CREDIT_BARRIER)
		prop_print_collective(step);
	if (step->want)
		printf(" WRONG %s (%d): wants %d", prop_wrong_names[step->wrong],
		       step->wrong_detail, step->want);
	printf("\n");
}

static inline void prop_print(const struct prop_program *p)
{
	printf("seed %llu: %d ranks, stage of %d bytes, %d steps\n",
	       (unsigned long long)p->seed, p->nranks, p->tile_bytes, p->nsteps);
	for (int i = 0; i < p->nsteps; i++)
		prop_print_step(p, i);
	fflush(stdout);
}

#endif /* PLD_PROP_TEXT_H */
