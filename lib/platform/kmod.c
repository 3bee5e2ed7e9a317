// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * Platform kmod: /dev/pld_sim makes the memory, blocks, wakes, and notices by
 * itself when a rank's process is gone.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "available.h"
#include "clock.h"
#include "dmabuf.h"
#include "error.h"
#include "fd.h"
#include "health.h"
#include "look.h"
#include "platform.h"

#define DEVICE "/dev/pld_sim"

static int open_device(struct pld_sim_info *info)
{
	int fd = pld_fd_above_stdio(open(DEVICE, O_RDWR | O_CLOEXEC));

	if (fd < 0 && (errno == ENOENT || errno == ENXIO || errno == ENODEV))
		return pld_error(ENODEV,
				 "platform kmod: no module: there is no " DEVICE
				 "; load pld_sim.ko, or use platform memfd");
	if (fd < 0 && (errno == EACCES || errno == EPERM))
		return pld_error(EACCES,
				 "platform kmod: no permission to open " DEVICE
				 "; join the group that owns it");
	if (fd < 0)
		return pld_error(errno,
				 "platform kmod: cannot open " DEVICE ": %s",
				 strerror(errno));
	*info = (struct pld_sim_info){ .size = sizeof(*info) };
	if (ioctl(fd, PLD_IOC_INFO, info) ||
	    info->abi_version != PLD_SIM_ABI_VERSION) {
		close(fd);
		return pld_error(EPROTO,
				 "platform kmod: version mismatch: the loaded module has ABI version %u, this libpld %d; load the pld_sim.ko of pld %s",
				 info->abi_version, PLD_SIM_ABI_VERSION,
				 PLD_VERSION);
	}
	return fd;
}

