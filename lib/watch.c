// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * Watching ranks: publishes deaths, takes results, and ends a launch in which a
 * rank has failed.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"
#include "error.h"
#include "fd.h"
#include "health.h"
#include "join/door.h"
#include "join/strays.h"
#include "join/wire.h"
#include "observe.h"
#include "platform/platform.h"
#include "subdomain.h"
#include "watch.h"

/* How long the others have to return by themselves after a failure. */
#define GRACE_NS (2 * PLD_NS_PER_S)
/* After pld_abort(), whose promise is that all ends within a second. */
#define ABORT_GRACE_NS (200 * PLD_NS_PER_MS)
/* From a process's last close to its end, where it does end. */
#define ENDING_NS (20 * PLD_NS_PER_MS)
/* Taken from a rank before the next one is looked at. */
#define MOST_RECORDS 64

static struct pollfd *pidfd_of(struct pld_watch *watch, int rank)
{
	return &watch->polls[2 * watch->ranks[rank].slot];
}

static struct pollfd *pipe_of(struct pld_watch *watch, int rank)
{
	return &watch->polls[2 * watch->ranks[rank].slot + 1];
}

static void close_poll(struct pollfd *poll)
{
	if (poll->fd >= 0)
		close(poll->fd);
	poll->fd = -1;
}

/*
 * Somebody else's process is not ours to kill: it finds that it was cut off, and
 * the domain cannot be reset before it is gone.
 */
static void cut_off(struct pld_watch *watch, int rank)
{
	struct pld_watched *watched = &watch->ranks[rank];
	pld_rank_report *report = &watch->reports[rank];

	pld_stray_add(watch->domain, rank, watched->pid,
		      pidfd_of(watch, rank)->fd, pipe_of(watch, rank)->fd);
	pidfd_of(watch, rank)->fd = -1;
	pipe_of(watch, rank)->fd = -1;
	watched->running = false;
	watch->running--;
	report->error = -ECANCELED;
	snprintf(report->message, sizeof(report->message),
		 "rank %d was cut off: process %d went on after the failure",
		 rank, (int)watched->pid);
}

static void kill_rest(struct pld_watch *watch)
{
	for (int rank = 0; rank < watch->domain->nranks; rank++) {
		if (!watch->ranks[rank].running)
			continue;
		if (watch->ranks[rank].joined)
			cut_off(watch, rank);
		else
			pidfd_send_signal(pidfd_of(watch, rank)->fd, SIGKILL,
					  NULL, 0);
	}
	watch->killed = true;
	watch->deadline = INT64_MAX;
}

static void give_grace(struct pld_watch *watch)
{
	if (!watch->killed && !watch->aborted)
		watch->deadline = pld_deadline(GRACE_NS);
}

static void set_cause(struct pld_watch *watch, const pld_rank_report *report,
		      bool firsthand)
{
	give_grace(watch);
	if (watch->cause.error && (watch->cause_firsthand || !firsthand))
		return;
	watch->cause = *report;
	watch->cause_firsthand = firsthand;
}

/* Whatever else happened: who asked for the end of all gets it. */
static void abort_asked(struct pld_watch *watch, int rank, int code)
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
static void break_all(struct pld_watch *watch, enum pld_sim_fail_reason reason,
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

static void publish_death(struct pld_watch *watch, int rank)
{
	break_all(watch, PLD_FAIL_DEAD, rank, -EOWNERDEAD);
}

/* Of a death only the launcher itself can tell. */
static void broken_by_rank(struct pld_watch *watch,
			   const struct pld_record *record)
{
	if (record->culprit >= 0 && record->culprit < watch->domain->nranks &&
	    record->reason > PLD_FAIL_DEAD && record->reason < PLD_FAIL_OUTSIDE)
		break_all(watch, record->reason, record->culprit, record->code);
}

static void take_record(struct pld_watch *watch, int rank,
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
		if (record->code < -PLD_LARGEST_ERRNO)
			watch->ranks[rank].result.code = -EPROTO;
		if (watch->ranks[rank].joined)
			pld_peers_text(watch->ranks[rank].result.message,
				       sizeof(record->message));
		watch->ranks[rank].has_result = true;
	}
}

/* A pipe gives nothing that recv() would take, a socket no partial record. */
static ssize_t read_record(const struct pld_watched *watched, int fd,
			   struct pld_record *record)
{
	if (watched->joined)
		return recv(fd, record, sizeof(*record),
			    MSG_DONTWAIT | MSG_TRUNC);
	return read(fd, record, sizeof(*record));
}

/* Not for ever: a rank that floods its socket does not keep the others waiting. */
static void read_records(struct pld_watch *watch, int rank)
{
	struct pollfd *pipe = pipe_of(watch, rank);
	struct pld_record record;
	ssize_t bytes;

	for (int i = 0; pipe->fd >= 0; i++) {
		if (watch->ranks[rank].joined && i == MOST_RECORDS)
			return;
		bytes = read_record(&watch->ranks[rank], pipe->fd, &record);
		if (bytes < 0 && errno == EINTR)
			continue;
		if (bytes < 0 && errno == EAGAIN)
			return;
		if (bytes != sizeof(record)) {
			close_poll(pipe);
			return;
		}
		take_record(watch, rank, &record);
	}
}

