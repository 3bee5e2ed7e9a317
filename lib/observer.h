/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * One rank's observer, shared by its process and the host side. The rank writes
 * what it likes; the host takes nothing in it for granted.
 */
#ifndef PLD_OBSERVER_H
#define PLD_OBSERVER_H

#include <stdatomic.h>

#include "pld.h"

/* Between this rank and one peer, by this rank's own operations. */
struct pld_traffic {
	_Atomic uint64_t bytes;
	_Atomic uint64_t messages;
};

#define PLD_SLOT_BUSY UINT64_MAX

struct pld_slot {
	/* 1 more than the record's number, or PLD_SLOT_BUSY while it is written */
	_Atomic uint64_t number;
	pld_trace_record record;
};

struct pld_observer {
	struct pld_traffic to[PLD_MAX_RANKS];
	struct pld_traffic from[PLD_MAX_RANKS];
	_Atomic uint64_t notifies;
	_Atomic uint64_t own_notifies;
	_Atomic uint64_t waits;
	/* ever recorded; the latest PLD_TRACE_RECORDS are kept */
	_Atomic uint64_t records;
	struct pld_slot slots[PLD_TRACE_RECORDS];
};

#endif
