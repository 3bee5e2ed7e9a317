/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * What a rank of platform memfd tells a reader from outside while a wait of it
 * sleeps. Where a page has no room left for a wait's cells, they go untold.
 */
#ifndef PLD_PUBLISHED_H
#define PLD_PUBLISHED_H

#include "control.h"
#include "pld.h"

struct pld_wants;

struct pld_published {
	int count;
	/* of page->waited */
	uint8_t slots[PLD_MAX_CONDITIONS];
};

void pld_publish(struct pld_rank_page *page, const struct pld_wants *wants,
		 struct pld_published *published);
void pld_withdraw(struct pld_rank_page *page,
		  const struct pld_published *published);

#endif