static int kmod_probe(void)
{
	struct pld_sim_info info;
	int fd = open_device(&info);

	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

static int kmod_nr_devices(void)
{
	struct pld_sim_info info;
	int fd = open_device(&info);

	if (fd < 0)
		return fd;
	close(fd);
	return (int)info.nr_devices;
}

static int kmod_create(pld_domain *domain)
{
	struct pld_sim_domain_create create = {
		.size = sizeof(create),
		.devices = (uintptr_t)domain->devices,
		.nranks = (uint32_t)domain->nranks,
	};
	struct pld_sim_info info;
	int fd = open_device(&info);

	if (fd < 0)
		return fd;
	if (ioctl(fd, PLD_IOC_DOMAIN_CREATE, &create)) {
		int error = errno;

		close(fd);
		return pld_error(error,
				 "platform kmod: cannot create a domain: %s",
				 strerror(error));
	}
	domain->platform_fd = fd;
	domain->domain_fd = pld_fd_above_stdio(create.out_fd);
	if (domain->domain_fd < 0) {
		int error = errno;

		close(fd);
		return pld_error(error,
				 "platform kmod: cannot create a domain: %s",
				 strerror(error));
	}
	return 0;
}

static void kmod_destroy(pld_domain *domain)
{
	close(domain->domain_fd);
	close(domain->platform_fd);
}

static int kmod_reset(pld_domain *domain)
{
	struct pld_sim_domain_reset reset = { .size = sizeof(reset) };

	if (ioctl(domain->domain_fd, PLD_IOC_DOMAIN_RESET, &reset))
		return pld_error(errno, "pld_domain_reset: %s", strerror(errno));
	return 0;
}

static int window_alloc(pld_window_buffer *buffer)
{
	struct pld_sim_window_alloc alloc = {
		.size = sizeof(alloc),
		.flags = buffer->cells ? PLD_WINDOW_SIGNAL : 0,
		.length = buffer->bytes,
	};

	if (ioctl(buffer->domain->domain_fd, PLD_IOC_WINDOW_ALLOC, &alloc)) {
		if (errno == ENOMEM)
			return pld_not_available(buffer, alloc.available);
		return pld_error(errno, "pld.alloc_window_buffer: %s",
				 strerror(errno));
	}
	buffer->window = alloc.window;
	buffer->mmap_offset = alloc.mmap_offset;
	buffer->stride = alloc.stride;
	return 0;
}

static int window_import(pld_window_buffer *buffer, const int *fds)
{
	struct pld_sim_window_import import = {
		.size = sizeof(import),
		.flags = buffer->cells ? PLD_WINDOW_SIGNAL : 0,
		.length = buffer->bytes,
		.fds = (uintptr_t)fds,
		.nr_fds = (uint32_t)buffer->domain->nranks,
	};

	if (ioctl(buffer->domain->domain_fd, PLD_IOC_WINDOW_IMPORT, &import)) {
		uint32_t rank = import.refused;

		if (rank < import.nr_fds)
			return pld_import_refused(buffer, (int)rank, fds[rank],
						  errno);
		if (errno == ENOMEM)
			return pld_not_available(buffer, import.available);
		return pld_error(errno, "pld_window_import: %s",
				 strerror(errno));
	}
	buffer->window = import.window;
	buffer->mmap_offset = import.mmap_offset;
	buffer->stride = import.stride;
	return 0;
}

static int kmod_window_alloc(pld_window_buffer *buffer, const int *fds)
{
	PLD_TRY(pld_check_available(buffer));
	return fds ? window_import(buffer, fds) : window_alloc(buffer);
}

static int kmod_window_export(pld_window_buffer *buffer, int rank,
			      size_t offset, size_t bytes)
{
	const pld_domain *domain = buffer->domain;
	struct pld_sim_window_export args = {
		.size = sizeof(args),
		.window = buffer->window,
		.rank = (uint32_t)rank,
		.offset = offset,
		.length = bytes,
	};
	int fd = domain->rank < 0 ? domain->domain_fd : domain->platform_fd;

	if (ioctl(fd, PLD_IOC_WINDOW_EXPORT, &args))
		fd = -1;
	else
		fd = pld_fd_above_stdio(args.out_fd);
	if (fd < 0)
		return pld_error(errno, "pld_window_export: %s",
				 strerror(errno));
	return fd;
}

static void kmod_window_free(pld_window_buffer *buffer)
{
	struct pld_sim_window_free release = {
		.size = sizeof(release),
		.window = buffer->window,
	};

	/* A fork of the host has no say in the domain. */
	if (pld_is_host(buffer->domain))
		ioctl(buffer->domain->domain_fd, PLD_IOC_WINDOW_FREE, &release);
}

static int kmod_domain_fd(const pld_domain *domain)
{
	return domain->domain_fd;
}

static int kmod_window_fd(const pld_window_buffer *buffer)
{
	(void)buffer;
	return -1;
}

/* The module maps it. */
static int kmod_import_fd(const pld_window_buffer *buffer, int rank)
{
	(void)buffer;
	(void)rank;
	return -1;
}

/* The module looks at everything itself when it is asked to join and to map. */
static int kmod_adopt(pld_domain *domain, int fd)
{
	struct pld_sim_info info;
	int device;

	if (fd < 0)
		return pld_error(EPROTO,
				 "platform kmod: the domain came without a descriptor");
	device = open_device(&info);
	if (device < 0)
		return device;
	domain->platform_fd = device;
	domain->domain_fd = fd;
	return 0;
}

static int kmod_window_adopt(pld_window_buffer *buffer, int fd,
			     const int *imports)
{
	if (fd < 0 && !imports)
		return 0;
	return pld_error(EPROTO,
			 "platform kmod: a window of %zu bytes came with a descriptor",
			 buffer->bytes);
}

static void kmod_detach(pld_domain *domain)
{
	if (domain->status)
		munmap(domain->status, sizeof(struct pld_sim_status));
	if (domain->doorbells)
		munmap(domain->doorbells,
		       (size_t)domain->nranks * PLD_SIM_DOORBELL_STRIDE);
	if (domain->platform_fd >= 0)
		close(domain->platform_fd);
	if (domain->domain_fd >= 0)
		close(domain->domain_fd);
}

static int map_read_only(pld_domain *domain, uint64_t offset, size_t bytes,
			 void **address)
{
	*address = mmap(NULL, bytes, PROT_READ, MAP_SHARED, domain->platform_fd,
			(off_t)offset);
	if (*address == MAP_FAILED)
		return pld_error(errno,
				 "platform kmod: cannot map the domain's pages: %s",
				 strerror(errno));
	return 0;
}

/* A signal's handler is no reason not to join. */
static int join(int fd, struct pld_sim_join *args)
{
	int error;

	do
		error = ioctl(fd, PLD_IOC_JOIN, args);
	while (error && errno == EINTR);
	return error;
}

/* The rank's file is opened here, so that this process and no other owns it. */
static int kmod_attach(pld_domain *domain)
{
	struct pld_sim_join args = {
		.size = sizeof(args),
		.domain_fd = domain->domain_fd,
		.rank = (uint32_t)domain->rank,
	};
	struct pld_sim_info info;
	void *address;
	int fd = open_device(&info);

	if (fd < 0)
		return fd;
	close(domain->platform_fd);
	domain->platform_fd = fd;
	if (join(fd, &args)) {
		if (args.reason != PLD_FAIL_NONE)
			return pld_broken(domain, "joining the domain",
					  args.reason, args.failed_rank,
					  args.code);
		return pld_error(errno,
				 "platform kmod: cannot join as rank %d: %s",
				 domain->rank, strerror(errno));
	}
	domain->epoch = args.epoch;
	PLD_TRY(map_read_only(domain, PLD_SIM_MMAP_STATUS,
			      sizeof(struct pld_sim_status), &address));
	domain->status = address;
	PLD_TRY(map_read_only(domain, PLD_SIM_MMAP_DOORBELLS,
			      (size_t)domain->nranks * PLD_SIM_DOORBELL_STRIDE,
			      &address));
	domain->doorbells = address;
	return 0;
}

static int map_part(pld_window_buffer *buffer, size_t start, size_t bytes)
{
	void *address = mmap(buffer->base + start, bytes, PROT_READ | PROT_WRITE,
			     MAP_SHARED | MAP_FIXED, buffer->domain->platform_fd,
			     (off_t)(buffer->mmap_offset + start));

	if (address == MAP_FAILED)
		return pld_error(errno,
				 "platform kmod: cannot map a window of %zu bytes: %s",
				 buffer->bytes, strerror(errno));
	return 0;
}

/* Imported memory is mapped by itself, over the hole that it leaves. */
static int kmod_window_map(pld_window_buffer *buffer)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t bytes = (buffer->bytes + page - 1) / page * page;

	PLD_TRY(map_part(buffer, 0, pld_span(buffer)));
	for (int rank = 0; rank < buffer->domain->nranks; rank++)
		if (buffer->imported[rank])
			PLD_TRY(map_part(buffer, (size_t)rank * buffer->stride,
					 bytes));
	return 0;
}

