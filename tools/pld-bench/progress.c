// SPDX-License-Identifier: GPL-2.0
/*
 * The line is drawn by a handler of SIGALRM too: one measurement may take long.
 * Ranks inherit the handlers, but not the timer.
 */
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/time.h>
#include <unistd.h>

#include "job.h"
#include "progress.h"

#define WIDTH 30
/* A bar of less tells nothing. */
#define LEAST_WIDTH 5
#define MOMENT_NS 1000000000
#define MOST_TEXT 128
#define DEFAULT_COLUMNS 80

/* To the line's begin, and erase what is there. */
static const char erasing[] = "\r\033[K";

/* What is drawn; handlers see it whole while it is to be seen. */
static volatile struct {
	sig_atomic_t now;
	sig_atomic_t shown;
	size_t done;
	size_t total;
	const char *what;
} state;

static int64_t begun;
static pid_t self;

struct text {
	char at[MOST_TEXT];
	size_t length;
};

/* By hand, as all that a handler of signals calls must be fit for one. */
static void add_letter(struct text *text, char letter)
{
	if (text->length < MOST_TEXT)
		text->at[text->length++] = letter;
}

static void add(struct text *text, const char *words)
{
	while (*words)
		add_letter(text, *words++);
}

static void add_number(struct text *text, uint64_t number)
{
	if (number >= 10)
		add_number(text, number / 10);
	add_letter(text, (char)('0' + number % 10));
}

static void add_bar(struct text *text, size_t width)
{
	size_t full = state.done * width / state.total;

	add_letter(text, '[');
	for (size_t i = 0; i < width; i++)
		add_letter(text, i < full ? '#' : ' ');
	add(text, "] ");
}

static size_t columns(void)
{
	struct winsize size;

	if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) || !size.ws_col)
		return DEFAULT_COLUMNS;
	return size.ws_col;
}

static void put(const char *bytes, size_t length)
{
	ssize_t written = write(STDERR_FILENO, bytes, length);

	/* A terminal that is gone sees no progress. */
	(void)written;
}

/* A line that is as long as the terminal wide would be two, of which one stays. */
static void draw(void)
{
	struct text words = { .length = 0 }, line = { .length = 0 };
	size_t room = columns() - 1, bar;

	add_number(&words, state.done);
	add(&words, " of ");
	add_number(&words, state.total);
	add(&words, ", ");
	add(&words, state.what);
	add(&words, ", ");
	add_number(&words, (uint64_t)((now_ns() - begun) / 1000000000));
	add(&words, " s");
	bar = room > words.length + 3 ? room - words.length - 3 : 0;
	if (bar >= LEAST_WIDTH)
		add_bar(&line, bar < WIDTH ? bar : WIDTH);
	for (size_t i = 0; i < words.length; i++)
		add_letter(&line, words.at[i]);
	state.shown = true;
	put(erasing, sizeof(erasing) - 1);
	put(line.at, line.length < room ? line.length : room);
}

static void on_alarm(int signal)
{
	int error = errno;

	(void)signal;
	if (state.now && getpid() == self)
		draw();
	errno = error;
}

/* The handler is for once: what it raises ends the process. */
static void on_end(int signal)
{
	if (state.shown && getpid() == self)
		put(erasing, sizeof(erasing) - 1);
	raise(signal);
}

static void handle(int number, void (*handler)(int), int flags)
{
	struct sigaction action = { .sa_handler = handler, .sa_flags = flags };
	struct sigaction before;

	/* No tick between the line's end and the process's. */
	sigemptyset(&action.sa_mask);
	sigaddset(&action.sa_mask, SIGALRM);
	/* What is ignored, as nohup does, stays so. */
	if (!sigaction(number, NULL, &before) && before.sa_handler == SIG_DFL)
		sigaction(number, &action, NULL);
}

static bool has_terminal(void)
{
	const char *kind = getenv("TERM");

	return kind && *kind && strcmp(kind, "dumb") != 0 &&
	       isatty(STDERR_FILENO);
}

static void begin(void)
{
	static const struct itimerval ticks = { { 1, 0 }, { 1, 0 } };

	begun = now_ns();
	if (!has_terminal())
		return;
	self = getpid();
	handle(SIGALRM, on_alarm, SA_RESTART);
	handle(SIGINT, on_end, SA_RESETHAND);
	handle(SIGQUIT, on_end, SA_RESETHAND);
	handle(SIGTERM, on_end, SA_RESETHAND);
	setitimer(ITIMER_REAL, &ticks, NULL);
}

void progress_show(size_t done, size_t total, const char *what)
{
	if (!begun)
		begin();
	state.done = done;
	state.total = total;
	state.what = what;
	if (self && now_ns() - begun >= MOMENT_NS)
		draw();
	state.now = true;
}

void progress_hide(void)
{
	state.now = false;
	if (state.shown)
		put(erasing, sizeof(erasing) - 1);
	state.shown = false;
}
