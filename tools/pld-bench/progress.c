// SPDX-License-Identifier: GPL-2.0
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "job.h"
#include "progress.h"

#define WIDTH 30
#define MOMENT_NS 1000000000

static int64_t begun;
static bool shown;

void progress_show(size_t done, size_t total, const char *what)
{
	static const char bar[] = "##############################";
	int full = (int)(done * WIDTH / total);

	if (!begun)
		begun = now_ns();
	if (now_ns() - begun < MOMENT_NS || !isatty(STDERR_FILENO))
		return;
	fprintf(stderr, "\r[%.*s%*s] %zu of %zu, %s", full, bar, WIDTH - full,
		"", done, total, what);
	shown = true;
}

void progress_hide(void)
{
	/* To the line's begin, and erase what is there. */
	if (shown)
		fputs("\r\033[K", stderr);
	shown = false;
}
