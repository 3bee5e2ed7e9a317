// SPDX-License-Identifier: GPL-2.0
/*
 * The host side under circumstances that are not of libpld's making: what the
 * program does with its children, descriptors, threads and CPUs.
 */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>

#include "lib_test.h"
#include "lib_fault.h"

#define NRANKS 4
#define VICTIM 2

static pld_window_buffer *credits;

FIXTURE(host)
{
	pld_domain *domain;
};

FIXTURE_SETUP(host)
{
	self->domain = make_domain(NRANKS);
	ASSERT_NE(NULL, self->domain);
	ASSERT_EQ(0, pld_alloc_signal(self->domain, PLD_SHAPE(NRANKS, 1),
				      &credits));
}

FIXTURE_TEARDOWN(host)
{
	pld_domain_destroy(self->domain);
}

/* Kills itself; the other ranks wait for what never comes. */
static int die(pld_domain *domain, void *arg)
{
	pld_distributed_tensor signal;

	(void)arg;
	if (pld_rank(domain) == VICTIM)
		raise(SIGKILL);
	PLD_TRY(pld_window(credits, PLD_SHAPE(NRANKS, 1), PLD_INT32, &signal));
	return pld_system_wait(&signal, PLD_AT(VICTIM, 0), 1, PLD_GE);
}

static int return_positive(pld_domain *domain, void *arg)
{
	(void)arg;
	return pld_rank(domain) + 1;
}

TEST_F(host, ignores_its_children_and_learns_how_they_died)
{
	signal(SIGCHLD, SIG_IGN);
	for (int i = 0; i < 20; i++)
		RUN(self->domain, return_positive, NULL);
	EXPECT_REFUSED(-EOWNERDEAD, "rank 2 died: killed by signal 9 (Killed)",
		       pld_launch(self->domain, die, NULL, NULL));
	EXPECT_TRUE(signal(SIGCHLD, SIG_DFL) == SIG_IGN);
}

static void reap(int number)
{
	int before = errno;

	(void)number;
	while (waitpid(-1, NULL, WNOHANG) > 0)
		;
	errno = before;
}

/* Whoever takes a rank's status away takes the knowledge of how it died. */
TEST_F(host, reaps_in_a_handler_and_spoils_no_success)
{
	int error;

	signal(SIGCHLD, reap);
	for (int i = 0; i < 20; i++)
		RUN(self->domain, return_positive, NULL);
	error = pld_launch(self->domain, die, NULL, NULL);
	signal(SIGCHLD, SIG_DFL);
	EXPECT_EQ(-EOWNERDEAD, error);
	EXPECT_EQ(pld_last_error(), strstr(pld_last_error(), "rank 2 died: "));
}

TEST_F(host, has_too_few_descriptors_and_is_told)
{
	struct rlimit limit = { .rlim_cur = 12, .rlim_max = 12 };
	pld_rank_report reports[NRANKS];

	ASSERT_EQ(0, setrlimit(RLIMIT_NOFILE, &limit));
	EXPECT_EQ(-EMFILE,
		  pld_launch(self->domain, return_positive, NULL, reports));
	EXPECT_EQ(pld_last_error(), strstr(pld_last_error(), "pld_launch: "));
}

static void *reader(void *arg)
{
	char line[8];

	return fgets(line, sizeof(line), stdin) ? arg : NULL;
}

static int return_beside_a_reader(pld_domain *domain, void *arg)
{
	pthread_t thread;

	(void)domain;
	CHECK_EQ(0, pthread_create(&thread, NULL, reader, arg));
	sleep_ms(50);
	return 0;
}

TEST_F(host, may_have_a_thread_that_reads)
{
	int ends[2];
	pthread_t thread;

	ASSERT_EQ(0, pipe(ends));
	ASSERT_EQ(0, dup2(ends[0], STDIN_FILENO));
	RUN(self->domain, return_beside_a_reader, NULL);
	ASSERT_EQ(0, pthread_create(&thread, NULL, reader, NULL));
	sleep_ms(50);
	RUN(self->domain, return_positive, NULL);
}

static int note_cpus(pld_domain *domain, void *arg)
{
	cpu_set_t *sets = arg;

	return sched_getaffinity(0, sizeof(*sets), &sets[pld_rank(domain)])
		       ? -errno
		       : 0;
}

