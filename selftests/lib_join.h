/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A server and ranks that come in, each in a process of its own: the server's is
 * forked too, so that no joiner has its addresses. What the server was told and
 * found is in memory that all share.
 *
 * Every domain here has a window of an INT64 per rank, and a signal of a cell
 * per rank.
 */
#ifndef PLD_LIB_JOIN_H
#define PLD_LIB_JOIN_H

#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/un.h>
#include <time.h>

#include <pld_dmabuf.h>
#include <pld_join.h>

#include "lib_left.h"
#include "lib_test.h"
#include "pld_proc.h"

#define MOST_NRANKS 8
#define LONG (20000 * LIB_MS)

/* Shared with the server and the joiners. */
struct served {
	/* what to serve */
	char path[PLD_MAX_SERVE_PATH + 1];
	int nranks;
	int ranks[MOST_NRANKS];
	int nr_joined; /* 0: all */
	int mode;
	int64_t timeout_ns;
	int64_t patience_ns;
	/* the odd ranks' memory is a dma-buf */
	int imports;
	/* further servings of the domain, each after a reset */
	int again;

	/* what is known of it */
	atomic_int listening, came, went, started, over;
	atomic_int ready;
	int error;
	char message[PLD_MESSAGE_BYTES];
	pld_rank_report reports[MOST_NRANKS];
	int abort_code;
	/* descriptors and mappings that serving has left open */
	int left_files, left_mappings;
	char reset_message[PLD_MESSAGE_BYTES];
	int reset_error;
	atomic_int go_on;
};

