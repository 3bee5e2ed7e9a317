/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The credit barrier and its epilogue: nobody leaves before everybody has come,
 * nobody stays, and all cells are zero at the end; for any number of calls, of
 * any collectives with barriers, one after the other on one signal.
 *
 * Which call comes next, or that there is none, is decided by the first rank that
 * gets there, in any way; the others make the same.
 */
#ifndef RANKS
#define RANKS 2
#endif
#define ROWS 2
#include "credits.inc"

/* Calls. */
#define UNDECIDED 0
#define END 1
/* lib/collectives: barrier, broadcast, allgather, all_to_all, all_to_all_v */
#define ONE_BARRIER 2
/* reduce_scatter, allgather of another view, allreduce mesh of one piece */
#define TWO_BARRIERS 3
/* allreduce two-phase: a row of the signal for each barrier */
#define TWO_ROWS 4

byte calls[2];		/* the last two, in turn: who is furthest ahead is one ahead */
byte in_call[2];	/* ranks that are */
byte entered[RANKS];	/* barriers, modulo 4 */
bool everybody_has_come;
bool everybody_left, cells_zero;
byte left;

inline enter_and_leave(me, row, g, i)
{
	entered[me] = (entered[me] + 1) % 4;
	barrier(me, row, g, i);
	d_step {
		everybody_has_come = true;
		for (i : 0 .. RANKS - 1) {
			/* Others may be in the next one already. */
			everybody_has_come = everybody_has_come &&
				(entered[i] + 4 - entered[me]) % 4 <= 1
		};
		i = 0
	};
	assert(everybody_has_come)
}

inline next_call(turn)
{
	atomic {
		if
		:: calls[turn] != UNDECIDED
		:: else ->
			if
			:: calls[turn] = END
			:: calls[turn] = ONE_BARRIER
			:: calls[turn] = TWO_BARRIERS
			:: calls[turn] = TWO_ROWS
			fi
		fi;
		in_call[turn]++
	}
}

/* The last one that leaves makes room for the call after next. */
inline end_call(turn)
{
	atomic {
		in_call[turn]++;
		if
		:: in_call[turn] == 2 * RANKS ->
			in_call[turn] = 0;
			calls[turn] = UNDECIDED
		:: else
		fi
	}
}

proctype rank(byte me)
{
	byte turn, i;

	do
	:: next_call(turn);
	   if
	   :: calls[turn] == END -> break
	   :: calls[turn] == ONE_BARRIER ->
		enter_and_leave(me, 0, 1, i);
		epilogue(me, 0, 1, i)
	   :: calls[turn] == TWO_BARRIERS ->
		enter_and_leave(me, 0, 1, i);
		enter_and_leave(me, 0, 2, i);
#ifdef MUTANT_CREDIT_STAYS
		epilogue(me, 0, 1, i)
#else
		epilogue(me, 0, 2, i)
#endif
	   :: calls[turn] == TWO_ROWS ->
		enter_and_leave(me, 0, 1, i);
		enter_and_leave(me, 1, 1, i);
		epilogue(me, 0, 1, i);
		epilogue(me, 1, 1, i)
	   fi;
progress:  end_call(turn);
	   turn = 1 - turn
	od;
	left++
}

init
{
	byte i;

	atomic {
		for (i : 0 .. RANKS - 1) {
			run rank(i)
		}
	};
	timeout;
	everybody_left = left == RANKS;
	assert(everybody_left);
	check_cells_zero()
}
