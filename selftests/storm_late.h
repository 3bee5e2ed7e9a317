/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How late the machine itself is: a process that only sleeps sees how late it is
 * woken here and now, and how many processes want to run. Who is held to a time
 * is allowed as much more.
 */
#ifndef PLD_STORM_LATE_H
#define PLD_STORM_LATE_H

#include <sched.h>

#include "lib_fault.h"
#include "pld_counters.h"
#include "pld_proc.h"

#define LATE_NAP_NS 1000000

/* In memory that it and the others share; since late_begin(), at worst. */
struct late {
	int64_t ns;
	int runnable;
	/* naps that have ended */
	unsigned int naps;
};

/* How long a process could run and did not, so far; 0: nobody says. */
static inline int64_t late_queued(pid_t pid)
{
	char path[64], text[128];
	long long queued;

	snprintf(path, sizeof(path), "/proc/%d/schedstat", pid);
	if (read_text(path, text, sizeof(text)) ||
	    sscanf(text, "%*d %lld", &queued) != 1)
		return 0;
	return queued;
}

static inline void late_sleep_until(int64_t when)
{
	struct timespec at = { when / 1000000000, when % 1000000000 };

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL))
		;
}

/* Now, of all there are on this machine. */
static inline int late_runnable(void)
{
	char text[128];
	int runnable;

	if (read_text("/proc/loadavg", text, sizeof(text)) ||
	    sscanf(text, "%*f %*f %*f %d/", &runnable) != 1)
		return 0;
	return runnable;
}

static inline int late_sleeper(struct peer *self, void *arg)
{
	struct sched_param none = { 0 };
	struct late *late = arg;

	/* It is woken no sooner than a rank that computes. */
	sched_setscheduler(0, SCHED_BATCH, &none);
	while (getppid() == self->pid) {
		int runnable = late_runnable();
		int64_t wanted = now_ns() + LATE_NAP_NS, ns;

		late_sleep_until(wanted);
		ns = now_ns() - wanted;
		if (ns > __atomic_load_n(&late->ns, __ATOMIC_RELAXED))
			__atomic_store_n(&late->ns, ns, __ATOMIC_RELAXED);
		if (runnable > __atomic_load_n(&late->runnable, __ATOMIC_RELAXED))
			__atomic_store_n(&late->runnable, runnable,
					 __ATOMIC_RELAXED);
		/* Release: who sees it sees how late that nap was. */
		__atomic_fetch_add(&late->naps, 1, __ATOMIC_RELEASE);
	}
	return 0;
}

static inline void late_begin(struct late *late)
{
	__atomic_store_n(&late->ns, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&late->runnable, 0, __ATOMIC_RELAXED);
}

/* The nap that is slept now counts too: it may be the one that is late. */
static inline void late_end(const struct late *late)
{
	unsigned int naps = __atomic_load_n(&late->naps, __ATOMIC_RELAXED);

	while (__atomic_load_n(&late->naps, __ATOMIC_ACQUIRE) == naps)
		late_sleep_until(now_ns() + LATE_NAP_NS);
}

#endif /* PLD_STORM_LATE_H */
