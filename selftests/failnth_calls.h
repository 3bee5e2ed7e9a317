/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The calls of failnth, how many steps each has at least, and how many of them make it
 * fail. The steps are those on a kernel of scripts/kernels/debug.config, where its
 * allocators have memory ready. To get some is a step, too, and may fall to any call:
 * what KASAN has seen freed is not at hand again at once. It comes between the steps
 * of a sweep, which may miss one then: failures may be a few less than the steps that
 * fail.
 */
#ifndef PLD_FAILNTH_CALLS_H
#define PLD_FAILNTH_CALLS_H

#include <poll.h>
#include <sys/epoll.h>
#include <sys/wait.h>

#include "dmabuf_drivers.h"
#include "failnth_world.h"
#include "pld_bytes.h"
#include "pld_exporter.h"

static int call_open(world *w)
{
	return sim_open();
}
CALL(open, 7, 2, .undo = undo_close);

static int call_info(world *w)
{
	struct pld_sim_info info;

	return sim_info(w->device, &info);
}
CALL(info, 2, 2);

static int call_domain_create(world *w)
{
	return sim_create(w->device, (const __u32[]){ 0, 1 }, 2);
}
CALL(domain_create, 14, 8, .undo = undo_close);

static bool prepare_many(world *w)
{
	struct pld_sim_info info;

	return !sim_info(w->device, &info) && info.nr_devices >= MANY_RANKS;
}

static int call_domain_create_many(world *w)
{
	__u32 ids[MANY_RANKS];

	for (__u32 r = 0; r < MANY_RANKS; r++)
		ids[r] = r;
	return sim_create(w->device, ids, MANY_RANKS);
}
CALL(domain_create_many, 28, 18, .prepare = prepare_many, .undo = undo_close);

static int call_join(world *w)
{
	return sim_join(w->other, w->target, 1, NULL);
}
CALL(join, 4, 2, .prepare = prepare_device);

static int call_leave(world *w)
{
	return sim_leave(w->other);
}
CALL(leave, 1, 1, .prepare = prepare_member);

static int call_window_alloc(world *w)
{
	return sim_alloc(w->domain, SIM_PAGE, 0, &w->win);
}
CALL(window_alloc, 10, 4, .undo = undo_free);

/* Blocks of every size, in each rank's memory. */
static int call_window_alloc_blocks(world *w)
{
	return sim_alloc(w->domain, SIM_HUGE + 17 * SIM_PAGE, PLD_WINDOW_SIGNAL,
			 &w->win);
}
CALL(window_alloc_blocks, 26, 5, .undo = undo_free);

static bool prepare_window(world *w)
{
	return !sim_alloc(w->domain, SIM_PAGE, 0, &w->win);
}

static int call_window_free(world *w)
{
	return sim_free(w->domain, w->win.window);
}
CALL(window_free, 1, 1, .prepare = prepare_window);

static int call_wait(world *w)
{
	return sim_wait(w->rank, w->small.window, 0, PLD_SIM_CMP_GE, 0, 0, NULL);
}
CALL(wait, 2, 2);

static int call_wait_several(world *w)
{
	return sim_wait_for(w->rank, 0, w->conditions, SEVERAL, 0, NULL);
}
CALL(wait_several, 7, 4);

/* One that sleeps, until its deadline. */
static int call_wait_any_in_vain(world *w)
{
	struct pld_sim_condition c = w->conditions[0];
	int ret;

	c.expected = 1;
	ret = sim_wait_for(w->rank, PLD_WAIT_ANY, &c, 1, sim_after(SIM_MS),
			   NULL);
	return ret == -ETIMEDOUT ? 0 : ret;
}
CALL(wait_any_in_vain, 7, 3);

static int call_ring(world *w)
{
	return sim_ring(w->rank, w->small.window, 1, 0);
}
CALL(ring, 1, 1);

static int call_fail(world *w)
{
	return sim_fail(w->target, PLD_FAIL_ABORT, 0, 3);
}
CALL(fail, 1, 1, .prepare = prepare_domain);

static int call_domain_reset(world *w)
{
	return sim_reset(w->target);
}
CALL(domain_reset, 1, 1, .prepare = prepare_domain);

static int call_window_export(world *w)
{
	return sim_export(w->domain, w->small.window, 1);
}
CALL(window_export, 12, 6, .undo = undo_close);

static int call_window_export_part(world *w)
{
	return sim_export_part(w->rank, w->small.window, 0, SIM_PAGE, SIM_PAGE,
			       PLD_EXPORT_READ_ONLY);
}
CALL(window_export_part, 12, 6, .undo = undo_close);

