// SPDX-License-Identifier: GPL-2.0
/*
 * That no notify is lost, whether its waiter spins or sleeps, that what was
 * put before a notify is there after the wait, and waits of several threads.
 */
#include <pthread.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "lib_golden.h"
#include "lib_test.h"
#include "pld_sleep.h"

#define NRANKS 4
/* Longer than any spinning, so that the waiter sleeps in the kernel. */
#define PAUSE (3 * LIB_MS)

FIXTURE(wake)
{
	pld_domain *domain;
	pld_window_buffer *buffer;
};

FIXTURE_SETUP(wake)
{
	self->domain = make_domain(NRANKS);
	ASSERT_NE(NULL, self->domain);
	ASSERT_EQ(0, pld_alloc_signal(self->domain, PLD_SHAPE(NRANKS, 4),
				      &self->buffer));
}

FIXTURE_TEARDOWN(wake)
{
	pld_domain_destroy(self->domain);
}

static void pause_for(int64_t ns)
{
	struct timespec time = { .tv_nsec = ns };

	nanosleep(&time, NULL);
}

/* What a yield takes in place of others that want the CPU, if not 0. */
static int yield_ms;
static int nr_yields;

/* The library's yields in this process are these. */
int sched_yield(void)
{
	/* Relaxed: of several threads' only the sum is of interest. */
	__atomic_fetch_add(&nr_yields, 1, __ATOMIC_RELAXED);
	if (!yield_ms)
		return (int)syscall(SYS_sched_yield);
	sleep_ms(yield_ms);
	return 0;
}

static int view(void *buffer, pld_distributed_tensor *signal)
{
	return pld_window(buffer, PLD_SHAPE(NRANKS, 4), PLD_INT32, signal);
}

/*
 * Ranks 0 and 1 in turn: each answers the other's ping. Now and then one lets
 * the other wait for so long that it sleeps.
 */
static int ping_pong(pld_domain *domain, void *buffer)
{
	enum { ROUNDS = 4000, PAUSED = 700 };
	int me = pld_rank(domain);
	pld_distributed_tensor signal;

	PLD_TRY(view(buffer, &signal));
	if (me > 1)
		return 0;
	for (int i = 1; i <= ROUNDS; i++) {
		if (i % PAUSED == me)
			pause_for(PAUSE);
		if (!me)
			CHECK_EQ(0, pld_system_notify(&signal, 1, PLD_AT(0, 0),
						      1, PLD_ATOMIC_ADD));
		CHECK_EQ(0, pld_system_wait(&signal, PLD_AT(!me, 0), i,
					    i % 2 ? PLD_EQ : PLD_GE));
		if (me)
			CHECK_EQ(0, pld_system_notify(&signal, 0, PLD_AT(1, 0),
						      i, PLD_SET));
	}
	return 0;
}

TEST_F(wake, ping_pong_of_spinning_and_sleeping_waiters_loses_nothing)
{
	RUN(self->domain, ping_pong, self->buffer);
}

/* Round the ring with more ranks than CPUs: nearly every wait sleeps. */
static int ring(pld_domain *domain, void *buffer)
{
	enum { ROUNDS = 300 };
	int nranks = pld_nranks(domain), me = pld_rank(domain);
	pld_distributed_tensor signal;

	PLD_TRY(pld_window(buffer, PLD_SHAPE(nranks, 1), PLD_INT32, &signal));
	for (int i = 1; i <= ROUNDS; i++) {
		int before = (me + nranks - 1) % nranks;

		if (me || i > 1)
			CHECK_EQ(0, pld_system_wait(&signal, PLD_AT(before, 0),
						    me ? i : i - 1, PLD_GE));
		CHECK_EQ(0, pld_system_notify(&signal, (me + 1) % nranks,
					      PLD_AT(me, 0), 1, PLD_ATOMIC_ADD));
	}
	return 0;
}

TEST(token_goes_round_more_ranks_than_CPUs)
{
	pld_domain *domain = make_domain(8);
	pld_window_buffer *buffer;

	ASSERT_NE(NULL, domain);
	ASSERT_EQ(0, pld_alloc_signal(domain, PLD_SHAPE(8, 1), &buffer));
	RUN(domain, ring, buffer);
	pld_domain_destroy(domain);
}

