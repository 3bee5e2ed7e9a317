/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
#ifndef PLD_AVAILABLE_H
#define PLD_AVAILABLE_H

#include "domain.h"

/*
 * 0, or -ENOMEM with asked and available bytes when buffer->bytes on each rank
 * would leave the ranks themselves too little.
 */
int pld_check_available(const pld_window_buffer *buffer);
/* That error's sentence, for a platform that finds it out by itself. */
int pld_not_available(const pld_window_buffer *buffer, uint64_t available);

#endif
