/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Platform kmod: no wake-up is lost between notify, the waiters word, the wait
 * queue and the ring. Barriers A to D are those of kmod/wait.c.
 *
 * Ranks 1 to RANKS - 1 notify a cell each of rank 0, ROUNDS times, and rank 0
 * waits for all cells of each round.
 *
 *   STOP   it waits for a round more, which never comes, and somebody ends that by
 *          a ring (PLD_WAIT_BELL)
 *   DEATH  each of the others may die in place of any of its notifies
 *   BELL_UNLOCKED  the bell is advanced, and the queue looked at, without its lock,
 *          which is D otherwise: then D is a barrier by itself
 *   WATCH  in place of a wait it is a watch (kmod/watch.c), for one round
 *
 * Nobody has a timeout, nor looks by itself (recheck_ms is 0), so that a lost
 * wake-up is a process that sleeps for ever. No signals interrupt the wait.
 */
#ifndef RANKS
#define RANKS 2
#endif
#ifndef ROUNDS
#ifdef WATCH
#define ROUNDS 1
#else
#define ROUNDS 2
#endif
#endif
#ifdef STOP
#define WAITED (ROUNDS + 1)
#else
#define WAITED ROUNDS
#endif
#define CELLS (RANKS - 1)

/* Agents: rank 0, then who notifies, then who stops. */
#define RANK_0 0
#define NOTIFIER(n) (1 + (n))
#define STOPPER RANKS
#define AGENTS (RANKS + 1)
#define DEPTH 8
/* Words: the cells, and ... */
#define WAITERS CELLS		/* the doorbell's word */
#define RINGS (CELLS + 1)	/* pld_rank.nr_rings */
#define LOCK (CELLS + 2)	/* of the wait queue */
#define QUEUED (CELLS + 3)	/* rank 0's entry is in it */
#define SLEEPING (CELLS + 4)	/* its task is TASK_INTERRUPTIBLE */
#define STOPPED (CELLS + 5)
#define REASON (CELLS + 6)	/* of the status page */
#define EPOCH (CELLS + 7)
#define WORDS (CELLS + 8)
#include "memory.inc"

bool told;			/* the watch has */
bool returned, reason_is_there;

/*
 * A lock is taken at once, and given back by a store behind what it protects. An
 * agent may take it again while that store is in its buffer, which orders nothing
 * then: Linux promises no more of an unlock and a lock.
 */
#define lock(agent) atomic { \
	if \
	:: load(LOCK) == 0 -> memory[LOCK] = 1 \
	:: buffer[agent]??[STORE,eval(LOCK),0] -> buffer[agent]??STORE,eval(LOCK),0 \
	fi \
}
#define unlock(agent) store(agent, LOCK, 0)

inline look(wanted)
{
	satisfied = true;
	cell = 0;
	do
	:: satisfied && cell < CELLS ->
		satisfied = load(cell) >= wanted;
		cell++
	:: else -> cell = 0; break
	od
}

/*
 * kmod/watch.c: settle(), end_watch(), tell(); in the queue's lock. Who died sees
 * that, though it may be in its store buffer.
 */
inline settle(by)
{
	look(ROUNDS);
	if
	:: satisfied || load(REASON) || died ->
		store(by, QUEUED, 0);
		store(by, WAITERS, load(WAITERS) - 1);
		assert(!told);
		told = true
	:: else
	fi
}

/* __wake_up_locked_key(): wake_waiter(), or wake_watch() */
inline wake_up_locked(agent)
{
	if
	:: load(QUEUED) ->
#ifdef WATCH
		settle(agent)
#else
		/* try_to_wake_up() */
		fence(agent);
		if
		:: load(SLEEPING) -> store(agent, SLEEPING, 0)
		:: else
		fi
#endif
	:: else
	fi
}

/* __wake_up() */
inline wake_up(agent)
{
	lock(agent);
	wake_up_locked(agent);
	unlock(agent)
}

/* kmod/wait.c: ring() */
inline ring(ringer)
{
#ifdef BELL_UNLOCKED
	add(ringer, RINGS, 1);
#ifndef MUTANT_NO_D
	fence(ringer);
#endif
	if
	:: load(QUEUED) -> wake_up(ringer)
	:: else
	fi
#else
	lock(ringer);
	add(ringer, RINGS, 1);
	wake_up_locked(ringer);
	unlock(ringer)
#endif
}

/* kmod/rank.c: pld_member_died(); kmod/domain.c: pld_domain_break() */
inline die(dead)
{
	died = true;
#ifdef MUTANT_WAKES_FIRST
	wake_up(dead);
#endif
#ifdef MUTANT_EPOCH_FIRST
	store(dead, EPOCH, 1);
	store(dead, REASON, 1);
#else
	store(dead, REASON, 1);
	store(dead, EPOCH, 1);
#endif
#ifndef MUTANT_WAKES_FIRST
	wake_up(dead)
#endif
}

