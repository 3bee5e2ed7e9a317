/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * A rank that came in by itself: its tie to the server.
 */
#ifndef PLD_JOINED_H
#define PLD_JOINED_H

#include <pthread.h>
#include <stdatomic.h>

#include "domain.h"
#include "pld_join.h"

struct pld_joined {
	/* to the server; what comes on it after the start is its end */
	int socket;
	/* waits for that end, in the rank's process */
	pthread_t watcher;
	bool watching;
	/* raised before the socket is shut down here */
	atomic_bool leaving;
	size_t note_bytes;
	char note[PLD_MAX_NOTE];
};

/* From the start on: breaks the domain when the server goes away. */
int pld_joined_watch(pld_domain *domain);
void pld_joined_unwatch(pld_domain *domain);

/* What the watcher breaks the domain with. */
#define PLD_SERVER_GONE (-ECONNRESET)
/* Has the server closed the connection, or ended? Waits so long for it. */
bool pld_server_gone(const pld_domain *domain, int64_t timeout_ns);

#endif
