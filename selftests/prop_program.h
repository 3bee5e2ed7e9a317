/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A program of the property test: steps, each done by one rank, by two (a
 * hand-over) or by all (a barrier, a collective), and the memory that they must
 * leave behind.
 *
 * A rank's memory is an image: its windows, then its private memory, which is
 * room for tensors, tiles and a stage. Behind each tile lie bytes that nobody
 * may write to.
 */
#ifndef PLD_PROP_PROGRAM_H
#define PLD_PROP_PROGRAM_H

#include "prop_number.h"

#define PROP_RANKS 16
#define PROP_STEPS 120
#define PROP_LAST_STEPS 8 /* of them, to come to a proper end */

#define PROP_WINDOWS 3
#define PROP_PRIVATE PROP_WINDOWS /* the number of a tensor's place */
#define PROP_PLACE_BYTES 2048 /* of a window, and of private tensors */
#define PROP_TILES 2
#define PROP_STAGE PROP_TILES
#define PROP_TILE_BYTES 512
#define PROP_TILE_ROOM 640

#define PROP_WINDOWS_BYTES (PROP_WINDOWS * PROP_PLACE_BYTES)
#define PROP_PRIVATE_BYTES \
	(PROP_PLACE_BYTES + (PROP_TILES + 1) * PROP_TILE_ROOM)
#define PROP_IMAGE_BYTES (PROP_WINDOWS_BYTES + PROP_PRIVATE_BYTES)
#define PROP_NOBODY 255

/* Columns of the signal for hand-overs, [nranks, 3], by who writes. */
#define PROP_ADDED 0 /* credits of a rank, waited for with Ge */
#define PROP_SET 1 /* what a rank has set, waited for with Eq */
#define PROP_ARRIVED 2 /* row 0: how many have come to a central barrier */
#define PROP_COLUMNS 3

enum prop_op {
	PROP_LOAD,
	PROP_STORE,
	PROP_READ,
	PROP_WRITE,
	PROP_REMOTE_LOAD,
	PROP_REMOTE_STORE,
	PROP_PUT,
	PROP_GET,
	PROP_DATA_OPS,
	PROP_FILL = PROP_DATA_OPS, /* plain writes to private memory */
	PROP_PAUSE,
	PROP_HANDOVER, /* rank notifies, peer waits */
	PROP_CREDIT_BARRIER, /* by hand */
	PROP_CENTRAL_BARRIER,
	PROP_BARRIER, /* the first of the collectives */
	PROP_BROADCAST,
	PROP_ALLGATHER,
	PROP_ALLGATHER_REUSE,
	PROP_REDUCE_SCATTER,
	PROP_ALLREDUCE,
	PROP_ALL_TO_ALL,
	PROP_ALL_TO_ALL_V,
	PROP_OPS,
};

/* One pld_slice() or pld_set_strides(). */
struct prop_move {
	bool strides;
	pld_dims offsets; /* or the strides */
	pld_dims shape;
};

/* How a view is made: of a place, in some moves. */
struct prop_view {
	int place;
	int start; /* byte */
	pld_dtype dtype;
	pld_dims full;
	int moves;
	struct prop_move move[2];
};

/* How a rank waits for cells. */
enum prop_way {
	PROP_WAIT_EACH, /* one by one */
	PROP_WAIT_ALL,
	PROP_WAIT_ANY, /* and then for the others */
	PROP_WAIT_EVENT, /* a descriptor; for Ge only */
	PROP_WAYS,
};

/* What is wrong with a step's arguments. */
enum prop_wrong {
	PROP_RIGHT,
	PROP_WRONG_PEER,
	PROP_WRONG_OFFSET,
	PROP_WRONG_NDIM,
	PROP_WRONG_KIND,
	PROP_WRONG_NULL,
	PROP_WRONG_DTYPE,
	PROP_WRONG_ADDRESS,
	PROP_WRONG_STAGE,
	PROP_WRONG_CHUNK,
	PROP_WRONG_CHUNK_SIZE,
	PROP_WRONG_PIPELINE,
	PROP_WRONG_SUBREGION,
	PROP_WRONG_SHAPE,
	PROP_WRONG_ATOMIC,
	PROP_WRONG_ATOMIC_DTYPE,
	PROP_WRONG_ALIGNMENT,
	PROP_WRONG_OVERLAP,
	PROP_WRONG_TILE_BYTES,
	PROP_WRONG_TILE_KIND,
	PROP_WRONG_VALID_SHAPE,
	PROP_WRONG_NOTIFY_OP,
	PROP_WRONG_SIGNAL_SHAPE,
	PROP_WRONG_SIGNAL_DTYPE,
	PROP_WRONG_ROOT,
	PROP_WRONG_ROWS,
	PROP_WRONG_REDUCE_OP,
	PROP_WRONG_MODE,
	PROP_WRONG_COUNT,
	PROP_WRONG_FLAGS,
	PROP_WRONGS,
};

