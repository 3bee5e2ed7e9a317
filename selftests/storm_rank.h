/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a rank does in a kill storm: random programs, one after the other, and
 * an allgather by hand between them, until it is told of a death. Then
 * everything that calls said to be complete must be there.
 */
#ifndef PLD_STORM_RANK_H
#define PLD_STORM_RANK_H

#include "prop_check.h"
#include "prop_generate.h"
#include "storm_killer.h"

#define STORM_PROGRAMS 3
#define STORM_EXTRAS 3
#define STORM_SLICE 48 /* elements, of the allgather by hand */

struct storm_round {
	uint64_t seed;
	struct prop_buffers buffers;
	/* between programs; and for the allgather by hand */
	pld_window_buffer *credits;
	pld_window_buffer *gathered;
	/* fresh ones, which must be zero */
	pld_window_buffer *extra[STORM_EXTRAS];
	size_t extra_bytes[STORM_EXTRAS];
	int extras;
	struct prop_program *program[STORM_PROGRAMS];
	/* how many are run before the kernel returns */
	int runs;
};

/* A rank's memory, found while calls still work. */
struct storm_memory {
	unsigned char *place[PROP_PRIVATE + 1];
};

static inline int storm_find_memory(const struct prop_rank *rank,
				    struct storm_memory *memory)
{
	for (int place = 0; place <= PROP_PRIVATE; place++)
		PLD_TRY(prop_memory(rank, place, &memory->place[place]));
	return 0;
}

/* Fresh windows are zero; they are left dirty for who gets their memory next. */
static inline int storm_dirty_extras(const struct storm_round *round)
{
	for (int i = 0; i < round->extras; i++) {
		int64_t bytes = (int64_t)round->extra_bytes[i];
		pld_distributed_tensor view;
		unsigned char *own;

		PLD_TRY(pld_window(round->extra[i], PLD_SHAPE(bytes), PLD_UINT8,
				   &view));
		own = view.data;
		for (int64_t at = 0; at < bytes; at++)
			CHECK_EQ(0, own[at]);
		memset(own, 0xa5, (size_t)bytes);
	}
	return 0;
}

static inline int storm_barrier(const struct storm_round *round)
{
	pld_distributed_tensor signal;

	PLD_TRY(pld_window(round->credits, PLD_SHAPE(STORM_RANKS, 1), PLD_INT32,
			   &signal));
	return pld_tensor_barrier(&signal);
}

static inline int32_t storm_element(int run, int rank, int i)
{
	return run * 1000003 + rank * 10007 + i;
}

static inline int storm_credits(const pld_distributed_tensor *signal, int me)
{
	for (int peer = 0; peer < STORM_RANKS; peer++)
		if (peer != me)
			PLD_TRY(pld_system_notify(signal, peer, PLD_AT(me, 0),
						  1, PLD_ATOMIC_ADD));
	for (int src = 0; src < STORM_RANKS; src++) {
		pld_condition credit = { signal, PLD_AT(src, 0), 1, PLD_GE };

		if (src == me)
			continue;
		PLD_TRY(pld_system_wait(signal, credit.offsets, credit.expected,
					credit.cmp));
		CHECK(prop_cell_value(&credit) >= 1);
	}
	for (int src = 0; src < STORM_RANKS; src++)
		if (src != me)
			PLD_TRY(pld_system_notify(signal, me, PLD_AT(src, 0),
						  -1, PLD_ATOMIC_ADD));
	return 0;
}

/* Pulls every row; the barriers around it are its callers. */
static inline int storm_gather(const struct storm_round *round, int me, int run)
{
	static int32_t row[STORM_SLICE];
	pld_dims slice = PLD_SHAPE(1, STORM_SLICE);
	pld_distributed_tensor data, signal;
	pld_tile tile = {
		.kind = PLD_TILE,
		.data = row,
		.bytes = sizeof(row),
	};
	int32_t *own;

	PLD_TRY(pld_window(round->gathered, PLD_SHAPE(STORM_RANKS, STORM_SLICE),
			   PLD_INT32, &data));
	PLD_TRY(pld_window(round->credits, PLD_SHAPE(STORM_RANKS, 1), PLD_INT32,
			   &signal));
	own = (int32_t *)data.data + me * STORM_SLICE;
	for (int i = 0; i < STORM_SLICE; i++)
		own[i] = storm_element(run, me, i);
	PLD_TRY(storm_credits(&signal, me));
	for (int peer = 0; peer < STORM_RANKS; peer++) {
		PLD_TRY(pld_tile_remote_load(&data, peer, PLD_AT(peer, 0),
					     slice, &tile));
		for (int i = 0; i < STORM_SLICE; i++)
			CHECK_EQ(storm_element(run, peer, i), row[i]);
	}
	return 0;
}

