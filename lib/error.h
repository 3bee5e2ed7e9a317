/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * The calling thread's last failure. Owned by its thread, so no lock.
 */
#ifndef PLD_ERROR_H
#define PLD_ERROR_H

#include <stdbool.h>

#include "pld.h"

struct pld_failure {
	/* negative errno, 0 before the first failure */
	int error;
	/* the rank of the launched domain that is to blame, or -1 */
	int culprit;
	/* told by the broken domain, not found by this rank */
	bool secondhand;
	char message[512];
};

/*
 * Records the sentence and returns -error; error is a positive errno. Exported
 * for the libraries of this tree that stand on this one, and for nobody else.
 */
PLD_API int pld_error(int error, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* What may be an errno, of all that somebody else says is one. */
#define PLD_LARGEST_ERRNO 4095

/* The record, to add to after pld_error(). */
struct pld_failure *pld_failure(void);

#endif