/* A sleeper is woken by its own cell, however many others are rung. */
static int busy_neighbours(pld_domain *domain, void *buffer)
{
	enum { ROUNDS = 20, NOISE = 50 };
	int me = pld_rank(domain);
	pld_distributed_tensor signal;

	PLD_TRY(view(buffer, &signal));
	for (int i = 1; i <= ROUNDS; i++) {
		if (!me) {
			CHECK_EQ(0, pld_system_wait(&signal, PLD_AT(1, 0), i,
						    PLD_GE));
			CHECK_EQ(0, pld_system_notify(&signal, 1, PLD_AT(0, 0),
						      1, PLD_ATOMIC_ADD));
		}
		for (int n = 0; me > 1 && n < NOISE; n++)
			CHECK_EQ(0, pld_system_notify(&signal, 0, PLD_AT(me, 1),
						      1, PLD_ATOMIC_ADD));
		if (me == 1) {
			pause_for(PAUSE);
			CHECK_EQ(0, pld_system_notify(&signal, 0, PLD_AT(1, 0),
						      1, PLD_ATOMIC_ADD));
			CHECK_EQ(0, pld_system_wait(&signal, PLD_AT(0, 0), i,
						    PLD_GE));
		}
	}
	if (me)
		return 0;
	CHECK_EQ(0,
		 pld_system_wait(&signal, PLD_AT(2, 1), ROUNDS * NOISE, PLD_EQ));
	return pld_system_wait(&signal, PLD_AT(3, 1), ROUNDS * NOISE, PLD_EQ);
}

TEST_F(wake, rings_of_other_cells_do_not_confuse_a_sleeper)
{
	RUN(self->domain, busy_neighbours, self->buffer);
}

/* ---- ordering ---- */

struct messages {
	pld_window_buffer *data;
	pld_window_buffer *signal;
};

#define MESSAGE_BYTES 40000

/* Round i's message: where it begins, and how long it is. */
static pld_dims message_at(int i)
{
	return PLD_AT(i * 37 % 131);
}

static pld_dims message_shape(int i)
{
	return PLD_SHAPE(i % 8 ? 1 + i * 97 % 3000 : 30001 + i % 64);
}

static int put_message(const pld_distributed_tensor *data, int i)
{
	static unsigned char memory[MESSAGE_BYTES];
	pld_put_options options = {
		.dst_offsets = message_at(i),
		.src_offsets = PLD_AT(0),
		.shape = message_shape(i),
	};
	pld_tensor message;

	golden_fill(memory, (size_t)options.shape.n[0], (unsigned int)i);
	PLD_TRY(pld_tensor_init(&message, memory, PLD_SHAPE(MESSAGE_BYTES),
				PLD_UINT8));
	return pld_tensor_put(data, 1, &message, &options);
}

static int pass_messages(pld_domain *domain, void *arg)
{
	enum { ROUNDS = 300 };
	struct messages *m = arg;
	pld_distributed_tensor data, signal;
	int me = pld_rank(domain);

	PLD_TRY(pld_window(m->data, PLD_SHAPE(MESSAGE_BYTES), PLD_UINT8, &data));
	PLD_TRY(view(m->signal, &signal));
	for (int i = 1; me < 2 && i <= ROUNDS; i++) {
		size_t length = (size_t)message_shape(i).n[0];
		const char *bytes = data.data;

		if (!me) {
			CHECK_EQ(0, put_message(&data, i));
			CHECK_EQ(0, pld_system_notify(&signal, 1, PLD_AT(0, 0),
						      1, PLD_ATOMIC_ADD));
			CHECK_EQ(0, pld_system_wait(&signal, PLD_AT(1, 0), i,
						    PLD_GE));
			continue;
		}
		CHECK_EQ(0, pld_system_wait(&signal, PLD_AT(0, 0), i, PLD_GE));
		CHECK_EQ(length, golden_differs(bytes + message_at(i).n[0],
						length, (unsigned int)i));
		CHECK_EQ(0, pld_system_notify(&signal, 0, PLD_AT(1, 0), 1,
					      PLD_ATOMIC_ADD));
	}
	return 0;
}

