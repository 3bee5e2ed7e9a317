/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Sleeping for all of a time, though signals come.
 */
#ifndef PLD_SLEEP_H
#define PLD_SLEEP_H

#include <errno.h>
#include <time.h>

static inline void sleep_ms(int ms)
{
	struct timespec left = { ms / 1000, ms % 1000 * 1000000L };

	while (nanosleep(&left, &left) && errno == EINTR)
		;
}

#endif /* PLD_SLEEP_H */
