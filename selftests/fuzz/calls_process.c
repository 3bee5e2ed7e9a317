// SPDX-License-Identifier: GPL-2.0
/* Processes and threads: how they come, what they do to each other, their end. */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "worker.h"

#define ARG(name) args[name].n

static struct fuzz_answer run_spawn(struct fuzz_worker *worker,
				    const struct fuzz_value *args)
{
	return fuzz_result(fuzz_spawn(worker, ARG(0), ARG(1)));
}

static struct fuzz_answer run_exit(struct fuzz_worker *worker,
				   const struct fuzz_value *args)
{
	(void)worker;
	syscall(ARG(1) ? SYS_exit_group : SYS_exit, (int)ARG(0));
	return fuzz_result(-1);
}

/* A worker; none is a signal 0 away from one that never was. */
static struct fuzz_answer run_kill(struct fuzz_worker *worker,
				   const struct fuzz_value *args)
{
	pid_t tid = 0;

	if (ARG(0) >= 0 && ARG(0) < FUZZ_MAX_SLOTS)
		tid = worker->shared->slots[ARG(0)].tid;
	if (tid <= 0)
		return fuzz_result(-ESRCH);
	return fuzz_result(syscall(SYS_tkill, tid, (int)ARG(1)));
}

/* Another program, in which nothing is left but descriptors to inherit. */
static struct fuzz_answer run_exec(struct fuzz_worker *worker,
				   const struct fuzz_value *args)
{
	char *const quick[] = { "busybox", "true", NULL };
	char *const slow[] = { "busybox", "sleep", "1", NULL };

	(void)worker;
	return fuzz_result(execve("/bin/busybox", ARG(0) ? slow : quick, NULL));
}

static struct fuzz_answer run_own_files(struct fuzz_worker *worker,
					const struct fuzz_value *args)
{
	(void)worker;
	(void)args;
	return fuzz_result(unshare(CLONE_FILES));
}

/* From here on a user as any other. Of this thread: a raw call. */
static struct fuzz_answer run_setuid(struct fuzz_worker *worker,
				     const struct fuzz_value *args)
{
	(void)worker;
	return fuzz_result(syscall(SYS_setresuid, -1, (int)ARG(0), -1));
}

static struct fuzz_answer run_sleep(struct fuzz_worker *worker,
				    const struct fuzz_value *args)
{
	struct timespec t = { 0, ARG(0) * 1000000 };

	(void)worker;
	return fuzz_result(nanosleep(&t, NULL));
}

static struct fuzz_answer run_cpu(struct fuzz_worker *worker,
				  const struct fuzz_value *args)
{
	cpu_set_t set;

	(void)worker;
	CPU_ZERO(&set);
	CPU_SET(ARG(0) & 1, &set);
	return fuzz_result(sched_setaffinity(0, sizeof(set), &set));
}

#define SLOTS NUMBER("slot", 1, 2, 3, 4, 0)

const struct fuzz_call fuzz_process_calls[] = {
	{ "spawn", KIND_NUMBER, 8, run_spawn, { SLOTS, NUMBER("how", 0, 1, 2, 3) } },
	{ "exit",
	  KIND_NUMBER,
	  3,
	  run_exit,
	  { NUMBER("code", 0, 1), NUMBER("all", 0, 1) } },
	{ "kill",
	  KIND_NUMBER,
	  5,
	  run_kill,
	  { SLOTS, NUMBER("signal", SIGKILL, SIGUSR1, SIGUSR2, SIGSTOP, SIGCONT,
			  SIGTERM, 0) } },
	{ "exec", KIND_NUMBER, 1, run_exec, { NUMBER("stay", 0, 1) } },
	{ "own_files", KIND_NUMBER, 1, run_own_files, { { 0 } } },
	{ "setuid", KIND_NUMBER, 1, run_setuid, { NUMBER("uid", 1000, 0, 1001) } },
	{ "sleep", KIND_NUMBER, 1, run_sleep, { NUMBER("ms", 1, 5, 20) } },
	{ "cpu", KIND_NUMBER, 1, run_cpu, { NUMBER("cpu", 0, 1) } },
	{ 0 },
};
