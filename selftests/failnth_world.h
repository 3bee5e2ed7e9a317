/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the calls of failnth are made with, and what one call is: a variant of the
 * fixture. What several calls have in common to prepare and undo.
 */
#ifndef PLD_FAILNTH_WORLD_H
#define PLD_FAILNTH_WORLD_H

#include <stdbool.h>

#include "pld_failnth.h"
#include "pld_test.h"

#define RW (PROT_READ | PROT_WRITE)
#define SEVERAL 9
#define MANY_RANKS 16
#define DOMAINS_BYTES 32768

/*
 * What calls are made with. A domain of two ranks, of which this process is the
 * first, stays all the time; @target, @other and @map are made for one call.
 */
FIXTURE(call)
{
	struct fault_settings settings;
	const char *lacks;
	int injected;
	int nth;
	int device;
	int domain;
	int rank;
	int event;
	int exporter;
	struct pld_sim_window_alloc small;
	struct pld_sim_window_alloc huge;
	struct pld_sim_condition conditions[SEVERAL];
	int target;
	int other;
	struct pld_sim_window_alloc win;
	__u64 cookie;
	unsigned char *map;
	size_t mapped;
};

typedef FIXTURE_DATA(call) world;

/*
 * @prepare answers false where the machine lacks what the call is about. @faults is
 * set where the call copies from or to memory that nobody has touched.
 */
FIXTURE_VARIANT(call)
{
	const char *name;
	unsigned int least;
	unsigned int least_failures;
	bool faults;
	bool (*prepare)(world * w);
	int (*call)(world * w);
	void (*undo)(world * w, int ret);
};

/* A call, the least number of its steps, and of those that make it fail. */
#define CALL(_name, _least, _failures, ...)                                   \
	FIXTURE_VARIANT_ADD(call, _name)                                      \
	{                                                                     \
		.name = #_name, .least = _least, .least_failures = _failures, \
		.call = call_##_name, __VA_ARGS__                             \
	}

static void undo_close(world *w, int ret)
{
	close(ret);
}

static void undo_free(world *w, int ret)
{
	sim_free(w->domain, w->win.window);
}

static void undo_map(world *w, int ret)
{
	munmap(w->map, w->mapped);
	w->map = NULL;
}

static bool prepare_domain(world *w)
{
	struct pld_sim_window_alloc win;

	w->target = sim_domain(2);
	return w->target >= 0 &&
	       !sim_alloc(w->target, SIM_PAGE, PLD_WINDOW_SIGNAL, &win);
}

/* A device file, and a domain to join with it. */
static bool prepare_device(world *w)
{
	w->other = sim_open();
	return w->other >= 0 && prepare_domain(w);
}

static bool prepare_member(world *w)
{
	return prepare_device(w) && !sim_join(w->other, w->target, 1, NULL);
}

static bool prepare_export(world *w)
{
	w->target = sim_export(w->domain, w->small.window, 1);
	return w->target >= 0;
}

static bool map_for_call(world *w, int fd, size_t bytes, __u64 offset)
{
	w->mapped = bytes;
	w->map = sim_mmap(fd, bytes, RW, offset);
	return w->map != MAP_FAILED;
}

static bool prepare_map(world *w)
{
	return map_for_call(w, w->rank, 4 * SIM_PAGE, w->small.mmap_offset);
}

static int map_answer(world *w, int fd, size_t bytes, int prot, __u64 offset)
{
	w->mapped = bytes;
	w->map = sim_mmap(fd, bytes, prot, offset);
	if (w->map != MAP_FAILED)
		return 0;
	w->map = NULL;
	return -errno;
}

#endif /* PLD_FAILNTH_WORLD_H */
