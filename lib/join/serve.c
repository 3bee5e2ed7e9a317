// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * Serving a domain: waits for the ranks that come in, forks the others, starts
 * all, and watches them as a launch does.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>

#include "clock.h"
#include "error.h"
#include "fd.h"
#include "join/door.h"
#include "watch.h"

static const char op[] = "pld_domain_serve";

static int check_ranks(const pld_domain *domain,
		       const pld_serve_options *options, bool *expected)
{
	int count = options->ranks ? options->nranks : domain->nranks;

	if (count < 1 || count > domain->nranks)
		return pld_error(EINVAL,
				 "%s: options.nranks is %d, wanted 1 to %d", op,
				 count, domain->nranks);
	for (int i = 0; i < count; i++) {
		int rank = options->ranks ? options->ranks[i] : i;

		if (rank < 0 || rank >= domain->nranks)
			return pld_error(ERANGE,
					 "%s: options.ranks[%d] is %d, wanted 0 to %d",
					 op, i, rank, domain->nranks - 1);
		if (expected[rank])
			return pld_error(EINVAL, "%s: rank %d is named twice",
					 op, rank);
		expected[rank] = true;
	}
	if (count < domain->nranks && !options->kernel)
		return pld_error(EINVAL,
				 "%s: options.kernel must not be NULL: %d ranks do not come in",
				 op, domain->nranks - count);
	return 0;
}

static int check(const pld_domain *domain, const pld_serve_options *options,
		 bool *expected)
{
	PLD_TRY(pld_host_only(domain, op));
	if (!options)
		return pld_error(EINVAL, "%s: options must not be NULL", op);
	if (domain->subdomains)
		return pld_error(EOPNOTSUPP,
				 "%s: the domain has sub-domains, which ranks that come in cannot have",
				 op);
	if (domain->observe)
		return pld_error(EOPNOTSUPP,
				 "%s: the domain observes, which ranks that come in cannot do",
				 op);
	if (options->timeout_ns < 0)
		return pld_error(EINVAL,
				 "%s: options.timeout_ns is %lld, wanted 0 or more",
				 op, (long long)options->timeout_ns);
	if (options->note_bytes > PLD_MAX_NOTE)
		return pld_error(EINVAL,
				 "%s: note of %zu bytes, wanted at most %d", op,
				 options->note_bytes, PLD_MAX_NOTE);
	if (options->note_bytes && !options->note)
		return pld_error(EINVAL, "%s: options.note must not be NULL",
				 op);
	return check_ranks(domain, options, expected);
}

static int make_stop(pld_domain *domain)
{
	int fd;

	if (domain->stop_fd)
		return 0;
	fd = pld_fd_above_stdio(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
	if (fd < 0)
		return pld_error(errno, "%s: eventfd: %s", op, strerror(errno));
	domain->stop_fd = fd;
	return 0;
}

/* Async-signal-safe. */
void pld_domain_serve_stop(pld_domain *domain)
{
	if (domain && domain->stop_fd > 0)
		eventfd_write(domain->stop_fd, 1);
}

static bool complete(const struct pld_door *door, int nranks)
{
	for (int rank = 0; rank < nranks; rank++)
		if (pld_door_lacks(door, rank))
			return false;
	return true;
}

static int never_came(const struct pld_door *door, int nranks)
{
	char list[200] = "";
	size_t at = 0;
	int missing = 0;

	for (int rank = 0; rank < nranks; rank++) {
		if (!pld_door_lacks(door, rank))
			continue;
		if (at < sizeof(list) - 8)
			at += (size_t)snprintf(list + at, sizeof(list) - at,
					       missing ? ", %d" : "%d", rank);
		missing++;
	}
	return pld_error(ETIMEDOUT, "%s: timed out: rank%s %s%s never came", op,
			 missing == 1 ? "" : "s", list,
			 at < sizeof(list) - 8 ? "" : "...");
}

static int wait_for_ranks(struct pld_door *door, int nranks, int64_t deadline)
{
	struct pollfd poll_door = { pld_door_fd(door), POLLIN, 0 };

	while (!complete(door, nranks)) {
		if (pld_now() >= deadline)
			return never_came(door, nranks);
		poll(&poll_door, 1, pld_timeout_ms(pld_door_deadline(door)));
		if (pld_door_look(door))
			return pld_error(ECANCELED,
					 "%s: stopped before all ranks had come",
					 op);
	}
	return 0;
}

static int run(struct pld_watch *watch, const pld_serve_options *options,
	       struct pld_door *door, const bool *expected)
{
	int error;

	watch->door = door;
	error = pld_fork_ranks(watch, expected, options->kernel, options->arg);
	if (error) {
		watch->door = NULL;
		pld_watch_fail(watch, error);
		pld_door_close(door, error);
		pld_watch_all(watch);
		return error;
	}
	pld_door_start(door, watch);
	pld_watch_all(watch);
	pld_door_close(door, 0);
	return 0;
}

int pld_domain_serve(pld_domain *domain, const pld_serve_options *options,
		     pld_rank_report *reports)
{
	bool expected[PLD_MAX_RANKS] = { false };
	struct pld_watch *watch;
	struct pld_door *door;
	int64_t deadline;
	int error;

	PLD_TRY(check(domain, options, expected));
	PLD_TRY(make_stop(domain));
	PLD_TRY(pld_watch_begin(domain, op, &watch));
	deadline = pld_deadline(options->timeout_ns ? options->timeout_ns
						    : domain->timeout_ns);
	error = pld_door_open(domain, options, expected, deadline, &door);
	if (error) {
		pld_watch_drop(watch);
		return error;
	}
	error = wait_for_ranks(door, domain->nranks, deadline);
	if (error) {
		pld_door_close(door, error);
		pld_watch_drop(watch);
		return error;
	}
	run(watch, options, door, expected);
	return pld_watch_end(watch, reports);
}
