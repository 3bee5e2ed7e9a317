// SPDX-License-Identifier: GPL-2.0
/*
 * Runs programs. Workers (worker.h) are told one line after the other, and have
 * some time for each; one that takes longer is left in it, and its other lines
 * are not done. At the end all are killed, wherever they are.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "execute.h"

#define MS 1000000LL
/*
 * How often a worker is looked at, and how often it must be found asleep, one look
 * after the other, to count as one that a call does not let go. Machines differ
 * in speed too much for a time.
 */
#define LOOK (10 * MS)
#define LOOKS 4
/* For who is awake all the time. */
#define LINE_LIMIT (5000 * MS)
/* Whoever lives so long after having been killed hangs. */
#define KILL_LIMIT (30000 * MS)

static struct fuzz_shared *shared;

bool fuzz_execute_open(bool cover)
{
	sigset_t child;

	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED) {
		perror("mmap");
		return false;
	}
	for (int i = 0; cover && i < FUZZ_MAX_SLOTS; i++)
		if (!fuzz_cover_open(&shared->cover[i]))
			return false;
	/* Waited for in reap(). */
	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	sigprocmask(SIG_BLOCK, &child, NULL);
	fuzz_catch_faults(shared);
	return true;
}

const struct fuzz_answer *fuzz_answer_of(int line)
{
	return &shared->answers[line];
}

/* The first worker; the others come from it. */
static pid_t begin(void)
{
	pid_t pid = fork();
	int null;

	if (pid)
		return pid;
	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	null = open("/dev/null", O_RDWR);
	for (int fd = 0; fd < 3; fd++)
		dup2(null, fd);
	close(null);
	fuzz_work(shared, 0);
}

static bool is_busy(struct fuzz_slot *slot)
{
	return __atomic_load_n(&slot->done, __ATOMIC_SEQ_CST) != slot->told;
}

/* A line may be the worker's last. */
static bool has_ended(struct fuzz_slot *slot)
{
	if (slot->tid <= 0 || waitpid(slot->tid, NULL, WNOHANG) != slot->tid)
		return false;
	slot->tid = 0;
	return true;
}

static bool is_asleep(const struct fuzz_slot *slot)
{
	char path[32], text[256] = "", *state;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", slot->tid);
	file = fopen(path, "re");
	if (!file)
		return true;
	if (!fgets(text, sizeof(text), file))
		*text = '\0';
	fclose(file);
	state = strrchr(text, ')');
	return !state || state[2] != 'R';
}

static void wait_until_done(struct fuzz_slot *slot)
{
	int64_t end = fuzz_now() + LINE_LIMIT;
	uint32_t done;
	int asleep = 0;

	while (asleep < LOOKS && fuzz_now() < end && !has_ended(slot)) {
		done = __atomic_load_n(&slot->done, __ATOMIC_SEQ_CST);
		if (done == slot->told)
			return;
		fuzz_futex_wait(&slot->done, done, LOOK);
		asleep = slot->tid > 0 && is_asleep(slot) ? asleep + 1 : 0;
	}
}

static void tell(int nr)
{
	const struct fuzz_line *line = &shared->program.lines[nr];
	struct fuzz_slot *slot = &shared->slots[line->slot];

	/* A call before that nobody waited for. */
	if (is_busy(slot) && slot->told &&
	    shared->program.lines[slot->told - 1].async)
		wait_until_done(slot);
	if (is_busy(slot) || !__atomic_load_n(&slot->tid, __ATOMIC_SEQ_CST))
		return;
	__atomic_store_n(&slot->told, nr + 1, __ATOMIC_SEQ_CST);
	fuzz_futex_wake(&slot->told);
	if (!line->async)
		wait_until_done(slot);
}

/* False when somebody does not die. */
static bool reap(pid_t group)
{
	int64_t end = fuzz_now() + KILL_LIMIT, left;
	struct timespec t;
	sigset_t child;
	pid_t pid;

	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	for (;;) {
		/* Again, since one may have come while others were killed. */
		kill(-group, SIGKILL);
		while ((pid = waitpid(-1, NULL, WNOHANG)) > 0)
			;
		if (pid < 0)
			return true;
		left = end - fuzz_now();
		if (left <= 0)
			return false;
		t.tv_sec = left / 1000000000;
		t.tv_nsec = left % 1000000000;
		sigtimedwait(&child, NULL, &t);
	}
}

static void prepare(const struct fuzz_program *program)
{
	shared->program = *program;
	memset(shared->slots, 0, sizeof(shared->slots));
	for (int i = 0; i < FUZZ_MAX_LINES; i++)
		shared->answers[i] =
			(struct fuzz_answer){ .value = FUZZ_NOT_DONE };
	for (int i = 0; i < FUZZ_MAX_SLOTS; i++)
		fuzz_cover_clear(&shared->cover[i]);
	if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, shared->sockets)) {
		perror("socketpair");
		exit(2);
	}
}

bool fuzz_execute(const struct fuzz_program *program,
		  struct fuzz_covered *covered)
{
	bool fine;
	pid_t pid;

	prepare(program);
	/* Whoever takes a slot is the first to be told of a line in it. */
	shared->slots[0].tid = -1;
	pid = begin();
	if (pid < 0) {
		perror("fork");
		exit(2);
	}
	setpgid(pid, pid);
	for (int i = 0; i < program->nr; i++)
		tell(i);
	fine = reap(pid);
	close(shared->sockets[0]);
	close(shared->sockets[1]);
	for (int i = 0; covered && i < FUZZ_MAX_SLOTS; i++)
		fuzz_cover_take(&shared->cover[i], covered);
	return fine;
}
