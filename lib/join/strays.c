// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * A stray is gone when its process has ended, or has closed its socket, which it
 * does when everything is unmapped.
 */
#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "error.h"
#include "join/strays.h"

void pld_stray_add(pld_domain *domain, int rank, pid_t pid, int pidfd,
		   int socket)
{
	/* Its reading ends; that of its end of the socket stays to be seen. */
	shutdown(socket, SHUT_WR);
	domain->strays[rank] = (struct pld_stray){
		.pidfd = pidfd,
		.socket = socket,
		.pid = pid,
	};
}

static bool is_gone(const struct pld_stray *stray)
{
	struct pollfd polls[] = {
		{ stray->pidfd, POLLIN, 0 },
		{ stray->socket, 0, 0 },
	};

	return poll(polls, 2, 0) > 0;
}

static void forget(struct pld_stray *stray)
{
	if (!stray->pidfd)
		return;
	close(stray->pidfd);
	close(stray->socket);
	stray->pidfd = 0;
}

int pld_strays_check(pld_domain *domain)
{
	for (int rank = 0; rank < domain->nranks; rank++) {
		struct pld_stray *stray = &domain->strays[rank];

		if (stray->pidfd && !is_gone(stray))
			return pld_error(EBUSY,
					 "pld_domain_reset: process %d, which was cut off as rank %d, has not left yet",
					 stray->pid, rank);
		forget(stray);
	}
	return 0;
}

void pld_strays_forget(pld_domain *domain)
{
	for (int rank = 0; rank < domain->nranks; rank++)
		forget(&domain->strays[rank]);
}
