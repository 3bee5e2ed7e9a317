/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A domain of three ranks and a window of signals, of which the test is rank 0,
 * whose cells are watched, and rank 2, which rings; rank 1 is left to peers. And
 * what becomes readable when a cell is as it should be.
 */
#ifndef PLD_WATCHED_H
#define PLD_WATCHED_H

#include "pld_poll.h"
#include "pld_test.h"

#define NEVER INT64_MAX
#define MOST PLD_SIM_MAX_CONDITIONS
#define HANG_MS 20000
/* Long enough for what must not happen. */
#define SHORT_MS 30

struct watched {
	int domain;
	int fd;
	/* Somebody who rings after rank 0 has left. */
	int peer_fd;
	struct pld_sim_window_alloc win;
	/* Of rank 0. */
	__s32 *cell;
	const struct pld_sim_doorbell *bell;
};

static inline void watched_setup(struct __test_metadata *_metadata,
				 struct watched *w)
{
	w->domain = sim_domain(3);
	ASSERT_LE(0, w->domain);
	ASSERT_EQ(0, sim_alloc(w->domain, SIM_PAGE, PLD_WINDOW_SIGNAL, &w->win));
	w->fd = sim_member(w->domain, 0);
	ASSERT_LE(0, w->fd);
	w->peer_fd = sim_member(w->domain, 2);
	ASSERT_LE(0, w->peer_fd);
	w->cell = sim_map(w->fd, &w->win, 0);
	ASSERT_NE(MAP_FAILED, w->cell);
	w->bell = sim_doorbell(w->fd, 0);
	ASSERT_NE(MAP_FAILED, w->bell);
}

static inline void watched_teardown(struct watched *w)
{
	close(w->fd);
	close(w->peer_fd);
	close(w->domain);
}

/* Conditions of a test whose fixture has a struct watched w. */
#define GE(_cell, _expected) \
	sim_condition(self->w.win.window, _cell, PLD_SIM_CMP_GE, _expected)
#define EQ(_cell, _expected) \
	sim_condition(self->w.win.window, _cell, PLD_SIM_CMP_EQ, _expected)

/* As a notifier does: changes the cell, and rings when the word says so. */
static inline void notify(struct watched *w, __u64 cell, __s32 value)
{
	__atomic_store_n(&w->cell[cell], value, __ATOMIC_SEQ_CST);
	if (sim_load(&w->bell->waiters))
		sim_ring(w->peer_fd, w->win.window, 0, cell * sizeof(__s32));
}

/* POLLIN within that time, or 0. */
static inline int readable(int fd, int timeout_ms)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return poll_one(&p, timeout_ms) < 0 ? -errno : p.revents;
}

#endif /* PLD_WATCHED_H */
