/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A window: memory of one size for every rank of a domain, and its place in
 * the domain's mmap() offsets. All fields are constant once the window can be
 * found, but for the list, so that a reference is enough to use it.
 *
 * The domain's table holds one reference, from allocation until
 * PLD_IOC_WINDOW_FREE or the domain's end; so do every mapping, every wait and
 * every export.
 * The last one frees the memory.
 */
#ifndef PLD_SIM_WINDOW_H
#define PLD_SIM_WINDOW_H

#include <linux/bits.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/sizes.h>
#include <linux/types.h>

#include "memory.h"

struct pld_call;
struct pld_domain;

/*
 * Page offsets must fit 32 bits for the sake of mmap2(). Big windows want
 * offsets that are congruent with their memory, so all are at 2 MiB multiples.
 */
#define PLD_OFFSETS_END BIT_ULL(44)
#define PLD_WINDOW_ALIGN ((u64)SZ_2M)
#define PLD_WINDOWS_START PLD_WINDOW_ALIGN

struct pld_window {
	struct kref ref;
	struct list_head by_offset;	/* protected by the domain's lock */
	u32 id;
	u32 flags;	/* enum pld_sim_window_flags */
	u32 nr_ranks;
	u64 length;	/* of one rank, as asked for */
	u64 stride;
	u64 offset;
	struct pld_memory memory[];
};

static inline u64 pld_window_end(const struct pld_window *window)
{
	return window->offset + window->stride * window->nr_ranks;
}

struct pld_window *pld_window_find(struct pld_domain *domain, u32 id);
struct pld_window *pld_window_find_offset(struct pld_domain *domain,
					  u64 offset);
void pld_window_get(struct pld_window *window);
void pld_window_put(struct pld_window *window);

void pld_windows_init(struct pld_domain *domain);
void pld_windows_destroy(struct pld_domain *domain);
int pld_windows_zero_signals(struct pld_domain *domain);

int pld_ioctl_window_alloc(struct pld_call *call);
void pld_finish_window_alloc(struct pld_call *call, bool copied);
int pld_ioctl_window_free(struct pld_call *call);
int pld_ioctl_window_import(struct pld_call *call);
void pld_finish_window_import(struct pld_call *call, bool copied);

#endif