static void kmod_window_touch(pld_window_buffer *buffer, int rank)
{
	volatile char *start = buffer->base + (size_t)rank * buffer->stride;
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	for (size_t at = 0; at < buffer->bytes; at += page)
		(void)start[at];
}

static void kmod_attached(pld_domain *domain)
{
	close(domain->domain_fd);
	domain->domain_fd = -1;
}

static void kmod_leave(pld_domain *domain)
{
	struct pld_sim_leave leave = { .size = sizeof(leave) };

	ioctl(domain->platform_fd, PLD_IOC_LEAVE, &leave);
}

static void describe_cells(const struct pld_wants *wants,
			   struct pld_sim_condition *conditions)
{
	for (int i = 0; i < wants->count; i++) {
		const struct pld_wanted *wanted = &wants->cells[i];

		conditions[i] = (struct pld_sim_condition){
			.offset = wanted->offset,
			.window = wanted->buffer->window,
			.cmp = wanted->cmp == PLD_EQ ? PLD_SIM_CMP_EQ
						     : PLD_SIM_CMP_GE,
			.expected = wanted->expected,
		};
	}
}

/*
 * The bell before stop: who raises stop rings then, which changes the bell, and
 * the kernel does not sleep.
 */
static bool stopped(const pld_domain *domain, const struct pld_wants *wants,
		    struct pld_sim_wait *wait)
{
	if (!wants->stop)
		return false;
	wait->flags |= PLD_WAIT_BELL;
	wait->bell = __atomic_load_n(&pld_doorbell(domain, domain->rank)->bell,
				     __ATOMIC_ACQUIRE);
	return atomic_load_explicit(wants->stop, memory_order_acquire);
}

