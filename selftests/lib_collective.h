/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Collectives in tests: a world of ranks with two data windows and one signal
 * for all, what every rank brings to a call, and what must come out, from a
 * serial model that knows all ranks' elements by a seed.
 */
#ifndef PLD_LIB_COLLECTIVE_H
#define PLD_LIB_COLLECTIVE_H

#include <stdlib.h>

#include "lib_golden.h"
#include "lib_numbers.h"
#include "lib_test.h"

#ifdef __SANITIZE_ADDRESS__
#define ASAN 1
#else
#define ASAN 0
#endif

/* In a guest, in valgrind or with sanitizers: less of the same. */
static inline int is_slow(void)
{
	return ASAN || getenv("PLD_GUEST") || getenv("PLD_VALGRIND");
}

/* Rows of a block of all_to_all_v. */
#define MAX_ROWS 3

enum kind {
	BARRIER,
	BROADCAST,
	ALLGATHER,
	REDUCE_SCATTER,
	MESH,
	TWO_PHASE,
	RING,
	ALL_TO_ALL,
	ALL_TO_ALL_V,
	NR_KINDS,
};

static const char *const kind_names[] __attribute__((unused)) = {
	"barrier",   "broadcast", "allgather",	"reduce_scatter", "mesh",
	"two-phase", "ring",	  "all_to_all", "all_to_all_v",
};

/* The host side's, seen by every rank. */
struct world {
	pld_domain *domain;
	int nranks;
	/* most elements of a call, and the staging tile's bytes */
	int64_t most;
	size_t tile_bytes;
	int observe;
	/* calls take them by turns, so that none meets the one before */
	pld_window_buffer *data[2];
	pld_window_buffer *signal;
};

static inline size_t window_bytes(const struct world *world)
{
	return (size_t)world->nranks * (size_t)(world->most + MAX_ROWS) * 8;
}

/* Cells of the largest signal, the ring's. */
static inline pld_dims ring_shape(int nranks)
{
	return PLD_SHAPE(nranks > 2 ? 2 * (nranks - 1) : 2, nranks);
}

static inline int make_world(struct world *world)
{
	pld_domain_options options = {
		.tile_bytes = world->tile_bytes,
		.timeout_ns = 20000 * LIB_MS,
		.observe = world->observe,
	};
	int devices[PLD_MAX_RANKS];

	for (int i = 0; i < world->nranks; i++)
		devices[i] = i;
	PLD_TRY(pld_domain_create(devices, world->nranks, &options,
				  &world->domain));
	for (int i = 0; i < 2; i++)
		PLD_TRY(pld_alloc_window_buffer(world->domain,
						window_bytes(world),
						&world->data[i]));
	return pld_alloc_signal(world->domain, ring_shape(world->nranks),
				&world->signal);
}

/* One call of a collective, the same in all ranks. */
struct step {
	enum kind kind;
	pld_dtype dtype;
	pld_reduce_op op;
	/* elements of a row, or of an allreduce's target */
	int64_t n;
	int root;
	/* of the elements; and which window */
	uint64_t seed;
	int slot;
};

/* What a rank has; made by make_rank(). */
struct rank {
	const struct world *world;
	int me;
	/* what it brings, what must come out, and scratch of the same size */
	void *mine;
	void *want;
	void *other;
};

static inline int make_rank(struct rank *rank, const struct world *world)
{
	rank->world = world;
	rank->me = lib_here;
	rank->mine = calloc(1, window_bytes(world));
	rank->want = calloc(1, window_bytes(world));
	rank->other = calloc(1, window_bytes(world));
	CHECK(rank->mine && rank->want && rank->other);
	return 0;
}

static inline void free_rank(struct rank *rank)
{
	free(rank->mine);
	free(rank->want);
	free(rank->other);
}

static inline pld_allreduce_mode mode_of(enum kind kind)
{
	return (pld_allreduce_mode)(kind - MESH);
}

static inline pld_dims signal_shape(enum kind kind, int nranks)
{
	if (kind == TWO_PHASE)
		return PLD_SHAPE(2, nranks);
	if (kind == RING)
		return PLD_SHAPE(nranks > 1 ? 2 * (nranks - 1) : 1, nranks);
	return PLD_SHAPE(nranks, 1);
}

static inline pld_dims target_shape(const struct step *step, int nranks)
{
	switch (step->kind) {
	case BROADCAST:
	case MESH:
	case TWO_PHASE:
	case RING:
		if (step->n % 3 == 0)
			return PLD_SHAPE(3, step->n / 3);
		return step->n % 2 ? PLD_SHAPE(step->n)
				   : PLD_SHAPE(1, step->n / 2, 2);
	case ALL_TO_ALL_V:
		return PLD_SHAPE(nranks * MAX_ROWS, step->n);
	default:
		return PLD_SHAPE(nranks, step->n);
	}
}

/* Rows that rank from sends to rank to: 0 to MAX_ROWS. */
static inline int32_t rows_sent(const struct step *step, int from, int to)
{
	return (int32_t)(mixed(step->seed + (uint64_t)(from * 1000 + to)) %
			 (MAX_ROWS + 1));
}

/* Elements that each rank brings. */
static inline int64_t elements(const struct step *step, int nranks)
{
	switch (step->kind) {
	case BARRIER:
		return 0;
	case REDUCE_SCATTER:
	case ALL_TO_ALL:
		return nranks * step->n;
	case ALL_TO_ALL_V:
		return nranks * MAX_ROWS * step->n;
	default:
		return step->n;
	}
}