static inline struct served *make_served(int nranks)
{
	struct served *served = mmap(NULL, sizeof(*served),
				     PROT_READ | PROT_WRITE,
				     MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (served == MAP_FAILED)
		return NULL;
	served->nranks = nranks;
	served->timeout_ns = LONG;
	return served;
}

/* How often: less where all is emulated. */
static inline int times(int native, int guest)
{
	const char *platform = getenv("PLD_PLATFORM");

	return platform && !strcmp(platform, "kmod") ? guest : native;
}

/* Within some seconds; 0 when it never does. */
static inline int reaches(atomic_int *number, int wanted)
{
	for (int i = 0; i < 20000 && *number < wanted; i++)
		nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
	return *number >= wanted;
}

static void on_progress(void *arg, pld_serve_event event, int rank, int pid)
{
	struct served *served = arg;

	(void)rank;
	(void)pid;
	switch (event) {
	case PLD_SERVE_LISTENING:
		served->listening++;
		break;
	case PLD_SERVE_CAME:
		served->came++;
		break;
	case PLD_SERVE_WENT:
		served->went++;
		break;
	case PLD_SERVE_STARTED:
		served->started++;
	}
}

/* Everybody gathers where each rank's part of the window is, twice. */
static int gather(pld_domain *domain, void *arg)
{
	int nranks = pld_nranks(domain), me = pld_rank(domain);
	pld_distributed_tensor data, signal;
	int64_t mine, *all;
	pld_tensor x;

	(void)arg;
	PLD_TRY(pld_window(pld_domain_buffer(domain, 0), PLD_SHAPE(nranks, 1),
			   PLD_INT64, &data));
	PLD_TRY(pld_window(pld_domain_buffer(domain, 1), PLD_SHAPE(nranks, 1),
			   PLD_INT32, &signal));
	PLD_TRY(pld_tensor_init(&x, &mine, PLD_SHAPE(1, 1), PLD_INT64));
	mine = (intptr_t)data.data;
	all = data.data;
	for (int i = 0; i < 2; i++) {
		PLD_TRY(pld_tensor_allgather(&x, &data, &signal));
		for (int rank = 0; rank < nranks; rank++)
			CHECK_EQ(mine + (rank - me) * (all[1] - all[0]),
				 all[rank]);
		PLD_TRY(pld_tensor_barrier(&signal));
	}
	return 0;
}

/* Until somebody breaks the domain. */
static inline int wait_long(pld_domain *domain, void *arg)
{
	struct served *served = arg;
	pld_distributed_tensor signal;

	PLD_TRY(pld_window(pld_domain_buffer(domain, 1),
			   PLD_SHAPE(pld_nranks(domain), 1), PLD_INT32, &signal));
	served->ready++;
	return pld_system_wait_timeout(&signal, PLD_AT(0, 0), 1, PLD_GE, LONG);
}

/* ---- the server ---- */

static pld_kernel *served_kernel = gather;
static void (*served_progress)(void *arg, pld_serve_event event, int rank,
			       int pid) = on_progress;

/* A dma-buf of at least that many bytes, from a domain of its own, or -1. */
static int make_dmabuf(size_t bytes)
{
	pld_window_buffer *buffer;
	pld_domain *domain;
	int fd = -1;

	if (pld_domain_create((int[]){ 9 }, 1, NULL, &domain))
		return -1;
	bytes = (bytes + 4095) / 4096 * 4096;
	if (pld_alloc_window_buffer(domain, bytes, &buffer) ||
	    pld_window_export(buffer, 0, 0, bytes, &fd))
		fd = -1;
	pld_domain_destroy(domain);
	return fd;
}

static int alloc_data(struct served *served, pld_domain *domain)
{
	size_t bytes = (size_t)served->nranks * sizeof(int64_t);
	pld_window_buffer *data;
	int fds[MOST_NRANKS], error;

	if (!served->imports)
		return pld_alloc_window_buffer(domain, bytes, &data);
	for (int rank = 0; rank < served->nranks; rank++)
		fds[rank] = rank % 2 ? make_dmabuf(bytes) : -1;
	error = pld_window_import(domain, bytes, fds, &data);
	for (int rank = 1; rank < served->nranks; rank += 2)
		close(fds[rank]);
	return error;
}

static int make_served_domain(struct served *served, pld_domain **domain)
{
	static const int devices[MOST_NRANKS] = { 0, 1, 2, 3, 4, 5, 6, 7 };
	pld_domain_options options = { .timeout_ns = served->timeout_ns };
	pld_window_buffer *signal;

	PLD_TRY(pld_domain_create(devices, served->nranks, &options, domain));
	PLD_TRY(alloc_data(served, *domain));
	return pld_alloc_signal(*domain, PLD_SHAPE(served->nranks, 1), &signal);
}

static void serve_once(struct served *served, pld_domain *domain)
{
	static const char note[] = "a note";
	pld_serve_options options = {
		.path = served->path,
		.mode = served->mode,
		.ranks = served->nr_joined ? served->ranks : NULL,
		.nranks = served->nr_joined,
		.timeout_ns = served->patience_ns,
		.kernel = served_kernel,
		.arg = served,
		.note = note,
		.note_bytes = sizeof(note),
		.progress = served_progress,
		.progress_arg = served,
	};

	served->error = pld_domain_serve(domain, &options, served->reports);
	snprintf(served->message, sizeof(served->message), "%s",
		 served->error ? pld_last_error() : "");
	served->abort_code = pld_abort_code(domain);
	served->over++;
}

static void reset(struct served *served, pld_domain *domain)
{
	served->reset_error = pld_domain_reset(domain);
	snprintf(served->reset_message, sizeof(served->reset_message), "%s",
		 served->reset_error ? pld_last_error() : "");
}

static pld_domain *to_be_stopped;

static void stop_serving(int signal)
{
	(void)signal;
	pld_domain_serve_stop(to_be_stopped);
}

static int server_main(struct peer *self, void *arg)
{
	struct served *served = arg;
	pld_domain *domain;
	int files = 0, mappings = 0;

	(void)self;
	if (make_served_domain(served, &domain)) {
		fprintf(stderr, "# server: %s\n", pld_last_error());
		return 1;
	}
	to_be_stopped = domain;
	signal(SIGUSR1, stop_serving);
	for (int i = 0; i <= served->again; i++) {
		if (i) {
			while (served->go_on < i)
				nanosleep(&(struct timespec){ .tv_nsec =
								      1000000 },
					  NULL);
			reset(served, domain);
		}
		/* The first ones make what stays until the domain's end. */
		if (i == 2) {
			files = count_files();
			mappings = count_mappings();
		}
		serve_once(served, domain);
		if (i == 2) {
			served->left_files = count_files() - files;
			served->left_mappings = count_mappings() - mappings;
		}
	}
	pld_domain_destroy(domain);
	return 0;
}

/* 0 when it listens. */
static inline int start_server(struct peer *server, struct served *served)
{
	int before = served->listening;
	int error = peer_start(server, server_main, served);

	if (error)
		return error;
	return reaches(&served->listening, before + 1) ? 0 : -ETIMEDOUT;
}

/* ---- a rank ---- */

struct joiner {
	struct peer peer;
	struct served *served;
	int rank;
	pld_kernel *kernel;
};

static int join_main(struct peer *self, void *arg)
{
	struct joiner *joiner = arg;
	pld_domain *domain;
	int result;

	(void)self;
	lib_here = joiner->rank;
	if (pld_domain_connect(joiner->served->path, joiner->rank, &domain)) {
		fprintf(stderr, "# rank %d: %s\n", joiner->rank,
			pld_last_error());
		return 1;
	}
	result = joiner->kernel(domain, joiner->served);
	return pld_domain_disconnect(domain, result) ? 2 : 0;
}

static inline int start_joiner(struct joiner *joiner, struct served *served,
			       int rank, pld_kernel *kernel)
{
	*joiner = (struct joiner){
		.served = served,
		.rank = rank,
		.kernel = kernel,
	};
	return peer_start(&joiner->peer, join_main, joiner);
}

#endif /* PLD_LIB_JOIN_H */