/* Its end may be long in coming, if it runs another program now. */
static void look_for_loss(struct pld_watch *watch, int rank)
{
	struct pld_watched *watched = &watch->ranks[rank];

	if (watched->lost || watched->has_result || watch->killed ||
	    pipe_of(watch, rank)->fd >= 0)
		return;
	watched->lost = true;
	publish_death(watch, rank);
	give_grace(watch);
}

static void describe_death(const struct pld_watch *watch, int rank,
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

static void report_death(struct pld_watch *watch, int rank,
			 const siginfo_t *info)
{
	pld_rank_report *report = &watch->reports[rank];

	describe_death(watch, rank, info, report);
	if (report->error == -ECANCELED)
		return;
	publish_death(watch, rank);
	set_cause(watch, report, true);
}

static void report_return(struct pld_watch *watch, int rank)
{
	const struct pld_record *result = &watch->ranks[rank].result;
	pld_rank_report *report = &watch->reports[rank];

	if (!result->code)
		return;
	/* It may have ended between telling this and telling the others. */
	break_all(watch, PLD_FAIL_ERROR, rank, result->code);
	report->error = result->code;
	snprintf(report->message, sizeof(report->message), "rank %d: %.*s",
		 rank, (int)sizeof(result->message) - 20, result->message);
	set_cause(watch, report, !result->secondhand);
}

/* Does what the rank told fit how its process ended? */
static bool believable(const struct pld_watched *watched, const siginfo_t *info)
{
	if (!watched->has_result || watched->result.code > 0)
		return false;
	return !info->si_pid || (info->si_code == CLD_EXITED &&
				 info->si_status == !!watched->result.code);
}

static void rank_ended(struct pld_watch *watch, int rank)
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

/* How it ended only its own parent can tell. */
static void report_loss(struct pld_watch *watch, int rank, bool ended)
{
	pld_rank_report *report = &watch->reports[rank];
	int pid = (int)watch->ranks[rank].pid;

	report->error = -EOWNERDEAD;
	snprintf(report->message, sizeof(report->message),
		 ended ? "rank %d died: process %d ended before pld_domain_disconnect"
		       : "rank %d died: process %d runs another program, or has closed its files",
		 rank, pid);
	publish_death(watch, rank);
	set_cause(watch, report, true);
}

static void joined_ended(struct pld_watch *watch, int rank, bool ended)
{
	struct pld_watched *watched = &watch->ranks[rank];

	read_records(watch, rank);
	close_poll(pidfd_of(watch, rank));
	close_poll(pipe_of(watch, rank));
	watched->running = false;
	watch->running--;
	if (watched->has_result && watched->result.code <= 0)
		report_return(watch, rank);
	else
		report_loss(watch, rank, ended);
}

int pld_timeout_ms(int64_t deadline)
{
	int64_t left;

	if (deadline == INT64_MAX)
		return -1;
	left = deadline - pld_now();
	if (left <= 0)
		return 0;
	return left / PLD_NS_PER_MS < INT_MAX ? (int)(left / PLD_NS_PER_MS + 1)
					      : INT_MAX;
}

bool pld_ready_within(struct pollfd *poll_fd, int64_t timeout_ns)
{
	int64_t deadline = pld_deadline(timeout_ns);
	int ready;

	do
		ready = poll(poll_fd, 1, pld_timeout_ms(deadline));
	while (ready < 0 && errno == EINTR);
	return ready > 0;
}

/*
 * The socket's end is that of the process too, or it comes first by a moment:
 * the files are closed before the process counts as ended.
 */
static void look_at_joined(struct pld_watch *watch, int rank)
{
	struct pollfd *pidfd = pidfd_of(watch, rank);
	bool ended = pidfd->revents;

	if (pipe_of(watch, rank)->revents)
		read_records(watch, rank);
	if (!ended && pipe_of(watch, rank)->fd >= 0)
		return;
	if (!ended && !watch->ranks[rank].has_result)
		ended = pld_ready_within(pidfd, ENDING_NS);
	joined_ended(watch, rank, ended);
}

static void look_at(struct pld_watch *watch, int rank)
{
	if (watch->ranks[rank].joined) {
		look_at_joined(watch, rank);
		return;
	}
	if (pipe_of(watch, rank)->revents) {
		read_records(watch, rank);
		look_for_loss(watch, rank);
	}
	if (pidfd_of(watch, rank)->revents)
		rank_ended(watch, rank);
}

static int64_t next_deadline(const struct pld_watch *watch)
{
	int64_t door = watch->door ? pld_door_deadline(watch->door) : INT64_MAX;

	return door < watch->deadline ? door : watch->deadline;
}

void pld_watch_fail(struct pld_watch *watch, int error)
{
	watch->cause.error = error;
	snprintf(watch->cause.message, sizeof(watch->cause.message), "%s",
		 pld_last_error());
	watch->cause_firsthand = true;
	kill_rest(watch);
}

static void stop(struct pld_watch *watch)
{
	if (watch->cause.error)
		kill_rest(watch);
	else
		pld_watch_fail(watch,
			       pld_error(ECANCELED, "%s: stopped", watch->op));
}

void pld_watch_all(struct pld_watch *watch)
{
	/* Not more than is open: poll() refuses what cannot be. */
	struct pollfd *door = &watch->polls[2 * watch->started];
	nfds_t nfds = 2 * (nfds_t)watch->started;

	if (watch->door) {
		*door = (struct pollfd){ pld_door_fd(watch->door), POLLIN, 0 };
		nfds++;
	}
	while (watch->running) {
		if (poll(watch->polls, nfds,
			 pld_timeout_ms(next_deadline(watch))) < 0)
			continue;
		for (int rank = 0; rank < watch->domain->nranks; rank++)
			if (watch->ranks[rank].running)
				look_at(watch, rank);
		if (watch->door && pld_door_look(watch->door))
			stop(watch);
		if (pld_now() >= watch->deadline)
			kill_rest(watch);
	}
}

void pld_watch_forget(struct pld_watch *watch)
{
	for (int i = 0; i < 2 * watch->started; i++)
		close_poll(&watch->polls[i]);
	if (watch->door)
		pld_door_forget(watch->door);
}

static void start_watching(struct pld_watch *watch, int rank, pid_t pid,
			   int pidfd, int pipe)
{
	watch->ranks[rank].slot = watch->started++;
	*pidfd_of(watch, rank) = (struct pollfd){ pidfd, POLLIN, 0 };
	*pipe_of(watch, rank) = (struct pollfd){ pipe, POLLIN, 0 };
	watch->ranks[rank].pid = pid;
	watch->ranks[rank].running = true;
	watch->running++;
}

int pld_watch_forked(struct pld_watch *watch, int rank, pid_t pid, int pipe)
{
	int pidfd = pld_fd_above_stdio(pidfd_open(pid, 0));
	int error = errno;

	if (pidfd < 0 && error != ESRCH) {
		close(pipe);
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		return pld_error(error, "%s: pidfd_open: %s", watch->op,
				 strerror(error));
	}
	start_watching(watch, rank, pid, pidfd, pipe);
	/* Ended, and reaped by a handler of the host's, before it was looked at. */
	if (pidfd < 0)
		rank_ended(watch, rank);
	return 0;
}

void pld_watch_joined(struct pld_watch *watch, int rank, pid_t pid, int pidfd,
		      int socket)
{
	watch->ranks[rank].joined = true;
	start_watching(watch, rank, pid, pidfd, socket);
}

static int finish(struct pld_watch *watch)
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

/* While SIGCHLD is ignored, nobody learns how a child ended. */
static void mind_children(struct pld_watch *watch)
{
	struct sigaction mind = { .sa_handler = SIG_DFL };
	struct sigaction *before = &watch->before;

	sigaction(SIGCHLD, NULL, before);
	if (before->sa_handler != SIG_IGN && !(before->sa_flags & SA_NOCLDWAIT))
		return;
	sigaction(SIGCHLD, &mind, NULL);
	watch->minds_children = true;
}

int pld_watch_begin(pld_domain *domain, const char *op, struct pld_watch **out)
{
	struct pld_watch *watch;

	if (domain->parent)
		return pld_error(EINVAL,
				 "%s: a sub-domain is launched with its parent only",
				 op);
	if (domain->broken)
		return pld_error(-domain->broken, "%s", domain->broken_message);
	if (domain->launched)
		PLD_TRY(pld_domain_reset(domain));
	PLD_TRY(pld_observers_create(domain));
	watch = calloc(1, sizeof(*watch) + (size_t)domain->nranks *
						   sizeof(pld_rank_report));
	if (!watch)
		return pld_error(ENOMEM, "%s: out of memory", op);
	watch->domain = domain;
	watch->op = op;
	watch->reports = (pld_rank_report *)(watch + 1);
	watch->deadline = INT64_MAX;
	mind_children(watch);
	*out = watch;
	return 0;
}

void pld_watch_drop(struct pld_watch *watch)
{
	if (watch->minds_children)
		sigaction(SIGCHLD, &watch->before, NULL);
	free(watch);
}

int pld_watch_end(struct pld_watch *watch, pld_rank_report *reports)
{
	int error = finish(watch);

	if (reports)
		memcpy(reports, watch->reports,
		       (size_t)watch->domain->nranks * sizeof(*reports));
	pld_watch_drop(watch);
	return error;
}
