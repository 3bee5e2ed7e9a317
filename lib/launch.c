// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * The launcher: forks a process per rank, watches each by its pidfd and its
 * pipe, publishes deaths, and ends a launch in which a rank has failed.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"
#include "error.h"
#include "fd.h"
#include "health.h"
#include "launch.h"
#include "observe.h"
#include "platform/platform.h"
#include "subdomain.h"

/* How long the others have to return by themselves after a failure. */
#define GRACE_NS (2 * PLD_NS_PER_S)
/* After pld_abort(), whose promise is that all ends within a second. */
#define ABORT_GRACE_NS (200 * PLD_NS_PER_MS)

/* What the launcher knows of a rank. */
struct watched {
	bool running;
	/* its pipe was closed before a result came: it ended, or execs */
	bool lost;
	bool has_result;
	struct pld_record result;
};

/* The host side's view of a launch; lives as long as pld_launch(). */
struct watch {
	pld_domain *domain;
	pld_rank_report *reports;
	struct watched ranks[PLD_MAX_RANKS];
	/* two for each rank that was started: its pidfd, its pipe */
	struct pollfd polls[2 * PLD_MAX_RANKS];
	int started;
	int running;
	/* when the rest is killed, INT64_MAX while all is well */
	int64_t deadline;
	bool killed;
	bool aborted;
	/* the failure that the launch returns; first-hand ones come first */
	pld_rank_report cause;
	bool cause_firsthand;
};

static struct pollfd *pidfd_of(struct watch *watch, int rank)
{
	return &watch->polls[2 * rank];
}

static struct pollfd *pipe_of(struct watch *watch, int rank)
{
	return &watch->polls[2 * rank + 1];
}

static void close_poll(struct pollfd *poll)
{
	if (poll->fd >= 0)
		close(poll->fd);
	poll->fd = -1;
}

static void kill_rest(struct watch *watch)
{
	for (int rank = 0; rank < watch->started; rank++)
		if (watch->ranks[rank].running)
			pidfd_send_signal(pidfd_of(watch, rank)->fd, SIGKILL,
					  NULL, 0);
	watch->killed = true;
	watch->deadline = INT64_MAX;
}

static void give_grace(struct watch *watch)
{
	if (!watch->killed && !watch->aborted)
		watch->deadline = pld_deadline(GRACE_NS);
}

static void set_cause(struct watch *watch, const pld_rank_report *report,
		      bool firsthand)
{
	give_grace(watch);
	if (watch->cause.error && (watch->cause_firsthand || !firsthand))
		return;
	watch->cause = *report;
	watch->cause_firsthand = firsthand;
}

/* Whatever else happened: who asked for the end of all gets it. */
static void abort_asked(struct watch *watch, int rank, int code)
{
	if (watch->aborted)
		return;
	watch->aborted = true;
	watch->deadline = watch->killed ? INT64_MAX
					: pld_deadline(ABORT_GRACE_NS);
	watch->domain->abort_code = code;
	watch->cause.error = -ECANCELED;
	watch->cause_firsthand = true;
	snprintf(watch->cause.message, sizeof(watch->cause.message),
		 "rank %d aborted with code %d", rank, code);
}

/* The parent first: it is where ranks of the sub-domains look for the cause. */
static void break_all(struct watch *watch, enum pld_sim_fail_reason reason,
		      int culprit, int code)
{
	pld_domain *domain = watch->domain;

	domain->platform->fail(domain, reason, culprit, code);
	for (pld_domain *s = domain->subdomains; s; s = s->next_subdomain) {
		int member = pld_member_of(s, culprit);

		if (member >= 0)
			s->platform->fail(s, reason, member, code);
		else
			s->platform->fail(s, PLD_FAIL_OUTSIDE, 0, code);
	}
}

static void publish_death(struct watch *watch, int rank)
{
	break_all(watch, PLD_FAIL_DEAD, rank, -EOWNERDEAD);
}

/* Of a death only the launcher itself can tell. */
static void broken_by_rank(struct watch *watch, const struct pld_record *record)
{
	if (record->culprit >= 0 && record->culprit < watch->domain->nranks &&
	    record->reason > PLD_FAIL_DEAD && record->reason < PLD_FAIL_OUTSIDE)
		break_all(watch, record->reason, record->culprit, record->code);
}

static void take_record(struct watch *watch, int rank,
			const struct pld_record *record)
{
	switch (record->kind) {
	case PLD_RECORD_ABORT:
		abort_asked(watch, rank, record->code);
		break;
	case PLD_RECORD_BROKE:
		broken_by_rank(watch, record);
		break;
	default:
		watch->ranks[rank].result = *record;
		watch->ranks[rank].has_result = true;
	}
}