struct prop_step {
	enum prop_op op;
	int rank; /* -1: all */
	int peer;
	/* the tensor that is written to, and the one that is read */
	struct prop_view dst;
	struct prop_view src;
	pld_dims dst_offsets;
	pld_dims src_offsets;
	pld_dims shape;
	/* put and get: all of both views */
	bool whole;
	/* load and remote_load: valid_shape, if ndim; a store's is its tile's */
	pld_dims valid;
	int tile;
	/* store and remote_store: a slice of the tile, if shape has ndim */
	pld_dims tile_offsets;
	pld_dims tile_shape;
	pld_atomic_type atomic;
	int stage_bytes; /* 0: the domain's stage */
	int64_t chunk_rows;
	int64_t chunk_cols;
	int pipeline;
	/* read and write: where the value is in private memory */
	int value_at;
	/* fill */
	uint64_t seed;
	enum prop_values values;
	/* hand-over: the column, what is sent, what is waited for */
	int column;
	int32_t sent;
	int32_t expected;
	enum prop_way way;
	/* a collective's: dst is the target and src the input, of all ranks */
	bool dense_signal;
	int root;
	pld_reduce_op reduce;
	pld_allreduce_mode mode;
	int slot; /* of a target that is used again */
	int most; /* rows of a block; seed tells how many are sent */
	/* 0, or the errno of a call that is refused since something is wrong */
	int want;
	enum prop_wrong wrong;
	int wrong_detail;
};

struct prop_program {
	uint64_t seed;
	int nranks;
	int tile_bytes; /* of the domain's stage */
	int nsteps;
	struct prop_step step[PROP_STEPS];
	/* what each rank must have at the end, and which step wrote it last */
	unsigned char (*image)[PROP_IMAGE_BYTES];
	unsigned char (*writer)[PROP_IMAGE_BYTES];
	int32_t cell[PROP_RANKS][PROP_RANKS][PROP_COLUMNS];
	/* bytes of the stage that transfers may have used */
	int stage_used[PROP_RANKS];
};

static inline int prop_tile_at(int tile)
{
	return PROP_WINDOWS_BYTES + PROP_PLACE_BYTES + tile * PROP_TILE_ROOM;
}

static inline int prop_place_at(int place)
{
	return place * PROP_PLACE_BYTES;
}

static inline int64_t prop_count(pld_dims shape)
{
	int64_t count = 1;

	for (int i = 0; i < shape.ndim; i++)
		count *= shape.n[i];
	return count;
}

static inline bool prop_takes_part(const struct prop_step *step, int rank)
{
	return step->rank < 0 || step->rank == rank ||
	       (step->op == PROP_HANDOVER && step->peer == rank && !step->want);
}

/* The rows that a rank sends to another one in an all_to_all_v. */
static inline int prop_rows_sent(const struct prop_step *step, int from, int to)
{
	struct prop_random r = { step->seed +
				 (uint64_t)(from * PROP_RANKS + to) };

	return prop_below(&r, step->most + 1);
}

/* What a rank's memory holds before the first step. */
static inline void prop_initial(uint64_t seed, int rank,
				unsigned char image[PROP_IMAGE_BYTES])
{
	struct prop_random r = { seed ^ (uint64_t)(rank + 1) << 32 };

	for (int at = 0; at < PROP_IMAGE_BYTES; at += 8) {
		uint64_t bits = prop_next(&r);

		memcpy(image + at, &bits, sizeof(bits));
	}
}

#endif /* PLD_PROP_PROGRAM_H */