TEST_F(wake, bytes_put_before_a_notify_are_there_after_the_wait)
{
	struct messages m = { .signal = self->buffer };

	ASSERT_EQ(0,
		  pld_alloc_window_buffer(self->domain, MESSAGE_BYTES, &m.data));
	RUN(self->domain, pass_messages, &m);
}

/* ---- threads ---- */

struct waiter {
	pthread_t thread;
	const pld_distributed_tensor *signal;
	pld_dims at;
	int32_t expected;
	int result;
};

static void *wait_in_thread(void *arg)
{
	struct waiter *w = arg;

	w->result = pld_system_wait_timeout(w->signal, w->at, w->expected,
					    PLD_EQ, 20000 * LIB_MS);
	return NULL;
}

static int start_waiter(struct waiter *w, const pld_distributed_tensor *signal,
			pld_dims at, int32_t expected)
{
	*w = (struct waiter){ .signal = signal, .at = at, .expected = expected };
	CHECK_EQ(0, pthread_create(&w->thread, NULL, wait_in_thread, w));
	return 0;
}

static int two_threads(pld_domain *domain, void *buffer)
{
	struct waiter first, second;
	pld_distributed_tensor signal;

	PLD_TRY(view(buffer, &signal));
	if (pld_rank(domain) == 1) {
		/* The second to sleep is the first to be woken. */
		pause_for(PAUSE);
		CHECK_EQ(0, pld_system_notify(&signal, 0, PLD_AT(1, 1), 22,
					      PLD_SET));
		CHECK_EQ(0, pld_system_wait(&signal, PLD_AT(0, 0), 1, PLD_EQ));
		pause_for(PAUSE);
		return pld_system_notify(&signal, 0, PLD_AT(1, 0), 11, PLD_SET);
	}
	if (pld_rank(domain))
		return 0;
	PLD_TRY(start_waiter(&first, &signal, PLD_AT(1, 0), 11));
	PLD_TRY(start_waiter(&second, &signal, PLD_AT(1, 1), 22));
	pthread_join(second.thread, NULL);
	CHECK_EQ(0, second.result);
	CHECK_EQ(0, pld_system_notify(&signal, 1, PLD_AT(0, 0), 1, PLD_SET));
	pthread_join(first.thread, NULL);
	CHECK_EQ(0, first.result);
	return 0;
}

TEST_F(wake, two_threads_of_a_rank_wait_at_once)
{
	RUN(self->domain, two_threads, self->buffer);
}

/* One cell, two waits: both see it. */
static int one_cell_two_threads(pld_domain *domain, void *buffer)
{
	struct waiter first, second;
	pld_distributed_tensor signal;
	pld_dims at = PLD_AT(1, 0);

	PLD_TRY(view(buffer, &signal));
	if (pld_rank(domain) == 1) {
		pause_for(PAUSE);
		return pld_system_notify(&signal, 0, at, 7, PLD_SET);
	}
	if (pld_rank(domain))
		return 0;
	PLD_TRY(start_waiter(&first, &signal, at, 7));
	PLD_TRY(start_waiter(&second, &signal, at, 7));
	pthread_join(first.thread, NULL);
	pthread_join(second.thread, NULL);
	CHECK_EQ(0, first.result);
	CHECK_EQ(0, second.result);
	return 0;
}

TEST_F(wake, one_notify_wakes_both_waits_on_a_cell)
{
	RUN(self->domain, one_cell_two_threads, self->buffer);
}

/* A yield that outlasts the timeout is the last one. */
static int slow_yields(pld_domain *domain, void *buffer)
{
	pld_distributed_tensor signal;

	PLD_TRY(view(buffer, &signal));
	if (pld_rank(domain))
		return 0;
	yield_ms = 20;
	CHECK_EQ(-ETIMEDOUT, pld_system_wait_timeout(&signal, PLD_AT(1, 0), 1,
						     PLD_EQ, LIB_MS));
	CHECK_EQ(true, nr_yields <= 1);
	CHECK_EQ(-ETIMEDOUT, pld_system_wait_timeout(&signal, PLD_AT(1, 0), 1,
						     PLD_EQ, 500 * LIB_MS));
	CHECK_EQ(true, nr_yields > 1);
	return 0;
}

TEST_F(wake, timeout_ends_yields_however_long_they_take)
{
	RUN(self->domain, slow_yields, self->buffer);
}

LIB_TEST_MAIN