static void read_records(struct watch *watch, int rank)
{
	struct pollfd *pipe = pipe_of(watch, rank);
	struct pld_record record;
	ssize_t bytes;

	while (pipe->fd >= 0) {
		bytes = read(pipe->fd, &record, sizeof(record));
		if (bytes < 0 && errno == EINTR)
			continue;
		if (bytes < 0)
			return;
		if (bytes != sizeof(record)) {
			close_poll(pipe);
			return;
		}
		take_record(watch, rank, &record);
	}
}

/* Its end may be long in coming, if it runs another program now. */
static void look_for_loss(struct watch *watch, int rank)
{
	struct watched *watched = &watch->ranks[rank];

	if (watched->lost || watched->has_result || watch->killed ||
	    pipe_of(watch, rank)->fd >= 0)
		return;
	watched->lost = true;
	publish_death(watch, rank);
	give_grace(watch);
}

static void describe_death(const struct watch *watch, int rank,
			   const siginfo_t *info, pld_rank_report *report)
{
	size_t size = sizeof(report->message);

	report->error = -EOWNERDEAD;
	if (watch->killed && info->si_code == CLD_KILLED &&
	    info->si_status == SIGKILL) {
		if (watch->ranks[rank].lost) {
			snprintf(report->message, size,
				 "rank %d died: it runs another program, or has closed its files",
				 rank);
			return;
		}
		report->error = -ECANCELED;
		snprintf(report->message, size,
			 "rank %d was killed: it went on after the failure",
			 rank);
	} else if (!info->si_pid) {
		snprintf(report->message, size,
			 "rank %d died: how is not known, since a handler of SIGCHLD took its status",
			 rank);
	} else if (info->si_code == CLD_EXITED) {
		snprintf(report->message, size,
			 "rank %d died: it exited with status %d before its kernel returned",
			 rank, info->si_status);
	} else {
		snprintf(report->message, size,
			 "rank %d died: killed by signal %d (%s)", rank,
			 info->si_status, strsignal(info->si_status));
	}
}

static void report_death(struct watch *watch, int rank, const siginfo_t *info)
{
	pld_rank_report *report = &watch->reports[rank];

	describe_death(watch, rank, info, report);
	if (report->error == -ECANCELED)
		return;
	publish_death(watch, rank);
	set_cause(watch, report, true);
}

static void report_return(struct watch *watch, int rank)
{
	const struct pld_record *result = &watch->ranks[rank].result;
	pld_rank_report *report = &watch->reports[rank];

	if (!result->code)
		return;
	report->error = result->code;
	snprintf(report->message, sizeof(report->message), "rank %d: %.*s",
		 rank, (int)sizeof(result->message) - 20, result->message);
	set_cause(watch, report, !result->secondhand);
}

/* Does what the rank told fit how its process ended? */
static bool believable(const struct watched *watched, const siginfo_t *info)
{
	if (!watched->has_result || watched->result.code > 0)
		return false;
	return !info->si_pid || (info->si_code == CLD_EXITED &&
				 info->si_status == !!watched->result.code);
}

static void rank_ended(struct watch *watch, int rank)
{
	struct pollfd *pidfd = pidfd_of(watch, rank);
	siginfo_t info = { 0 };

	while (waitid(P_PIDFD, (id_t)pidfd->fd, &info, WEXITED) && errno == EINTR)
		;
	read_records(watch, rank);
	close_poll(pidfd);
	close_poll(pipe_of(watch, rank));
	watch->ranks[rank].running = false;
	watch->running--;
	if (believable(&watch->ranks[rank], &info))
		report_return(watch, rank);
	else
		report_death(watch, rank, &info);
}

static int timeout_ms(int64_t deadline)
{
	int64_t left;

	if (deadline == INT64_MAX)
		return -1;
	left = deadline - pld_now();
	return left <= 0 ? 0 : (int)(left / PLD_NS_PER_MS + 1);
}

static void look_at(struct watch *watch, int rank)
{
	if (pipe_of(watch, rank)->revents) {
		read_records(watch, rank);
		look_for_loss(watch, rank);
	}
	if (pidfd_of(watch, rank)->revents)
		rank_ended(watch, rank);
}

static void wait_for_all(struct watch *watch)
{
	while (watch->running) {
		/* Not more than is open: poll() refuses what cannot be. */
		if (poll(watch->polls, 2 * (nfds_t)watch->started,
			 timeout_ms(watch->deadline)) < 0)
			continue;
		for (int rank = 0; rank < watch->started; rank++)
			if (watch->ranks[rank].running)
				look_at(watch, rank);
		if (pld_now() >= watch->deadline)
			kill_rest(watch);
	}
}

