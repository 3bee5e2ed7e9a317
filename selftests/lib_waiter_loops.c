// SPDX-License-Identifier: GPL-2.0
/*
 * Waiters of pld.system.defer_wait in epoll and in GLib's main loop.
 */

#if __has_include(<glib-unix.h>)
#include <glib-unix.h>
#define HAVE_GLIB 1
#endif

#include "lib_waiter.h"
#include "pld_poll.h"

/* Peers tell in the order 3, 1, 2, each when the one before was heard. */
static int tell_in_turn(void *buffer, int me)
{
	wait_for_ready(shared, (int[]){ 0, 2, 3, 1 }[me]);
	return tell_zero(buffer, me, me);
}

static const int turns[WAITERS] = { 2, 0, 1 };

static int in_epoll(pld_domain *domain, void *buffer)
{
	pld_waiter *waiters[WAITERS];
	int me = pld_rank(domain), epoll;

	if (me)
		return tell_in_turn(buffer, me);
	epoll = epoll_create1(EPOLL_CLOEXEC);
	PLD_TRY(make_waiters(domain, buffer, waiters, 1));
	for (int i = 0; i < WAITERS; i++) {
		struct epoll_event event = { .events = EPOLLIN | EPOLLET,
					     .data.u32 = (uint32_t)i };

		CHECK_EQ(0, epoll_ctl(epoll, EPOLL_CTL_ADD,
				      pld_waiter_fd(waiters[i]), &event));
	}
	for (int turn = 0; turn < WAITERS; turn++) {
		struct epoll_event event;

		CHECK_EQ(0, epoll_one(epoll, &event, 10));
		say_ready(shared);
		CHECK_EQ(1, epoll_one(epoll, &event, HANG_MS));
		CHECK_EQ(EPOLLIN, event.events);
		CHECK_EQ(turns[turn], event.data.u32);
		CHECK_EQ(0, pld_waiter_result(waiters[event.data.u32]));
	}
	for (int i = 0; i < WAITERS; i++)
		pld_waiter_destroy(waiters[i]);
	return 0;
}

TEST_F(waiter, works_in_epoll)
{
	RUN(self->domain, in_epoll, self->buffer);
}

#ifdef HAVE_GLIB
struct loop {
	GMainLoop *loop;
	pld_waiter *waiters[WAITERS];
	int order[WAITERS];
	int told;
	int ticks;
};

static gboolean on_told(gint fd, GIOCondition condition, gpointer data)
{
	struct loop *loop = data;

	(void)condition;
	for (int i = 0; i < WAITERS; i++)
		if (pld_waiter_fd(loop->waiters[i]) == fd &&
		    !pld_waiter_result(loop->waiters[i]))
			loop->order[loop->told++] = i;
	if (loop->told == WAITERS)
		g_main_loop_quit(loop->loop);
	else
		say_ready(shared);
	return G_SOURCE_REMOVE;
}

static gboolean on_tick(gpointer data)
{
	struct loop *loop = data;

	if (!loop->ticks++)
		say_ready(shared);
	return G_SOURCE_CONTINUE;
}

static gboolean on_hang(gpointer data)
{
	struct loop *loop = data;

	g_main_loop_quit(loop->loop);
	return G_SOURCE_REMOVE;
}

static int in_glib(pld_domain *domain, void *buffer)
{
	struct loop loop = { .told = 0 };
	int me = pld_rank(domain);

	if (me)
		return tell_in_turn(buffer, me);
	loop.loop = g_main_loop_new(NULL, FALSE);
	PLD_TRY(make_waiters(domain, buffer, loop.waiters, 1));
	for (int i = 0; i < WAITERS; i++)
		g_unix_fd_add(pld_waiter_fd(loop.waiters[i]), G_IO_IN, on_told,
			      &loop);
	g_timeout_add(1, on_tick, &loop);
	g_timeout_add(HANG_MS, on_hang, &loop);
	g_main_loop_run(loop.loop);
	g_main_loop_unref(loop.loop);
	CHECK_EQ(WAITERS, loop.told);
	CHECK(loop.ticks > 0);
	for (int i = 0; i < WAITERS; i++) {
		CHECK_EQ(turns[i], loop.order[i]);
		pld_waiter_destroy(loop.waiters[i]);
	}
	return 0;
}
#endif

TEST_F(waiter, works_in_a_main_loop_of_GLib)
{
#ifdef HAVE_GLIB
	RUN(self->domain, in_glib, self->buffer);
#else
	SKIP(return, "built without GLib's headers (libglib2.0-dev)");
#endif
}

LIB_TEST_MAIN