static int kmod_block(pld_domain *domain, const struct pld_wants *wants,
		      int64_t deadline_ns)
{
	struct pld_sim_condition conditions[PLD_MAX_CONDITIONS];
	struct pld_sim_wait wait = {
		.size = sizeof(wait),
		.flags = wants->any ? PLD_WAIT_ANY : 0,
		.deadline_ns = deadline_ns,
		.conditions = (uintptr_t)conditions,
		.nr_conditions = (uint32_t)wants->count,
	};

	describe_cells(wants, conditions);
	for (;;) {
		if (stopped(domain, wants, &wait))
			return -EINTR;
		if (!ioctl(domain->platform_fd, PLD_IOC_WAIT, &wait))
			return (int)wait.index;
		if (errno == ETIMEDOUT && pld_now() >= deadline_ns)
			return -ETIMEDOUT;
		/* That it is broken may be known before it is published. */
		if (!pld_healthy(domain))
			return -EOWNERDEAD;
		if (errno == ENXIO)
			return pld_error(ENXIO,
					 "waiting for a cell: the kernel cannot see the imported memory that it is in");
		if (errno != EINTR && errno != EAGAIN && errno != ETIMEDOUT &&
		    errno != EOWNERDEAD && errno != ECANCELED)
			return pld_error(errno, "waiting for a cell: %s",
					 strerror(errno));
	}
}

static int cannot_watch(void)
{
	if (errno == ENOSPC)
		return pld_error(ENOSPC,
				 "platform kmod: the rank has %d waiters and fences that wait, and takes no further one",
				 PLD_SIM_MAX_SIGNALS);
	return pld_error(errno, "platform kmod: cannot watch a cell: %s",
			 strerror(errno));
}

/* The domain may have broken since it was looked at. */
static int broke_meanwhile(void)
{
	return errno == EOWNERDEAD || errno == ECANCELED || errno == ETIMEDOUT;
}

static int kmod_arm(pld_domain *domain, const struct pld_wants *wants,
		    int64_t deadline_ns, int eventfd, uint64_t *cookie)
{
	struct pld_sim_condition conditions[PLD_MAX_CONDITIONS];
	struct pld_sim_signal_eventfd args = {
		.size = sizeof(args),
		.flags = wants->any ? PLD_WAIT_ANY : 0,
		.conditions = (uintptr_t)conditions,
		.nr_conditions = (uint32_t)wants->count,
		.eventfd = eventfd,
		.deadline_ns = deadline_ns,
	};

	describe_cells(wants, conditions);
	if (ioctl(domain->platform_fd, PLD_IOC_SIGNAL_EVENTFD, &args))
		return broke_meanwhile() ? pld_unhealthy(domain, "pld_waiter_fd")
					 : cannot_watch();
	*cookie = args.cookie;
	return 0;
}