TEST_F(host, gives_each_rank_a_core_when_there_are_enough)
{
	cpu_set_t both,
		*sets = mmap(NULL, 2 * sizeof(*sets), PROT_READ | PROT_WRITE,
			     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pld_domain *two = make_domain(2);

	ASSERT_NE(MAP_FAILED, sets);
	ASSERT_NE(NULL, two);
	RUN(two, note_cpus, sets);
	pld_domain_destroy(two);
	if (access("/sys/devices/system/cpu/cpu1/topology/core_id", R_OK) ||
	    sysconf(_SC_NPROCESSORS_ONLN) != 2)
		SKIP(return, "two CPUs are wanted");
	CPU_AND(&both, &sets[0], &sets[1]);
	EXPECT_EQ(0, CPU_COUNT(&both));
	EXPECT_EQ(1, CPU_COUNT(&sets[0]));
	EXPECT_EQ(1, CPU_COUNT(&sets[1]));
}

/* Sleeps until the pipe's other end is closed. */
static void *sleep_on(void *arg)
{
	char byte;

	return read(*(int *)arg, &byte, 1) ? NULL : arg;
}

/* Of its threads the one that launches counts. */
TEST_F(host, leaves_ranks_where_it_may_run_itself)
{
	pthread_t anywhere;
	int ends[2];
	cpu_set_t *sets = mmap(NULL, 2 * sizeof(*sets), PROT_READ | PROT_WRITE,
			       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	cpu_set_t mine;
	pld_domain *two;
	int last = -1;

	ASSERT_NE(MAP_FAILED, sets);
	ASSERT_EQ(0, pipe(ends));
	ASSERT_EQ(0, pthread_create(&anywhere, NULL, sleep_on, &ends[0]));
	ASSERT_EQ(0, sched_getaffinity(0, sizeof(mine), &mine));
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &mine))
			last = cpu;
	CPU_ZERO(&mine);
	CPU_SET(last, &mine);
	ASSERT_EQ(0, sched_setaffinity(0, sizeof(mine), &mine));
	two = make_domain(2);
	ASSERT_NE(NULL, two);
	RUN(two, note_cpus, sets);
	pld_domain_destroy(two);
	EXPECT_TRUE(CPU_EQUAL(&mine, &sets[0]));
	EXPECT_TRUE(CPU_EQUAL(&mine, &sets[1]));
	close(ends[1]);
	pthread_join(anywhere, NULL);
}

/* Prints where standard output would have been, had it not been closed. */
TEST_F(host, may_have_closed_its_standard_streams)
{
	pld_domain *domain;

	close(STDIN_FILENO);
	close(STDOUT_FILENO);
	domain = make_domain(NRANKS);
	EXPECT_EQ(-1, fcntl(STDIN_FILENO, F_GETFD));
	EXPECT_EQ(-1, fcntl(STDOUT_FILENO, F_GETFD));
	EXPECT_EQ(0, domain ? pld_launch(domain, return_positive, NULL, NULL)
			    : -1);
	pld_domain_destroy(domain);
}

TEST_F(host, is_one_process_and_a_fork_of_it_another)
{
	pid_t child = fork();
	int status;

	ASSERT_LE(0, child);
	if (!child) {
		status = pld_launch(self->domain, return_positive, NULL, NULL);
		pld_domain_destroy(self->domain);
		_exit(status == -EPERM ? 0 : 1);
	}
	ASSERT_EQ(child, TEMP_FAILURE_RETRY(waitpid(child, &status, 0)));
	EXPECT_EQ(0, status);
	RUN(self->domain, return_positive, NULL);
}

/* Nothing of another domain is open or mapped in a rank. */
static int look_around(pld_domain *domain, void *arg)
{
	int open_max = (int)sysconf(_SC_OPEN_MAX), held = 0;
	char path[64], name[256];

	(void)domain;
	for (int fd = 3; fd < open_max && fd < 4096; fd++) {
		ssize_t length;

		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		length = readlink(path, name, sizeof(name) - 1);
		if (length < 0)
			continue;
		name[length] = '\0';
		held += strstr(name, "pld-") || strstr(name, "pld_");
	}
	/* On kmod the rank's own file stays open, on memfd nothing does. */
	CHECK(held <= (strcmp(pld_domain_platform(domain), "kmod") ? 0 : 1));
	CHECK_EQ(-EPERM, pld_launch(arg, return_positive, NULL, NULL));
	return 0;
}

TEST_F(host, has_two_domains_whose_ranks_see_one)
{
	pld_window_buffer *buffer;
	pld_domain *other = make_domain(NRANKS);

	ASSERT_NE(NULL, other);
	ASSERT_EQ(0, pld_alloc_window_buffer(other, 4096, &buffer));
	RUN(self->domain, look_around, other);
	RUN(other, look_around, self->domain);
	pld_domain_destroy(other);
}

TEST_F(host, is_refused_without_a_domain)
{
	EXPECT_EQ(-EINVAL, pld_launch(NULL, return_positive, NULL, NULL));
	EXPECT_EQ(-EINVAL, pld_domain_reset(NULL));
	EXPECT_EQ(-EINVAL, pld_rank(NULL));
	EXPECT_EQ(-EINVAL, pld_nranks(NULL));
	EXPECT_EQ(-EINVAL, pld_world_size(NULL));
	EXPECT_EQ(-EINVAL, pld_abort(NULL, 1));
	EXPECT_EQ(0, pld_abort_code(NULL));
	EXPECT_STREQ("", pld_domain_platform(NULL));
	EXPECT_STREQ("", pld_domain_platform_reason(NULL));
	pld_domain_destroy(NULL);
}

LIB_TEST_MAIN
