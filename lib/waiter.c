// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * pld.system.defer_wait: the kernel waits, or, where the platform has nothing
 * for it, a thread of the rank, and tells by an eventfd.
 *
 * A waiter is made and filled by one thread, then armed by pld_waiter_fd(). From
 * there on its own thread, if it has one, reads the conditions, which do not
 * change any more, and writes failure and then, once, result. Whoever has seen
 * result may read failure. The kernel is asked how its wait stands, and what it
 * answers is kept in the same place.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "cell.h"
#include "domain.h"
#include "error.h"
#include "fd.h"
#include "health.h"
#include "platform/platform.h"

static const char defer_wait[] = "pld.system.defer_wait";

struct pld_waiter {
	pld_domain *domain;
	int count;
	/* copies: the caller's views may be gone when they are looked at */
	pld_view signals[PLD_MAX_CONDITIONS];
	pld_condition conditions[PLD_MAX_CONDITIONS];
	/* in its window buffer: what the thread can be woken by */
	size_t first_cell;
	int fd;

	bool armed;
	/* the kernel waits, and has not told how its wait ended */
	bool in_kernel;
	struct pld_armed_wait kernels;
	pthread_t thread;
	atomic_bool stop;
	/* -EAGAIN until it is known how the wait ended */
	atomic_int result;
	struct pld_failure failure;
};

