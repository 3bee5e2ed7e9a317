// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * Telling what a wait sleeps for. Each cell takes a slot of the rank's page;
 * threads of the rank compete for slots, and for nothing else.
 */
#include "clock.h"
#include "look.h"
#include "published.h"

/* The next free slot from *at on, now taken; -1 when there is none. */
static int take_slot(struct pld_rank_page *page, int *at)
{
	while (*at < PLD_WAITED) {
		int slot = (*at)++;
		uint32_t free = 0;

		/* Acquire: pairs with the release of whoever had it before. */
		if (__atomic_compare_exchange_n(&page->waited[slot].wait, &free,
						PLD_WAITED_TAKEN, false,
						__ATOMIC_ACQUIRE,
						__ATOMIC_RELAXED))
			return slot;
	}
	return -1;
}

/* Neither of the words that wait may not be. */
static uint32_t next_wait(struct pld_rank_page *page)
{
	uint32_t wait;

	do
		wait = __atomic_add_fetch(&page->last_wait, 1, __ATOMIC_RELAXED);
	while (!wait || wait == PLD_WAITED_TAKEN);
	return wait;
}

static void fill(struct pld_waited *waited, const struct pld_wants *wants,
		 int index, int64_t since_ns)
{
	const struct pld_wanted *wanted = &wants->cells[index];

	waited->window = wanted->buffer->window;
	waited->offset = wanted->offset;
	waited->expected = wanted->expected;
	waited->cmp = (wanted->cmp == PLD_EQ ? PLD_SIM_CMP_EQ : PLD_SIM_CMP_GE) |
		      (wants->any ? PLD_WAITED_ANY : 0);
	waited->since_ns = since_ns;
}

void pld_publish(struct pld_rank_page *page, const struct pld_wants *wants,
		 struct pld_published *published)
{
	uint32_t wait = next_wait(page);
	int64_t now = pld_now();
	int at = 0;

	published->count = 0;
	while (published->count < wants->count) {
		int slot = take_slot(page, &at);

		if (slot < 0)
			return;
		fill(&page->waited[slot], wants, published->count, now);
		/* Release: who sees the number sees the cell. */
		__atomic_store_n(&page->waited[slot].wait, wait,
				 __ATOMIC_RELEASE);
		published->slots[published->count++] = (uint8_t)slot;
	}
}

void pld_withdraw(struct pld_rank_page *page,
		  const struct pld_published *published)
{
	for (int i = 0; i < published->count; i++)
		__atomic_store_n(&page->waited[published->slots[i]].wait, 0,
				 __ATOMIC_RELEASE);
}
