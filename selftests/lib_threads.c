// SPDX-License-Identifier: GPL-2.0
/*
 * Several threads of a rank at once: each operation does for a thread what it
 * does for a rank that has one only.
 *
 * Also built with ThreadSanitizer (scripts/check.sh). What threads of a rank
 * tell each other goes through the rank's own cells and memory, so that it can
 * see the order in which they do.
 */
#include <pthread.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "lib_golden.h"
#include "lib_left.h"
#include "lib_test.h"
#include "pld_poll.h"

#define NRANKS 2
#define THREADS 4
#define SLICE 20011
#define LONG (20000 * LIB_MS)

/* Small, so that a put in chunks takes many turns with its stage. */
#define TILE_BYTES 256
#define CHUNK 250

FIXTURE(threads)
{
	pld_domain *domain;
	pld_window_buffer *data;
	pld_window_buffer *signal;
};

static pld_distributed_tensor data, signals;

FIXTURE_SETUP(threads)
{
	pld_domain_options options = { .tile_bytes = TILE_BYTES };

	ASSERT_EQ(0, pld_domain_create((int[]){ 0, 1 }, NRANKS, &options,
				       &self->domain));
	ASSERT_EQ(0, pld_alloc_window_buffer_shaped(self->domain,
						    PLD_SHAPE(THREADS, SLICE),
						    PLD_UINT8, &self->data));
	ASSERT_EQ(0, pld_alloc_signal(self->domain, PLD_SHAPE(THREADS, NRANKS),
				      &self->signal));
}

FIXTURE_TEARDOWN(threads)
{
	pld_domain_destroy(self->domain);
}

/* In each rank, before its threads. */
static int views(FIXTURE_DATA(threads) * self)
{
	PLD_TRY(pld_window(self->data, PLD_SHAPE(THREADS, SLICE), PLD_UINT8,
			   &data));
	return pld_window(self->signal, PLD_SHAPE(THREADS, NRANKS), PLD_INT32,
			  &signals);
}

struct worker {
	pthread_t thread;
	int (*job)(struct worker *worker);
	/* which thread of which rank */
	int number;
	int me;
	pld_domain *domain;
	int result;
};

static void *work(void *arg)
{
	struct worker *worker = arg;

	worker->result = worker->job(worker);
	return NULL;
}

/* Runs a job in THREADS threads at once; 0 when each returned it. */
static int run_threads(pld_domain *domain, int (*job)(struct worker *worker))
{
	struct worker workers[THREADS];
	int result = 0;

	for (int i = 0; i < THREADS; i++) {
		workers[i] = (struct worker){ .job = job,
					      .number = i,
					      .me = pld_rank(domain),
					      .domain = domain };
		CHECK_EQ(0, pthread_create(&workers[i].thread, NULL, work,
					   &workers[i]));
	}
	for (int i = 0; i < THREADS; i++) {
		pthread_join(workers[i].thread, NULL);
		if (workers[i].result)
			result = workers[i].result;
	}
	return result;
}

static int tell(const struct worker *w, int peer, int value)
{
	return pld_system_notify(&signals, peer, PLD_AT(w->number, w->me),
				 value, PLD_SET);
}

static int hear(const struct worker *w, int peer, int value)
{
	return pld_system_wait_timeout(&signals, PLD_AT(w->number, peer), value,
				       PLD_GE, LONG);
}

static unsigned int seed_of(int rank, int number, int round)
{
	return (unsigned int)(rank + 10 * number + 1000 * round);
}

/* ---- puts without a stage of their own ---- */

static int rounds(void)
{
	return SANITIZED || getenv("PLD_VALGRIND") ? 10 : 200;
}

