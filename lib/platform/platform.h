/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * What differs between platforms: who makes the memory, how a rank sleeps, how
 * it is woken, and who publishes that a rank is gone. Data moves in user space,
 * the same way on all of them.
 *
 * Functions return 0 or a negative errno with pld_error()'s sentence.
 */
#ifndef PLD_PLATFORM_H
#define PLD_PLATFORM_H

#include "domain.h"

struct pld_look;
struct pld_wants;

struct pld_platform {
	const char *name;

	/* Host side. */

	/* Can it be used here? If not, the sentence says why. */
	int (*probe)(void);
	/* Number of devices, ids 0 and up; after a probe that succeeded. */
	int (*nr_devices)(void);
	int (*create)(pld_domain *domain);
	void (*destroy)(pld_domain *domain);
	/* Closes what a process that is not its host has inherited of it. */
	void (*forget)(pld_domain *domain);
	/* Signals zeroed, every rank absent, epoch advanced. */
	int (*reset)(pld_domain *domain);
	/*
	 * Makes memory of buffer->bytes per rank, zeroed and reserved, and sets
	 * buffer->stride. The memory of ranks that buffer->imported tells of is
	 * the dma-bufs fds (else NULL), and zeroed in a signal only; one of
	 * them that cannot be is an error of pld_import_refused().
	 */
	int (*window_alloc)(pld_window_buffer *buffer, const int *fds);
	void (*window_free)(pld_window_buffer *buffer);
	/* The descriptor that another process needs of it, or -1 for none. */
	int (*domain_fd)(const pld_domain *domain);
	int (*window_fd)(const pld_window_buffer *buffer);
	/* The same of a rank's memory that was imported. */
	int (*import_fd)(const pld_window_buffer *buffer, int rank);

	/*
	 * A new descriptor of a dma-buf, of whole pages of that rank's memory;
	 * all of it, where it was imported. Also on the rank side.
	 */
	int (*window_export)(pld_window_buffer *buffer, int rank, size_t offset,
			     size_t bytes);

	/* Rank side. */

	/*
	 * In a process that no host side forked: what create and window_alloc
	 * left for attach and window_map. The descriptor, which may be anything
	 * or -1, is the domain's or the buffer's when it succeeds; imports, one
	 * for each rank or NULL, stay the caller's.
	 */
	int (*adopt)(pld_domain *domain, int fd);
	int (*window_adopt)(pld_window_buffer *buffer, int fd,
			    const int *imports);
	/* Undoes adopt and attach, which may not have been; windows are gone. */
	void (*detach)(pld_domain *domain);

	/* Joins as domain->rank: sets status, doorbells and epoch. */
	int (*attach)(pld_domain *domain);
	/* Maps every rank's memory at buffer->base, without touching it. */
	int (*window_map)(pld_window_buffer *buffer);
	/* Takes the page faults of that rank's memory now. */
	void (*window_touch)(pld_window_buffer *buffer, int rank);
	/* What attach and window_map needed and the ranks' work does not. */
	void (*attached)(pld_domain *domain);
	void (*leave)(pld_domain *domain);
	/*
	 * Sleeps until a look at the own cells is satisfied: its index. Without
	 * a sentence: the domain is broken, -EOWNERDEAD whatever broke it; the
	 * time is over, -ETIMEDOUT; somebody raised stop, -EINTR.
	 */
	int (*block)(pld_domain *domain, const struct pld_wants *wants,
		     int64_t deadline_ns);
	/*
	 * Optional, all three or none: without them a thread waits (waiter.c),
	 * and there are no fences. Has the kernel add 1 to eventfd, once, when
	 * block() would return; *cookie names that wait.
	 */
	int (*arm)(pld_domain *domain, const struct pld_wants *wants,
		   int64_t deadline_ns, int eventfd, uint64_t *cookie);
	/*
	 * Without a sentence: -EAGAIN while that wait goes on. Then, once, as
	 * block(), and *look is the kernel's last. With end, it is over anyway.
	 */
	int (*armed)(pld_domain *domain, const struct pld_wants *wants,
		     uint64_t cookie, bool end, struct pld_look *look);
	/* *fd becomes a sync_file, whose fence signals when block() returns. */
	int (*fence)(pld_domain *domain, const struct pld_wants *wants,
		     int64_t deadline_ns, int *fd);
	/* Makes the sleepers on that cell of the peer look again. */
	void (*ring)(pld_window_buffer *buffer, size_t offset, int peer);

	/*
	 * Both sides: breaks the domain, first failure stays, and wakes all.
	 * From the host side, a culprit of PLD_FAIL_DEAD has ended.
	 * Async-signal-safe.
	 */
	void (*fail)(pld_domain *domain, enum pld_sim_fail_reason reason,
		     int culprit, int code);
};

extern const struct pld_platform pld_platform_kmod;
extern const struct pld_platform pld_platform_memfd;

/*
 * The platform of that name, NULL for the default; why gets the reason. Does
 * what the name demands: kmod does not fall back.
 */
int pld_platform_select(const char *name, const struct pld_platform **platform,
			char why[256]);

#endif
