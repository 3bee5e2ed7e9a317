// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * Platform memfd: shared memory without a name and futexes, no module and no
 * privileges.
 *
 * One memfd per window holds every rank's memory. One more, the control pages,
 * holds the status page and the doorbells: control.h. There is no kernel part to publish that a rank is gone: the launcher does, when the
 * rank's pidfd says so.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "available.h"
#include "control.h"
#include "error.h"
#include "fd.h"
#include "health.h"
#include "huge.h"
#include "look.h"
#include "memfd_import.h"
#include "platform.h"
#include "published.h"
#include "udmabuf.h"

#define DEVICES 64

static struct pld_control *control_of(const pld_domain *domain)
{
	return (struct pld_control *)domain->status;
}

static struct pld_rank_page *own_page(const pld_domain *domain)
{
	return (struct pld_rank_page *)pld_doorbell(domain, domain->rank);
}

static size_t control_bytes(const pld_domain *domain)
{
	return ((size_t)domain->nranks + 1) * PLD_SIM_DOORBELL_STRIDE;
}

static int futex(uint32_t *word, int op, uint32_t value,
		 const struct timespec *deadline, uint32_t mask)
{
	return (int)syscall(SYS_futex, word, op, value, deadline, NULL, mask);
}

/* Which of a futex's 32 bits the sleepers on a cell listen to. */
static uint32_t cell_mask(size_t offset)
{
	return 1u << (offset / PLD_CELL_STRIDE % 32);
}

static void ring_bell(struct pld_sim_doorbell *doorbell, uint32_t mask)
{
	__atomic_fetch_add(&doorbell->bell, 1, __ATOMIC_RELEASE);
	futex(&doorbell->bell, FUTEX_WAKE_BITSET, INT_MAX, NULL, mask);
}

static int memfd_probe(void)
{
	int fd = memfd_create("pld-probe", MFD_CLOEXEC);

	if (fd < 0)
		return pld_error(errno, "platform memfd: memfd_create: %s",
				 strerror(errno));
	close(fd);
	return 0;
}

static int memfd_nr_devices(void)
{
	return DEVICES;
}

/*
 * A memfd of that size that nobody can shrink under a peer's feet. Only the
 * parts that reserve() fills have memory.
 */
static int sealed_memfd(const char *name, size_t bytes)
{
	struct rlimit limit;
	int fd, error;

	/* The kernel would send SIGXFSZ. */
	if (!getrlimit(RLIMIT_FSIZE, &limit) && bytes > limit.rlim_cur)
		return pld_error(EFBIG,
				 "platform memfd: memory of %zu bytes is more than the limit on file sizes, %llu",
				 bytes, (unsigned long long)limit.rlim_cur);
	fd = pld_fd_above_stdio(
		memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING));
	if (fd >= 0 && !ftruncate(fd, (off_t)bytes) &&
	    !fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL))
		return fd;
	error = errno;
	if (fd >= 0)
		close(fd);
	return pld_error(error,
			 "platform memfd: cannot make memory of %zu bytes: %s",
			 bytes, strerror(error));
}

static int reserve(int fd, size_t at, size_t bytes)
{
	while (fallocate(fd, 0, (off_t)at, (off_t)bytes)) {
		if (errno != EINTR)
			return pld_error(errno == ENOSPC ? ENOMEM : errno,
					 "platform memfd: cannot reserve %zu bytes: %s",
					 bytes, strerror(errno));
	}
	return 0;
}

/* Each process maps it by itself: a child that a rank forks has none. */
static int map_control(pld_domain *domain)
{
	size_t bytes = control_bytes(domain);
	void *address = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			     MAP_SHARED | MAP_POPULATE, domain->platform_fd, 0);

	if (address == MAP_FAILED || madvise(address, bytes, MADV_DONTFORK))
		return pld_error(errno,
				 "platform memfd: cannot map the control pages: %s",
				 strerror(errno));
	domain->status = address;
	domain->doorbells = (char *)address + PLD_SIM_DOORBELL_STRIDE;
	return 0;
}

static void describe(struct pld_control *control, const pld_domain *domain)
{
	control->status.nranks = (uint32_t)domain->nranks;
	control->host = (uint32_t)getpid();
	memcpy(control->devices, domain->devices,
	       (size_t)domain->nranks * sizeof(control->devices[0]));
	control->layout = PLD_CONTROL_LAYOUT;
	control->magic = PLD_CONTROL_MAGIC;
}

