/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * What the launcher watches: each rank that runs by its pidfd and by what it
 * tells its results through, a pipe for a rank that was forked here (launch.c)
 * and a socket for one that came in (serve.c).
 *
 * Owned by pld_launch() or pld_domain_serve(), on the host side; a forked rank
 * closes its copy.
 */
#ifndef PLD_WATCH_H
#define PLD_WATCH_H

#include <poll.h>
#include <signal.h>
#include <sys/types.h>

#include "launch.h"

struct pld_door;

/* What the launcher knows of a rank. */
struct pld_watched {
	bool running;
	/* a process that is not ours: it may go on when its work is done */
	bool joined;
	/* where its two descriptors are in polls */
	int slot;
	pid_t pid;
	/* its pipe was closed before a result came: it ended, or execs */
	bool lost;
	bool has_result;
	struct pld_record result;
};

struct pld_watch {
	pld_domain *domain;
	/* "pld_launch" or "pld_domain_serve" */
	const char *op;
	pld_rank_report *reports;
	struct pld_watched ranks[PLD_MAX_RANKS];
	/* two for each rank that was started, then the door's */
	struct pollfd polls[2 * PLD_MAX_RANKS + 1];
	int started;
	int running;
	/* where others may knock meanwhile, or NULL */
	struct pld_door *door;
	/* SIGCHLD was ignored, as in before */
	bool minds_children;
	struct sigaction before;
	/* when the rest is killed, INT64_MAX while all is well */
	int64_t deadline;
	bool killed;
	bool aborted;
	/* the failure that the launch returns; first-hand ones come first */
	pld_rank_report cause;
	bool cause_firsthand;
};

/* Can op run the domain now? Resets it if it has run before. */
int pld_watch_begin(pld_domain *domain, const char *op,
		    struct pld_watch **watch);

/*
 * From now on that process is watched, and the descriptors are the watch's. On
 * failure, with the sentence, the process is ended and the pipe closed.
 */
int pld_watch_forked(struct pld_watch *watch, int rank, pid_t pid, int pipe);
/* The same of a rank that came in, which cannot fail. */
void pld_watch_joined(struct pld_watch *watch, int rank, pid_t pid, int pidfd,
		      int socket);

/* A rank has no use for what the launcher watches the others by. */
void pld_watch_forget(struct pld_watch *watch);

/* The launch has failed with pld_last_error(): ends what runs of it. */
void pld_watch_fail(struct pld_watch *watch, int error);

/* Until every rank has ended. */
void pld_watch_all(struct pld_watch *watch);

/* Nothing has been started, and nothing is to be told. */
void pld_watch_drop(struct pld_watch *watch);

/* The launch's result; frees the watch. reports may be NULL. */
int pld_watch_end(struct pld_watch *watch, pld_rank_report *reports);

/* Milliseconds for poll() until then. */
int pld_timeout_ms(int64_t deadline);

/* Is it ready, or within that time? A handler that runs meanwhile ends nothing. */
bool pld_ready_within(struct pollfd *poll_fd, int64_t timeout_ns);

#endif
