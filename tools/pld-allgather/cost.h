/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The cost card: what each rank moved, as counted, beside what an allgather
 * costs by the formula.
 */
#ifndef PLD_ALLGATHER_COST_H
#define PLD_ALLGATHER_COST_H

#include <stdbool.h>

#include "options.h"

/* Prints the card; false, with what differs on standard error. */
bool cost_card(const struct options *options, const pld_domain *domain);

#endif
