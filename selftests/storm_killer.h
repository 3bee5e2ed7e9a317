/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Who kills ranks: a process beside the launcher and its ranks, and another one
 * that sees how late the machine is meanwhile.
 *
 * The ranks' process ids are noted at their fork, so that a rank can be killed
 * before it has joined.
 */
#ifndef PLD_STORM_KILLER_H
#define PLD_STORM_KILLER_H

#include <pthread.h>

#include "lib_fault.h"
#include "pld_proc.h"
#include "storm_late.h"

#define STORM_RANKS 4

/* Of one rank, in memory that all share. */
struct storm_rank {
	pid_t pid;
	/* drawn: is it killed, and when after the launch */
	int victim;
	int64_t delay_ns;
	/* 0: it has not been */
	int64_t killed_at;
	int64_t started_at;
	int64_t told_at;
	int finished;
	/* late_queued() before the first kill, and when it was told */
	int64_t queued_before;
	int64_t queued_then;
};

struct storm {
	struct storm_rank rank[STORM_RANKS];
	int64_t launched_at;
	/* the launcher's late_queued() before the first kill, and after the launch */
	int64_t queued_before;
	int64_t queued_then;
	/* since the launch */
	struct late late;
};

static struct storm *storm;

/* The rank that is forked next, while a launch forks ranks; else more than any. */
static int storm_forking = STORM_RANKS;

static inline void storm_before_fork(void)
{
	storm_forking++;
}

/* With the number as it was at the fork. */
static inline void storm_in_child(void)
{
	int rank = storm_forking - 1;

	/* Release: pairs with the killer, which sees the process id. */
	if (rank < STORM_RANKS)
		__atomic_store_n(&storm->rank[rank].pid, getpid(),
				 __ATOMIC_RELEASE);
}

static inline pid_t storm_pid(struct storm_rank *rank)
{
	pid_t pid;

	for (;;) {
		pid = __atomic_load_n(&rank->pid, __ATOMIC_ACQUIRE);
		if (pid)
			return pid;
		late_sleep_until(now_ns() + 20000);
	}
}

static inline void storm_kill(struct storm_rank *rank)
{
	pid_t pid = storm_pid(rank);

	/* Before the kill: who is told of it finds the time. */
	__atomic_store_n(&rank->killed_at, now_ns(), __ATOMIC_SEQ_CST);
	if (kill(pid, SIGKILL))
		__atomic_store_n(&rank->killed_at, 0, __ATOMIC_SEQ_CST);
}

/* The next victim that is still to be killed, or -1. */
static inline int storm_next(const int *done)
{
	int next = -1;

	for (int r = 0; r < STORM_RANKS; r++)
		if (storm->rank[r].victim && !done[r] &&
		    (next < 0 ||
		     storm->rank[r].delay_ns < storm->rank[next].delay_ns))
			next = r;
	return next;
}

static inline void storm_note_queued(pid_t launcher)
{
	storm->queued_before = late_queued(launcher);
	for (int r = 0; r < STORM_RANKS; r++)
		storm->rank[r].queued_before = late_queued(
			__atomic_load_n(&storm->rank[r].pid, __ATOMIC_RELAXED));
}

static inline int storm_killer(struct peer *self, void *arg)
{
	(void)arg;
	for (;;) {
		int done[STORM_RANKS] = { 0 }, next, kills = 0;

		if (peer_hear(self))
			return 0;
		while ((next = storm_next(done)) >= 0) {
			late_sleep_until(storm->launched_at +
					 storm->rank[next].delay_ns);
			if (!kills++)
				storm_note_queued(self->pid);
			storm_kill(&storm->rank[next]);
			done[next] = 1;
		}
		peer_tell(self, 0);
	}
}

struct storm_peers {
	struct peer killer;
	struct peer sleeper;
};

static inline int storm_begin(struct storm_peers *peers)
{
	int error;

	storm = mmap(NULL, sizeof(*storm), PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (storm == MAP_FAILED)
		return -ENOMEM;
	error = peer_start(&peers->killer, storm_killer, NULL);
	if (!error)
		error = peer_start(&peers->sleeper, late_sleeper, &storm->late);
	if (!error)
		error = -pthread_atfork(storm_before_fork, NULL, storm_in_child);
	return error;
}

static inline void storm_end(struct storm_peers *peers)
{
	peer_kill(&peers->killer);
	peer_kill(&peers->sleeper);
}

/* Just before a launch: from now on forks are ranks. */
static inline void storm_go(struct storm_peers *peers)
{
	late_begin(&storm->late);
	storm->launched_at = now_ns();
	storm_forking = 0;
	peer_tell(&peers->killer, 0);
}

/* After it: every victim has been killed, or was gone. */
static inline void storm_over(struct storm_peers *peers)
{
	storm_forking = STORM_RANKS;
	storm->queued_then = late_queued(getpid());
	peer_hear(&peers->killer);
	late_end(&storm->late);
}

#endif /* PLD_STORM_KILLER_H */
