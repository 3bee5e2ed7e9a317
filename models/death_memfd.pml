/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Platform memfd: a failure reaches every wait that sleeps, whoever is killed
 * when, also while it is telling.
 *
 * Each rank has a wait that sleeps, or gives up with an error. With JOINED,
 * ranks have come in (lib/join/): they outlive the server, and a thread of theirs
 * notices its end. Without, they end with it, and it is not killed here.
 *
 * Memory is sequentially consistent: who tells rings without asking whether
 * somebody sleeps, so no store has to come before a load (those are in
 * wake_memfd.pml). A ring for all wakes whatever the mask of a sleeper.
 */
#ifndef RANKS
#define RANKS 2
#endif
/* Processes that are killed, at most. */
#ifndef KILLS
#define KILLS 2
#endif
#define HOST RANKS
#define NOBODY 255

/* enum pld_sim_fail_reason; GONE is PLD_FAIL_ERROR with PLD_SERVER_GONE. */
#define DEAD 1
#define ERROR 2
#define GONE 3

/* struct pld_control, and the doorbells */
byte cause_reason, cause_rank;		/* one word, changed as one */
byte status_reason;			/* and rank and code */
bit epoch;
bool rung[RANKS];			/* the bell is not as the wait read it */
bool asleep[RANKS];

bool failed;				/* somebody has: all are to be told */
bool killed[RANKS + 1];			/* and HOST */
bool told[RANKS];			/* its result is in its pipe */
bool ended[RANKS];
bool returned[RANKS];			/* its wait has */
bool status_is_whole, all_are_told;
chan ends = [RANKS] of { byte };	/* what the host's poll() finds */

/*
 * lib/platform/memfd.c: ring_bell(). One step: between its two, a rank that
 * sleeps does not see the first, and one that does not does not need the second.
 */
inline ring_all(to)
{
	to = 0;
	do
	:: d_step { to < RANKS ->
#ifndef MUTANT_BELL_STAYS
		rung[to] = true;
#endif
		asleep[to] = false;
		to++ }
	:: d_step { to == RANKS -> to = 0 }; break
	od
}

#ifdef MUTANT_CLAIM
/*
 * One process claims the failure, publishes it and says so before it rings; the
 * host does it again for one that died before it had said so.
 */
#define PUBLISHED (RANKS + 2)

byte claim;

inline publish(why, whom, turn)
{
	status_reason = why;
	epoch = 1;
	claim = PUBLISHED;
	ring_all(turn)
}

inline fail(by, is, whose, mine)
{
	atomic {
		if
		:: claim == 0 ->
			claim = by + 1;
			cause_reason = is;
			cause_rank = whose;
			mine = NOBODY
		:: else -> mine = claim
		fi
	};
	if
	:: mine == NOBODY -> publish(is, whose, mine)
	:: by == HOST && is == DEAD && mine == whose + 1 -> publish(is, whose, mine)
	:: else
	fi
}
#else
/* lib/platform/memfd.c: publish(), which does the same whoever does it */
inline publish(turn)
{
#ifdef MUTANT_EPOCH_FIRST
	epoch = 1;
	status_reason = cause_reason;
#else
	status_reason = cause_reason;
	epoch = 1;
#endif
	ring_all(turn)
}

/* lib/platform/memfd.c: memfd_fail() */
inline fail(by, is, whose, mine)
{
	atomic {
		if
		:: cause_reason == 0 ->
			cause_reason = is;
			cause_rank = whose;
			mine = NOBODY
		:: else -> mine = 0
		fi
	};
#ifdef MUTANT_NO_HELP
	if
	:: mine == NOBODY -> publish(mine)
	:: else
	fi
#else
	publish(mine)
#endif
}
#endif

/* lib/platform/memfd.c: sleep_on_bell(), for a cell that nobody changes */
proctype waiting(byte me)
{
	{
		do
		:: rung[me] = false;	/* reads the bell */
		   if
		   :: epoch -> break		/* pld_healthy() */
		   :: else
		   fi;
		   atomic {			/* the futex */
			if
			:: !rung[me] -> asleep[me] = true
			:: else
			fi
		   };
end:		   !asleep[me]
		od;
		/* lib/health.c: pld_unhealthy() */
#ifndef MUTANT_CLAIM
		status_is_whole = (status_reason == cause_reason);
		assert(status_is_whole);
#endif
		returned[me] = true
	} unless {
		killed[me]
	}
}

/* lib/rank.c: pld_rank_end(), with an error */
proctype giving_up(byte me)
{
	byte r;
	{
		atomic {
			told[me] = true;		/* tell_result() */
			failed = true
		};
		fail(me, ERROR, me, r);			/* break_domain() */
		atomic {
			ended[me] = true;
			ends!me
		}
	} unless {
		killed[me]
	}
}

#ifdef JOINED
/* lib/join/joined.c: watch_server() */
proctype tied(byte me)
{
	byte r;
	{
		skip;
end:		killed[HOST] && !ended[me];
		fail(me, GONE, me, r)
	} unless {
		killed[me]
	}
}
#endif

/* lib/watch.c: pld_watch_all() */
proctype watching()
{
	byte r, who;
	{
		skip;
end:		do
		:: ends?who;
		   if
#ifdef JOINED
		   :: told[who] ->	/* joined_ended(), report_return() */
#else
		   :: !killed[who] ->	/* rank_ended(), report_return() */
#endif
#ifdef MUTANT_RETURN_IS_BELIEVED
			skip
#else
			fail(HOST, ERROR, who, r)
#endif
		   :: else ->		/* report_loss(), report_death() */
			fail(HOST, DEAD, who, r)
		   fi
		od
	} unless {
		killed[HOST]
	}
}

/* SIGKILL, at any time. */
#define KILL_RANK(r) atomic { left && !ended[r] -> \
		left--; \
		killed[r] = true; \
		ended[r] = true; \
		asleep[r] = false; \
		rung[r] = false; \
		failed = true; \
		ends!r }
#define KILL_HOST atomic { left && !killed[HOST] -> \
		left--; \
		killed[HOST] = true; \
		failed = true }

active proctype killing()
{
	byte left = KILLS;

end:	do
	:: KILL_RANK(0)
	:: KILL_RANK(1)
#if RANKS > 2
	:: KILL_RANK(2)
#endif
#ifdef JOINED
	:: KILL_HOST
#endif
	:: left -> left = 0
	od
}

#define IS_TOLD(r) (ended[r] || returned[r])

init
{
	byte r;

	atomic {
		do
		:: r < RANKS ->
			if
			:: run waiting(r);
#ifdef JOINED
			   run tied(r)
#endif
			:: run giving_up(r)
			fi;
			r++
		:: else -> r = 0; break
		od;
		run watching()
	};
	timeout;
	all_are_told = IS_TOLD(0) && IS_TOLD(1);
#if RANKS > 2
	all_are_told = all_are_told && IS_TOLD(2);
#endif
	assert(!failed || all_are_told)
}