/* Slices go to and fro, thread i's in row i. */
static int exchange(struct worker *w)
{
	const unsigned char *row =
		(const unsigned char *)data.data + w->number * SLICE;
	pld_put_options options = { .dst_offsets = PLD_AT(w->number, 0),
				    .src_offsets = PLD_AT(0, 0),
				    .shape = PLD_SHAPE(1, SLICE),
				    .chunk_cols = CHUNK };
	int peer = 1 - w->me;
	unsigned char mine[SLICE];
	pld_tensor x;

	PLD_TRY(pld_tensor_init(&x, mine, PLD_SHAPE(1, SLICE), PLD_UINT8));
	for (int i = 1; i <= rounds(); i++) {
		golden_fill(mine, SLICE, seed_of(w->me, w->number, i));
		CHECK_EQ(0, pld_tensor_put(&data, peer, &x, &options));
		CHECK_EQ(0, tell(w, peer, 2 * i - 1));
		CHECK_EQ(0, hear(w, peer, 2 * i - 1));
		CHECK_EQ(SLICE, golden_differs(row, SLICE,
					       seed_of(peer, w->number, i)));
		CHECK_EQ(0, tell(w, peer, 2 * i));
		CHECK_EQ(0, hear(w, peer, 2 * i));
	}
	return 0;
}

static int exchange_in_threads(pld_domain *domain, void *arg)
{
	PLD_TRY(views(arg));
	return run_threads(domain, exchange);
}

TEST_F_TIMEOUT(threads, puts_without_a_stage_do_not_meet, 120)
{
	RUN(self->domain, exchange_in_threads, self);
}

/* ---- threads of one rank in a ring ---- */

/*
 * A slice goes from row to row of the own rank, each thread adding 1 to every
 * byte of it. The own rank is a peer like any other, and a notify orders what a
 * thread did before for the next thread.
 */
static int pass_on(struct worker *w)
{
	int next = (w->number + 1) % THREADS;
	unsigned char mine[512];
	pld_tile tile;
	pld_tensor x;

	PLD_TRY(pld_tensor_init(&x, mine, PLD_SHAPE(1, sizeof(mine)), PLD_UINT8));
	PLD_TRY(pld_tile_alloc(&tile, sizeof(mine)));
	for (int i = 1; i <= rounds(); i++) {
		pld_put_options options = {
			.dst_offsets = PLD_AT(next, 0),
			.src_offsets = PLD_AT(0, 0),
			.shape = x.shape,
		};

		if (i > 1 || w->number)
			CHECK_EQ(0, hear(w, w->me, w->number ? i : i - 1));
		CHECK_EQ(0,
			 pld_load(&data, PLD_AT(w->number, 0), x.shape, &tile));
		CHECK_EQ(0, pld_store(&tile, PLD_AT(0, 0), &x));
		for (size_t at = 0; at < sizeof(mine); at++)
			CHECK_EQ((unsigned char)((i - 1) * THREADS + w->number),
				 mine[at]++);
		CHECK_EQ(0, pld_tensor_put(&data, w->me, &x, &options));
		CHECK_EQ(0,
			 pld_system_notify(&signals, w->me, PLD_AT(next, w->me),
					   1, PLD_ATOMIC_ADD));
	}
	pld_tile_free(&tile);
	return 0;
}

static int pass_on_in_threads(pld_domain *domain, void *arg)
{
	PLD_TRY(views(arg));
	return run_threads(domain, pass_on);
}

TEST_F_TIMEOUT(threads, notify_orders_threads_of_one_rank, 120)
{
	RUN(self->domain, pass_on_in_threads, self);
}

/* ---- waits of all kinds on the same and other cells ---- */

static int wait_once(struct worker *w, int i)
{
	pld_condition both[NRANKS];

	for (int rank = 0; rank < NRANKS; rank++)
		both[rank] =
			(pld_condition){ &signals, PLD_AT(0, rank), i, PLD_GE };
	switch (w->number) {
	case 0:
		return pld_system_wait_all(both, NRANKS, LONG);
	case 1:
		CHECK(pld_system_wait_any(both, NRANKS, LONG) >= 0);
		return pld_system_wait_all(both, NRANKS, LONG);
	case 2:
		PLD_TRY(pld_system_wait_timeout(&signals, PLD_AT(0, 0), i,
						PLD_GE, LONG));
		return pld_system_wait_timeout(&signals, PLD_AT(0, 1), i,
					       PLD_GE, LONG);
	}
	return 0;
}