static int import(world *w, size_t bytes, __u32 flags)
{
	__s32 fds[] = { w->target, -1 };

	return sim_import(w->domain, bytes, flags, fds, 2, &w->win, NULL);
}

static int call_window_import_none(world *w)
{
	__s32 fds[] = { -1, -1 };

	return sim_import(w->domain, SIM_PAGE, 0, fds, 2, &w->win, NULL);
}
CALL(window_import_none, 13, 6, .undo = undo_free);

static int call_window_import_own(world *w)
{
	return import(w, 4 * SIM_PAGE, 0);
}
CALL(window_import_own, 25, 10, .prepare = prepare_export, .undo = undo_free);

/*
 * Which needs a view of the kernel's. One is there already: the kernel's dma-buf
 * code warns when its exporter fails to make one.
 */
static bool prepare_view(world *w)
{
	struct pld_sim_window_alloc win;
	__s32 fds[] = { w->target, -1 };
	off_t bytes = lseek(w->target, 0, SEEK_END);

	w->other = sim_domain(2);
	return bytes > 0 && !sim_import(w->other, bytes, PLD_WINDOW_SIGNAL, fds,
					2, &win, NULL);
}

static bool prepare_export_view(world *w)
{
	return prepare_export(w) && prepare_view(w);
}

static int call_window_import_own_signal(world *w)
{
	return import(w, 4 * SIM_PAGE, PLD_WINDOW_SIGNAL);
}
CALL(window_import_own_signal, 25, 12, .prepare = prepare_export_view,
     .undo = undo_free);

static bool prepare_huge_export(world *w)
{
	w->target = sim_export(w->domain, w->huge.window, 1);
	return w->target >= 0 && prepare_view(w);
}

static int call_window_import_huge_signal(world *w)
{
	return import(w, 2 * SIM_HUGE, PLD_WINDOW_SIGNAL);
}
CALL(window_import_huge_signal, 27, 9, .prepare = prepare_huge_export,
     .undo = undo_free);

static bool prepare_foreign(world *w)
{
	w->target = exporter_make(w->exporter, 2 * SIM_PAGE, 0);
	return w->target >= 0;
}

static bool prepare_foreign_view(world *w)
{
	return prepare_foreign(w) && prepare_view(w);
}

static int call_window_import_foreign(world *w)
{
	return import(w, 2 * SIM_PAGE, PLD_WINDOW_SIGNAL);
}
CALL(window_import_foreign, 21, 9, .prepare = prepare_foreign_view,
     .undo = undo_free);

/*
 * Of the kernel's own exporters as data, which needs no view: whose view there is
 * already is mapped already, and DMA debugging forbids to map theirs twice.
 */
static bool prepare_heap(world *w)
{
	w->target = heap_buffer(2 * SIM_PAGE);
	return w->target >= 0;
}

static int call_window_import_heap(world *w)
{
	return import(w, 2 * SIM_PAGE, 0);
}
CALL(window_import_heap, 23, 9, .prepare = prepare_heap, .undo = undo_free);

static bool prepare_udmabuf(world *w)
{
	w->target = udmabuf_buffer(2 * SIM_PAGE);
	return w->target >= 0;
}

static int call_window_import_udmabuf(world *w)
{
	return import(w, 2 * SIM_PAGE, 0);
}
CALL(window_import_udmabuf, 21, 9, .prepare = prepare_udmabuf,
     .undo = undo_free);

static bool prepare_imported(world *w)
{
	return prepare_foreign_view(w) && !import(w, 2 * SIM_PAGE, 0);
}

static void undo_imported(world *w, int ret)
{
	close(ret);
	sim_free(w->domain, w->win.window);
}

/* The dma-buf that was imported is passed on. */
static int call_window_export_imported(world *w)
{
	return sim_export(w->domain, w->win.window, 0);
}
CALL(window_export_imported, 2, 2, .prepare = prepare_imported,
     .undo = undo_imported);

/* The first wait looks for the view. */
static int call_wait_imported(world *w)
{
	return sim_wait(w->rank, w->win.window, 0, PLD_SIM_CMP_GE, INT32_MIN, 0,
			NULL);
}
CALL(wait_imported, 2, 2, .prepare = prepare_imported, .undo = undo_free);

static void undo_arm(world *w, int ret)
{
	sim_arm(w->rank, 0, NULL, 0);
}