static int memfd_create_domain(pld_domain *domain)
{
	size_t bytes = control_bytes(domain);
	int fd = sealed_memfd(PLD_CONTROL_NAME, bytes);
	int error;

	if (fd < 0)
		return fd;
	domain->platform_fd = fd;
	domain->domain_fd = -1;
	error = reserve(fd, 0, bytes);
	if (!error)
		error = map_control(domain);
	if (error) {
		close(fd);
		return error;
	}
	describe(control_of(domain), domain);
	return 0;
}

static void memfd_destroy(pld_domain *domain)
{
	munmap(domain->status, control_bytes(domain));
	close(domain->platform_fd);
}

static int zero_window(const pld_window_buffer *buffer)
{
	size_t bytes = pld_page_align(buffer->bytes);
	int error = 0;

	for (int rank = 0; rank < buffer->domain->nranks && !error; rank++) {
		if (buffer->imported[rank])
			error = pld_import_zero(buffer->imports[rank], bytes);
		else
			error = pld_memfd_zero(buffer->fd,
					       (size_t)rank * buffer->stride,
					       bytes);
	}
	if (error)
		return pld_error(error, "pld_domain_reset: zeroing a signal: %s",
				 strerror(error));
	return 0;
}

static int memfd_reset(pld_domain *domain)
{
	struct pld_control *control = control_of(domain);
	struct pld_sim_status *status = &control->status;

	for (pld_window_buffer *b = domain->buffers; b; b = b->next)
		if (b->cells)
			PLD_TRY(zero_window(b));
	memset(domain->doorbells, 0,
	       (size_t)domain->nranks * PLD_SIM_DOORBELL_STRIDE);
	memset(status->rank_state, PLD_RANK_ABSENT, sizeof(status->rank_state));
	status->reason = PLD_FAIL_NONE;
	control->cause = 0;
	domain->epoch = __atomic_add_fetch(&status->epoch, 1, __ATOMIC_RELEASE);
	return 0;
}

/* So that who sees the descriptor knows what it is. */
static void name_window(const pld_window_buffer *buffer, char name[128])
{
	struct stat control = { 0 };

	fstat(buffer->domain->platform_fd, &control);
	snprintf(name, 128, PLD_WINDOW_NAME, buffer->window,
		 (unsigned long long)buffer->bytes, buffer->cells ? 1u : 0u,
		 (unsigned long long)control.st_ino);
}

static int reserve_all(pld_window_buffer *buffer, size_t bytes)
{
	char name[128];

	buffer->window = buffer->domain->next_window++;
	name_window(buffer, name);
	buffer->fd = sealed_memfd(name, pld_span(buffer));
	if (buffer->fd < 0)
		return buffer->fd;
	for (int rank = 0; rank < buffer->domain->nranks; rank++) {
		size_t start = (size_t)rank * buffer->stride;

		if (buffer->imported[rank])
			continue;
		pld_fill_huge(buffer->fd, start, bytes);
		PLD_TRY(reserve(buffer->fd, start, bytes));
	}
	return 0;
}

static void memfd_window_free(pld_window_buffer *buffer)
{
	if (buffer->fd >= 0)
		close(buffer->fd);
	pld_imports_close(buffer);
	free(buffer->imports);
}

static int memfd_window_alloc(pld_window_buffer *buffer, const int *fds)
{
	size_t bytes = pld_page_align(buffer->bytes);
	int error;

	if (fds)
		PLD_TRY(pld_imports_check(buffer, fds));
	PLD_TRY(pld_check_available(buffer));
	buffer->stride = bytes;
	if (bytes >= PLD_HUGE_PAGE)
		buffer->stride = (bytes + PLD_HUGE_PAGE - 1) &
				 ~(PLD_HUGE_PAGE - 1);
	error = reserve_all(buffer, bytes);
	if (!error && fds)
		error = pld_imports_take(buffer, fds);
	if (!error && fds && buffer->cells)
		error = pld_imports_zero(buffer, fds);
	if (error)
		memfd_window_free(buffer);
	return error;
}

