/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * Ranks that were cut off: processes that may still have the windows, and write
 * to them. The host side keeps track of them until they are gone.
 */
#ifndef PLD_STRAYS_H
#define PLD_STRAYS_H

#include <sys/types.h>

#include "domain.h"

/* Cuts that rank off; the descriptors are the domain's from here on. */
void pld_stray_add(pld_domain *domain, int rank, pid_t pid, int pidfd,
		   int socket);
/* 0 when none is left, else pld_domain_reset()'s -EBUSY. */
int pld_strays_check(pld_domain *domain);
void pld_strays_forget(pld_domain *domain);

#endif
