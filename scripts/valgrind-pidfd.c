// SPDX-License-Identifier: GPL-2.0
/*
 * The calls on pidfds for programs under a valgrind that does not know them
 * (3.19 does not); preloaded by wrap-valgrind.sh.
 *
 * An event file stands in for a pidfd. The process that it is for is recorded
 * as its owner, which duplicates of the descriptor share. A thread waits for
 * the child, without reaping it, and makes the file readable. The thread has a
 * descriptor of its own, which it closes; the caller closes the other whenever
 * it likes. Nothing is allocated, for a forked child could not free it.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

int pidfd_open(pid_t pid, unsigned int flags);
int pidfd_send_signal(int pidfd, int sig, siginfo_t *info, unsigned int flags);

/* 0 after the process has been reaped. */
static pid_t owner(int pidfd)
{
	return fcntl(pidfd, F_GETOWN);
}

int waitid(idtype_t type, id_t id, siginfo_t *info, int options)
{
	if (type == P_PIDFD) {
		type = P_PID;
		id = (id_t)owner((int)id);
		if (!id) {
			errno = ECHILD;
			return -1;
		}
	}
	return (int)syscall(SYS_waitid, type, id, info, options, NULL);
}

int pidfd_send_signal(int pidfd, int sig, siginfo_t *info, unsigned int flags)
{
	pid_t pid = owner(pidfd);

	if (info || flags)
		abort();
	if (!pid) {
		errno = ESRCH;
		return -1;
	}
	return kill(pid, sig);
}

static void *watch_child(void *arg)
{
	pid_t pid = (uintptr_t)arg >> 32;
	int fd = (uint32_t)(uintptr_t)arg;
	siginfo_t info;
	uint64_t one = 1;

	while (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT) < 0 &&
	       errno == EINTR)
		;
	if (write(fd, &one, sizeof(one)) != sizeof(one))
		abort();
	close(fd);
	return NULL;
}

int pidfd_open(pid_t pid, unsigned int flags)
{
	int fd = eventfd(0, EFD_CLOEXEC);
	int own = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	uintptr_t arg = (uintptr_t)pid << 32 | (uint32_t)own;
	pthread_t thread;

	if (own < 0 || flags || fcntl(fd, F_SETOWN, pid) ||
	    pthread_create(&thread, NULL, watch_child, (void *)arg))
		abort();
	pthread_detach(thread);
	return fd;
}
