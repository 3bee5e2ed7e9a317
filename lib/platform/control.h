/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * The control pages of platform memfd: one memfd of a domain, whose first page
 * is struct pld_control and whose others are a struct pld_rank_page per rank.
 * Status and doorbell are laid out as the module's. The rest is for a reader
 * from outside, such as pld-info: what is in it decides nothing.
 *
 * Any rank can scribble over all of it.
 */
#ifndef PLD_CONTROL_H
#define PLD_CONTROL_H

#include <stdint.h>

#include <linux/pld_sim.h>

#define PLD_CONTROL_NAME "pld-control"
/*
 * A window's memfd is named so, with its number, its bytes per rank, 1 for a
 * signal, and the inode of the domain's control pages.
 */
#define PLD_WINDOW_NAME "pld-window:%u:%llu:%u:%llu"

#define PLD_CONTROL_MAGIC 0x50444c70u
/* Advances with every change of what is below. */
#define PLD_CONTROL_LAYOUT 2

/*
 * cause is 0, then the first failure, which stays: in one word 32 bits of the
 * code, 16 of the rank, 16 of the reason. Whoever fails, then or later, copies it
 * to the status and tells everybody, so that it does not matter who is killed
 * while telling.
 */
struct pld_control {
	struct pld_sim_status status;
	uint64_t cause;
	uint32_t magic;
	uint32_t layout;
	/* the process that made it, in its own pid namespace */
	uint32_t host;
	/* of each rank */
	uint32_t devices[PLD_SIM_MAX_RANKS];
};

/* A cell of a wait that sleeps. */
struct pld_waited {
	/* 0 when free; the same for all cells of a wait; changed last and first */
	uint32_t wait;
	uint32_t window;
	uint64_t offset;
	int32_t expected;
	/* enum pld_sim_cmp, and PLD_WAITED_ANY */
	uint32_t cmp;
	/* CLOCK_MONOTONIC, when it began to sleep */
	int64_t since_ns;
};

/* In cmp: one cell of the wait is enough. */
#define PLD_WAITED_ANY 0x100u
/* In wait: taken, and not filled yet. */
#define PLD_WAITED_TAKEN UINT32_MAX
#define PLD_WAITED 124

struct pld_rank_page {
	struct pld_sim_doorbell doorbell;
	/* the rank's process, in its own pid namespace */
	uint32_t pid;
	/* number of the last wait that slept */
	uint32_t last_wait;
	uint32_t reserved[28];
	/* apart from the doorbell, which peers look at */
	struct pld_waited waited[PLD_WAITED];
};

_Static_assert(sizeof(struct pld_control) <= PLD_SIM_DOORBELL_STRIDE,
	       "the status page is one page");
_Static_assert(sizeof(struct pld_rank_page) == PLD_SIM_DOORBELL_STRIDE,
	       "a rank has one page");

#endif
