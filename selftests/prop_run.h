/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Running a program of the property test: a rank's part of it, by the library.
 */
#ifndef PLD_PROP_RUN_H
#define PLD_PROP_RUN_H

#include <sched.h>
#include <time.h>

#include "prop_run_collective.h"
#include "prop_run_wait.h"

static inline pld_tile prop_make_tile(const struct prop_rank *rank, int tile,
				      size_t bytes)
{
	return (pld_tile){
		.kind = PLD_TILE,
		.data = rank->memory + prop_tile_at(tile) - PROP_WINDOWS_BYTES,
		.bytes = bytes,
	};
}

static inline void *prop_value(const struct prop_rank *rank, int at)
{
	return rank->memory + at - PROP_WINDOWS_BYTES;
}

/* ---- transfers ---- */

static inline int prop_prepare_tile(const struct prop_rank *rank,
				    const struct prop_step *step,
				    struct prop_call *call)
{
	call->tile = rank->tile[step->tile];
	if (step->tile_shape.ndim)
		PROP_DO(rank, pld_slice(&call->tile, step->tile_offsets,
					step->tile_shape, &call->tile));
	return 0;
}

static inline void prop_prepare_options(const struct prop_rank *rank,
					const struct prop_step *step,
					struct prop_call *call)
{
	call->options.chunk_rows = step->chunk_rows;
	call->options.chunk_cols = step->chunk_cols;
	call->options.pipeline = step->pipeline;
	if (!step->whole) {
		call->options.dst_offsets = step->dst_offsets;
		call->options.src_offsets = step->src_offsets;
		call->options.shape = step->shape;
	}
	if (step->stage_bytes) {
		call->stage = prop_make_tile(rank, PROP_STAGE,
					     (size_t)step->stage_bytes);
		call->options.stage = &call->stage;
	}
}

static inline int prop_prepare(const struct prop_rank *rank,
			       const struct prop_step *step,
			       struct prop_call *call)
{
	bool has_dst = step->op == PROP_STORE ||
		       step->op == PROP_REMOTE_STORE || step->op == PROP_WRITE;

	memset(call, 0, sizeof(*call));
	call->peer = step->peer;
	call->shape = step->shape;
	call->valid = step->valid;
	call->atomic = step->atomic;
	call->offsets = has_dst ? step->dst_offsets : step->src_offsets;
	call->about = has_dst || step->op == PROP_PUT ? &call->dst : &call->src;
	if (step->dst.full.ndim)
		PLD_TRY(prop_make_view(rank, &step->dst, &call->dst));
	if (step->src.full.ndim)
		PLD_TRY(prop_make_view(rank, &step->src, &call->src));
	PLD_TRY(prop_prepare_tile(rank, step, call));
	prop_prepare_options(rank, step, call);
	prop_spoil_call(step, call);
	call->options.atomic = call->atomic;
	return 0;
}

/* put and get without options where they need none. */
static inline const pld_put_options *prop_options(const struct prop_call *call)
{
	static const pld_put_options none;

	return memcmp(&none, &call->options, sizeof(none)) ? &call->options
							   : NULL;
}

static inline int prop_call(const struct prop_rank *rank,
			    const struct prop_step *step, struct prop_call *call)
{
	switch (step->op) {
	case PROP_LOAD:
		if (step->valid.ndim)
			return pld_load_valid(call->about, call->offsets,
					      call->shape, call->valid,
					      &call->tile);
		return pld_load(call->about, call->offsets, call->shape,
				&call->tile);
	case PROP_STORE:
		return pld_store(&call->tile, call->offsets, call->about);
	case PROP_READ:
		return pld_read(call->about, call->offsets,
				prop_value(rank, step->value_at));
	case PROP_WRITE:
		return pld_write(call->about, call->offsets,
				 prop_value(rank, step->value_at));
	case PROP_REMOTE_LOAD:
		if (step->valid.ndim)
			return pld_tile_remote_load_valid(call->about,
							  call->peer,
							  call->offsets,
							  call->shape,
							  call->valid,
							  &call->tile);
		return pld_tile_remote_load(call->about, call->peer,
					    call->offsets, call->shape,
					    &call->tile);
	case PROP_REMOTE_STORE:
		return pld_tile_remote_store(&call->tile, call->about,
					     call->peer, call->offsets,
					     call->atomic);
	case PROP_PUT:
		return pld_tensor_put(call->about, call->peer, &call->src,
				      prop_options(call));
	case PROP_GET:
		return pld_tensor_get(&call->dst, call->peer, call->about,
				      prop_options(call));
	default:
		return pld_system_notify(call->about, call->peer, call->offsets,
					 1, call->notify_op);
	}
}

/* A refused call leaves the tile as it was. */
static inline int prop_call_and_look(struct prop_rank *rank,
				     const struct prop_step *step,
				     struct prop_call *call)
{
	pld_tile before = call->tile;

	PLD_TRY(prop_returned(rank, step->want, prop_call(rank, step, call)));
	if (step->want && memcmp(&before, &call->tile, sizeof(before))) {
		prop_report_step(rank, "the refused call has changed the tile");
		return -EBADMSG;
	}
	if (!step->want &&
	    (step->op == PROP_LOAD || step->op == PROP_REMOTE_LOAD))
		rank->tile[step->tile] = call->tile;
	return 0;
}

static inline int prop_run_data(struct prop_rank *rank,
				const struct prop_step *step)
{
	struct prop_call call;

	PLD_TRY(prop_prepare(rank, step, &call));
	return prop_call_and_look(rank, step, &call);
}

/* ---- synchronisation ---- */