static inline uint64_t seed_of(const struct step *step, int rank)
{
	return step->seed * PLD_MAX_RANKS + (uint64_t)rank;
}

static inline int64_t part_start(int64_t n, int parts, int part)
{
	int64_t longer = n % parts < part ? n % parts : part;

	return part * (n / parts) + longer;
}

/* The rank at which the ring begins element i, as pld.h has it. */
static inline int ring_start(const struct world *world, const struct step *step,
			     int64_t i)
{
	int size = pld_dtype_size(step->dtype);
	int acc = is_float(step->dtype) && size == 2 ? 4 : size;
	int64_t block =
		world->nranks * (int64_t)(world->tile_bytes / (size_t)acc);
	int64_t left = step->n - i / block * block;
	int chunk = 0;

	while (part_start(left < block ? left : block, world->nranks,
			  chunk + 1) <= i % block)
		chunk++;
	return chunk;
}

/* want[to] = the reduction of element i of all ranks, from rank first on. */
static inline void golden_reduce(const struct rank *rank,
				 const struct step *step, int64_t i, int64_t to,
				 int first)
{
	int nranks = rank->world->nranks;
	size_t size = (size_t)pld_dtype_size(step->dtype);
	struct number sum;

	random_element(step->dtype, rank->other, i, seed_of(step, first));
	if (nranks == 1) {
		memcpy((char *)rank->want + (size_t)to * size,
		       (char *)rank->other + (size_t)i * size, size);
		return;
	}
	sum = number_at(step->dtype, rank->other, i);
	for (int k = 1; k < nranks; k++) {
		random_element(step->dtype, rank->other, i,
			       seed_of(step, (first + k) % nranks));
		sum = combine(step->dtype, step->op, sum,
			      number_at(step->dtype, rank->other, i));
	}
	put_number(step->dtype, rank->want, to, sum);
}

static inline void golden_row(const struct rank *rank, const struct step *step,
			      int64_t to, int from, int64_t element)
{
	size_t size = (size_t)pld_dtype_size(step->dtype);

	for (int64_t i = 0; i < step->n; i++) {
		random_element(step->dtype, rank->other, element + i,
			       seed_of(step, from));
		memcpy((char *)rank->want + (size_t)(to * step->n + i) * size,
		       (char *)rank->other + (size_t)(element + i) * size, size);
	}
}

/*
 * want = what must be in the target. It has what the target had before where
 * the call leaves it alone.
 */
static inline void golden(const struct rank *rank, const struct step *step)
{
	int nranks = rank->world->nranks;

	switch (step->kind) {
	case BARRIER:
		break;
	case BROADCAST:
		golden_row(rank, step, 0, step->root, 0);
		break;
	case ALLGATHER:
		for (int from = 0; from < nranks; from++)
			golden_row(rank, step, from, from, 0);
		break;
	case REDUCE_SCATTER:
		for (int row = 0; row < nranks; row++)
			if (row != rank->me)
				golden_row(rank, step, row, rank->me,
					   row * step->n);
		for (int64_t i = 0; i < step->n; i++)
			golden_reduce(rank, step, rank->me * step->n + i,
				      rank->me * step->n + i, 0);
		break;
	case MESH:
	case TWO_PHASE:
	case RING:
		for (int64_t i = 0; i < step->n; i++)
			golden_reduce(rank, step, i, i,
				      step->kind == RING
					      ? ring_start(rank->world, step, i)
					      : 0);
		break;
	case ALL_TO_ALL:
		for (int from = 0; from < nranks; from++)
			golden_row(rank, step, from, from, rank->me * step->n);
		break;
	default:
		for (int from = 0; from < nranks; from++)
			for (int row = 0; row < rows_sent(step, from, rank->me);
			     row++)
				golden_row(rank, step, from * MAX_ROWS + row,
					   from,
					   (rank->me * MAX_ROWS + row) * step->n);
	}
}

static inline int64_t target_elements(const struct step *step, int nranks)
{
	return step->kind == BARRIER ? 0
				     : golden_count(target_shape(step, nranks));
}

static inline int differs(const struct rank *rank, const struct step *step,
			  const void *got)
{
	size_t size = (size_t)pld_dtype_size(step->dtype);
	int64_t n = target_elements(step, rank->world->nranks);
	const unsigned char *want = rank->want, *have = got;
	size_t at = 0;

	while (at < (size_t)n * size && want[at] == have[at])
		at++;
	if (at == (size_t)n * size)
		return 0;
	fprintf(stderr,
		"# %s of %s, op %d, %lld elements, %d ranks, seed %llu: element %zu of rank %d is",
		kind_names[step->kind], pld_dtype_name(step->dtype), step->op,
		(long long)step->n, rank->world->nranks,
		(unsigned long long)step->seed, at / size, rank->me);
	for (size_t i = 0; i < size; i++)
		fprintf(stderr, " %02x", have[at / size * size + i]);
	fprintf(stderr, ", wanted");
	for (size_t i = 0; i < size; i++)
		fprintf(stderr, " %02x", want[at / size * size + i]);
	fprintf(stderr, "\n");
	return -EBADMSG;
}

#endif /* PLD_LIB_COLLECTIVE_H */