static int call_arm(world *w)
{
	return sim_arm(w->rank, PLD_WAIT_ANY, w->conditions, SEVERAL);
}
CALL(arm, 8, 4, .undo = undo_arm);

static bool prepare_armed(world *w)
{
	return !sim_arm(w->rank, 0, w->conditions, 1);
}

/* What is armed before stays armed. */
static int call_arm_again(world *w)
{
	return sim_arm(w->rank, 0, w->conditions, SEVERAL);
}
CALL(arm_again, 8, 4, .prepare = prepare_armed, .undo = undo_arm);

/* Of nothing, which ends what is armed. */
static int call_disarm(world *w)
{
	return sim_arm(w->rank, 0, NULL, 0);
}
CALL(disarm, 1, 1, .prepare = prepare_armed, .undo = undo_arm);

static int call_poll(world *w)
{
	struct pollfd p = { .fd = w->rank, .events = POLLIN };

	return poll(&p, 1, 0) < 0 ? -errno : p.revents == POLLIN ? 0 : -EIO;
}
CALL(poll, 1, 1, .prepare = prepare_armed, .undo = undo_arm);

static bool prepare_epoll(world *w)
{
	w->target = epoll_create1(EPOLL_CLOEXEC);
	return w->target >= 0;
}

static int call_epoll_add(world *w)
{
	struct epoll_event event = { .events = EPOLLIN };

	return epoll_ctl(w->target, EPOLL_CTL_ADD, w->rank, &event) ? -errno : 0;
}
CALL(epoll_add, 7, 3, .prepare = prepare_epoll);

static void undo_signal(world *w, int ret)
{
	sim_signal_result(w->rank, PLD_SIGNAL_END, w->cookie, NULL);
}

static int call_signal_eventfd(world *w)
{
	struct pld_sim_condition c = w->conditions[0];

	c.expected = 1;
	return sim_signal(w->rank, 0, &c, 1, w->event, INT64_MAX, &w->cookie);
}
CALL(signal_eventfd, 9, 4, .undo = undo_signal);

static bool prepare_signal(world *w)
{
	return !call_signal_eventfd(w);
}

static int signal_answer(world *w, __u32 how)
{
	return sim_signal_result(w->rank, how, w->cookie, NULL) == INT32_MIN
		       ? -errno
		       : 0;
}

static int call_signal_ask(world *w)
{
	return signal_answer(w, PLD_SIGNAL_ASK);
}
CALL(signal_ask, 2, 2, .prepare = prepare_signal, .undo = undo_signal);

/* It waits to its end, and after an end that failed. */
static int call_signal_end(world *w)
{
	__s32 result =
		sim_signal_result(w->rank, PLD_SIGNAL_END, w->cookie, NULL);

	if (result == INT32_MIN)
		return -errno;
	return result == -EAGAIN ? 0 : -EIO;
}
CALL(signal_end, 2, 2, .prepare = prepare_signal, .undo = undo_signal);

static int call_signal_fence(world *w)
{
	return sim_fence(w->rank, 0, w->conditions, SEVERAL,
			 sim_after(9 * SIM_SEC));
}
CALL(signal_fence, 17, 8, .undo = undo_close);

static int call_domains(world *w)
{
	struct pld_sim_domains arg = { .size = sizeof(arg), .out_fd = -1 };
	int ret = sim_ioctl(w->device, PLD_IOC_DOMAINS, &arg);

	return ret ? ret : arg.out_fd;
}
CALL(domains, 10, 5, .undo = undo_close);

static bool prepare_domains(world *w)
{
	w->target = call_domains(w);
	return w->target >= 0;
}

static int call_domains_read(world *w)
{
	static char text[DOMAINS_BYTES];

	return read(w->target, text, sizeof(text)) < 0 ? -errno : 0;
}
CALL(domains_read, 3, 1, .prepare = prepare_domains);

static int call_mmap_window(world *w)
{
	return map_answer(w, w->rank, 2 * w->small.stride, RW,
			  w->small.mmap_offset);
}
CALL(mmap_window, 6, 2, .undo = undo_map);

static int call_mmap_huge(world *w)
{
	return map_answer(w, w->rank, SIM_HUGE, RW, w->huge.mmap_offset);
}
CALL(mmap_huge, 6, 2, .undo = undo_map);

static int call_mmap_status(world *w)
{
	return map_answer(w, w->rank, SIM_PAGE, PROT_READ, PLD_SIM_MMAP_STATUS);
}
CALL(mmap_status, 6, 2, .undo = undo_map);

