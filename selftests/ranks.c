// SPDX-License-Identifier: GPL-2.0
/*
 * ranks NRANKS LENGTH: makes a domain with one window of LENGTH bytes (4), whose
 * ranks are processes that wait in it for ever. Prints "ready" when all do.
 * ranks fence: prints it when a sync_file is all that it has of the module.
 *
 * It is what shell tests run when they need somebody who uses the module. On
 * an error it prints which, and how many bytes were available, and exits 1.
 */
#include <stdlib.h>

#include "pld_proc.h"
#include "pld_uapi.h"

struct job {
	int domain;
	__u32 rank;
	struct pld_sim_window_alloc win;
};

static int wait_for_ever(struct peer *self, void *arg)
{
	struct job *job = arg;
	int fd = sim_member(job->domain, job->rank);
	unsigned char *bytes;

	NEED(fd >= 0);
	bytes = sim_map(fd, &job->win, job->rank);
	NEED(bytes != MAP_FAILED);
	bytes[0] = 1;
	peer_tell(self, 0);
	return sim_wait(fd, job->win.window, 0, PLD_SIM_CMP_EQ, -1, INT64_MAX,
			NULL)
		       ? 1
		       : 0;
}

static int keep_a_fence(void)
{
	struct job job = { .domain = sim_domain(1) };
	struct pld_sim_condition never = { .expected = 1 };
	int fd = sim_member(job.domain, 0);

	NEED(sim_alloc(job.domain, 4, 0, &job.win) == 0);
	never.window = job.win.window;
	NEED(sim_fence(fd, 0, &never, 1, sim_after(SIM_SEC)) >= 0);
	NEED(sim_leave(fd) == 0 && close(fd) == 0 && close(job.domain) == 0);
	printf("ready\n");
	fflush(stdout);
	return peer_sleep();
}

int main(int argc, char **argv)
{
	__u32 nranks = argc > 1 ? strtoul(argv[1], NULL, 0) : 1;
	__u64 length = argc > 2 ? strtoull(argv[2], NULL, 0) : 4;
	struct job job;
	struct peer peer;
	int ret;

	if (argc > 1 && !strcmp(argv[1], "fence"))
		return keep_a_fence();
	job.domain = sim_domain(nranks);
	if (job.domain < 0) {
		printf("domain: %s\n", strerror(-job.domain));
		return 1;
	}
	ret = sim_alloc(job.domain, length, PLD_WINDOW_SIGNAL, &job.win);
	if (ret) {
		printf("window: %s, %llu available\n", strerror(-ret),
		       (unsigned long long)job.win.available);
		return 1;
	}
	for (job.rank = 0; job.rank < nranks; job.rank++)
		NEED(peer_start(&peer, wait_for_ever, &job) == 0 &&
		     peer_hear(&peer) == 0);
	printf("ready\n");
	fflush(stdout);
	return peer_sleep();
}
