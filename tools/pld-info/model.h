/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What pld-info has found: the same for both platforms. Numbers that are not
 * known are -1. Arrays grow by grow().
 */
#ifndef PLD_INFO_MODEL_H
#define PLD_INFO_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/pld_sim.h>

#define SENTENCE_BYTES 512

enum platform {
	KMOD,
	MEMFD,
	PLATFORMS,
};

struct cell {
	uint32_t window;
	uint64_t offset;
	enum pld_sim_cmp cmp;
	int32_t expected;
	bool has_value;
	int32_t value;
};

/* A wait that sleeps. */
struct wait {
	bool any;
	uint64_t waiting_ns;
	struct cell *cells;
	size_t nr_cells;
};

struct rank {
	uint32_t device;
	enum pld_sim_rank_state state;
	/* its process, while it is joined and can be seen */
	int pid;
	/* waits that sleep; not all of them need be known in detail */
	uint32_t sleeping;
	uint32_t rings;
	struct wait *waits;
	size_t nr_waits;
};

struct window {
	uint32_t id;
	uint64_t bytes;
	uint64_t stride;
	bool signal;
	/* kmod: mappings, sleeping waits and exports; memfd: processes */
	int users;
	/* ranks whose memory of it is another driver's */
	int imported;
};

struct domain {
	enum platform platform;
	/* kmod: the module's number; memfd: inode of the control pages */
	uint64_t id;
	uint32_t owner;
	int maker;
	uint32_t epoch;
	enum pld_sim_fail_reason reason;
	uint32_t culprit;
	int32_t code;
	struct rank *ranks;
	size_t nr_ranks;
	struct window *windows;
	size_t nr_windows;
};

struct device {
	enum platform platform;
	uint32_t id;
	int64_t used;
	/* 0: none */
	int64_t limit;
	int64_t ranks;
	int64_t windows;
	int64_t waiters;
	int64_t waits;
	int64_t rings;
};

struct platform_info {
	/* or the negative errno of why it cannot be used */
	int devices;
	char why[SENTENCE_BYTES];
};

struct parameter {
	char name[64];
	char value[64];
};

struct module {
	bool loaded;
	/* "" and -1 where they cannot be known */
	char version[64];
	int abi;
	struct parameter *parameters;
	size_t nr_parameters;
};

struct info {
	struct platform_info platforms[PLATFORMS];
	struct module module;
	struct device *devices;
	size_t nr_devices;
	struct domain *domains;
	size_t nr_domains;
	/* sentences: what is not shown, and why */
	char (*hidden)[SENTENCE_BYTES];
	size_t nr_hidden;
};

/* Says so, and ends. */
void out_of_memory(void) __attribute__((noreturn));

/* One more zeroed element at the end of the array; *count becomes the number. */
void *grow(void *array, size_t *count, size_t element);
#define GROW(array, count)                                    \
	((array) = grow((array), &(count), sizeof(*(array))), \
	 &(array)[(count)-1])

void free_info(struct info *info);

void hide(struct info *info, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

const char *platform_name(enum platform platform);
const char *state_name(enum pld_sim_rank_state state);
const char *reason_name(enum pld_sim_fail_reason reason);
/* Why the domain is broken, in words. */
void reason_sentence(const struct domain *domain, char text[SENTENCE_BYTES]);

#endif