/* A rank has no use for what the launcher watches the others by. */
static void close_watch(struct watch *watch)
{
	for (int i = 0; i < 2 * watch->started; i++)
		close_poll(&watch->polls[i]);
}

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

static int watch_rank(struct watch *watch, int rank, pid_t pid, int pipe)
{
	int pidfd = pld_fd_above_stdio(pidfd_open(pid, 0));
	int error = errno;

	if (pidfd < 0 && error != ESRCH) {
		close(pipe);
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		return pld_error(error, "pld_launch: pidfd_open: %s",
				 strerror(error));
	}
	*pidfd_of(watch, rank) = (struct pollfd){ pidfd, POLLIN, 0 };
	*pipe_of(watch, rank) = (struct pollfd){ pipe, POLLIN, 0 };
	watch->ranks[rank].running = true;
	watch->running++;
	watch->started++;
	/* Ended, and reaped by a handler of the host's, before it was looked at. */
	if (pidfd < 0)
		rank_ended(watch, rank);
	return 0;
}

struct start {
	pld_kernel *kernel;
	void *arg;
	struct pld_pinning *pinning;
	pid_t self;
};

static int start_rank(struct watch *watch, int rank, const struct start *start)
{
	int error, ends[2];
	pid_t pid;

	error = make_pipe(ends);
	if (error)
		return pld_error(-error, "pld_launch: pipe: %s",
				 strerror(-error));
	pid = fork();
	if (!pid) {
		close(ends[0]);
		close_watch(watch);
		watch->domain->launcher_fd = ends[1];
		pld_pinning_apply(start->pinning, rank);
		pld_rank_main(watch->domain, rank, start->self, start->kernel,
			      start->arg);
	}
	error = errno;
	close(ends[1]);
	if (pid > 0)
		return watch_rank(watch, rank, pid, ends[0]);
	close(ends[0]);
	return pld_error(error, "pld_launch: cannot fork rank %d: %s", rank,
			 strerror(error));
}

static int start_all(struct watch *watch, pld_kernel *kernel, void *arg)
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
		error = start_rank(watch, rank, &start);
	pld_domains_unlock();
	pld_pinning_destroy(start.pinning);
	return error;
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

static int run(struct watch *watch, pld_kernel *kernel, void *arg)
{
	int error = start_all(watch, kernel, arg);

	if (error) {
		watch->cause.error = error;
		snprintf(watch->cause.message, sizeof(watch->cause.message),
			 "%s", pld_last_error());
		watch->cause_firsthand = true;
		kill_rest(watch);
	}
	wait_for_all(watch);
	return finish(watch);
}

/* While SIGCHLD is ignored, nobody learns how a child ended. */
static bool mind_children(struct sigaction *before)
{
	struct sigaction mind = { .sa_handler = SIG_DFL };

	sigaction(SIGCHLD, NULL, before);
	if (before->sa_handler != SIG_IGN && !(before->sa_flags & SA_NOCLDWAIT))
		return false;
	sigaction(SIGCHLD, &mind, NULL);
	return true;
}

int pld_launch(pld_domain *domain, pld_kernel *kernel, void *arg,
	       pld_rank_report *reports)
{
	struct sigaction before;
	struct watch *watch;
	bool ignored;
	int error;

	PLD_TRY(pld_host_only(domain, "pld_launch"));
	if (!kernel)
		return pld_error(EINVAL, "pld_launch: kernel must not be NULL");
	if (domain->parent)
		return pld_error(EINVAL,
				 "pld_launch: a sub-domain is launched with its parent only");
	if (domain->broken)
		return pld_error(-domain->broken, "%s", domain->broken_message);
	if (domain->launched)
		PLD_TRY(pld_domain_reset(domain));
	PLD_TRY(pld_observers_create(domain));
	watch = calloc(1, sizeof(*watch) +
				  (size_t)domain->nranks * sizeof(*reports));
	if (!watch)
		return pld_error(ENOMEM, "pld_launch: out of memory");
	watch->domain = domain;
	watch->reports = (pld_rank_report *)(watch + 1);
	watch->deadline = INT64_MAX;
	ignored = mind_children(&before);
	error = run(watch, kernel, arg);
	if (ignored)
		sigaction(SIGCHLD, &before, NULL);
	if (reports)
		memcpy(reports, watch->reports,
		       (size_t)domain->nranks * sizeof(*reports));
	free(watch);
	return error;
}
