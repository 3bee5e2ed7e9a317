/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Processes of a test that are no superuser's, or one's of a user namespace only.
 * Only children call these: there is no way back.
 */
#ifndef PLD_USER_H
#define PLD_USER_H

#include <grp.h>
#include <sched.h>
#include <sys/prctl.h>

#include "pld_proc.h"

#define NOBODY 65534
/* How a child ends that may not make a user namespace. */
#define NO_NAMESPACE 77

/*
 * Someone in no group but @gid and, if there is one, @extra; in a user namespace
 * of his own, there he is root.
 */
struct user {
	gid_t gid;
	gid_t extra;
	int nr_extra;
	int in_namespace;
};

static inline void user_map(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	NEED(fd >= 0);
	NEED(write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	close(fd);
}

static inline void user_enter_namespace(void)
{
	if (unshare(CLONE_NEWUSER))
		_exit(NO_NAMESPACE);
	/* The files belong to root while changing users is not over. */
	NEED(prctl(PR_SET_DUMPABLE, 1) == 0);
	user_map("/proc/self/setgroups", "deny");
	user_map("/proc/self/uid_map", "0 65534 1");
	user_map("/proc/self/gid_map", "0 65534 1");
	NEED(geteuid() == 0);
}

static inline void become(const struct user *user)
{
	NEED(setgroups(user->nr_extra, &user->extra) == 0);
	NEED(setresgid(user->gid, user->gid, user->gid) == 0);
	NEED(setresuid(NOBODY, NOBODY, NOBODY) == 0);
	if (user->in_namespace)
		user_enter_namespace();
}

#endif /* PLD_USER_H */