/* lib/notify.c: pld_system_notify() */
proctype notifier(byte mine)
{
	byte round, cell;
	bool satisfied, died;

	do
	:: round < ROUNDS ->
		round++;
		add(NOTIFIER(mine), mine, 1);
#ifndef MUTANT_NO_C
		fence(NOTIFIER(mine));
#endif
		if
		:: load(WAITERS) -> ring(NOTIFIER(mine))
		:: else
		fi
#ifdef DEATH
	:: round < ROUNDS -> die(NOTIFIER(mine)); break
#endif
	:: round == ROUNDS -> break
	od;
	cell = 0;
	satisfied = false
}

#ifdef STOP
/* lib/waiter.c: end_thread() */
proctype stopper()
{
	byte cell;
	bool satisfied, died;

	store(STOPPER, STOPPED, 1);
	ring(STOPPER)
}
#endif

#ifdef WATCH
/* kmod/watch.c: begin_watch(), enter_queue() */
proctype watcher()
{
	byte cell;
	bool satisfied, died;

	lock(RANK_0);
	store(RANK_0, WAITERS, load(WAITERS) + 1);
	store(RANK_0, QUEUED, 1);
#ifndef MUTANT_NO_B
	fence(RANK_0);
#endif
	settle(RANK_0);
	unlock(RANK_0);
	satisfied = false;
	told;
	returned = true
}
#else
/* In the loop that it ends. */
inline check_wait()
{
	look(round);
	broken = load(REASON);
	if
	:: satisfied || broken -> break
	:: else
	fi;
#ifdef STOP
	if
	:: load(RINGS) != bell -> break
	:: else
	fi
#endif
}

/* kmod/wait.c: wait_for_cells(), wait_loop(), within lib's kmod_block() */
proctype waiter()
{
	byte round, cell, bell;
	bool satisfied, broken, stopped;

	do
	:: round < WAITED && !broken && !stopped ->
		round++;
#ifdef DEATH
		/* lib/health.h: pld_enter() */
		if
		:: load(EPOCH) -> broken = true; goto next
		:: else
		fi;
#endif
		/* lib/wait.c: wait_checked() */
		look(round);
		if
		:: satisfied -> goto next
		:: else
		fi;
#ifdef STOP
again:
		/* lib/platform/kmod.c: stopped() */
#ifdef MUTANT_BELL_LATE
		stopped = load(STOPPED);
		bell = load(RINGS);
#else
		bell = load(RINGS);
		stopped = load(STOPPED);
#endif
		if
		:: stopped -> goto next
		:: else
		fi;
#endif
		/* enter_queue() */
		lock(RANK_0);
#ifndef MUTANT_RAISED_LATE
		store(RANK_0, WAITERS, 1);
#endif
#ifndef MUTANT_QUEUED_LATE
		store(RANK_0, QUEUED, 1);
#endif
		unlock(RANK_0);
		do
		:: /* set_current_state() */
		   store(RANK_0, SLEEPING, 1);
#ifndef MUTANT_NO_B
		   fence(RANK_0);			/* A, B */
#endif
		   check_wait();
#ifdef MUTANT_RAISED_LATE
		   store(RANK_0, WAITERS, 1);
#endif
#ifdef MUTANT_QUEUED_LATE
		   lock(RANK_0);
		   store(RANK_0, QUEUED, 1);
		   unlock(RANK_0);
#endif
		   /* schedule() */
		   fence(RANK_0);
		   !load(SLEEPING)
		od;
		store(RANK_0, SLEEPING, 0);
		/* leave_queue() */
		lock(RANK_0);
		store(RANK_0, WAITERS, 0);
		store(RANK_0, QUEUED, 0);
		unlock(RANK_0);
#ifdef STOP
		if
		:: !satisfied && !broken -> goto again
		:: else
		fi;
#endif
next:
		/* It asks again until that is known in user space too. */
		if
		:: broken && !satisfied ->
			load(EPOCH);
			reason_is_there = load(REASON);
			assert(reason_is_there)
		:: else
		fi;
		satisfied = false;
		bell = 0
	:: else -> break
	od;
	returned = true
}
#endif

init
{
	byte i;

	atomic {
		for (i : 0 .. AGENTS - 1) {
			run drain(i)
		};
		for (i : 0 .. CELLS - 1) {
			run notifier(i)
		};
		i = 0;
#ifdef STOP
		run stopper();
#endif
#ifdef WATCH
		run watcher()
#else
		run waiter()
#endif
	};
	timeout;
	assert(returned);
	assert(load(QUEUED) == 0);
	assert(load(WAITERS) == 0)
}
