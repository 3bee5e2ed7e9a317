// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * The host's side: making observers, and reading what ranks have left in them.
 */
#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/mman.h>

#include "domain.h"
#include "error.h"
#include "observe.h"
#include "observer.h"

int pld_observers_create(pld_domain *domain)
{
	pld_observers_destroy(domain);
	if (!domain->observe)
		return 0;
	for (int rank = 0; rank < domain->nranks; rank++) {
		/* A page is taken when it is written to: short runs need few. */
		void *observer =
			mmap(NULL, sizeof(struct pld_observer),
			     PROT_READ | PROT_WRITE,
			     MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

		if (observer == MAP_FAILED)
			return pld_error(ENOMEM,
					 "pld_launch: no memory for the trace of rank %d",
					 rank);
		domain->observers[rank] = observer;
	}
	return 0;
}

static void unmap(pld_domain *domain, int rank)
{
	if (domain->observers[rank])
		munmap(domain->observers[rank], sizeof(struct pld_observer));
	domain->observers[rank] = NULL;
}

void pld_observers_destroy(pld_domain *domain)
{
	for (int rank = 0; rank < domain->nranks; rank++)
		unmap(domain, rank);
}

/* A child that the rank forks is no rank. */
static void forget_in_child(void)
{
	pld_observer = NULL;
}

void pld_observers_enter(pld_domain *domain)
{
	if (!domain->observers[domain->rank])
		return;
	for (int rank = 0; rank < domain->nranks; rank++)
		if (rank != domain->rank)
			unmap(domain, rank);
	pld_observer = domain->observers[domain->rank];
	pthread_atfork(NULL, NULL, forget_in_child);
}

static int find(const char *op, const pld_domain *domain, int rank,
		const struct pld_observer **observer)
{
	*observer = NULL;
	if (!domain || domain->rank >= 0)
		return pld_error(domain ? EPERM : EINVAL,
				 "%s: wanted a domain of the host side", op);
	if (rank < 0 || rank >= domain->nranks)
		return pld_error(ERANGE, "%s: rank is %d, wanted 0 to %d", op,
				 rank, domain->nranks - 1);
	if (!domain->observers[rank])
		return pld_error(ENODATA,
				 "%s: nothing was observed: set observe in the domain's options, and launch",
				 op);
	*observer = domain->observers[rank];
	return 0;
}

static uint64_t read_counter(const _Atomic uint64_t *counter)
{
	/* Relaxed: the rank's process has ended. */
	return atomic_load_explicit(counter, memory_order_relaxed);
}

static void add_traffic(const struct pld_traffic *traffic, uint64_t *bytes,
			uint64_t *messages)
{
	*bytes += read_counter(&traffic->bytes);
	*messages += read_counter(&traffic->messages);
}

int pld_launch_cost(const pld_domain *domain, int rank, pld_cost *cost)
{
	static const char op[] = "pld_launch_cost";
	const struct pld_observer *own, *peer;

	PLD_TRY(find(op, domain, rank, &own));
	if (!cost)
		return pld_error(EINVAL, "%s: cost must not be NULL", op);
	*cost = (pld_cost){
		.notifies = read_counter(&own->notifies),
		.own_notifies = read_counter(&own->own_notifies),
		.waits = read_counter(&own->waits),
	};
	for (int i = 0; i < domain->nranks; i++) {
		if (i == rank)
			continue;
		PLD_TRY(find(op, domain, i, &peer));
		add_traffic(&own->to[i], &cost->bytes_sent,
			    &cost->messages_sent);
		add_traffic(&peer->from[rank], &cost->bytes_sent,
			    &cost->messages_sent);
		add_traffic(&own->from[i], &cost->bytes_received,
			    &cost->messages_received);
		add_traffic(&peer->to[rank], &cost->bytes_received,
			    &cost->messages_received);
	}
	return 0;
}

int pld_trace_length(const pld_domain *domain, int rank, uint64_t *records,
		     uint64_t *lost)
{
	static const char op[] = "pld_trace_length";
	const struct pld_observer *observer;
	uint64_t ever;

	PLD_TRY(find(op, domain, rank, &observer));
	if (!records)
		return pld_error(EINVAL, "%s: records must not be NULL", op);
	ever = read_counter(&observer->records);
	*records = ever < PLD_TRACE_RECORDS ? ever : PLD_TRACE_RECORDS;
	if (lost)
		*lost = ever - *records;
	return 0;
}

int pld_trace_get(const pld_domain *domain, int rank, uint64_t index,
		  pld_trace_record *record)
{
	static const char op[] = "pld_trace_get";
	const struct pld_observer *observer = NULL;
	const struct pld_slot *slot;
	uint64_t records, lost;

	PLD_TRY(find(op, domain, rank, &observer));
	PLD_TRY(pld_trace_length(domain, rank, &records, &lost));
	if (!record)
		return pld_error(EINVAL, "%s: record must not be NULL", op);
	slot = &observer->slots[(lost + index) % PLD_TRACE_RECORDS];
	/* Acquire: pairs with the release of who wrote it. */
	if (index >= records ||
	    atomic_load_explicit(&slot->number, memory_order_acquire) !=
		    lost + index + 1)
		return pld_error(ERANGE, "%s: rank %d has no whole record %llu",
				 op, rank, (unsigned long long)index);
	*record = slot->record;
	return 0;
}
