// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * Noticing that the server is gone. A forked rank ends with its launcher; this
 * process has a life of its own, so a thread of it waits for the socket's end.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>

#include "error.h"
#include "join/joined.h"
#include "platform/platform.h"
#include "watch.h"

bool pld_server_gone(const pld_domain *domain, int64_t timeout_ns)
{
	struct pollfd end = { domain->joined->socket, POLLRDHUP, 0 };

	return pld_ready_within(&end, timeout_ns);
}

static void *watch_server(void *arg)
{
	pld_domain *domain = arg;
	struct pld_joined *joined = domain->joined;
	char nothing;
	ssize_t bytes;

	do
		bytes = recv(joined->socket, &nothing, sizeof(nothing), 0);
	while (bytes > 0 || (bytes < 0 && errno == EINTR));
	/* Acquire: pairs with the release in pld_joined_unwatch(). */
	if (!atomic_load_explicit(&joined->leaving, memory_order_acquire))
		domain->platform->fail(domain, PLD_FAIL_ERROR, domain->rank,
				       PLD_SERVER_GONE);
	return NULL;
}

/* The program's signals are for its own threads. */
int pld_joined_watch(pld_domain *domain)
{
	struct pld_joined *joined = domain->joined;
	sigset_t all, before;
	int error;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	error = pthread_create(&joined->watcher, NULL, watch_server, domain);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (error)
		return pld_error(error,
				 "pld_domain_connect: cannot start a thread: %s",
				 strerror(error));
	joined->watching = true;
	return 0;
}

/* Only the reading side: the server must not take this for the end yet. */
void pld_joined_unwatch(pld_domain *domain)
{
	struct pld_joined *joined = domain->joined;

	if (!joined->watching)
		return;
	/* Release: the thread sees it when it sees the end of its reading. */
	atomic_store_explicit(&joined->leaving, true, memory_order_release);
	shutdown(joined->socket, SHUT_RD);
	pthread_join(joined->watcher, NULL);
	joined->watching = false;
}
