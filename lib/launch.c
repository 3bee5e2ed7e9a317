// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * The launcher: forks a process per rank, watches each by its pidfd, publishes
 * deaths, and ends a launch in which a rank has failed.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"
#include "error.h"
#include "health.h"
#include "launch.h"
#include "platform/platform.h"

/* How long the others have to return by themselves after a failure. */
#define GRACE_NS (2 * PLD_NS_PER_S)
/* After pld_abort(), whose promise is that all ends within a second. */
#define ABORT_GRACE_NS (200 * PLD_NS_PER_MS)

/* The host side's view of a launch; lives in pld_launch()'s frame. */
struct watch {
	pld_domain *domain;
	pld_rank_report *reports;
	pid_t pids[PLD_MAX_RANKS];
	/* [nranks] is the abort event */
	struct pollfd polls[PLD_MAX_RANKS + 1];
	int running;
	/* when the rest is killed, INT64_MAX while all is well */
	int64_t deadline;
	bool killed;
	bool aborted;
	/* the failure that the launch returns; first-hand ones come first */
	pld_rank_report cause;
	bool cause_firsthand;
};

static size_t shared_bytes(const pld_domain *domain)
{
	return sizeof(struct pld_launch) +
	       (size_t)domain->nranks * sizeof(struct pld_rank_slot);
}

static int share(pld_domain *domain)
{
	struct pld_launch *launch;
	int event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);

	if (event < 0)
		return pld_error(errno, "pld_launch: eventfd: %s",
				 strerror(errno));
	launch = mmap(NULL, shared_bytes(domain), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (launch == MAP_FAILED) {
		int error = errno;

		close(event);
		return pld_error(error, "pld_launch: mmap: %s", strerror(error));
	}
	launch->abort_event = event;
	domain->launch = launch;
	return 0;
}

static void unshare_launch(pld_domain *domain)
{
	close(domain->launch->abort_event);
	munmap(domain->launch, shared_bytes(domain));
	domain->launch = NULL;
}

static void kill_rest(struct watch *watch)
{
	for (int rank = 0; rank < watch->domain->nranks; rank++)
		if (watch->polls[rank].fd >= 0)
			kill(watch->pids[rank], SIGKILL);
	watch->killed = true;
	watch->deadline = INT64_MAX;
}

static void set_cause(struct watch *watch, const pld_rank_report *report,
		      bool firsthand)
{
	if (!watch->killed && !watch->aborted)
		watch->deadline = pld_deadline(GRACE_NS);
	if (watch->cause.error && (watch->cause_firsthand || !firsthand))
		return;
	watch->cause = *report;
	watch->cause_firsthand = firsthand;
}

static void report_death(struct watch *watch, int rank, const siginfo_t *info)
{
	pld_rank_report *report = &watch->reports[rank];

	if (watch->killed && info->si_code == CLD_KILLED &&
	    info->si_status == SIGKILL) {
		report->error = -ECANCELED;
		snprintf(report->message, sizeof(report->message),
			 "rank %d was killed: it went on after the failure",
			 rank);
		return;
	}
	report->error = -EOWNERDEAD;
	if (info->si_code == CLD_EXITED)
		snprintf(report->message, sizeof(report->message),
			 "rank %d died: it exited with status %d before its kernel returned",
			 rank, info->si_status);
	else
		snprintf(report->message, sizeof(report->message),
			 "rank %d died: killed by signal %d (%s)", rank,
			 info->si_status, strsignal(info->si_status));
	watch->domain->platform->fail(watch->domain, PLD_FAIL_DEAD, rank,
				      -EOWNERDEAD);
	set_cause(watch, report, true);
}

/* The slot is the rank's to write: nothing in it is taken on trust. */
static void report_return(struct watch *watch, int rank,
			  const struct pld_rank_slot *slot)
{
	pld_rank_report *report = &watch->reports[rank];
	int error = slot->error;

	if (error >= 0)
		return;
	report->error = error;
	snprintf(report->message, sizeof(report->message), "rank %d: %.*s",
		 rank, (int)sizeof(slot->message) - 20, slot->message);
	set_cause(watch, report, !slot->secondhand);
}

static void rank_ended(struct watch *watch, int rank)
{
	const struct pld_rank_slot *slot = &watch->domain->launch->slots[rank];
	siginfo_t info = { .si_code = CLD_EXITED };

	while (waitid(P_PID, (id_t)watch->pids[rank], &info, WEXITED) &&
	       errno == EINTR)
		;
	close(watch->polls[rank].fd);
	watch->polls[rank].fd = -1;
	watch->running--;
	/* Acquire: pairs with the release in fill_slot(). */
	if (__atomic_load_n(&slot->returned, __ATOMIC_ACQUIRE))
		report_return(watch, rank, slot);
	else
		report_death(watch, rank, &info);
}

