// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * A rank's process, from the fork to its end.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "error.h"
#include "health.h"
#include "launch.h"
#include "observe.h"
#include "platform/platform.h"
#include "subdomain.h"

#define LARGEST_SPAN_TOUCHED ((size_t)64 << 20)

/*
 * A page that a forked child finds zeroed: no operation needs to ask for its
 * process id to know that it is still in the rank's process.
 */
static int mark_alive(pld_domain *domain)
{
	long page = sysconf(_SC_PAGESIZE);
	unsigned char *alive = mmap(NULL, (size_t)page, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (alive == MAP_FAILED || madvise(alive, (size_t)page, MADV_WIPEONFORK))
		return pld_error(errno, "rank %d: cannot mark its process: %s",
				 domain->rank, strerror(errno));
	*alive = 1;
	domain->alive = alive;
	return 0;
}

/* getppid(), where the parent is not of this process's pid namespace. */
#define NO_PARENT_HERE 0

/*
 * So that the first put takes no page fault. Page tables of all the memory of
 * many ranks in each of them cost more than the faults that they save: of a
 * large window, only the own memory.
 */
static void touch(pld_window_buffer *buffer)
{
	pld_domain *domain = buffer->domain;

	for (int rank = 0; rank < domain->nranks; rank++)
		if (rank == domain->rank ||
		    pld_span(buffer) <= LARGEST_SPAN_TOUCHED)
			domain->platform->window_touch(buffer, rank);
}

static int attach(pld_domain *domain)
{
	PLD_TRY(domain->platform->attach(domain));
	for (pld_window_buffer *b = domain->buffers; b; b = b->next)
		PLD_TRY(domain->platform->window_map(b));
	for (pld_window_buffer *b = domain->buffers; b; b = b->next)
		touch(b);
	domain->platform->attached(domain);
	return 0;
}

static int attach_subdomain(pld_domain *sub)
{
	const pld_domain *parent = sub->parent;

	sub->alive = parent->alive;
	sub->launcher_fd = parent->launcher_fd;
	sub->rank = pld_member_of(sub, parent->rank);
	if (sub->rank >= 0)
		return attach(sub);
	sub->outsider = true;
	sub->platform->forget(sub);
	return 0;
}

/* For the end of a rank whose process goes on. */
void pld_rank_unmark(pld_domain *domain)
{
	if (domain->alive)
		munmap((void *)(uintptr_t)domain->alive,
		       (size_t)sysconf(_SC_PAGESIZE));
	domain->alive = NULL;
}

int pld_rank_attach(pld_domain *domain)
{
	PLD_TRY(mark_alive(domain));
	PLD_TRY(attach(domain));
	for (pld_domain *s = domain->subdomains; s; s = s->next_subdomain)
		PLD_TRY(attach_subdomain(s));
	return 0;
}

static void leave_all(pld_domain *domain)
{
	for (pld_domain *s = domain->subdomains; s; s = s->next_subdomain)
		if (!s->outsider)
			s->platform->leave(s);
	domain->platform->leave(domain);
}

/* Tells the others why, unless it is they who told. */
static void break_domain(pld_domain *domain, int error)
{
	const struct pld_failure *failure = pld_failure();

	if (failure->error == error && failure->secondhand)
		return;
	if (failure->error == error && error == -ETIMEDOUT &&
	    failure->culprit >= 0)
		pld_break(domain, PLD_FAIL_TIMEOUT, failure->culprit, error);
	else
		pld_break(domain, PLD_FAIL_ERROR, domain->rank, error);
}

void pld_tell_launcher(const pld_domain *domain, const struct pld_record *record)
{
	ssize_t sent;

	/* A launcher that is gone needs no telling, and ends this rank. */
	do
		sent = domain->joined ? send(domain->launcher_fd, record,
					     sizeof(*record), MSG_NOSIGNAL)
				      : write(domain->launcher_fd, record,
					      sizeof(*record));
	while (sent < 0 && errno == EINTR);
}

/* With the sentence of the call that failed, when it is that error's. */
static void tell_result(const pld_domain *domain, int error)
{
	const struct pld_failure *failure = pld_failure();
	struct pld_record record = {
		.kind = PLD_RECORD_RESULT,
		.code = error,
	};

	if (error && failure->error == error) {
		record.secondhand = failure->secondhand;
		snprintf(record.message, sizeof(record.message), "%s",
			 failure->message);
	} else if (error) {
		snprintf(record.message, sizeof(record.message),
			 "its kernel returned %d (%s)", error, strerror(-error));
	}
	pld_tell_launcher(domain, &record);
}

/* Tells before the others hear of it: the launcher looks for the first. */
void pld_rank_end(pld_domain *domain, int error)
{
	tell_result(domain, error);
	if (error)
		break_domain(domain, error);
	else
		leave_all(domain);
}

_Noreturn void pld_rank_main(pld_domain *domain, int rank, int parent,
			     pld_kernel *kernel, void *arg)
{
	int error;

	/* The launcher's end is the rank's; it may have come before this. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent && getppid() != NO_PARENT_HERE)
		_exit(1);
	pld_domains_forget_others(domain);
	pld_domains_unlock();
	domain->rank = rank;
	pld_observers_enter(domain);
	error = pld_rank_attach(domain);
	if (!error)
		error = kernel(domain, arg);
	/* A child that the kernel forked and that came back here is no rank. */
	if (domain->alive && !*domain->alive)
		_exit(0);
	fflush(stdout);
	if (error > 0)
		error = 0;
	pld_rank_end(domain, error);
	_exit(error ? 1 : 0);
}
