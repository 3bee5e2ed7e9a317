/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The calls that programs are made of: the grammar, and how each is done. A
 * call's parameters say which values are worth trying; the first is the one
 * that is right most often.
 */
#ifndef FUZZ_CALLS_H
#define FUZZ_CALLS_H

#include <stdint.h>

#include "program.h"

/* What a call makes, and what an argument wants. */
enum fuzz_kind {
	KIND_NUMBER,
	KIND_DEVICE, /* an open /dev/pld_sim */
	KIND_RANK, /* the same, joined */
	KIND_DOMAIN,
	KIND_WINDOW,
	KIND_MAP,
	KIND_COOKIE,
	KIND_DMABUF,
	KIND_FENCE, /* a sync_file */
	KIND_EVENTFD,
	KIND_EPOLL,
	KIND_TIMELINE, /* of sw_sync */
	KIND_CARD, /* an open node of vgem */
	KIND_HANDLE, /* a buffer of it */
	KIND_FD, /* any of those that are descriptors */
	FUZZ_KINDS,
};

struct fuzz_param {
	const char *name;
	enum fuzz_kind kind;
	int nr_values; /* of numbers */
	const int64_t *values;
};

/* What a line answered. */
struct fuzz_answer {
	int64_t value; /* what it made, or a negative errno */
	uint64_t more[2]; /* window: mmap offset, stride; mapping: length */
};

struct fuzz_value {
	int64_t n;
	const struct fuzz_answer *from; /* NULL where it was a number */
};

struct fuzz_worker;

struct fuzz_call {
	const char *name;
	enum fuzz_kind makes;
	int weight;
	struct fuzz_answer (*run)(struct fuzz_worker *worker,
				  const struct fuzz_value *args);
	struct fuzz_param params[FUZZ_MAX_ARGS];
};

#define NUMBER(name_, ...)                                                 \
	{                                                                  \
		.name = name_, .values = (const int64_t[]){ __VA_ARGS__ }, \
		.nr_values = sizeof((const int64_t[]){ __VA_ARGS__ }) / 8  \
	}
#define THING(name_, kind_)                   \
	{                                     \
		.name = name_, .kind = kind_, \
	}

/* Each a table that ends with a call without a name. */
extern const struct fuzz_call fuzz_ioctl_calls[], fuzz_signal_calls[],
	fuzz_memory_calls[], fuzz_file_calls[], fuzz_process_calls[],
	fuzz_buffer_calls[];

/* The call of that number in all tables, or NULL. */
const struct fuzz_call *fuzz_call_at(int number);
/* The same by its name. */
const struct fuzz_call *fuzz_call_named(const char *name);
int fuzz_count_params(const struct fuzz_call *call);

/* A plain answer: a result, with errno where it is -1. */
struct fuzz_answer fuzz_result(int64_t result);

#endif /* FUZZ_CALLS_H */