static int wait_deferred(struct worker *w, int i)
{
	struct pollfd p = { .events = POLLIN };
	pld_waiter *waiter;

	CHECK_EQ(0, pld_waiter_create(w->domain, &waiter));
	for (int rank = 0; rank < NRANKS; rank++)
		CHECK_EQ(0, pld_system_defer_wait(waiter, &signals,
						  PLD_AT(0, rank), i, PLD_GE));
	p.fd = pld_waiter_fd(waiter);
	CHECK_EQ(1, poll_one(&p, 20000));
	CHECK_EQ(0, pld_waiter_result(waiter));
	pld_waiter_destroy(waiter);
	return 0;
}

/* In each round all threads wait for both ranks, and then all tell that. */
static int meet(struct worker *w)
{
	static int32_t plain[THREADS];

	for (int i = 1; i <= rounds() / 2; i++) {
		if (!w->number)
			for (int peer = 0; peer < NRANKS; peer++)
				CHECK_EQ(0, tell(w, peer, i));
		if (w->number == 3)
			PLD_TRY(wait_deferred(w, i));
		else
			CHECK_EQ(0, wait_once(w, i));
		plain[w->number] = i;
		/* Into the cells of row 1, each from all threads. */
		CHECK_EQ(0, pld_system_notify(&signals, w->me, PLD_AT(1, 0), 1,
					      PLD_ATOMIC_ADD));
		CHECK_EQ(0, pld_system_wait_timeout(&signals, PLD_AT(1, 0),
						    THREADS * i, PLD_GE, LONG));
		for (int t = 0; t < THREADS; t++)
			CHECK_EQ(i, plain[t]);
		CHECK_EQ(0, pld_system_notify(&signals, w->me, PLD_AT(1, 1), 1,
					      PLD_ATOMIC_ADD));
		CHECK_EQ(0, pld_system_wait_timeout(&signals, PLD_AT(1, 1),
						    THREADS * i, PLD_GE, LONG));
	}
	return 0;
}

static int meet_in_threads(pld_domain *domain, void *arg)
{
	PLD_TRY(views(arg));
	return run_threads(domain, meet);
}

TEST_F_TIMEOUT(threads, waits_of_all_kinds_meet_on_the_same_cells, 120)
{
	RUN(self->domain, meet_in_threads, self);
}

/* ---- failures ---- */

/* Each thread has the sentence of its own failure. */
static int fail_differently(struct worker *w)
{
	for (int i = 0; i < rounds(); i++) {
		char message[PLD_MESSAGE_BYTES];

		snprintf(message, sizeof(message),
			 "pld.system.notify: peer is %d, wanted 0 to 1",
			 5 + w->number);
		CHECK_REFUSED(-ERANGE, message,
			      pld_system_notify(&signals, 5 + w->number,
						PLD_AT(0, 0), 1, PLD_SET));
		CHECK_EQ(-ETIMEDOUT,
			 pld_system_wait_timeout(&signals, PLD_AT(w->number, 0),
						 1, PLD_GE, 1));
	}
	return 0;
}

static int fail_in_threads(pld_domain *domain, void *arg)
{
	PLD_TRY(views(arg));
	return run_threads(domain, fail_differently);
}

TEST_F(threads, each_has_its_own_sentence)
{
	RUN(self->domain, fail_in_threads, self);
}

static int wait_for_a_failure(struct worker *w)
{
	CHECK_EQ(0, tell(w, 1, 1));
	CHECK_REFUSED(-EOWNERDEAD,
		      "pld.system.wait: rank 1 failed: Input/output error",
		      hear(w, 1, 1));
	return 0;
}

static int one_fails(pld_domain *domain, void *arg)
{
	PLD_TRY(views(arg));
	if (!pld_rank(domain))
		return run_threads(domain, wait_for_a_failure);
	for (int number = 0; number < THREADS; number++)
		CHECK_EQ(0, pld_system_wait_timeout(&signals, PLD_AT(number, 0),
						    1, PLD_GE, LONG));
	/* That much for their last steps into the waits. */
	usleep(20000);
	return -EIO;
}

TEST_F(threads, failure_ends_the_waits_of_all)
{
	pld_rank_report reports[NRANKS];

	EXPECT_EQ(-EIO, pld_launch(self->domain, one_fails, self, reports));
	EXPECT_STREQ("", reports[0].message);
}

/* ---- what the threads did ---- */

