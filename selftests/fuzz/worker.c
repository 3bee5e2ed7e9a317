// SPDX-License-Identifier: GPL-2.0
/* Workers: worker.h says what they are. */
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "place.h"
#include "worker.h"

#define STACK (64 << 10)

static struct fuzz_shared *caught;

int64_t fuzz_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

void fuzz_futex_wait(uint32_t *word, uint32_t value, int64_t ns)
{
	struct timespec t = { ns / 1000000000, ns % 1000000000 };

	syscall(SYS_futex, word, FUTEX_WAIT, value, ns < 0 ? NULL : &t, NULL, 0);
}

void fuzz_futex_wake(uint32_t *word)
{
	syscall(SYS_futex, word, FUTEX_WAKE, 1, NULL, NULL, 0);
}

/* Threads that share memory share TLS with it, so the number says who it is. */
static void on_fault(int sig)
{
	pid_t tid = syscall(SYS_gettid);

	for (int i = 0; i < FUZZ_MAX_SLOTS; i++) {
		struct fuzz_slot *slot = &caught->slots[i];

		if (slot->tid == tid && slot->faultable)
			siglongjmp(slot->fault, sig);
	}
	_exit(128 + sig);
}

static void on_signal(int sig)
{
	(void)sig;
}

/* SIGUSR1 does not restart calls, SIGUSR2 does. */
void fuzz_catch_faults(struct fuzz_shared *shared)
{
	struct sigaction fault = { .sa_handler = on_fault,
				   .sa_flags = SA_NODEFER };
	struct sigaction plain = { .sa_handler = on_signal };
	struct sigaction again = { .sa_handler = on_signal,
				   .sa_flags = SA_RESTART };

	caught = shared;
	sigaction(SIGSEGV, &fault, NULL);
	sigaction(SIGBUS, &fault, NULL);
	sigaction(SIGUSR1, &plain, NULL);
	sigaction(SIGUSR2, &again, NULL);
	signal(SIGPIPE, SIG_IGN);
}

static void write_fail_nth(int nth)
{
	int fd = open("/proc/thread-self/fail-nth", O_RDWR);
	char text[16];

	if (fd < 0)
		return;
	if (write(fd, text, snprintf(text, sizeof(text), "%d", nth)) < 0)
		perror("fail-nth");
	close(fd);
}

static void do_line(struct fuzz_worker *worker, int nr)
{
	struct fuzz_shared *shared = worker->shared;
	const struct fuzz_line *line = &shared->program.lines[nr];
	struct fuzz_value args[FUZZ_MAX_ARGS] = { 0 };

	for (int i = 0; i < FUZZ_MAX_ARGS; i++) {
		const struct fuzz_arg *arg = &line->args[i];

		args[i].n = arg->value;
		if (arg->is_line) {
			args[i].from = &shared->answers[arg->value];
			args[i].n = args[i].from->value;
		}
	}
	if (line->nth)
		write_fail_nth(line->nth);
	shared->answers[nr] = line->call->run(worker, args);
	if (line->nth)
		write_fail_nth(0);
}

void fuzz_work(struct fuzz_shared *shared, int slot_nr)
{
	struct fuzz_slot *slot = &shared->slots[slot_nr];
	struct fuzz_worker worker = { .shared = shared, .slot = slot_nr };
	uint32_t last = 0, told;

	worker.arena = fuzz_new_arena();
	__atomic_store_n(&slot->tid, syscall(SYS_gettid), __ATOMIC_SEQ_CST);
	fuzz_cover_enable(&shared->cover[slot_nr]);
	for (;;) {
		told = __atomic_load_n(&slot->told, __ATOMIC_SEQ_CST);
		if (told == last) {
			fuzz_futex_wait(&slot->told, told, -1);
			continue;
		}
		do_line(&worker, told - 1);
		last = told;
		__atomic_store_n(&slot->done, told, __ATOMIC_SEQ_CST);
		fuzz_futex_wake(&slot->done);
	}
}

/* Who begins on a stack of its own. */
struct begin {
	struct fuzz_shared *shared;
	int slot;
};

static void *thread_begins(void *arg)
{
	struct begin *begin = arg;

	fuzz_work(begin->shared, begin->slot);
}

static int process_begins(void *arg)
{
	thread_begins(arg);
	return 0;
}

static int64_t spawn_thread(struct begin *begin)
{
	pthread_attr_t attr;
	pthread_t thread;
	int ret;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK);
	ret = pthread_create(&thread, &attr, thread_begins, begin);
	pthread_attr_destroy(&attr);
	return -ret;
}

/* All are children of who runs the program, which waits for them. */
static int64_t spawn_process(struct begin *begin, int flags)
{
	int64_t ret =
		syscall(SYS_clone, CLONE_PARENT | SIGCHLD | flags, 0, 0, 0, 0);

	if (!ret)
		fuzz_work(begin->shared, begin->slot);
	return ret < 0 ? -errno : 0;
}

static int64_t spawn_in_memory(struct begin *begin)
{
	char *stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (stack == MAP_FAILED)
		return -errno;
	return clone(process_begins, stack + STACK,
		     CLONE_PARENT | CLONE_VM | SIGCHLD, begin) < 0
		       ? -errno
		       : 0;
}

int64_t fuzz_spawn(struct fuzz_worker *worker, int slot, enum fuzz_spawn kind)
{
	struct fuzz_shared *shared = worker->shared;
	/* Read by another thread after this function has returned. */
	static struct begin begins[FUZZ_MAX_SLOTS];
	int64_t ret;

	/* A slot is taken once: its trace is one task's. */
	if (slot <= 0 || slot >= FUZZ_MAX_SLOTS ||
	    __atomic_exchange_n(&shared->slots[slot].tid, -1, __ATOMIC_SEQ_CST))
		return -EBUSY;
	begins[slot] = (struct begin){ shared, slot };
	switch (kind) {
	case SPAWN_THREAD:
		ret = spawn_thread(&begins[slot]);
		break;
	case SPAWN_SHARED_FILES:
		ret = spawn_process(&begins[slot], CLONE_FILES);
		break;
	case SPAWN_SHARED_MEMORY:
		ret = spawn_in_memory(&begins[slot]);
		break;
	default:
		ret = spawn_process(&begins[slot], 0);
	}
	if (ret)
		__atomic_store_n(&shared->slots[slot].tid, 0, __ATOMIC_SEQ_CST);
	return ret;
}
