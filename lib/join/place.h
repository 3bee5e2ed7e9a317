/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * A listening socket in the file system, from its making to its removal.
 */
#ifndef PLD_PLACE_H
#define PLD_PLACE_H

#include <stdbool.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "pld_join.h"

struct pld_place {
	char path[PLD_MAX_SERVE_PATH + 1];
	/* the folder that it is in, and what it is */
	int folder;
	dev_t device;
	ino_t inode;
	/* who may come in */
	mode_t mode;
	uid_t user;
	gid_t group;
	/* listening, non-blocking */
	int socket;
};

/* 0, or a negative errno with the sentence. */
int pld_place_open(struct pld_place *place, const char *path, int mode);
/* Of a forked rank: closes, and leaves the path alone. */
void pld_place_forget(struct pld_place *place);
/* Removes the path, if it is still this socket. */
void pld_place_close(struct pld_place *place);

/* Does the mode let in who is at the other end of the socket? */
bool pld_place_admits(const struct pld_place *place, int socket, uid_t user,
		      gid_t group);

#endif
