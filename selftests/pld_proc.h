/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Processes of a test: a peer is a forked child with a pipe in each direction,
 * over which whole ints travel. A peer dies with its parent, so that a test
 * that fails half-way leaves nothing behind.
 *
 * The parent owns the struct peer and ends it with peer_reap(); the child sees
 * a copy whose pipes are turned round.
 */
#ifndef PLD_PROC_H
#define PLD_PROC_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

struct peer {
	pid_t pid;
	int to;
	int from;
};

typedef int (*peer_fn)(struct peer *self, void *arg);

/*
 * A condition of a child, which has no access to the harness's macros: says
 * what failed and ends the child with status 1.
 */
#define NEED(cond) peer_need((cond), #cond, __FILE__, __LINE__)

static inline void peer_need(int ok, const char *text, const char *file,
			     int line)
{
	if (ok)
		return;
	fprintf(stderr, "# %s:%d: child needs %s (errno %d)\n", file, line,
		text, errno);
	_exit(1);
}

static inline void peer_run(int to, int from, peer_fn fn, void *arg)
{
	struct peer self = { .pid = getppid(), .to = to, .from = from };

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	_exit(fn(&self, arg));
}

static inline int peer_start(struct peer *p, peer_fn fn, void *arg)
{
	int down[2], up[2];

	*p = (struct peer){ .pid = -1, .to = -1, .from = -1 };
	if (pipe2(down, O_CLOEXEC) || pipe2(up, O_CLOEXEC))
		return -errno;
	fflush(NULL);
	p->pid = fork();
	if (p->pid < 0)
		return -errno;
	if (!p->pid) {
		close(down[1]);
		close(up[0]);
		peer_run(up[1], down[0], fn, arg);
	}
	close(down[0]);
	close(up[1]);
	p->to = down[1];
	p->from = up[0];
	return 0;
}

/* No handler runs in this process, and interrupts its calls, from now on. */
static inline void hold_signals(void)
{
	sigset_t all;

	sigfillset(&all);
	NEED(!sigprocmask(SIG_SETMASK, &all, NULL));
}

static inline void peer_tell(struct peer *p, int word)
{
	NEED(TEMP_FAILURE_RETRY(write(p->to, &word, sizeof(word))) ==
	     sizeof(word));
}

/* The next word, or INT_MIN when the other side has gone away. */
static inline int peer_hear(struct peer *p)
{
	int word;

	if (TEMP_FAILURE_RETRY(read(p->from, &word, sizeof(word))) !=
	    sizeof(word))
		return (-0x7fffffff - 1);
	return word;
}

/* The exit status, or 128 + the signal that ended the peer. */
static inline int peer_reap(struct peer *p)
{
	int status;

	while (waitpid(p->pid, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	close(p->to);
	close(p->from);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static inline int peer_kill(struct peer *p)
{
	if (kill(p->pid, SIGKILL))
		return -errno;
	return peer_reap(p);
}

/* Runs @fn in a child and returns its exit status. */
static inline int peer_call(peer_fn fn, void *arg)
{
	struct peer p;
	int ret = peer_start(&p, fn, arg);

	return ret ? ret : peer_reap(&p);
}

/* Keeps a child until its parent goes away or kills it. */
static inline int peer_sleep(void)
{
	for (;;)
		pause();
	return 0;
}

/* Sends a descriptor over a socket; 0 or a negative errno. */
static inline int fd_send(int sock, int fd)
{
	union {
		struct cmsghdr align;
		char buf[CMSG_SPACE(sizeof(int))];
	} u = { .buf = { 0 } };
	struct iovec iov = { .iov_base = (char[]){ 'f' }, .iov_len = 1 };
	struct msghdr msg = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = u.buf,
		.msg_controllen = sizeof(u.buf),
	};
	struct cmsghdr *c = CMSG_FIRSTHDR(&msg);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &fd, sizeof(fd));
	return TEMP_FAILURE_RETRY(sendmsg(sock, &msg, 0)) == 1 ? 0 : -errno;
}

/* Receives a descriptor from a socket, or -1. */
static inline int fd_receive(int sock)
{
	union {
		struct cmsghdr align;
		char buf[CMSG_SPACE(sizeof(int))];
	} u;
	char byte;
	struct iovec iov = { .iov_base = &byte, .iov_len = 1 };
	struct msghdr msg = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = u.buf,
		.msg_controllen = sizeof(u.buf),
	};
	struct cmsghdr *c;
	int fd;

	if (TEMP_FAILURE_RETRY(recvmsg(sock, &msg, MSG_CMSG_CLOEXEC)) != 1)
		return -1;
	c = CMSG_FIRSTHDR(&msg);
	if (!c || c->cmsg_type != SCM_RIGHTS)
		return -1;
	memcpy(&fd, CMSG_DATA(c), sizeof(fd));
	return fd;
}

#endif /* PLD_PROC_H */
