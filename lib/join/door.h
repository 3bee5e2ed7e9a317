/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * The server's door: its socket, and everybody who has come to it but is no
 * running rank (yet). Whatever comes in is a stranger's until it has shown to be
 * none: nothing here blocks, and each has a deadline.
 *
 * Owned by pld_domain_serve(); its watch looks at it while the ranks run.
 */
#ifndef PLD_DOOR_H
#define PLD_DOOR_H

#include <stdbool.h>
#include <stdint.h>

#include "pld_join.h"

struct pld_door;
struct pld_watch;

/* Of the ranks with a flag in expected, who come before the deadline. */
int pld_door_open(pld_domain *domain, const pld_serve_options *options,
		  const bool *expected, int64_t deadline,
		  struct pld_door **door);
/* Says the error and pld_last_error() to who waits, and frees the door. */
void pld_door_close(struct pld_door *door, int error);
/* Of a forked rank: closes what it has inherited of it. */
void pld_door_forget(struct pld_door *door);

/* Readable when a look is due, as is the deadline when it is over. */
int pld_door_fd(const struct pld_door *door);
int64_t pld_door_deadline(const struct pld_door *door);
/* Does what is to be done; true when somebody asks the server to stop. */
bool pld_door_look(struct pld_door *door);

/* Is an expected rank not here? */
bool pld_door_lacks(const struct pld_door *door, int rank);
/* Starts those that have come, and hands them over. */
void pld_door_start(struct pld_door *door, struct pld_watch *watch);

#endif
