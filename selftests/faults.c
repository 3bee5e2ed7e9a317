// SPDX-License-Identifier: GPL-2.0
/*
 * A library to preload, which makes a machine misbehave in one way, named by
 * PLD_FAULT:
 *
 *  no-permission	/dev/pld_sim cannot be opened
 *  other-version	the module is of another ABI version
 *  signals		a signal interrupts the first join of each process
 *  bad-copy		every copy of PLD_FAULT_BYTES bytes, 77 if that is not
 *			set, adds 1 to byte 5
 */
/* This defines open() itself, not open64(). */
#undef _FILE_OFFSET_BITS
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/pld_sim.h>

#define DEFAULT_BYTES "77"

static int fault_is(const char *name)
{
	const char *fault = getenv("PLD_FAULT");

	return fault && !strcmp(fault, name);
}

static int fault_open(const char *path, int flags, mode_t mode)
{
	int ours = !strcmp(path, "/dev/pld_sim");

	if (ours && fault_is("no-permission")) {
		errno = EACCES;
		return -1;
	}
	if (ours && fault_is("other-version"))
		path = "/dev/null";
	return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

int open(const char *path, int flags, ...)
{
	va_list args;
	mode_t mode;

	va_start(args, flags);
	mode = flags & O_CREAT ? va_arg(args, mode_t) : 0;
	va_end(args);
	return fault_open(path, flags, mode);
}

int ioctl(int fd, unsigned long request, ...)
{
	static int interrupted;
	struct pld_sim_info *info;
	va_list args;
	void *arg;

	va_start(args, request);
	arg = va_arg(args, void *);
	va_end(args);
	if (request == PLD_IOC_JOIN && fault_is("signals") && !interrupted++) {
		errno = EINTR;
		return -1;
	}
	if (request == PLD_IOC_INFO && fault_is("other-version")) {
		info = arg;
		info->abi_version = PLD_SIM_ABI_VERSION + 1;
		return 0;
	}
	return (int)syscall(SYS_ioctl, fd, request, arg);
}

static int is_spoiled(size_t size)
{
	const char *bytes = getenv("PLD_FAULT_BYTES");

	return fault_is("bad-copy") &&
	       size == strtoul(bytes ? bytes : DEFAULT_BYTES, NULL, 10);
}

void *memcpy(void *restrict to, const void *restrict from, size_t size)
{
	memmove(to, from, size);
	if (is_spoiled(size))
		((char *)to)[5] += 1;
	return to;
}
