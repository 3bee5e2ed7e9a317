// SPDX-License-Identifier: GPL-2.0
/*
 * A library to preload: every process, and every one that it forks, gets a signal
 * PLD_SIGNALS times a second, whose handler only counts. System calls are restarted
 * after it; with PLD_SIGNALS_BREAK they are not, in processes that are forked: the
 * tests, not the harness that waits for them.
 *
 * At its end a program adds a line to PLD_SIGNALS_LOG, if that is set, so that
 * somebody can see that they came: its name, how many there were in it and in all
 * that it forked, also in what was killed, how many more were due but came while
 * one was pending, and how long it ran, in milliseconds.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

/* One that no program here uses. */
#define THE_SIGNAL (SIGRTMAX - 3)
#define NS_PER_S 1000000000L
#define NS_PER_MS 1000000L

/* Of a program and all that it forks. */
static struct counts {
	atomic_long came;
	atomic_long merged;
} * counts;

static pid_t program;
static struct timespec begun;

/* A test that gets no signals must not pass as one that bears them. */
_Noreturn static void die(const char *what)
{
	dprintf(STDERR_FILENO, "signals.so: %s: %s\n", what, strerror(errno));
	abort();
}

static void count(int sig, siginfo_t *info, void *context)
{
	(void)sig;
	(void)context;
	atomic_fetch_add_explicit(&counts->came, 1, memory_order_relaxed);
	atomic_fetch_add_explicit(&counts->merged, info->si_overrun,
				  memory_order_relaxed);
}

/* 0 without a wish. */
static long rate(void)
{
	const char *text = getenv("PLD_SIGNALS");
	char *end;
	long hz;

	if (!text)
		return 0;
	hz = strtol(text, &end, 10);
	if (end != text && !*end && hz > 0 && hz <= NS_PER_S)
		return hz;
	errno = EINVAL;
	die("PLD_SIGNALS");
}

/* Timers do not pass a fork. */
static void start_timer(void)
{
	struct sigevent event = {
		.sigev_notify = SIGEV_SIGNAL,
		.sigev_signo = THE_SIGNAL,
	};
	struct itimerspec every = { 0 };
	long hz = rate();
	timer_t timer;

	if (!hz)
		return;
	if (timer_create(CLOCK_MONOTONIC, &event, &timer))
		die("timer_create");
	every.it_interval.tv_sec = hz == 1;
	every.it_interval.tv_nsec = NS_PER_S / hz % NS_PER_S;
	every.it_value = every.it_interval;
	if (timer_settime(timer, 0, &every, NULL))
		die("timer_settime");
}

static void handle(int flags)
{
	struct sigaction act = {
		.sa_sigaction = count,
		.sa_flags = SA_SIGINFO | flags,
	};

	if (sigaction(THE_SIGNAL, &act, NULL))
		die("sigaction");
}

static void after_fork(void)
{
	if (getenv("PLD_SIGNALS_BREAK"))
		handle(0);
	start_timer();
}

static void __attribute__((constructor)) begin(void)
{
	/* Executable: tests that scribble over all that is "rw-s" pass it by. */
	counts = mmap(NULL, sizeof(*counts), PROT_READ | PROT_WRITE | PROT_EXEC,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (counts == MAP_FAILED)
		die("mmap");
	program = getpid();
	clock_gettime(CLOCK_MONOTONIC, &begun);
	handle(SA_RESTART);
	pthread_atfork(NULL, NULL, after_fork);
	start_timer();
}

static long ms_since(const struct timespec *then)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (now.tv_sec - then->tv_sec) * 1000 +
	       (now.tv_nsec - then->tv_nsec) / NS_PER_MS;
}

/* Opened to append, so that lines of several programs do not mix. */
static void __attribute__((destructor)) end(void)
{
	const char *path = getenv("PLD_SIGNALS_LOG");
	int fd;

	if (!path || getpid() != program)
		return;
	fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
	/* As another user, it may not; the reader misses whom it waits for. */
	if (fd < 0)
		return;
	dprintf(fd, "%s %ld %ld %ld\n", program_invocation_short_name,
		atomic_load(&counts->came), atomic_load(&counts->merged),
		ms_since(&begun));
	close(fd);
}
