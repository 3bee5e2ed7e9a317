/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * A domain as libpld sees it.
 *
 * The host side makes it; every rank process has a copy of it by fork(), with
 * its own rank set. Nothing in here is shared between processes but what the
 * pointers status and doorbells lead to. A host thread at a time uses a domain
 * and its sub-domains; in a rank, the members below "rank side" do not change after the
 * rank was attached, so its threads need no lock.
 */
#ifndef PLD_DOMAIN_H
#define PLD_DOMAIN_H

#include <stdatomic.h>
#include <stdbool.h>

#include <linux/pld_sim.h>

#include "pld.h"

struct pld_joined;
struct pld_observer;
struct pld_platform;

struct pld_domain {
	const struct pld_platform *platform;
	char platform_reason[256];
	int nranks;
	uint32_t devices[PLD_MAX_RANKS];
	int64_t timeout_ns;
	size_t tile_bytes;
	bool observe;
	pld_window_buffer *buffers;
	/* of a sub-domain, else NULL: whose launches make its ranks */
	pld_domain *parent;
	pld_domain *subdomains, *next_subdomain;
	/* of a sub-domain: the parent's number of each rank */
	int members[PLD_MAX_RANKS];
	/* the process that made it, and the list of all that it has made */
	int host;
	pld_domain *next;

	/* platform kmod: /dev/pld_sim; platform memfd: the control pages */
	int platform_fd;
	/* platform kmod: the domain file */
	int domain_fd;
	/* platform memfd, host side: the next window's number */
	uint32_t next_window;

	/* host side: the last launch */
	bool launched;
	int broken;
	char broken_message[PLD_MESSAGE_BYTES];
	int abort_code;
	/* one per rank, or NULL; in a rank, its own */
	struct pld_observer *observers[PLD_MAX_RANKS];
	/* what pld_domain_serve_stop() writes to, 0 before the first serving */
	_Atomic int stop_fd;
	/* of the last launch: who was cut off, pidfd 0 for nobody */
	struct pld_stray {
		int pidfd;
		int socket;
		int pid;
	} strays[PLD_MAX_RANKS];

	/* rank side; rank is -1 on the host side, and in an outsider */
	int rank;
	/* a sub-domain, in a process that is a rank of the parent only */
	bool outsider;
	uint32_t epoch;
	struct pld_sim_status *status;
	char *doorbells;
	/* reads 1 in the rank's process and 0 in a child that it forked */
	const volatile unsigned char *alive;
	/* the writing end of the rank's pipe, or its socket, to the launcher */
	int launcher_fd;
	/* of a process that came in, else NULL */
	struct pld_joined *joined;
	/* pld_oversubscribed(): who spins keeps a peer from running */
	bool oversubscribed;
};

struct pld_window_buffer {
	pld_window_buffer *next;
	pld_domain *domain;
	size_t bytes;
	/* a signal's cells, 0 for data */
	int64_t cells;
	/* rank r's memory is at base + r * stride, in every process */
	char *base;
	size_t stride;
	/* of each rank: its memory is a dma-buf */
	bool imported[PLD_MAX_RANKS];

	/* rank side: the last call with PLD_REUSE_TARGET */
	struct pld_reuse {
		/* a thread is in such a call */
		atomic_flag busy;
		/* where the next one gathers, 0 or 1 */
		int slot;
		/* the last call's target; data is NULL before the first one */
		const void *data;
		int64_t size, stride[2];
		pld_dtype dtype;
	} reuse;

	/*
	 * rank side: as many more stores in the own memory go past the caches, or, if it
	 * is negative, through them untimed
	 */
	_Atomic int staged;

	/* its number in the domain */
	uint32_t window;
	/* platform kmod */
	uint64_t mmap_offset;
	/* platform memfd; the dma-bufs of an imported buffer, else NULL */
	int fd;
	int *imports;
};

/* Bytes from one cell of a signal to the next: no two on a line pair. */
#define PLD_CELL_STRIDE 128

static inline struct pld_sim_doorbell *pld_doorbell(const pld_domain *domain,
						    int rank)
{
	return (void *)(domain->doorbells +
			(size_t)rank * PLD_SIM_DOORBELL_STRIDE);
}

static inline char *pld_own_base(const pld_window_buffer *buffer)
{
	return buffer->base + (size_t)buffer->domain->rank * buffer->stride;
}

/* Ranks that have memory of their own, not a dma-buf's. */
static inline int pld_own_memories(const pld_window_buffer *buffer)
{
	int own = 0;

	for (int rank = 0; rank < buffer->domain->nranks; rank++)
		own += !buffer->imported[rank];
	return own;
}

static inline size_t pld_span(const pld_window_buffer *buffer)
{
	return (size_t)buffer->domain->nranks * buffer->stride;
}

/* 0 in the process that made the domain, else -EPERM with op's sentence. */
int pld_host_only(const pld_domain *domain, const char *op);
/* The same as a question. */
bool pld_is_host(const pld_domain *domain);

/* In a process that was launched, as a rank of this domain or not? */
static inline bool pld_on_rank_side(const pld_domain *domain)
{
	return domain->rank >= 0 || domain->outsider;
}

/*
 * The list of this process's domains. A rank inherits what all of them have
 * open; it keeps that of its own domain and of the sub-domains alone.
 */
void pld_domain_enlist(pld_domain *domain);
void pld_domains_lock(void);
void pld_domains_unlock(void);
/* In a rank, which has the lock by fork(). */
void pld_domains_forget_others(const pld_domain *domain);

#endif