static inline int prop_run_handover(struct prop_rank *rank,
				    const struct prop_step *step)
{
	bool set = step->column == PROP_SET;
	pld_condition condition = {
		.signal = &rank->cells,
		.offsets = PLD_AT(step->rank, step->column),
		.expected = step->expected,
		.cmp = set ? PLD_EQ : PLD_GE,
	};

	if (rank->me == step->rank)
		PROP_DO(rank, pld_system_notify(&rank->cells, step->peer,
						condition.offsets, step->sent,
						set ? PLD_SET : PLD_ATOMIC_ADD));
	if (rank->me == step->peer)
		return prop_wait(rank, step->way, &condition, 1);
	return 0;
}

static inline int prop_wrong_notify(struct prop_rank *rank,
				    const struct prop_step *step)
{
	struct prop_call call = {
		.src = rank->cells,
		.peer = step->peer,
		.offsets = PLD_AT(rank->me, PROP_ADDED),
	};

	call.about = &call.src;
	prop_spoil_call(step, &call);
	return prop_call_and_look(rank, step, &call);
}

/* Each tells each, and takes the credits back out. */
static inline int prop_credit_barrier(struct prop_rank *rank,
				      const struct prop_step *step)
{
	int nranks = rank->program->nranks, me = rank->me, n = 0;
	pld_condition conditions[PROP_RANKS];
	pld_distributed_tensor signal;

	PLD_TRY(prop_signal(rank, step, PLD_SHAPE(nranks, 1), &signal));
	for (int peer = 0; peer < nranks; peer++) {
		if (peer == me)
			continue;
		PROP_DO(rank, pld_system_notify(&signal, peer, PLD_AT(me, 0), 1,
						PLD_ATOMIC_ADD));
		conditions[n++] = (pld_condition){
			.signal = &signal,
			.offsets = PLD_AT(peer, 0),
			.expected = 1,
			.cmp = PLD_GE,
		};
	}
	PLD_TRY(prop_wait(rank, step->way, conditions, n));
	for (int src = 0; src < nranks; src++)
		if (src != me)
			PROP_DO(rank,
				pld_system_notify(&signal, me, PLD_AT(src, 0),
						  -1, PLD_ATOMIC_ADD));
	return 0;
}

/* How often root has let this rank go before. */
static inline int32_t prop_released(const struct prop_rank *rank, int root)
{
	const struct prop_program *p = rank->program;
	int32_t count = 0;

	for (int i = 0; i < rank->step; i++) {
		const struct prop_step *step = &p->step[i];

		if (step->op == PROP_CENTRAL_BARRIER && step->root == root)
			count++;
		if (step->op == PROP_HANDOVER && !step->want &&
		    step->rank == root && step->peer == rank->me &&
		    step->column == PROP_ADDED)
			count += step->sent;
	}
	return count;
}

/* All tell root, root tells all. */
static inline int prop_central_barrier(struct prop_rank *rank,
				       const struct prop_step *step)
{
	int nranks = rank->program->nranks, root = step->root;
	pld_dims arrived = PLD_AT(0, PROP_ARRIVED);
	pld_dims released = PLD_AT(root, PROP_ADDED);

	if (rank->me != root) {
		PROP_DO(rank, pld_system_notify(&rank->cells, root, arrived, 1,
						PLD_ATOMIC_ADD));
		PROP_DO(rank,
			pld_system_wait(&rank->cells, released,
					prop_released(rank, root) + 1, PLD_GE));
		return 0;
	}
	PROP_DO(rank,
		pld_system_wait(&rank->cells, arrived, nranks - 1, PLD_EQ));
	PROP_DO(rank, pld_system_notify(&rank->cells, root, arrived,
					-(nranks - 1), PLD_ATOMIC_ADD));
	for (int peer = 0; peer < nranks; peer++)
		if (peer != root)
			PROP_DO(rank,
				pld_system_notify(&rank->cells, peer, released,
						  1, PLD_ATOMIC_ADD));
	return 0;
}

static inline void prop_pause(int32_t microseconds)
{
	struct timespec time = { .tv_nsec = 1000 * microseconds };

	if (microseconds)
		nanosleep(&time, NULL);
	else
		sched_yield();
}

static inline int prop_run_step(struct prop_rank *rank,
				const struct prop_step *step)
{
	switch (step->op) {
	case PROP_FILL:
		prop_draw_values(step->seed, step->values, step->dst.dtype,
				 prop_value(rank, step->value_at),
				 (int)prop_count(step->shape));
		return 0;
	case PROP_PAUSE:
		prop_pause(step->sent);
		return 0;
	case PROP_HANDOVER:
		return step->want ? prop_wrong_notify(rank, step)
				  : prop_run_handover(rank, step);
	case PROP_CREDIT_BARRIER:
		return prop_credit_barrier(rank, step);
	case PROP_CENTRAL_BARRIER:
		return prop_central_barrier(rank, step);
	default:
		return step->op < PROP_DATA_OPS
			       ? prop_run_data(rank, step)
			       : prop_run_collective(rank, step);
	}
}

/* This rank's steps, in their order. */
static inline int prop_run(struct prop_rank *rank)
{
	const struct prop_program *p = rank->program;

	for (int tile = 0; tile < PROP_TILES; tile++)
		rank->tile[tile] = prop_make_tile(rank, tile, PROP_TILE_BYTES);
	PROP_DO(rank, pld_window(rank->buffers->cells,
				 PLD_SHAPE(p->nranks, PROP_COLUMNS), PLD_INT32,
				 &rank->cells));
	for (rank->step = 0; rank->step < p->nsteps; rank->step++)
		if (prop_takes_part(&p->step[rank->step], rank->me))
			PLD_TRY(prop_run_step(rank, &p->step[rank->step]));
	return 0;
}

#endif /* PLD_PROP_RUN_H */
