// SPDX-License-Identifier: GPL-2.0
/*
 * A library to preload: every process, and every one that it forks, gets a signal
 * PLD_SIGNALS times a second, whose handler only counts. System calls are restarted
 * after it; with PLD_SIGNALS_BREAK they are not, in processes that are forked: the
 * tests, not the harness that waits for them.
 *
 * At its end a process writes how many there were into PLD_SIGNALS_LOG, if that is
 * set, so that somebody can see that they came.
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* One that no program here uses. */
#define THE_SIGNAL (SIGRTMAX - 3)
#define NS_PER_S 1000000000L

static volatile sig_atomic_t came;

static void count(int sig)
{
	(void)sig;
	came++;
}

/* Timers do not pass a fork. */
static void start_timer(void)
{
	const char *rate = getenv("PLD_SIGNALS");
	long hz = rate ? strtol(rate, NULL, 10) : 0;
	struct sigevent event = {
		.sigev_notify = SIGEV_SIGNAL,
		.sigev_signo = THE_SIGNAL,
	};
	struct itimerspec every = { 0 };
	timer_t timer;

	came = 0;
	if (hz <= 0 || timer_create(CLOCK_MONOTONIC, &event, &timer))
		return;
	every.it_interval.tv_sec = hz == 1;
	every.it_interval.tv_nsec = NS_PER_S / hz % NS_PER_S;
	every.it_value = every.it_interval;
	timer_settime(timer, 0, &every, NULL);
}

static void handle(int flags)
{
	struct sigaction act = { .sa_handler = count, .sa_flags = flags };

	sigaction(THE_SIGNAL, &act, NULL);
}

static void after_fork(void)
{
	if (getenv("PLD_SIGNALS_BREAK"))
		handle(0);
	start_timer();
}

static void __attribute__((constructor)) begin(void)
{
	handle(SA_RESTART);
	pthread_atfork(NULL, NULL, after_fork);
	start_timer();
}

static void __attribute__((destructor)) end(void)
{
	const char *path = getenv("PLD_SIGNALS_LOG");
	int fd = path ? open(path, O_WRONLY | O_CREAT | O_APPEND, 0644) : -1;

	if (fd < 0)
		return;
	dprintf(fd, "%d\n", (int)came);
	close(fd);
}