static int kmod_armed(pld_domain *domain, const struct pld_wants *wants,
		      uint64_t cookie, bool end, struct pld_look *look)
{
	struct pld_sim_signal_eventfd args = {
		.size = sizeof(args),
		.flags = end ? PLD_SIGNAL_END : PLD_SIGNAL_ASK,
		.cookie = cookie,
	};

	if (ioctl(domain->platform_fd, PLD_IOC_SIGNAL_EVENTFD, &args))
		return cannot_watch();
	if (args.result == -EAGAIN)
		return -EAGAIN;
	*look = (struct pld_look){
		.satisfied = pld_holds(&wants->cells[args.index], args.value),
		.index = (int)args.index,
		.value = args.value,
	};
	if (!end) {
		args = (struct pld_sim_signal_eventfd){
			.size = sizeof(args),
			.flags = PLD_SIGNAL_END,
			.cookie = cookie,
		};
		ioctl(domain->platform_fd, PLD_IOC_SIGNAL_EVENTFD, &args);
	}
	if (look->satisfied)
		return look->index;
	return args.result == -ETIMEDOUT ? -ETIMEDOUT : -EOWNERDEAD;
}

static int kmod_fence(pld_domain *domain, const struct pld_wants *wants,
		      int64_t deadline_ns, int *fd)
{
	struct pld_sim_condition conditions[PLD_MAX_CONDITIONS];
	struct pld_sim_signal_fence args = {
		.size = sizeof(args),
		.flags = wants->any ? PLD_WAIT_ANY : 0,
		.conditions = (uintptr_t)conditions,
		.nr_conditions = (uint32_t)wants->count,
		.deadline_ns = deadline_ns,
	};

	describe_cells(wants, conditions);
	if (ioctl(domain->platform_fd, PLD_IOC_SIGNAL_FENCE, &args))
		return broke_meanwhile()
			       ? pld_unhealthy(domain, "pld_signal_fence")
			       : cannot_watch();
	*fd = pld_fd_above_stdio(args.out_fd);
	return *fd < 0 ? cannot_watch() : 0;
}

/* A ring that fails has nobody to wake: the domain is broken, all are awake. */
static void kmod_ring(pld_window_buffer *buffer, size_t offset, int peer)
{
	struct pld_sim_ring ring = {
		.size = sizeof(ring),
		.offset = offset,
		.window = buffer->window,
		.rank = (uint32_t)peer,
	};

	ioctl(buffer->domain->platform_fd, PLD_IOC_RING, &ring);
}

static void kmod_fail(pld_domain *domain, enum pld_sim_fail_reason reason,
		      int culprit, int code)
{
	struct pld_sim_fail fail = {
		.size = sizeof(fail),
		.reason = reason,
		.rank = (uint32_t)culprit,
		.code = code,
	};

	ioctl(domain->rank < 0 ? domain->domain_fd : domain->platform_fd,
	      PLD_IOC_FAIL, &fail);
}

const struct pld_platform pld_platform_kmod = {
	.name = "kmod",
	.probe = kmod_probe,
	.nr_devices = kmod_nr_devices,
	.create = kmod_create,
	.destroy = kmod_destroy,
	.forget = kmod_destroy,
	.reset = kmod_reset,
	.window_alloc = kmod_window_alloc,
	.window_free = kmod_window_free,
	.window_export = kmod_window_export,
	.domain_fd = kmod_domain_fd,
	.window_fd = kmod_window_fd,
	.import_fd = kmod_import_fd,
	.adopt = kmod_adopt,
	.window_adopt = kmod_window_adopt,
	.detach = kmod_detach,
	.attach = kmod_attach,
	.window_map = kmod_window_map,
	.window_touch = kmod_window_touch,
	.attached = kmod_attached,
	.leave = kmod_leave,
	.block = kmod_block,
	.arm = kmod_arm,
	.armed = kmod_armed,
	.fence = kmod_fence,
	.ring = kmod_ring,
	.fail = kmod_fail,
};
