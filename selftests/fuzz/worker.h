/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Workers: the processes and threads that do a program's calls, one for each of
 * its slots. A worker does the line that it is told, in memory shared with the
 * one who runs the program (execute.c), says what came of it, and waits for the
 * next. It ends by being killed.
 */
#ifndef FUZZ_WORKER_H
#define FUZZ_WORKER_H

#include <setjmp.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "calls.h"
#include "cover.h"
#include "program.h"

struct fuzz_slot {
	uint32_t told; /* futex: number of the line + 1 */
	uint32_t done; /* futex: the same, when it has been done */
	pid_t tid; /* 0: nobody is here */
	bool faultable; /* touches memory: a fault goes to @fault */
	sigjmp_buf fault;
};

struct fuzz_shared {
	struct fuzz_program program;
	struct fuzz_answer answers[FUZZ_MAX_LINES];
	struct fuzz_slot slots[FUZZ_MAX_SLOTS];
	int sockets[2]; /* by which descriptors travel */
	struct fuzz_cover cover[FUZZ_MAX_SLOTS];
};

/* What a call gets beside its arguments. */
struct fuzz_worker {
	struct fuzz_shared *shared;
	int slot;
	uint8_t *arena; /* see place.h */
};

enum fuzz_spawn {
	SPAWN_FORK,
	SPAWN_THREAD,
	SPAWN_SHARED_FILES, /* a process with this one's file table */
	SPAWN_SHARED_MEMORY, /* a process with this one's memory */
	SPAWN_KINDS,
};

/* Another worker, for the slot; 0 or a negative errno. */
int64_t fuzz_spawn(struct fuzz_worker *worker, int slot, enum fuzz_spawn kind);
/* Does the lines of @slot; in the child of a fork. */
_Noreturn void fuzz_work(struct fuzz_shared *shared, int slot);
/* Once in the process that all workers come from. */
void fuzz_catch_faults(struct fuzz_shared *shared);

void fuzz_futex_wait(uint32_t *word, uint32_t value, int64_t ns);
void fuzz_futex_wake(uint32_t *word);
int64_t fuzz_now(void);

/* Runs @code; false when it touched memory that is not there. */
#define FUZZ_TOUCH(worker, code)                                  \
	({                                                        \
		struct fuzz_slot *slot_ =                         \
			&(worker)->shared->slots[(worker)->slot]; \
		bool fine_ = false;                               \
		slot_->faultable = true;                          \
		if (!sigsetjmp(slot_->fault, 1)) {                \
			code;                                     \
			fine_ = true;                             \
		}                                                 \
		slot_->faultable = false;                         \
		fine_;                                            \
	})

#endif /* FUZZ_WORKER_H */
