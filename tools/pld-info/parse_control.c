// SPDX-License-Identifier: GPL-2.0
/*
 * The control pages of platform memfd, as they were when they were copied: any
 * rank may have scribbled over them, so that each word is checked before it
 * means something.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "parse.h"
#include "platform/control.h"

#define PAGE PLD_SIM_DOORBELL_STRIDE

static bool no_domain(char why[SENTENCE_BYTES], const char *what)
{
	snprintf(why, SENTENCE_BYTES, "%s", what);
	return false;
}

/* Of a rank's waits so far, the one of that number. */
struct numbered {
	uint32_t number;
	size_t index;
};

static struct wait *find_wait(struct rank *rank, struct numbered *known,
			      const struct pld_waited *waited, int64_t now_ns)
{
	struct wait *wait;

	for (size_t i = 0; i < rank->nr_waits; i++)
		if (known[i].number == waited->wait)
			return &rank->waits[known[i].index];
	known[rank->nr_waits] =
		(struct numbered){ waited->wait, rank->nr_waits };
	wait = GROW(rank->waits, rank->nr_waits);
	wait->any = waited->cmp & PLD_WAITED_ANY;
	if (waited->since_ns >= 0 && now_ns > waited->since_ns)
		wait->waiting_ns = (uint64_t)(now_ns - waited->since_ns);
	return wait;
}

static void take_waited(struct rank *rank, struct numbered *known,
			const struct pld_waited *waited, int64_t now_ns)
{
	uint32_t cmp = waited->cmp & ~PLD_WAITED_ANY;
	struct wait *wait;
	struct cell *cell;

	if (!waited->wait || waited->wait == PLD_WAITED_TAKEN ||
	    (cmp != PLD_SIM_CMP_EQ && cmp != PLD_SIM_CMP_GE))
		return;
	wait = find_wait(rank, known, waited, now_ns);
	if (wait->nr_cells >= PLD_SIM_MAX_CONDITIONS)
		return;
	cell = GROW(wait->cells, wait->nr_cells);
	cell->window = waited->window;
	cell->offset = waited->offset;
	cell->cmp = cmp;
	cell->expected = waited->expected;
}

static void take_rank(struct rank *rank, const char *bytes, uint32_t state,
		      uint32_t device, int64_t now_ns, uint32_t *pid)
{
	struct numbered known[PLD_WAITED];
	struct pld_rank_page page;

	memcpy(&page, bytes, sizeof(page));
	/* What is no state is shown as the worst. */
	rank->state = state <= PLD_RANK_DEAD ? state : PLD_RANK_DEAD;
	rank->device = device;
	rank->pid = -1;
	rank->rings = page.doorbell.bell;
	*pid = page.pid;
	/* Others have left what they waited for when they ended. */
	if (rank->state != PLD_RANK_JOINED)
		return;
	rank->sleeping = page.doorbell.waiters;
	for (size_t i = 0; i < PLD_WAITED; i++)
		take_waited(rank, known, &page.waited[i], now_ns);
}

bool parse_control(const void *bytes, size_t length, int64_t now_ns,
		   struct control *control, char why[SENTENCE_BYTES])
{
	struct domain *domain = &control->domain;
	struct pld_control page;
	uint32_t nranks;
	size_t nr_pids = 0;

	*control = (struct control){ 0 };
	if (length < PAGE)
		return no_domain(why, "it is too short");
	memcpy(&page, bytes, sizeof(page));
	nranks = page.status.nranks;
	if (page.magic != PLD_CONTROL_MAGIC || page.layout != PLD_CONTROL_LAYOUT)
		return no_domain(why, "it is of another version of libpld");
	if (!nranks || nranks > PLD_SIM_MAX_RANKS ||
	    length != (nranks + 1) * PAGE)
		return no_domain(why, "its number of ranks makes no sense");
	control->host = page.host;
	domain->platform = MEMFD;
	domain->epoch = page.status.epoch;
	domain->reason = page.status.reason <= PLD_FAIL_OUTSIDE
				 ? page.status.reason
				 : PLD_FAIL_OUTSIDE;
	domain->culprit = page.status.rank;
	domain->code = page.status.code;
	domain->maker = -1;
	for (uint32_t rank = 0; rank < nranks; rank++)
		take_rank(GROW(domain->ranks, domain->nr_ranks),
			  (const char *)bytes + (rank + 1) * PAGE,
			  page.status.rank_state[rank], page.devices[rank],
			  now_ns, GROW(control->pids, nr_pids));
	return true;
}

/* The name without what the kernel puts before it. */
static const char *memfd_name(const char *link)
{
	static const char before[] = "/memfd:";
	size_t length = sizeof(before) - 1;

	return strncmp(link, before, length) ? NULL : link + length;
}

bool is_control_name(const char *link)
{
	const char *name = memfd_name(link);

	return name && !strcmp(name, PLD_CONTROL_NAME " (deleted)");
}

bool parse_window_name(const char *link, struct window_name *name)
{
	const char *text = memfd_name(link);
	unsigned long long bytes, control;
	unsigned int signal;
	char again[256];

	if (!text || sscanf(text, PLD_WINDOW_NAME, &name->id, &bytes, &signal,
			    &control) != 4)
		return false;
	/* scanf() is generous; the name is exact. */
	snprintf(again, sizeof(again), PLD_WINDOW_NAME " (deleted)", name->id,
		 bytes, signal, control);
	if (strcmp(text, again) || signal > 1)
		return false;
	name->bytes = bytes;
	name->signal = signal;
	name->control = control;
	return true;
}
