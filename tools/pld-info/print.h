/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PLD_INFO_PRINT_H
#define PLD_INFO_PRINT_H

#include "model.h"

/* For people, on standard output. */
void print_table(const struct info *info);
/* For programs (doc/info.md); false when there is no memory for it. */
bool print_json(const struct info *info);

#endif
