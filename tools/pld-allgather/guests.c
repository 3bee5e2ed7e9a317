// SPDX-License-Identifier: GPL-2.0
/*
 * What the server tells those who come in is a note of this file. It is the
 * word of whoever serves at that path: each member is looked at.
 */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include <pld_join.h>

#include "common/program.h"
#include "guests.h"

#define NOTE_MAGIC "allgat1"

struct note {
	char magic[8];
	int32_t mode;
	int32_t dtype;
	int32_t iters;
	int64_t size;
};

/*
 * The server.
 */

static pld_domain *served;
static volatile sig_atomic_t interrupted;

static void stop(int signal)
{
	(void)signal;
	interrupted = 1;
	pld_domain_serve_stop(served);
}

static void catch_signals(void)
{
	struct sigaction action = { .sa_handler = stop };

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
}

/* As a shell takes it. */
static void print_path(const char *path)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyz"
				    "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789_./-";

	if (*path != '-' && !path[strspn(path, plain)]) {
		fputs(path, stdout);
		return;
	}
	putchar('\'');
	for (; *path; path++)
		if (*path == '\'')
			fputs("'\\''", stdout);
		else
			putchar(*path);
	putchar('\'');
}

struct serving {
	const struct options *options;
	bool *started;
};

static bool comes_in(const struct options *options, int rank)
{
	for (int i = 0; i < options->nr_ranks; i++)
		if (options->ranks[i] == rank)
			return true;
	return !options->nr_ranks;
}

static void tell_commands(const struct options *options)
{
	for (int rank = 0; rank < options->nranks; rank++) {
		if (!comes_in(options, rank))
			continue;
		printf("rank %d: pld-allgather --join ", rank);
		print_path(options->serve);
		printf(" --rank %d\n", rank);
	}
	/* What came before this call was not heard. */
	if (interrupted)
		pld_domain_serve_stop(served);
}

static void tell_progress(void *arg, pld_serve_event event, int rank, int pid)
{
	struct serving *serving = arg;

	switch (event) {
	case PLD_SERVE_LISTENING:
		tell_commands(serving->options);
		break;
	case PLD_SERVE_CAME:
		printf("rank %d has come: process %d\n", rank, pid);
		break;
	case PLD_SERVE_WENT:
		printf("rank %d has gone: process %d\n", rank, pid);
		break;
	case PLD_SERVE_STARTED:
		*serving->started = true;
		puts("all ranks are here");
	}
	fflush(stdout);
}

int serve(const struct options *options, pld_domain *domain, struct job *job,
	  pld_rank_report *reports, bool *started)
{
	struct serving serving = { options, started };
	struct note note = {
		.magic = NOTE_MAGIC,
		.mode = options->mode,
		.dtype = options->dtype,
		.iters = options->iters,
		.size = options->size,
	};
	pld_serve_options serve_options = {
		.path = options->serve,
		.ranks = options->nr_ranks ? options->ranks : NULL,
		.nranks = options->nr_ranks,
		.kernel = run_job,
		.arg = job,
		.note = &note,
		.note_bytes = sizeof(note),
		.progress = tell_progress,
		.progress_arg = &serving,
	};

	*started = false;
	served = domain;
	catch_signals();
	return pld_domain_serve(domain, &serve_options, reports);
}

/*
 * A rank.
 */

static int say_error(int status)
{
	fprintf(stderr, "pld-allgather: %s\n", pld_last_error());
	return status;
}

/* The windows in the order of main.c's alloc_windows(). */
static bool take_note(pld_domain *domain, struct options *options,
		      struct job *job)
{
	size_t bytes;
	const struct note *note = pld_domain_note(domain, &bytes);
	int windows;

	if (bytes != sizeof(*note) ||
	    memcmp(note->magic, NOTE_MAGIC, sizeof(note->magic)))
		return false;
	options->nranks = pld_world_size(domain);
	options->mode = note->mode == MODE_HAND ? MODE_HAND : MODE_BUILTIN;
	options->dtype = (pld_dtype)note->dtype;
	options->iters = note->iters;
	options->size = note->size;
	windows = options->iters > 1 ? 2 : 1;
	if (note->mode < MODE_HAND || note->mode > MODE_BUILTIN ||
	    pld_dtype_size(options->dtype) < 0 || note->iters < 1 ||
	    note->size < 1 || note->size > INT64_MAX / 8 / PLD_MAX_RANKS ||
	    pld_domain_buffers(domain) != windows + 1)
		return false;
	for (int i = 0; i < windows; i++)
		job->data[i] = pld_domain_buffer(domain, i);
	job->signal = pld_domain_buffer(domain, windows);
	return true;
}

static int work(pld_domain *domain, struct options *options)
{
	struct job job = { .options = options };

	if (take_note(domain, options, &job))
		return run_job(domain, &job);
	fprintf(stderr,
		"pld-allgather: what serves there is no pld-allgather\n");
	return -EPROTO;
}

int join(const struct options *given)
{
	struct options options = *given;
	int rank = given->ranks[0];
	pld_domain *domain;
	int result, told;

	if (pld_domain_connect(given->join, rank, &domain))
		return say_error(EXIT_USAGE);
	if (given->verbose)
		printf("rank %d of %d on platform %s\n", rank,
		       pld_world_size(domain), pld_domain_platform(domain));
	result = work(domain, &options);
	if (result && result != JOB_WRONG_RESULT && result != -EPROTO)
		say_error(0);
	told = pld_domain_disconnect(domain, result);
	if (told && !result)
		say_error(0);
	puts(result || told ? "FAILED" : "OK");
	return result || told ? EXIT_RUN_FAILED : EXIT_OK;
}