/* More than are kept, by all threads together. */
#define RECORDS (PLD_TRACE_RECORDS / 2)

static int record_many(struct worker *w)
{
	for (int i = 0; i < RECORDS; i++)
		CHECK_EQ(0,
			 pld_system_notify(&signals, w->me, PLD_AT(w->number, 0),
					   w->number * RECORDS + i, PLD_SET));
	return 0;
}

static int record_in_threads(pld_domain *domain, void *signal)
{
	PLD_TRY(pld_window(signal, PLD_SHAPE(THREADS, 1), PLD_INT32, &signals));
	return run_threads(domain, record_many);
}

/*
 * Each record is a thread's own, none is a mixture of two, and those of a thread
 * are in its order.
 */
TEST(threads_share_a_trace)
{
	pld_domain_options options = { .observe = 1 };
	int64_t last[THREADS] = { -1, -1, -1, -1 };
	uint64_t records, lost, whole = 0;
	pld_window_buffer *signal;
	pld_trace_record record;
	pld_domain *domain;

	ASSERT_EQ(0, pld_domain_create((int[]){ 0 }, 1, &options, &domain));
	ASSERT_EQ(0, pld_alloc_signal(domain, PLD_SHAPE(THREADS, 1), &signal));
	RUN(domain, record_in_threads, signal);
	ASSERT_EQ(0, pld_trace_length(domain, 0, &records, &lost));
	EXPECT_EQ(THREADS * RECORDS, records + lost);
	for (uint64_t i = 0; i < records; i++) {
		int64_t thread;

		if (pld_trace_get(domain, 0, i, &record))
			continue;
		whole++;
		thread = record.dst_offsets.n[0];
		ASSERT_EQ(thread, record.value / RECORDS);
		ASSERT_LT(last[thread], record.value);
		last[thread] = record.value;
	}
	/* Lost is what a thread that stood still for a whole ring was to write. */
	EXPECT_LE(records - THREADS, whole);
	pld_domain_destroy(domain);
}

/* ---- one buffer's turns ---- */

static pld_distributed_tensor turns, credits, go;

/*
 * The first of two threads waits for rank 1, which waits to be told that the
 * second one was refused.
 */
static int gather_in_turns(struct worker *w)
{
	static const char busy[] =
		"pld.tensor.allgather another thread is in a call with PLD_REUSE_TARGET on this window buffer";
	pld_distributed_tensor filled;
	int32_t mine = 5;
	pld_tensor x;
	int result;

	if (w->number > 1)
		return 0;
	PLD_TRY(pld_tensor_init(&x, &mine, PLD_SHAPE(1, 1), PLD_INT32));
	result = pld_tensor_allgather_flags(&x, &turns, &credits,
					    PLD_REUSE_TARGET, &filled);
	if (!result)
		return 0;
	CHECK_REFUSED(-EBUSY, busy, result);
	return pld_system_notify(&go, 1, PLD_AT(0), 1, PLD_SET);
}

struct turn_buffers {
	pld_window_buffer *target, *credits, *go;
};

static int take_turns(pld_domain *domain, void *arg)
{
	const struct turn_buffers *b = arg;
	struct worker only = { 0 };

	PLD_TRY(pld_window(b->target, PLD_SHAPE(4, 1), PLD_INT32, &turns));
	PLD_TRY(pld_window(b->credits, PLD_SHAPE(2, 1), PLD_INT32, &credits));
	PLD_TRY(pld_window(b->go, PLD_SHAPE(1), PLD_INT32, &go));
	if (!pld_rank(domain))
		return run_threads(domain, gather_in_turns);
	CHECK_EQ(0, pld_system_wait_timeout(&go, PLD_AT(0), 1, PLD_GE, LONG));
	return gather_in_turns(&only);
}

TEST(two_do_not_gather_in_turns_at_once)
{
	pld_domain *domain = make_domain(2);
	struct turn_buffers b;

	ASSERT_NE(NULL, domain);
	ASSERT_EQ(0, pld_alloc_window_buffer(domain, 4096, &b.target));
	ASSERT_EQ(0, pld_alloc_signal(domain, PLD_SHAPE(2, 1), &b.credits));
	ASSERT_EQ(0, pld_alloc_signal(domain, PLD_SHAPE(1), &b.go));
	RUN(domain, take_turns, &b);
	pld_domain_destroy(domain);
}