static int call_mmap_doorbells(world *w)
{
	return map_answer(w, w->rank, 2 * SIM_PAGE, PROT_READ,
			  PLD_SIM_MMAP_DOORBELLS);
}
CALL(mmap_doorbells, 6, 2, .undo = undo_map);

static void undo_map_imported(world *w, int ret)
{
	undo_map(w, ret);
	undo_free(w, ret);
}

static int call_mmap_imported(world *w)
{
	return map_answer(w, w->rank, 2 * SIM_PAGE, RW, w->win.mmap_offset);
}
CALL(mmap_imported, 6, 2, .prepare = prepare_imported,
     .undo = undo_map_imported);

static int call_mmap_export(world *w)
{
	return map_answer(w, w->target, 4 * SIM_PAGE, RW, 0);
}
CALL(mmap_export, 6, 2, .prepare = prepare_export, .undo = undo_map);

/* Populating passes such mappings by, and fails without a word. */
static int call_mmap_populate(world *w)
{
	w->mapped = 4 * SIM_PAGE;
	w->map = mmap(NULL, w->mapped, RW, MAP_SHARED | MAP_POPULATE, w->rank,
		      w->small.mmap_offset);
	if (w->map != MAP_FAILED)
		return 0;
	w->map = NULL;
	return -errno;
}
CALL(mmap_populate, 6, 2, .undo = undo_map);

/* A cut makes two mappings of one, of which one goes. */
static int call_munmap_end(world *w)
{
	return munmap(w->map + 3 * SIM_PAGE, SIM_PAGE) ? -errno : 0;
}
CALL(munmap_end, 1, 2, .prepare = prepare_map, .undo = undo_map);

/* A page fault that finds no memory is tried again, and no signal. */
static int call_touch(world *w)
{
	return -touch(w->map + SIM_PAGE);
}
CALL(touch, 7, 0, .prepare = prepare_map, .undo = undo_map);

static bool prepare_map_huge(world *w)
{
	return map_for_call(w, w->rank, SIM_HUGE, w->huge.mmap_offset);
}

static int call_touch_huge(world *w)
{
	return -touch(w->map);
}
CALL(touch_huge, 7, 0, .prepare = prepare_map_huge, .undo = undo_map);

static bool prepare_map_export(world *w)
{
	return prepare_export(w) && map_for_call(w, w->target, 4 * SIM_PAGE, 0);
}

static int call_touch_export(world *w)
{
	return -touch(w->map + SIM_PAGE);
}
CALL(touch_export, 7, 0, .prepare = prepare_map_export, .undo = undo_map);

static bool prepare_pipe(world *w)
{
	int ends[2];

	if (!prepare_map(w) || pipe2(ends, O_CLOEXEC))
		return false;
	w->target = ends[0];
	w->other = ends[1];
	return write(ends[1], "p", 1) == 1;
}

/* The kernel itself touches the mapping first. */
static int call_read_into_window(world *w)
{
	return read(w->target, w->map, 1) < 0 ? -errno : 0;
}
CALL(read_into_window, 1, 1, .faults = true, .prepare = prepare_pipe,
     .undo = undo_map);

/* Arguments that lie in a window, which nobody has touched. */
static int call_arguments_in_window(world *w)
{
	return sim_ioctl(w->device, PLD_IOC_INFO, w->map);
}

static bool prepare_arguments(world *w)
{
	struct pld_sim_info info = { .size = sizeof(info) };

	if (!prepare_map(w))
		return false;
	memcpy(w->map, &info, sizeof(info));
	munmap(w->map, w->mapped);
	return prepare_map(w);
}
CALL(arguments_in_window, 2, 2, .faults = true, .prepare = prepare_arguments,
     .undo = undo_map);

static void undo_fork(world *w, int ret)
{
	waitpid(ret, NULL, 0);
	undo_map(w, ret);
}

static int call_fork(world *w)
{
	pid_t pid = fork();

	if (!pid)
		_exit(0);
	return pid < 0 ? -errno : pid;
}
CALL(fork, 1, 1, .prepare = prepare_map, .undo = undo_fork);

/* A device attaches to an export, maps it and reads it. */
static int call_importer_read(world *w)
{
	unsigned char bytes[4 * SIM_PAGE];
	int ret = importer_read(w->exporter, w->target, bytes, sizeof(bytes));

	return ret < 0 ? -errno : 0;
}

static bool prepare_importer(world *w)
{
	return w->exporter >= 0 && prepare_export(w);
}
CALL(importer_read, 20, 9, .prepare = prepare_importer);

#endif /* PLD_FAILNTH_CALLS_H */
