/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * What a rank's operations were: counted, and the latest kept.
 *
 * The host side makes one observer per rank before it forks; the rank writes to
 * its own alone, and the host reads when the rank has ended. A peer cannot
 * write to it, but the rank can write anything: the host believes no length or
 * kind in it.
 */
#ifndef PLD_OBSERVE_H
#define PLD_OBSERVE_H

#include <stdbool.h>

#include "pld.h"

struct pld_transfer;
struct pld_observer;

/* The rank's own; NULL, and nobody looks. Set before its kernel runs. */
extern struct pld_observer *pld_observer;

/* The one branch that operations pay when nobody looks. */
static inline bool pld_observed(void)
{
	return __builtin_expect(!!pld_observer, 0);
}

/* Of operations that were done; a wait's result may be an error too. */
void pld_observe_load(const pld_view *tensor, pld_dims offsets,
		      const pld_tile *tile);
void pld_observe_store(const pld_tile *tile, pld_dims offsets,
		       const pld_view *tensor);
void pld_observe_remote_load(const pld_view *target, int peer, pld_dims offsets,
			     const pld_tile *tile);
void pld_observe_remote_store(const pld_tile *tile, const pld_view *target,
			      int peer, pld_dims offsets,
			      pld_atomic_type atomic);
void pld_observe_transfer(const struct pld_transfer *transfer, bool put,
			  int peer);
void pld_observe_notify(const pld_view *signal, int peer, pld_dims offsets,
			int32_t value, pld_notify_op op, int32_t before);
void pld_observe_wait(const pld_view *signal, pld_dims offsets,
		      int32_t expected, pld_cmp cmp, int32_t seen, int result);

void pld_observe_element(const pld_view *tensor, pld_dims offsets, bool write);
/* b is NULL for a cast. */
void pld_observe_arithmetic(pld_trace_op op, const pld_tile *a,
			    const pld_tile *b, const pld_tile *out);

/* Host side: observers for a launch, fresh, when the domain wants them. */
int pld_observers_create(pld_domain *domain);
void pld_observers_destroy(pld_domain *domain);
/* In a rank's process: its own, and no other's. */
void pld_observers_enter(pld_domain *domain);

#endif
