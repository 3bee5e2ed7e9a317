// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * The launcher: forks a process per rank, and waits for all of them.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "error.h"
#include "fd.h"
#include "watch.h"

/* A pipe whose reading end does not block; both above the standard streams. */
static int make_pipe(int ends[2])
{
	if (pipe2(ends, O_CLOEXEC))
		return -errno;
	ends[0] = pld_fd_above_stdio(ends[0]);
	ends[1] = pld_fd_above_stdio(ends[1]);
	if (ends[0] >= 0 && ends[1] >= 0 && !fcntl(ends[0], F_SETFL, O_NONBLOCK))
		return 0;
	if (ends[0] >= 0)
		close(ends[0]);
	if (ends[1] >= 0)
		close(ends[1]);
	return -EMFILE;
}

struct start {
	pld_kernel *kernel;
	void *arg;
	struct pld_pinning *pinning;
	pid_t self;
};

static int start_rank(struct pld_watch *watch, int rank,
		      const struct start *start)
{
	int error, ends[2];
	pid_t pid;

	error = make_pipe(ends);
	if (error)
		return pld_error(-error, "%s: pipe: %s", watch->op,
				 strerror(-error));
	pid = fork();
	if (!pid) {
		close(ends[0]);
		pld_watch_forget(watch);
		watch->domain->launcher_fd = ends[1];
		pld_pinning_apply(start->pinning, rank);
		pld_rank_main(watch->domain, rank, start->self, start->kernel,
			      start->arg);
	}
	error = errno;
	close(ends[1]);
	if (pid > 0)
		return pld_watch_forked(watch, rank, pid, ends[0]);
	close(ends[0]);
	return pld_error(error, "%s: cannot fork rank %d: %s", watch->op, rank,
			 strerror(error));
}

int pld_fork_ranks(struct pld_watch *watch, const bool *elsewhere,
		   pld_kernel *kernel, void *arg)
{
	pld_domain *domain = watch->domain;
	struct start start = {
		.kernel = kernel,
		.arg = arg,
		.pinning = pld_pinning_create(domain->nranks),
		.self = getpid(),
	};
	int error = 0;

	/*
	 * So that no rank prints again what waits to be printed here. Not all
	 * streams: another thread may sit in a read of one.
	 */
	fflush(stdout);
	/* A rank reads the list of domains: it must not be half-written. */
	pld_domains_lock();
	for (int rank = 0; rank < domain->nranks && !error; rank++)
		if (!elsewhere || !elsewhere[rank])
			error = start_rank(watch, rank, &start);
	pld_domains_unlock();
	pld_pinning_destroy(start.pinning);
	return error;
}

int pld_launch(pld_domain *domain, pld_kernel *kernel, void *arg,
	       pld_rank_report *reports)
{
	struct pld_watch *watch;
	int error;

	PLD_TRY(pld_host_only(domain, "pld_launch"));
	if (!kernel)
		return pld_error(EINVAL, "pld_launch: kernel must not be NULL");
	PLD_TRY(pld_watch_begin(domain, "pld_launch", &watch));
	error = pld_fork_ranks(watch, NULL, kernel, arg);
	if (error)
		pld_watch_fail(watch, error);
	pld_watch_all(watch);
	return pld_watch_end(watch, reports);
}