static inline int storm_run_one(const struct storm_round *round,
				struct prop_rank *rank, int run)
{
	rank->step = -1;
	PLD_TRY(prop_reset(rank));
	PLD_TRY(storm_gather(round, rank->me, run));
	PLD_TRY(storm_barrier(round));
	PLD_TRY(prop_run(rank));
	PLD_TRY(storm_barrier(round));
	rank->step = -1;
	return prop_check(rank);
}

/*
 * Did this rank hear that the step which wrote the byte last is complete? Of
 * several ranks that add to one element, each knows only of its own.
 */
static inline bool storm_is_complete(const struct prop_rank *rank, int writer)
{
	const struct prop_step *step;

	if (writer == PROP_NOBODY)
		return true;
	step = &rank->program->step[writer];
	if (writer >= rank->step || step->atomic == PLD_ADD)
		return false;
	return step->rank < 0 || step->rank == rank->me;
}

/*
 * A rank that was told in step k has done its own steps before. What the model
 * has from these, or from nobody, must be in its memory: whatever else writes
 * to those bytes came before, or it would be the last one that did.
 */
static inline int storm_check_told(struct prop_rank *rank,
				   const struct storm_memory *memory)
{
	const struct prop_program *p = rank->program;

	if (rank->step < 0)
		return 0;
	for (int place = 0; place <= PROP_PRIVATE; place++) {
		const unsigned char *image =
			p->image[rank->me] + prop_place_at(place);
		const unsigned char *writer =
			p->writer[rank->me] + prop_place_at(place);

		for (int i = 0; i < (int)prop_bytes_of(place); i++)
			if (memory->place[place][i] != image[i] &&
			    storm_is_complete(rank, writer[i]) &&
			    !prop_is_used_stage(rank, place, i))
				return prop_report_byte(rank, place,
							memory->place[place], i);
	}
	return 0;
}

/* The rank whose death a sentence tells, or -1. */
static inline int storm_named(const char *message)
{
	const char *at = strstr(message, "rank ");
	int rank, end = 0;

	for (; at; at = strstr(at + 1, "rank "))
		if (sscanf(at, "rank %d died%n", &rank, &end) == 1 && end)
			return rank;
	return -1;
}

/* From now on every call must say the same. */
static inline int storm_check_calls(const struct storm_round *round)
{
	int named = storm_named(pld_last_error());

	CHECK(named >= 0 && named < STORM_RANKS);
	CHECK(storm->rank[named].killed_at);
	for (int i = 0; i < 3; i++) {
		CHECK_EQ(-EOWNERDEAD, storm_barrier(round));
		CHECK_EQ(named, storm_named(pld_last_error()));
	}
	return 0;
}

static inline int storm_told(const struct storm_round *round,
			     struct prop_rank *rank,
			     const struct storm_memory *memory)
{
	storm->rank[rank->me].told_at = now_ns();
	storm->rank[rank->me].queued_then = late_queued(getpid());
	PLD_TRY(storm_check_calls(round));
	PLD_TRY(storm_check_told(rank, memory));
	/* Its sentence is the last one that the launcher gets. */
	return storm_barrier(round);
}

static inline int storm_work(const struct storm_round *round,
			     struct prop_rank *rank, struct storm_memory *memory)
{
	rank->program = round->program[0];
	rank->step = -1;
	PLD_TRY(storm_find_memory(rank, memory));
	PLD_TRY(storm_dirty_extras(round));
	for (int run = 0; run < round->runs; run++) {
		rank->program = round->program[run % STORM_PROGRAMS];
		PLD_TRY(storm_run_one(round, rank, run));
	}
	return 0;
}

static inline int storm_kernel(pld_domain *domain, void *arg)
{
	static unsigned char private[PROP_PRIVATE_BYTES]
		__attribute__((aligned(128)));
	const struct storm_round *round = arg;
	struct storm_memory memory;
	struct prop_rank rank = {
		.domain = domain,
		.buffers = &round->buffers,
		.me = pld_rank(domain),
		.memory = private,
	};
	int error;

	/* Broken before it began. */
	if (rank.me < 0)
		return rank.me;
	lib_here = rank.me;
	storm->rank[rank.me].started_at = now_ns();
	error = storm_work(round, &rank, &memory);
	if (error == -EOWNERDEAD)
		return storm_told(round, &rank, &memory);
	storm->rank[rank.me].finished = !error;
	return error;
}

#endif /* PLD_STORM_RANK_H */