static void abort_asked(struct watch *watch)
{
	/* Acquire: pairs with the release in pld_abort(). */
	uint64_t abort = __atomic_load_n(&watch->domain->launch->abort,
					 __ATOMIC_ACQUIRE);
	pld_rank_report report = { .error = -ECANCELED };
	int code = (int)(uint32_t)abort;

	watch->polls[watch->domain->nranks].fd = -1;
	watch->aborted = true;
	watch->deadline = watch->killed ? INT64_MAX
					: pld_deadline(ABORT_GRACE_NS);
	watch->domain->abort_code = code;
	snprintf(report.message, sizeof(report.message),
		 "rank %d aborted with code %d", (int)(abort >> 32) - 1, code);
	set_cause(watch, &report, true);
}

static int timeout_ms(int64_t deadline)
{
	int64_t left;

	if (deadline == INT64_MAX)
		return -1;
	left = deadline - pld_now();
	return left <= 0 ? 0 : (int)(left / PLD_NS_PER_MS + 1);
}

static void wait_for_all(struct watch *watch)
{
	int nranks = watch->domain->nranks;

	while (watch->running) {
		if (poll(watch->polls, (nfds_t)nranks + 1,
			 timeout_ms(watch->deadline)) < 0)
			continue;
		if (watch->polls[nranks].revents)
			abort_asked(watch);
		for (int rank = 0; rank < nranks; rank++)
			if (watch->polls[rank].fd >= 0 &&
			    watch->polls[rank].revents)
				rank_ended(watch, rank);
		if (pld_now() >= watch->deadline)
			kill_rest(watch);
	}
}

static int start_rank(struct watch *watch, int rank, pid_t self,
		      pld_kernel *kernel, void *arg)
{
	pid_t pid = fork();

	if (!pid)
		pld_rank_main(watch->domain, rank, self, kernel, arg);
	if (pid < 0)
		return pld_error(errno, "pld_launch: cannot fork rank %d: %s",
				 rank, strerror(errno));
	watch->pids[rank] = pid;
	watch->polls[rank].fd = pidfd_open(pid, 0);
	watch->polls[rank].events = POLLIN;
	if (watch->polls[rank].fd < 0) {
		int error = errno;

		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		return pld_error(error, "pld_launch: pidfd_open: %s",
				 strerror(error));
	}
	watch->running++;
	return 0;
}

static int start_all(struct watch *watch, pld_kernel *kernel, void *arg)
{
	pid_t self = getpid();

	/* So that no rank prints again what waits to be printed here. */
	fflush(NULL);
	for (int rank = 0; rank < watch->domain->nranks; rank++)
		PLD_TRY(start_rank(watch, rank, self, kernel, arg));
	return 0;
}

static int finish(struct watch *watch)
{
	pld_domain *domain = watch->domain;

	domain->launched = true;
	domain->broken = watch->cause.error;
	memcpy(domain->broken_message, watch->cause.message,
	       sizeof(domain->broken_message));
	if (!domain->broken)
		return 0;
	return pld_error(-domain->broken, "%s", domain->broken_message);
}

static int run(pld_domain *domain, pld_kernel *kernel, void *arg,
	       pld_rank_report *reports)
{
	struct watch watch = {
		.domain = domain,
		.reports = reports,
		.deadline = INT64_MAX,
	};
	int error;

	for (int i = 0; i < domain->nranks; i++)
		watch.polls[i].fd = -1;
	watch.polls[domain->nranks].fd = domain->launch->abort_event;
	watch.polls[domain->nranks].events = POLLIN;
	error = start_all(&watch, kernel, arg);
	if (error) {
		watch.cause.error = error;
		snprintf(watch.cause.message, sizeof(watch.cause.message), "%s",
			 pld_last_error());
		watch.cause_firsthand = true;
		kill_rest(&watch);
	}
	wait_for_all(&watch);
	return finish(&watch);
}

int pld_launch(pld_domain *domain, pld_kernel *kernel, void *arg,
	       pld_rank_report *reports)
{
	pld_rank_report *own;
	int error;

	PLD_TRY(pld_host_only(domain, "pld_launch"));
	if (!kernel)
		return pld_error(EINVAL, "pld_launch: kernel must not be NULL");
	if (domain->broken)
		return pld_error(-domain->broken, "%s", domain->broken_message);
	if (domain->launched)
		PLD_TRY(pld_domain_reset(domain));
	own = calloc((size_t)domain->nranks, sizeof(*own));
	if (!own)
		return pld_error(ENOMEM, "pld_launch: out of memory");
	error = share(domain);
	if (!error) {
		error = run(domain, kernel, arg, own);
		unshare_launch(domain);
	}
	if (reports)
		memcpy(reports, own, (size_t)domain->nranks * sizeof(*own));
	free(own);
	return error;
}