int pld_waiter_create(pld_domain *domain, pld_waiter **waiter)
{
	static const char op[] = "pld_waiter_create";
	pld_waiter *made;
	int error;

	if (!domain || !waiter)
		return pld_error(EINVAL,
				 "%s: domain and waiter must not be NULL", op);
	PLD_TRY(pld_enter(domain, op));
	made = calloc(1, sizeof(*made));
	if (!made)
		return pld_error(ENOMEM, "%s: out of memory", op);
	made->domain = domain;
	atomic_init(&made->result, -EAGAIN);
	made->fd = pld_fd_above_stdio(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
	if (made->fd < 0) {
		error = errno;
		free(made);
		return pld_error(error, "%s: eventfd: %s", op, strerror(error));
	}
	*waiter = made;
	return 0;
}

static int check_condition(const pld_waiter *waiter, const pld_view *signal,
			   pld_dims offsets, int32_t expected, pld_cmp cmp,
			   size_t *cell)
{
	PLD_TRY(pld_signal_cell(defer_wait, "signal", signal, &offsets, cell));
	if (signal->buffer->domain != waiter->domain)
		return pld_error(EINVAL,
				 "%s: signal is of another domain than the waiter",
				 defer_wait);
	if (cmp != PLD_GE)
		return pld_error(EINVAL, "%s: cmp is %d, wanted Ge (1)",
				 defer_wait, (int)cmp);
	if (expected < 0)
		return pld_error(EINVAL, "%s: expected is %d, wanted 0 to %d",
				 defer_wait, expected, INT32_MAX);
	return 0;
}

int pld_system_defer_wait(pld_waiter *waiter,
			  const pld_distributed_tensor *signal,
			  pld_dims offsets, int32_t expected, pld_cmp cmp)
{
	size_t cell;

	if (!waiter)
		return pld_error(EINVAL, "%s: waiter must not be NULL",
				 defer_wait);
	PLD_TRY(check_condition(waiter, signal, offsets, expected, cmp, &cell));
	if (waiter->armed)
		return pld_error(EBUSY,
				 "%s: the waiter watches already, and takes no further condition",
				 defer_wait);
	if (waiter->count == PLD_MAX_CONDITIONS)
		return pld_error(ENOSPC,
				 "%s: the waiter has %d conditions, and takes no further one",
				 defer_wait, PLD_MAX_CONDITIONS);
	if (!waiter->count)
		waiter->first_cell = cell;
	waiter->signals[waiter->count] = *signal;
	waiter->conditions[waiter->count] = (pld_condition){
		.signal = &waiter->signals[waiter->count],
		.offsets = offsets,
		.expected = expected,
		.cmp = cmp,
	};
	waiter->count++;
	return 0;
}

static struct pld_wait_request request_of(pld_waiter *waiter)
{
	return (struct pld_wait_request){
		.op = defer_wait,
		.conditions = waiter->conditions,
		.count = waiter->count,
		.indexed = true,
		.timeout_ns = waiter->domain->timeout_ns,
		.stop = &waiter->stop,
	};
}

static void keep(pld_waiter *waiter, int result)
{
	waiter->failure = *pld_failure();
	/* Release: pairs with the acquire in pld_waiter_result(). */
	atomic_store_explicit(&waiter->result, result, memory_order_release);
}

static void *watch(void *arg)
{
	pld_waiter *waiter = arg;
	struct pld_wait_request request = request_of(waiter);
	int result = pld_wait_for(&request);

	if (result == -EINTR)
		return NULL;
	keep(waiter, result);
	/* Cannot fail: nobody else adds to it. */
	eventfd_write(waiter->fd, 1);
	return NULL;
}

/* The rank's signals are for its own threads. */
static int start_thread(pld_waiter *waiter)
{
	sigset_t all, before;
	int error;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	error = pthread_create(&waiter->thread, NULL, watch, waiter);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (error)
		return pld_error(error,
				 "pld_waiter_fd: cannot start a thread: %s",
				 strerror(error));
	return 0;
}

static int start_in_kernel(pld_waiter *waiter)
{
	struct pld_wait_request request = request_of(waiter);

	PLD_TRY(pld_wait_arm(&request, &waiter->kernels, waiter->fd));
	waiter->in_kernel = true;
	return 0;
}

static void ask_kernel(pld_waiter *waiter, bool end)
{
	struct pld_wait_request request = request_of(waiter);
	int result = pld_wait_armed(&request, &waiter->kernels, end);

	if (result == -EAGAIN)
		return;
	waiter->in_kernel = false;
	keep(waiter, result);
}

int pld_waiter_fd(pld_waiter *waiter)
{
	static const char op[] = "pld_waiter_fd";

	if (!waiter)
		return pld_error(EINVAL, "%s: waiter must not be NULL", op);
	if (!*waiter->domain->alive)
		return pld_unhealthy(waiter->domain, op);
	if (waiter->armed)
		return waiter->fd;
	PLD_TRY(pld_enter(waiter->domain, op));
	if (!waiter->count)
		return pld_error(EINVAL, "%s: the waiter has no condition", op);
	if (waiter->domain->platform->arm)
		PLD_TRY(start_in_kernel(waiter));
	else
		PLD_TRY(start_thread(waiter));
	waiter->armed = true;
	return waiter->fd;
}

int pld_waiter_result(pld_waiter *waiter)
{
	static const char op[] = "pld_waiter_result";
	int result;

	if (!waiter)
		return pld_error(EINVAL, "%s: waiter must not be NULL", op);
	if (!*waiter->domain->alive)
		return pld_unhealthy(waiter->domain, op);
	if (!waiter->armed)
		return pld_error(EAGAIN,
				 "%s: the waiter does not watch before pld_waiter_fd",
				 op);
	if (waiter->in_kernel)
		ask_kernel(waiter, false);
	/* Acquire: what the cells' notifiers did before is visible too. */
	result = atomic_load_explicit(&waiter->result, memory_order_acquire);
	if (result == -EAGAIN)
		return pld_error(EAGAIN, "%s: not all conditions hold yet", op);
	if (result)
		*pld_failure() = waiter->failure;
	return result;
}

static void end_thread(pld_waiter *waiter)
{
	pld_domain *domain = waiter->domain;

	/* Before the ring, which is what makes the thread look at it. */
	atomic_store_explicit(&waiter->stop, true, memory_order_seq_cst);
	domain->platform->ring(waiter->signals[0].buffer, waiter->first_cell,
			       domain->rank);
	pthread_join(waiter->thread, NULL);
}

void pld_waiter_destroy(pld_waiter *waiter)
{
	/* The caller may yet ask for the last sentence. */
	struct pld_failure before = *pld_failure();

	if (!waiter)
		return;
	/* A child that the rank forked has neither of them. */
	if (waiter->armed && *waiter->domain->alive) {
		if (waiter->in_kernel)
			ask_kernel(waiter, true);
		else if (!waiter->domain->platform->arm)
			end_thread(waiter);
	}
	*pld_failure() = before;
	close(waiter->fd);
	free(waiter);
}
