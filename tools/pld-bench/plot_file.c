// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/program.h"
#include "plot_file.h"

static bool say_error(const struct plot_file *plot)
{
	complain("cannot write %s: %s", plot->name, strerror(errno));
	return false;
}

/* Standard output or error where that is the same file, else -1. */
static int stream_of(const struct stat *file)
{
	struct stat stream;

	for (int fd = STDOUT_FILENO; fd <= STDERR_FILENO; fd++)
		if (!fstat(fd, &stream) && stream.st_dev == file->st_dev &&
		    stream.st_ino == file->st_ino)
			return fd;
	return -1;
}

/* After what is there: with an offset of its own one would overwrite the other. */
static FILE *open_stream(int stream)
{
	int fd = fcntl(stream, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);

	return fd < 0 ? NULL : fdopen(fd, "w");
}

static int create_beside(const struct plot_file *plot)
{
	return open(plot->beside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
}

/* There is none yet while ranks run, so that none is left when they are killed. */
static bool try_beside(struct plot_file *plot)
{
	int fd;

	/* With the process's id: what others have there is theirs. */
	if (asprintf(&plot->beside, "%s.%d.tmp", plot->path, (int)getpid()) < 0) {
		plot->beside = NULL;
		return false;
	}
	fd = create_beside(plot);
	if (fd < 0)
		return false;
	close(fd);
	return !unlink(plot->beside);
}

static bool open_existing(struct plot_file *plot, const struct stat *there)
{
	int fd, stream = stream_of(there);

	if (!S_ISREG(there->st_mode)) {
		plot->file = fopen(plot->path, "we");
		return plot->file;
	}
	if (stream >= 0) {
		plot->file = open_stream(stream);
		return plot->file;
	}
	/* Who may not write the file is not to replace it either. */
	fd = open(plot->path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	close(fd);
	plot->mode = there->st_mode & 0777;
	return try_beside(plot);
}

static char *without_links(const char *name)
{
	char *path = realpath(name, NULL);

	return path || errno != ENOENT || !*name ? path : strdup(name);
}

bool plot_file_begin(struct plot_file *plot, const char *name)
{
	struct stat there;
	bool opened;

	*plot = (struct plot_file){ .name = name };
	plot->path = without_links(name);
	if (!plot->path)
		return say_error(plot);
	/* A link that leads nowhere is still one. */
	opened = lstat(plot->path, &there) ? try_beside(plot)
					   : open_existing(plot, &there);
	return opened || say_error(plot);
}

/* Closes the file. */
static bool write_to(FILE *file, const struct report *report)
{
	bool written = file && plot_write(report, file);

	return file && !fclose(file) && written;
}

static bool write_beside(const struct plot_file *plot,
			 const struct report *report)
{
	int error, fd = create_beside(plot);

	if (fd < 0)
		return false;
	if (plot->mode)
		fchmod(fd, plot->mode);
	if (write_to(fdopen(fd, "w"), report) &&
	    !rename(plot->beside, plot->path))
		return true;
	error = errno;
	unlink(plot->beside);
	errno = error;
	return false;
}

/* Who is told to end meanwhile ends afterwards. */
static bool write_undisturbed(const struct plot_file *plot,
			      const struct report *report)
{
	sigset_t ends, before;
	bool written;

	sigemptyset(&ends);
	sigaddset(&ends, SIGHUP);
	sigaddset(&ends, SIGINT);
	sigaddset(&ends, SIGQUIT);
	sigaddset(&ends, SIGTERM);
	sigprocmask(SIG_BLOCK, &ends, &before);
	written = write_beside(plot, report);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return written;
}

static bool write_in_place(struct plot_file *plot, const struct report *report)
{
	FILE *file = plot->file;

	plot->file = NULL;
	/* It may be the same file. */
	fflush(stdout);
	return write_to(file, report);
}

bool plot_file_write(struct plot_file *plot, const struct report *report)
{
	bool written = plot->beside ? write_undisturbed(plot, report)
				    : write_in_place(plot, report);

	return written || say_error(plot);
}

void plot_file_end(struct plot_file *plot)
{
	if (plot->file)
		fclose(plot->file);
	free(plot->beside);
	free(plot->path);
}
