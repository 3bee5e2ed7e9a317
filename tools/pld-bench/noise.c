// SPDX-License-Identifier: GPL-2.0
/*
 * Two processes, each bound to a CPU, hand a number to and fro.
 */
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "job.h"
#include "noise.h"

#define BATCHES 31
#define TURNS 200
/* Where somebody else has the CPU, the other side may be away for long. */
#define LONGEST_NS 20000000

static bool bind_to(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	return !sched_setaffinity(0, sizeof(set), &set);
}

static bool two_cpus(const cpu_set_t *allowed, int cpus[2])
{
	int found = 0;

	for (int cpu = 0; cpu < CPU_SETSIZE && found < 2; cpu++)
		if (CPU_ISSET(cpu, allowed))
			cpus[found++] = cpu;
	return found == 2;
}

/*
 * Waits for a number; false when it does not come. Nothing but the number goes
 * with the line, so no order is needed.
 */
static bool await(atomic_int *line, int number, int64_t deadline)
{
	for (unsigned int turn = 1;
	     atomic_load_explicit(line, memory_order_relaxed) != number; turn++)
		if (!(turn % 1024) && now_ns() > deadline)
			return false;
	return true;
}

static void answer(atomic_int *line, int cpu)
{
	int64_t deadline = now_ns() + LONGEST_NS;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (!bind_to(cpu))
		_exit(1);
	for (int i = 0; i < BATCHES * TURNS; i++) {
		if (!await(line, 2 * i + 1, deadline))
			_exit(1);
		atomic_store_explicit(line, 2 * i + 2, memory_order_relaxed);
	}
	_exit(0);
}

static int ascending(const void *a, const void *b)
{
	const double *left = a, *right = b;

	return (*left > *right) - (*left < *right);
}

/* How many turns there were before the deadline, at most those of a batch. */
static int ask_batch(atomic_int *line, int batch, int64_t deadline)
{
	int turns = 0;

	while (turns < TURNS) {
		int number = 2 * (batch * TURNS + turns) + 1;

		atomic_store_explicit(line, number, memory_order_relaxed);
		if (!await(line, number + 1, deadline))
			break;
		turns++;
	}
	return turns;
}

/* Where the other side hardly runs, what is left undone counts as one turn. */
static double ask(atomic_int *line, int cpu)
{
	int64_t deadline = now_ns() + LONGEST_NS, start;
	double batches[BATCHES];
	int count = 0, turns;

	if (!bind_to(cpu))
		return -1;
	do {
		start = now_ns();
		turns = ask_batch(line, count, deadline);
		batches[count++] = (double)(now_ns() - start) /
				   (2 * (turns < TURNS ? turns + 1 : turns));
	} while (count < BATCHES && turns == TURNS);
	qsort(batches, (size_t)count, sizeof(*batches), ascending);
	return batches[count / 2];
}

static double ask_child(atomic_int *line, const int cpus[2])
{
	double ns;
	pid_t pid = fork();

	if (!pid)
		answer(line, cpus[1]);
	if (pid < 0)
		return -1;
	ns = ask(line, cpus[0]);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	return ns;
}

double noise_measure(void)
{
	cpu_set_t allowed;
	atomic_int *line;
	int cpus[2];
	double ns;

	if (sched_getaffinity(0, sizeof(allowed), &allowed) ||
	    !two_cpus(&allowed, cpus))
		return -1;
	line = mmap(NULL, sizeof(*line), PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (line == MAP_FAILED)
		return -1;
	ns = ask_child(line, cpus);
	sched_setaffinity(0, sizeof(allowed), &allowed);
	munmap(line, sizeof(*line));
	return ns;
}
