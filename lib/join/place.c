// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * Servers of one folder take turns by a lock on it when they look whether a
 * socket is used and replace it: none removes what another has just made.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "clock.h"
#include "error.h"
#include "fd.h"
#include "join/place.h"

static const char op[] = "pld_domain_serve";

/* A stranger may hold the lock of a folder that all can read. */
#define LOCK_NS PLD_NS_PER_S
#define LOCK_PAUSE_US 10000
#define BACKLOG 64

static const char *base_name(const struct pld_place *place)
{
	const char *slash = strrchr(place->path, '/');

	return slash ? slash + 1 : place->path;
}

static int open_folder(struct pld_place *place)
{
	char copy[sizeof(place->path)];

	strcpy(copy, place->path);
	place->folder = pld_fd_above_stdio(
		open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	if (place->folder >= 0)
		return 0;
	return pld_error(errno, "%s: cannot open the folder of %s: %s", op,
			 place->path, strerror(errno));
}

static bool lock_folder(const struct pld_place *place)
{
	int64_t deadline = pld_deadline(LOCK_NS);

	do {
		if (!flock(place->folder, LOCK_EX | LOCK_NB))
			return true;
		usleep(LOCK_PAUSE_US);
	} while (pld_now() < deadline);
	return false;
}

static void address_of(const struct pld_place *place,
		       struct sockaddr_un *address)
{
	*address = (struct sockaddr_un){ .sun_family = AF_UNIX };
	strcpy(address->sun_path, place->path);
}

static int make_socket(void)
{
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK,
			0);

	fd = pld_fd_above_stdio(fd);
	if (fd >= 0)
		return fd;
	return pld_error(errno, "%s: socket: %s", op, strerror(errno));
}

/* Does nobody listen there any more? Only a refused connection says so. */
static bool is_stale(const struct pld_place *place)
{
	struct sockaddr_un address;
	int fd = make_socket();
	bool stale;

	if (fd < 0)
		return false;
	address_of(place, &address);
	stale = connect(fd, (struct sockaddr *)&address, sizeof(address)) &&
		errno == ECONNREFUSED;
	close(fd);
	return stale;
}

/* 0: there is nothing any more. */
static int remove_stale(const struct pld_place *place, bool locked)
{
	struct stat stat;

	if (fstatat(place->folder, base_name(place), &stat, AT_SYMLINK_NOFOLLOW))
		return errno == ENOENT ? 0
				       : pld_error(errno, "%s: %s: %s", op,
						   place->path, strerror(errno));
	if (!S_ISSOCK(stat.st_mode))
		return pld_error(EEXIST, "%s: %s exists and is no socket", op,
				 place->path);
	if (!locked || !is_stale(place))
		return pld_error(EADDRINUSE,
				 "%s: %s is in use: somebody serves there", op,
				 place->path);
	if (stat.st_uid != geteuid())
		return pld_error(EADDRINUSE,
				 "%s: %s is left over from a server of user %u, who may remove it",
				 op, place->path, stat.st_uid);
	if (unlinkat(place->folder, base_name(place), 0) && errno != ENOENT)
		return pld_error(errno, "%s: cannot remove the unused %s: %s",
				 op, place->path, strerror(errno));
	return 0;
}

/* The umask has its say in bind(); the socket itself, whatever path leads to it. */
static int set_mode(struct pld_place *place)
{
	int fd = openat(place->folder, base_name(place),
			O_PATH | O_NOFOLLOW | O_CLOEXEC);
	char self[40];
	struct stat stat;
	int error = 0;

	if (fd < 0 || fstat(fd, &stat) || !S_ISSOCK(stat.st_mode) ||
	    stat.st_uid != geteuid()) {
		error = EADDRINUSE;
	} else {
		place->device = stat.st_dev;
		place->inode = stat.st_ino;
		place->user = stat.st_uid;
		place->group = stat.st_gid;
		snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
		if (chmod(self, place->mode))
			error = errno;
	}
	if (fd >= 0)
		close(fd);
	if (error)
		return pld_error(error, "%s: cannot set the mode of %s: %s", op,
				 place->path, strerror(error));
	return 0;
}

static int listen_there(struct pld_place *place)
{
	struct sockaddr_un address;

	address_of(place, &address);
	/* Nobody is let in before it listens; until then, no more than the mode. */
	fchmod(place->socket, place->mode);
	if (bind(place->socket, (struct sockaddr *)&address, sizeof(address)))
		return pld_error(errno, "%s: cannot make %s: %s", op,
				 place->path, strerror(errno));
	PLD_TRY(set_mode(place));
	if (listen(place->socket, BACKLOG))
		return pld_error(errno, "%s: listen: %s", op, strerror(errno));
	return 0;
}

static int make(struct pld_place *place)
{
	bool locked = lock_folder(place);
	int error = remove_stale(place, locked);

	if (!error) {
		place->socket = make_socket();
		error = place->socket < 0 ? place->socket : listen_there(place);
	}
	if (locked)
		flock(place->folder, LOCK_UN);
	return error;
}

int pld_place_open(struct pld_place *place, const char *path, int mode)
{
	int error;

	if (!path || !*path)
		return pld_error(EINVAL, "%s: options.path is missing", op);
	if (strlen(path) > PLD_MAX_SERVE_PATH)
		return pld_error(ENAMETOOLONG,
				 "%s: path of %zu bytes, wanted at most %d", op,
				 strlen(path), PLD_MAX_SERVE_PATH);
	if (mode & ~0777)
		return pld_error(EINVAL,
				 "%s: options.mode is 0%o, wanted 0 to 0777",
				 op, (unsigned int)mode);
	*place = (struct pld_place){
		.mode = mode ? (mode_t)mode : 0600,
		.socket = -1,
	};
	strcpy(place->path, path);
	PLD_TRY(open_folder(place));
	error = make(place);
	if (error)
		pld_place_close(place);
	return error;
}

void pld_place_forget(struct pld_place *place)
{
	if (place->socket >= 0)
		close(place->socket);
	close(place->folder);
}

void pld_place_close(struct pld_place *place)
{
	struct stat stat;

	if (place->inode &&
	    !fstatat(place->folder, base_name(place), &stat,
		     AT_SYMLINK_NOFOLLOW) &&
	    stat.st_dev == place->device && stat.st_ino == place->inode)
		unlinkat(place->folder, base_name(place), 0);
	pld_place_forget(place);
}

static bool in_group(const struct pld_place *place, int socket, gid_t group)
{
	socklen_t bytes = 0;
	bool found = group == place->group;
	gid_t *groups;

	if (found ||
	    !getsockopt(socket, SOL_SOCKET, SO_PEERGROUPS, NULL, &bytes) ||
	    errno != ERANGE)
		return found;
	groups = malloc(bytes);
	if (groups &&
	    !getsockopt(socket, SOL_SOCKET, SO_PEERGROUPS, groups, &bytes))
		for (size_t i = 0; i < bytes / sizeof(*groups); i++)
			found |= groups[i] == place->group;
	free(groups);
	return found;
}

bool pld_place_admits(const struct pld_place *place, int socket, uid_t user,
		      gid_t group)
{
	if (user == place->user)
		return place->mode & S_IWUSR;
	if (in_group(place, socket, group))
		return place->mode & S_IWGRP;
	return place->mode & S_IWOTH;
}
