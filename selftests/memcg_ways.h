/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Ways to fill a memory cgroup with what the module makes for who asks: each makes
 * things, a bit at a time, until one is refused, and answers its errno, or 0 when all
 * could be made.
 */
#ifndef PLD_MEMCG_WAYS_H
#define PLD_MEMCG_WAYS_H

#include <sys/eventfd.h>

#include "pld_bytes.h"
#include "pld_proc.h"
#include "pld_uapi.h"

typedef int fill_fn(void);

static int with_domains(void)
{
	__u32 ids[PLD_SIM_MAX_RANKS];
	struct pld_sim_info info;
	int fd = sim_open(), ret = 0;

	NEED(sim_info(fd, &info) == 0);
	for (__u32 r = 0; r < info.nr_devices; r++)
		ids[r] = r;
	for (int i = 0; i < 4000 && ret >= 0; i++)
		ret = sim_create(fd, ids, info.nr_devices);
	return ret < 0 ? ret : 0;
}

static int with_windows(void)
{
	int domain = sim_domain(2), ret = 0;
	struct pld_sim_window_alloc win;

	for (int i = 0; i < PLD_SIM_MAX_WINDOWS && !ret; i++)
		ret = sim_alloc(domain, 1, 0, &win);
	return ret;
}

#define MEMBERS 8

/* Domains whose ranks have all joined. */
static int with_members(void)
{
	int ret = 0;

	for (int i = 0; i < 800 && ret >= 0; i++) {
		int domain = ret = sim_domain(MEMBERS);

		for (int r = 0; r < MEMBERS && ret >= 0; r++)
			ret = sim_member(domain, r);
	}
	return ret < 0 ? ret : 0;
}

/* The most conditions of one call, on a window's first cell, and none is met. */
struct in_vain {
	struct pld_sim_condition conditions[PLD_SIM_MAX_CONDITIONS];
	int domain;
};

static int make_in_vain(struct in_vain *v)
{
	struct pld_sim_window_alloc win;
	int ret;

	v->domain = sim_domain(MEMBERS);
	if (v->domain < 0)
		return v->domain;
	ret = sim_alloc(v->domain, SIM_PAGE, 0, &win);
	for (int i = 0; i < PLD_SIM_MAX_CONDITIONS && !ret; i++)
		v->conditions[i] = (struct pld_sim_condition){
			.window = win.window,
			.expected = 1,
		};
	return ret;
}

static int with_signals(void)
{
	int event = eventfd(0, 0), ret = 0;
	struct in_vain v;
	__u64 cookie;

	NEED(make_in_vain(&v) == 0);
	for (int i = 0, fd = -1; i < MEMBERS * PLD_SIM_MAX_SIGNALS && !ret; i++) {
		if (i % PLD_SIM_MAX_SIGNALS == 0)
			fd = sim_member(v.domain, i / PLD_SIM_MAX_SIGNALS);
		ret = fd < 0 ? fd
			     : sim_signal(fd, 0, v.conditions,
					  PLD_SIM_MAX_CONDITIONS, event,
					  INT64_MAX, &cookie);
	}
	return ret;
}

/* They end in nine seconds, which is long after the group is full. */
static int with_fences(void)
{
	struct in_vain v;
	int ret = 0;

	NEED(make_in_vain(&v) == 0);
	for (int i = 0, fd = -1; i < MEMBERS * PLD_SIM_MAX_SIGNALS && ret >= 0;
	     i++) {
		if (i % PLD_SIM_MAX_SIGNALS == 0)
			fd = sim_member(v.domain, i / PLD_SIM_MAX_SIGNALS);
		ret = fd < 0 ? fd
			     : sim_fence(fd, 0, v.conditions,
					 PLD_SIM_MAX_CONDITIONS,
					 sim_after(9 * SIM_SEC));
	}
	return ret < 0 ? ret : 0;
}

/* Each rank of domain after domain waits by its file. */
static int with_armed(void)
{
	int ret = 0;

	for (int i = 0; i < 400 && ret >= 0; i++) {
		struct in_vain v;

		ret = make_in_vain(&v);
		for (int r = 0; r < MEMBERS && ret >= 0; r++) {
			int fd = ret = sim_member(v.domain, r);

			if (fd >= 0)
				ret = sim_arm(fd, 0, v.conditions,
					      PLD_SIM_MAX_CONDITIONS);
		}
	}
	return ret < 0 ? ret : 0;
}

static int with_exports(void)
{
	struct pld_sim_window_alloc win;
	int domain = sim_domain(2), ret;

	NEED(sim_alloc(domain, SIM_PAGE, 0, &win) == 0);
	do
		ret = sim_export(domain, win.window, 1);
	while (ret >= 0);
	return ret;
}

/* Windows of one dma-buf, in as many domains as it takes. */
static int with_imports(void)
{
	struct pld_sim_window_alloc win;
	int domain = sim_domain(1), ret = 0;
	__s32 fd;

	NEED(sim_alloc(domain, SIM_PAGE, 0, &win) == 0);
	fd = sim_export(domain, win.window, 0);
	NEED(fd >= 0);
	for (int i = 0; i < 10 * PLD_SIM_MAX_WINDOWS && ret >= 0; i++) {
		if (i % PLD_SIM_MAX_WINDOWS == 0)
			domain = ret = sim_domain(1);
		if (domain >= 0)
			ret = sim_import(domain, SIM_PAGE, 0, &fd, 1, &win,
					 NULL);
	}
	return ret;
}

/* Mappings so far apart that each has a page table of its own. */
static int with_mappings(void)
{
	size_t count = sizeof(long) > 4 ? 4096 : 700;
	struct pld_sim_window_alloc win;
	int domain = sim_domain(1), fd = sim_member(domain, 0);
	char *all = mmap(NULL, count * SIM_HUGE, PROT_NONE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	NEED(all != MAP_FAILED);
	NEED(sim_alloc(domain, SIM_PAGE, 0, &win) == 0);
	for (size_t i = 0; i < count; i++) {
		unsigned char *page = mmap(all + i * SIM_HUGE, SIM_PAGE,
					   PROT_READ | PROT_WRITE,
					   MAP_SHARED | MAP_FIXED, fd,
					   win.mmap_offset);

		if (page == MAP_FAILED)
			return -errno;
		NEED(touch(page) == 0);
	}
	return 0;
}

#endif /* PLD_MEMCG_WAYS_H */
