/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Platform memfd: no wake-up is lost between notify, the waiters word, the bell
 * and the futex.
 *
 * Ranks 1 to RANKS - 1 notify a cell each of rank 0, ROUNDS times. Rank 0 waits
 * for each round's: one thread for all cells, or with THREADS a thread for each.
 * With STOP, it waits for a round more, which never comes, and somebody ends that
 * (lib/waiter.c: end_thread()).
 *
 * Nobody has a timeout, so that a lost wake-up is a process that sleeps for
 * ever. Spins and yields (lib/wait.c: look_for_a_while()) are more looks, and
 * left out. The bell does not wrap round.
 */
#ifndef RANKS
#define RANKS 2
#endif
#ifndef ROUNDS
#define ROUNDS 2
#endif
#define CELLS (RANKS - 1)
#ifdef STOP
#define WAITED (ROUNDS + 1)
#else
#define WAITED ROUNDS
#endif
#ifdef THREADS
#define WAITERS_RUN CELLS
#else
#define WAITERS_RUN 1
#endif

/* Agents: the waiting threads, then who notifies, then who stops. */
#define NOTIFIER(n) (WAITERS_RUN + (n))
#define STOPPER (WAITERS_RUN + CELLS)
#define AGENTS (STOPPER + 1)
#define DEPTH 3
/* Words: the cells, and of the doorbell of rank 0 ... */
#define WAITERS CELLS
#define BELL (CELLS + 1)
#define STOPPED (CELLS + 2)
#define WORDS (CELLS + 3)
#include "memory.inc"

#ifdef THREADS
#define WANTS(thread, cell) ((thread) == (cell))
#else
#define WANTS(thread, cell) true
#endif

bool asleep[WAITERS_RUN];
byte returned;

/* Who listens to the cell's bit of the futex (cells_mask(), cell_mask()). */
inline futex_wake(cell)
{
	d_step {
		i = 0;
		do
		:: i < WAITERS_RUN ->
			if
#ifdef MUTANT_WRONG_MASK
			:: WANTS(i, cell) && cell == 0 -> asleep[i] = false
#else
			:: WANTS(i, cell) -> asleep[i] = false
#endif
			:: else
			fi;
			i++
		:: else -> break
		od;
		i = 0
	}
}

/* lib/platform/memfd.c: memfd_ring(), ring_bell() */
inline ring(agent, rung)
{
#ifndef MUTANT_BELL_STAYS
	add(agent, BELL, 1);
#endif
	/* A system call; the kernel looks for sleepers behind a full barrier. */
	fence(agent);
	futex_wake(rung)
}

/* lib/notify.c: pld_system_notify() */
proctype notifier(byte cell)
{
	byte round, i;

	do
	:: round < ROUNDS ->
		round++;
		add(NOTIFIER(cell), cell, 1);
#ifndef MUTANT_NO_NOTIFIER_FENCE
		fence(NOTIFIER(cell));
#endif
		if
#ifdef MUTANT_NO_RING
		:: load(WAITERS)
#else
		:: load(WAITERS) -> ring(NOTIFIER(cell), cell)
#endif
		:: else
		fi
	:: else -> break
	od
}

#ifdef STOP
/* lib/waiter.c: end_thread() */
proctype stopper()
{
	byte i;

#ifdef MUTANT_STOP_LATE
	ring(STOPPER, 0);
	store(STOPPER, STOPPED, 1)
#else
	store(STOPPER, STOPPED, 1);
	ring(STOPPER, 0)
#endif
}
#endif

/* lib/look.h: pld_look(), a cell after the other */
inline look(thread, wanted)
{
	satisfied = true;
	cell = 0;
	do
	:: satisfied && cell < CELLS ->
		satisfied = (!WANTS(thread, cell) || load(cell) >= wanted);
		cell++
	:: else -> cell = 0; break
	od
}

/* lib/wait.c: wait_checked(); memfd.c: memfd_block(), sleep_on_bell() */
proctype waiter(byte me)
{
	byte round, bell, cell;
	bool satisfied, stopped;

	do
	:: round < WAITED && !stopped ->
		round++;
		look(me, round);
		if
		:: satisfied -> goto next
		:: else
		fi;
#ifdef MUTANT_RAISED_LATE
		bell = load(BELL);
		look(me, round);
#endif
		add(me, WAITERS, 1);
		/* Both seq_cst. */
#ifndef MUTANT_NO_WAITER_FENCE
		fence(me);
#endif
#ifdef MUTANT_RAISED_LATE
		goto asked;
#endif
again:
#ifdef MUTANT_BELL_LATE
		look(me, round);
		bell = load(BELL);
#else
		bell = load(BELL);
		look(me, round);
#endif
asked:
		if
		:: satisfied -> goto done
		:: else
		fi;
#ifdef STOP
		if
		:: load(STOPPED) -> stopped = true; goto done
		:: else
		fi;
#endif
		/* The futex compares and falls asleep in one. */
		atomic {
			if
			:: load(BELL) == bell -> asleep[me] = true
			:: else
			fi
		};
		!asleep[me];
		goto again;
done:
		add(me, WAITERS, 255);		/* minus one, relaxed */
next:
		bell = 0;
		satisfied = false
	:: else -> break
	od;
	returned++
}

init
{
	byte i;

	atomic {
		do
		:: i < AGENTS -> run drain(i); i++
		:: else -> i = 0; break
		od;
		do
		:: i < WAITERS_RUN -> run waiter(i); i++
		:: else -> i = 0; break
		od;
		do
		:: i < CELLS -> run notifier(i); i++
		:: else -> i = 0; break
		od;
#ifdef STOP
		run stopper()
#endif
	};
	timeout;
	assert(returned == WAITERS_RUN);
	assert(load(WAITERS) == 0)
}
