/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Allgather, builtin (lib/collectives/allgather.c): the rows that a rank reads
 * after a call are those of that call, for any number of calls.
 *
 * The default is one target, and a barrier between reading it and the next call.
 *
 *   REUSE  PLD_REUSE_TARGET: two slots by turns, and no barrier
 *   VIEWS  the same, each call on one of two views of the buffer, whose slots lie
 *          over each other: view v has the places v and v + 1
 *
 * A row is written in two steps: who reads in between sees TORN.
 */
#ifndef RANKS
#define RANKS 2
#endif
#define ROWS 1
#include "credits.inc"

#ifdef VIEWS
#define REUSE
#define PLACES 3
#elif defined(REUSE)
#define PLACES 2
#else
#define PLACES 1
#endif

/* Calls are numbered modulo 4: nobody is as far ahead. */
#define TORN 4
byte rows[RANKS * PLACES * RANKS];
#define ROW(owner, place, source) \
	rows[((owner) * PLACES + (place)) * RANKS + (source)]

bool rows_are_of_this_call;

#ifdef VIEWS
/* Of each call, decided by the first that gets there; all make the same. */
byte views[4];
#define UNDECIDED 2

inline choose_view()
{
	atomic {
		if
		:: views[call] == UNDECIDED ->
			if
			:: views[call] = 0
			:: views[call] = 1
			fi
		:: else
		fi;
		view = views[call];
		views[(call + 2) % 4] = UNDECIDED
	}
}
#endif

proctype rank(byte me)
{
	byte call, view, last_view = 2, slot, place, g, i;

	do
	:: call = (call + 1) % 4;
	   g = 1;
#ifdef VIEWS
	   choose_view();
#endif
	   /* run_in_slot() */
#ifdef REUSE
	   place = view + slot;
#ifndef MUTANT_ONE_SLOT
	   slot = 1 - slot;
#endif
#ifndef MUTANT_NO_MEETING
	   if
	   :: last_view != 2 && last_view != view ->
		barrier(me, 0, 1, i);
		g = 2
	   :: else
	   fi;
#endif
	   last_view = view;
#endif
	   /* push() */
#ifdef MUTANT_BARRIER_FIRST
	   barrier(me, 0, g, i);
#endif
	   for (i : 0 .. RANKS - 1) {
		ROW(i, place, me) = TORN;
		ROW(i, place, me) = call
	   }
	   i = 0;
#ifndef MUTANT_BARRIER_FIRST
	   barrier(me, 0, g, i);
#endif
	   epilogue(me, 0, g, i);

	   /* What the caller does with the result, at any time until it calls again. */
	   for (i : 0 .. RANKS - 1) {
		atomic {
			rows_are_of_this_call = (ROW(me, place, i) == call);
			assert(rows_are_of_this_call)
		}
	   }
	   i = 0;
#if !defined(REUSE) && !defined(MUTANT_NO_BARRIER_BETWEEN)
	   /* pld_tensor_barrier() */
	   barrier(me, 0, 1, i);
	   epilogue(me, 0, 1, i);
#endif
progress:  skip
	od
}

init
{
	byte i;

	atomic {
#ifdef VIEWS
		for (i : 0 .. 3) {
			views[i] = UNDECIDED
		};
#endif
		for (i : 0 .. RANKS - 1) {
			run rank(i)
		}
	}
}
