/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Allreduce, mode ring (lib/collectives/ring.c): what a rank reads of its left
 * neighbour's target is what it should be, never half-written; all is reduced at
 * the end, and is the caller's again. For any number of calls, each of BLOCKS
 * blocks; PARTS is 2 for fp16 and bf16.
 *
 * Elements are not modelled, but what a chunk's slot holds: the rank's own ones,
 * a part of the sum of some step, or the result. Who reads looks at the beginning
 * and at the end of its reading, and a writer leaves TORN in between.
 */
#ifndef RANKS
#define RANKS 3
#endif
#ifndef PARTS
#define PARTS 1
#endif
#ifndef BLOCKS
#define BLOCKS 1
#endif
#define ROWS (2 * (RANKS - 1))
#include "credits.inc"

#define LEFT ((me + RANKS - 1) % RANKS)
#define RIGHT ((me + 1) % RANKS)

/* Contents of a slot, each of a call that is even or odd. */
#define TORN 255
#define OWN (0 + parity)
#define RESULT (2 + parity)
#define SUM(step, part) (4 + 4 * (step) + 2 * (part) + parity)

byte slots[RANKS * BLOCKS * RANKS];
#define SLOT(owner, chunk) \
	slots[((owner) * BLOCKS + block) * RANKS + (chunk)]
#define CHUNK(n) ((me + 2 * RANKS - (n)) % RANKS)

bool read_is_right;

/* load() */
inline load_slot(owner, chunk, wanted)
{
	atomic {
		read_is_right = (SLOT(owner, chunk) == wanted);
		assert(read_is_right)
	};
	atomic {
		read_is_right = (SLOT(owner, chunk) == wanted);
		assert(read_is_right)
	}
}

/* store() */
inline store_slot(chunk, value)
{
	SLOT(me, chunk) = TORN;
	SLOT(me, chunk) = value
}

/* take(): of two ranks, both neighbours are the same one */
#if RANKS == 2
#define TAKEN(side, row) taken[row]
#else
#define TAKEN(side, row) taken[(side) * ROWS + (row)]
#endif
#define FROM_LEFT 0
#define FROM_RIGHT 1

inline take_left(row)
{
	TAKEN(FROM_LEFT, row)++;
	wait_credit(me, LEFT, row, TAKEN(FROM_LEFT, row))
}

inline take_right(row)
{
	TAKEN(FROM_RIGHT, row)++;
	wait_credit(me, RIGHT, row, TAKEN(FROM_RIGHT, row))
}

/* begin() */
inline begin_block()
{
	give(me, RIGHT, 0);
	take_left(0);
	load_slot(LEFT, CHUNK(1), OWN)
}

/* exchange(), a part of it */
inline exchange()
{
#ifndef MUTANT_NO_HALF_CREDIT
	if
	:: part > 0 -> take_right(step)
	:: else
	fi;
#endif
	store_slot(CHUNK(step), SUM(step, part));
	give(me, RIGHT, step);
	take_left(step);
	load_slot(LEFT, CHUNK(1 + step), SUM(step, part));
#ifndef MUTANT_NO_HALF_CREDIT
	if
	:: part + 1 < PARTS -> give(me, LEFT, step)
	:: else
	fi
#endif
}

proctype rank(byte me)
{
	byte step, part, block, parity, i;
	byte taken[2 * ROWS];

	do
	:: /* The caller fills its target. */
	   for (block : 0 .. BLOCKS - 1) {
		for (i : 0 .. RANKS - 1) {
			store_slot(i, OWN)
		}
	   }
	   for (block : 0 .. BLOCKS - 1) {
		/* reduce_block() */
		for (step : 0 .. RANKS - 2) {
			if
			:: step == 0 -> begin_block()
			:: else ->
				for (part : 0 .. PARTS - 1) {
					exchange()
				}
				part = 0
			fi;
			load_slot(me, CHUNK(1 + step), OWN)
		}
		store_slot(CHUNK(RANKS - 1), RESULT);
		/* gather_block() */
		for (step : 0 .. RANKS - 2) {
			give(me, RIGHT, RANKS - 1 + step);
#ifndef MUTANT_NO_GATHER_CREDIT
			take_left(RANKS - 1 + step);
#endif
			load_slot(LEFT, CHUNK(step), RESULT);
			store_slot(CHUNK(step), RESULT)
		}
		step = 0
	   }
	   /* finish() */
#ifndef MUTANT_NO_FINISH
	   give(me, LEFT, ROWS - 1);
	   take_right(ROWS - 1);
#endif
	   /* epilogue() */
	   for (i : 0 .. ROWS - 1) {
		clear_credit(me, LEFT, i, TAKEN(FROM_LEFT, i));
		TAKEN(FROM_LEFT, i) = 0;
#if RANKS > 2
		clear_credit(me, RIGHT, i, TAKEN(FROM_RIGHT, i));
		TAKEN(FROM_RIGHT, i) = 0
#endif
	   }
	   /* The caller reads its target. */
	   for (block : 0 .. BLOCKS - 1) {
		for (i : 0 .. RANKS - 1) {
			load_slot(me, i, RESULT)
		}
	   }
	   block = 0;
	   i = 0;
progress:  parity = 1 - parity
	od
}

init
{
	byte i;

	atomic {
		for (i : 0 .. RANKS - 1) {
			run rank(i)
		}
	}
}
