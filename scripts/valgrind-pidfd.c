// SPDX-License-Identifier: GPL-2.0
/*
 * pidfd_open() for programs under a valgrind that does not know that system
 * call (3.19 does not): a thread waits for the child, without reaping it, and
 * makes an event file readable. Preloaded by wrap-valgrind.sh.
 *
 * The thread has a descriptor of its own, which it owns and closes; the
 * caller closes the other whenever it likes.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <unistd.h>

int pidfd_open(pid_t pid, unsigned int flags);

/* Nothing is allocated, for a forked child could not free it. */
static void *watch_child(void *arg)
{
	pid_t pid = (uintptr_t)arg >> 32;
	int fd = (uint32_t)(uintptr_t)arg;
	siginfo_t info;
	uint64_t one = 1;

	while (waitid(P_PID, pid, &info, WEXITED | WNOWAIT) < 0 && errno == EINTR)
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

	if (own < 0 || flags ||
	    pthread_create(&thread, NULL, watch_child, (void *)arg))
		abort();
	pthread_detach(thread);
	return fd;
}