static int memfd_window_export(pld_window_buffer *buffer, int rank,
			       size_t offset, size_t bytes)
{
	size_t start = (size_t)rank * buffer->stride + offset;

	/* A rank has closed what memory is exported from. */
	if (buffer->domain->rank >= 0)
		return pld_error(EOPNOTSUPP,
				 "pld_window_export: platform memfd exports on the host side only, not in a rank");
	if (!buffer->imported[rank])
		return pld_udmabuf_create(buffer->fd, start, bytes);
	rank = fcntl(buffer->imports[rank], F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	if (rank < 0)
		return pld_error(errno, "pld_window_export: %s",
				 strerror(errno));
	return rank;
}

/* A child that outlives its rank would keep the memory by these. */
static void memfd_attached(pld_domain *domain)
{
	for (pld_window_buffer *b = domain->buffers; b; b = b->next) {
		close(b->fd);
		b->fd = -1;
		pld_imports_close(b);
	}
	close(domain->platform_fd);
	domain->platform_fd = -1;
}

static int memfd_domain_fd(const pld_domain *domain)
{
	return domain->platform_fd;
}

static int memfd_window_fd(const pld_window_buffer *buffer)
{
	return buffer->fd;
}

static int memfd_import_fd(const pld_window_buffer *buffer, int rank)
{
	return buffer->imported[rank] ? buffer->imports[rank] : -1;
}

/* Somebody who keeps it from being what it should be must not make it. */
static int check_memfd(int fd, size_t bytes, const char *what)
{
	int wanted = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
	int seals = fd < 0 ? -1 : fcntl(fd, F_GET_SEALS);
	struct stat stat;

	if (seals < 0 || (seals & wanted) != wanted || fstat(fd, &stat) ||
	    (size_t)stat.st_size != bytes)
		return pld_error(EPROTO,
				 "platform memfd: %s is not sealed memory of %zu bytes",
				 what, bytes);
	return 0;
}

static int memfd_adopt(pld_domain *domain, int fd)
{
	PLD_TRY(check_memfd(fd, control_bytes(domain),
			    "what came as the control pages"));
	domain->platform_fd = fd;
	domain->domain_fd = -1;
	return 0;
}

static int memfd_window_adopt(pld_window_buffer *buffer, int fd,
			      const int *imports)
{
	int error = 0;

	PLD_TRY(check_memfd(fd, pld_span(buffer), "what came as a window"));
	if (imports) {
		PLD_TRY(pld_imports_check(buffer, imports));
		error = pld_imports_take(buffer, imports);
	} else if (pld_own_memories(buffer) < buffer->domain->nranks) {
		error = pld_error(EPROTO,
				  "platform memfd: a window came without its dma-bufs");
	}
	if (error) {
		pld_imports_close(buffer);
		free(buffer->imports);
		return error;
	}
	buffer->fd = fd;
	return 0;
}

/* What the attachment left open; it may not have been. */
static void memfd_detach(pld_domain *domain)
{
	if (domain->status)
		munmap(domain->status, control_bytes(domain));
	if (domain->platform_fd >= 0)
		memfd_attached(domain);
}

static int memfd_attach(pld_domain *domain)
{
	PLD_TRY(map_control(domain));
	own_page(domain)->pid = (uint32_t)getpid();
	/* The epoch is the host's: a failure since then has advanced it. */
	__atomic_store_n(&domain->status->rank_state[domain->rank],
			 PLD_RANK_JOINED, __ATOMIC_RELEASE);
	return 0;
}

static int memfd_window_map(pld_window_buffer *buffer)
{
	size_t span = pld_span(buffer);
	void *address = mmap(buffer->base, span, PROT_READ | PROT_WRITE,
			     MAP_SHARED | MAP_FIXED, buffer->fd, 0);

	if (address == MAP_FAILED || madvise(address, span, MADV_DONTFORK))
		return pld_error(errno,
				 "platform memfd: cannot map a window of %zu bytes: %s",
				 buffer->bytes, strerror(errno));
	return pld_imports_map(buffer);
}

/* Only saves time later: a kernel without it (before 5.14) does no harm. */
static void memfd_window_touch(pld_window_buffer *buffer, int rank)
{
	madvise(buffer->base + (size_t)rank * buffer->stride,
		pld_page_align(buffer->bytes), MADV_POPULATE_WRITE);
}

static void memfd_leave(pld_domain *domain)
{
	__atomic_store_n(&domain->status->rank_state[domain->rank],
			 PLD_RANK_LEFT, __ATOMIC_RELEASE);
}

static uint32_t cells_mask(const struct pld_wants *wants)
{
	uint32_t mask = 0;

	for (int i = 0; i < wants->count; i++)
		mask |= cell_mask(wants->cells[i].offset);
	return mask;
}

static int sleep_on_bell(pld_domain *domain, const struct pld_wants *wants,
			 const struct timespec *deadline)
{
	struct pld_sim_doorbell *doorbell = pld_doorbell(domain, domain->rank);
	uint32_t mask = cells_mask(wants);

	for (;;) {
		/*
		 * The bell before all that a ring can tell of: what comes after
		 * the look changes the bell, and the futex does not sleep.
		 */
		uint32_t bell =
			__atomic_load_n(&doorbell->bell, __ATOMIC_SEQ_CST);
		struct pld_look look = pld_look(wants);

		if (look.satisfied)
			return look.index;
		if (!pld_healthy(domain))
			return -EOWNERDEAD;
		if (wants->stop &&
		    atomic_load_explicit(wants->stop, memory_order_acquire))
			return -EINTR;
		if (futex(&doorbell->bell, FUTEX_WAIT_BITSET, bell, deadline,
			  mask) &&
		    errno == ETIMEDOUT)
			return -ETIMEDOUT;
	}
}

static int memfd_block(pld_domain *domain, const struct pld_wants *wants,
		       int64_t deadline_ns)
{
	struct pld_sim_doorbell *doorbell = pld_doorbell(domain, domain->rank);
	struct pld_published published;
	struct timespec deadline = {
		.tv_sec = deadline_ns / 1000000000,
		.tv_nsec = deadline_ns % 1000000000,
	};
	int result;

	pld_publish(own_page(domain), wants, &published);

	/*
	 * Raised before the cells are looked at, both seq_cst. Pairs with
	 * pld_system_notify(), which changes a cell before it looks here: one
	 * of the two sees the other.
	 */
	__atomic_fetch_add(&doorbell->waiters, 1, __ATOMIC_SEQ_CST);
	result = sleep_on_bell(domain, wants, &deadline);
	__atomic_fetch_sub(&doorbell->waiters, 1, __ATOMIC_RELAXED);
	pld_withdraw(own_page(domain), &published);
	return result;
}

static void memfd_ring(pld_window_buffer *buffer, size_t offset, int peer)
{
	ring_bell(pld_doorbell(buffer->domain, peer), cell_mask(offset));
}

/*
 * Everybody may do this, at the same time and again: all write the same, and the
 * epoch advances once.
 */
static void publish(pld_domain *domain, uint64_t cause)
{
	struct pld_sim_status *status = domain->status;
	uint32_t epoch = domain->epoch;

	__atomic_store_n(&status->reason, (uint16_t)cause, __ATOMIC_RELAXED);
	__atomic_store_n(&status->rank, (uint16_t)(cause >> 16),
			 __ATOMIC_RELAXED);
	__atomic_store_n(&status->code, (int32_t)(cause >> 32),
			 __ATOMIC_RELAXED);
	/* Release: who sees the epoch sees why. Pairs with pld_healthy(). */
	__atomic_compare_exchange_n(&status->epoch, &epoch, epoch + 1, false,
				    __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
	for (int rank = 0; rank < domain->nranks; rank++)
		ring_bell(pld_doorbell(domain, rank), FUTEX_BITSET_MATCH_ANY);
}

/* Publishes the first failure, also where that is not this one. */
static void memfd_fail(pld_domain *domain, enum pld_sim_fail_reason reason,
		       int culprit, int code)
{
	struct pld_control *control = control_of(domain);
	uint64_t this = (uint64_t)(uint32_t)code << 32 |
			(uint64_t)(uint16_t)culprit << 16 | (uint16_t)reason;
	uint64_t first = 0;

	if (reason == PLD_FAIL_DEAD)
		__atomic_store_n(&control->status.rank_state[culprit],
				 PLD_RANK_DEAD, __ATOMIC_RELEASE);
	/* Relaxed: it is all there is to know. */
	if (__atomic_compare_exchange_n(&control->cause, &first, this, false,
					__ATOMIC_RELAXED, __ATOMIC_RELAXED))
		first = this;
	publish(domain, first);
}

const struct pld_platform pld_platform_memfd = {
	.name = "memfd",
	.probe = memfd_probe,
	.nr_devices = memfd_nr_devices,
	.create = memfd_create_domain,
	.destroy = memfd_destroy,
	.forget = memfd_attached,
	.reset = memfd_reset,
	.window_alloc = memfd_window_alloc,
	.window_free = memfd_window_free,
	.window_export = memfd_window_export,
	.domain_fd = memfd_domain_fd,
	.window_fd = memfd_window_fd,
	.import_fd = memfd_import_fd,
	.adopt = memfd_adopt,
	.window_adopt = memfd_window_adopt,
	.detach = memfd_detach,
	.attach = memfd_attach,
	.window_map = memfd_window_map,
	.window_touch = memfd_window_touch,
	.attached = memfd_attached,
	.leave = memfd_leave,
	.block = memfd_block,
	.ring = memfd_ring,
	.fail = memfd_fail,
};