/* ---- the life of the stage ---- */

/* Large enough to have a mapping of its own. */
#define LARGE_TILE ((size_t)4 << 20)

/* Chunks need a stage. */
static int put_once(struct worker *w)
{
	int32_t word = w->number;
	pld_put_options options = { .dst_offsets = PLD_AT(w->number),
				    .src_offsets = PLD_AT(0),
				    .shape = PLD_SHAPE(1),
				    .chunk_cols = 1 };
	pld_tensor x;

	PLD_TRY(pld_tensor_init(&x, &word, PLD_SHAPE(1), PLD_INT32));
	CHECK_EQ(0, pld_tensor_put(&data, 0, &x, &options));
	return 0;
}

static int many_threads(pld_domain *domain, void *buffer)
{
	enum { TURNS = 30, WARM = 5 };
	long long bytes = 0;

	PLD_TRY(pld_window(buffer, PLD_SHAPE(THREADS), PLD_INT32, &data));
	for (int i = 0; i < TURNS; i++) {
		PLD_TRY(run_threads(domain, put_once));
		if (i == WARM)
			bytes = count_bytes();
	}
	/* Stacks and heaps of threads are kept, up to a number. */
	CHECK(count_bytes() - bytes <
	      (long long)(TURNS - WARM) * THREADS * (long long)LARGE_TILE / 2);
	for (int i = 0; i < THREADS; i++)
		CHECK_EQ(i, ((int32_t *)data.data)[i]);
	return 0;
}

static pld_domain *large_tiles(pld_window_buffer **buffer)
{
	pld_domain_options options = { .tile_bytes = LARGE_TILE };
	pld_domain *domain;

	if (pld_domain_create((int[]){ 0 }, 1, &options, &domain) ||
	    pld_alloc_window_buffer(domain, 4096, buffer))
		return NULL;
	return domain;
}

TEST(stage_ends_with_its_thread)
{
	pld_window_buffer *buffer;
	pld_domain *domain = large_tiles(&buffer);

	ASSERT_NE(NULL, domain);
	RUN(domain, many_threads, buffer);
	pld_domain_destroy(domain);
}

static int put_without_memory(pld_domain *domain, void *buffer)
{
	static const char message[] =
		"pld.tensor.put: no memory for this thread's staging tile of 4194304 bytes";
	const pld_put_options in_chunks = { .chunk_cols = 1 };
	struct worker w = { .domain = domain };
	struct rlimit before, none = { 1, 1 };
	int32_t word = 77;
	pld_tensor x;
	int straight, result;

	PLD_TRY(pld_window(buffer, PLD_SHAPE(1), PLD_INT32, &data));
	PLD_TRY(pld_tensor_init(&x, &word, PLD_SHAPE(1), PLD_INT32));
	CHECK_EQ(0, getrlimit(RLIMIT_AS, &before));
	none.rlim_max = before.rlim_max;
	CHECK_EQ(0, setrlimit(RLIMIT_AS, &none));
	straight = pld_tensor_put(&data, 0, &x, NULL);
	word = 78;
	result = pld_tensor_put(&data, 0, &x, &in_chunks);
	CHECK_EQ(0, setrlimit(RLIMIT_AS, &before));
	CHECK_EQ(0, straight);
	CHECK_REFUSED(-ENOMEM, message, result);
	CHECK_EQ(77, *(int32_t *)data.data);
	/* It has not failed for good. */
	CHECK_EQ(0, pld_tensor_put(&data, 0, &x, &in_chunks));
	CHECK_EQ(78, *(int32_t *)data.data);
	return put_once(&w);
}

TEST(stage_without_memory_is_ENOMEM)
{
	pld_window_buffer *buffer;
	pld_domain *domain;

	if (SANITIZED || getenv("PLD_VALGRIND"))
		SKIP(return,
			   "checkers of memory have an allocator of their own");
	domain = large_tiles(&buffer);
	ASSERT_NE(NULL, domain);
	RUN(domain, put_without_memory, buffer);
	pld_domain_destroy(domain);
}

LIB_TEST_MAIN
