// SPDX-License-Identifier: GPL-2.0
/*
 * pld.system.notify and pld.system.wait: what a cell becomes, who is disturbed
 * (nobody), what a wait returns and says, and what both refuse.
 */
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>

#include "lib_test.h"

#define NRANKS 4
/* Of a wait that must not be satisfied. */
#define SHORT (20 * LIB_MS)

FIXTURE(signal)
{
	pld_domain *domain;
	pld_window_buffer *buffer;
};

FIXTURE_SETUP(signal)
{
	self->domain = make_domain(NRANKS);
	ASSERT_NE(NULL, self->domain);
	ASSERT_EQ(0, pld_alloc_signal(self->domain, PLD_SHAPE(NRANKS, 4),
				      &self->buffer));
}

FIXTURE_TEARDOWN(signal)
{
	pld_domain_destroy(self->domain);
}

static int view(void *buffer, pld_distributed_tensor *signal)
{
	return pld_window(buffer, PLD_SHAPE(NRANKS, 4), PLD_INT32, signal);
}

/* The own cell has this value now. */
#define CHECK_CELL(value, signal, offsets) \
	CHECK_EQ(0, pld_system_wait_timeout(signal, offsets, value, PLD_EQ, 0))

/* ---- what notify does ---- */

static int add_and_set(pld_domain *domain, void *buffer)
{
	int me = pld_rank(domain), column = 0;
	pld_distributed_tensor signal;

	PLD_TRY(view(buffer, &signal));
	/* Each to each, itself too: cell [me, column] is this rank's to write. */
	for (int peer = 0; peer < NRANKS; peer++) {
		pld_dims at = PLD_AT(me, column);

		CHECK_EQ(0, pld_system_notify(&signal, peer, at, 1000 + me,
					      PLD_SET));
		CHECK_EQ(0, pld_system_notify(&signal, peer, at, -3,
					      PLD_ATOMIC_ADD));
		CHECK_EQ(0, pld_system_notify(&signal, peer, at, 5,
					      PLD_ATOMIC_ADD));
		CHECK_EQ(0, pld_system_notify(&signal, peer, PLD_AT(me, 3), 1,
					      PLD_ATOMIC_ADD));
	}
	for (int from = 0; from < NRANKS; from++) {
		CHECK_EQ(0,
			 pld_system_wait(&signal, PLD_AT(from, 3), 1, PLD_EQ));
		CHECK_CELL(1002 + from, &signal, PLD_AT(from, column));
		CHECK_CELL(0, &signal, PLD_AT(from, 1));
		CHECK_CELL(0, &signal, PLD_AT(from, 2));
	}
	return 0;
}

TEST_F(signal, add_and_set_reach_every_peer_and_itself)
{
	RUN(self->domain, add_and_set, self->buffer);
}

static int whole_range(pld_domain *domain, void *buffer)
{
	static const int32_t values[] = { 0, 1, -1, INT32_MAX, INT32_MIN, 77 };
	pld_distributed_tensor signal;
	pld_dims at = PLD_AT(2, 1);

	PLD_TRY(view(buffer, &signal));
	for (size_t i = 0; i < ARRAY_SIZE(values); i++) {
		CHECK_EQ(0, pld_system_notify(&signal, lib_here, at, values[i],
					      PLD_SET));
		CHECK_CELL(values[i], &signal, at);
	}
	CHECK_EQ(0,
		 pld_system_notify(&signal, lib_here, at, -100, PLD_ATOMIC_ADD));
	CHECK_CELL(-23, &signal, at);
	/* Wraps, as an atomic add of the hardware does. */
	CHECK_EQ(0,
		 pld_system_notify(&signal, lib_here, at, INT32_MAX, PLD_SET));
	CHECK_EQ(0, pld_system_notify(&signal, lib_here, at, 1, PLD_ATOMIC_ADD));
	CHECK_CELL(INT32_MIN, &signal, at);
	return 0;
}

TEST_F(signal, values_are_signed_32_bit)
{
	RUN(self->domain, whole_range, self->buffer);
}

/* Of calls, each begun by all ranks at once, so that they meet in most. */
#define BURSTS 8

/* Calls of a burst. Under valgrind they take long, and meet nobody. */
static int burst_calls(void)
{
	return getenv("PLD_VALGRIND") ? 1000 : 100000;
}

/* The cell is used for nothing else. */
static int begin_together(const pld_distributed_tensor *signal, pld_dims cell,
			  int burst)
{
	for (int peer = 0; peer < NRANKS; peer++)
		CHECK_EQ(0, pld_system_notify(signal, peer, cell, 1,
					      PLD_ATOMIC_ADD));
	return pld_system_wait(signal, cell, burst * NRANKS, PLD_GE);
}

/* Odd ranks set, even ones add, all into adjacent words of rank 0. */
static int adjacent(pld_domain *domain, void *buffer)
{
	int me = pld_rank(domain), calls = burst_calls();
	pld_distributed_tensor dense;

	PLD_TRY(pld_window(buffer, PLD_SHAPE(4 * NRANKS), PLD_INT32, &dense));
	for (int i = 0; i < BURSTS * calls; i++) {
		if (i % calls == 0)
			PLD_TRY(begin_together(&dense, PLD_AT(3 * NRANKS),
					       i / calls + 1));
		CHECK_EQ(0,
			 pld_system_notify(&dense, 0, PLD_AT(me),
					   me % 2 ? i + 1 : 1,
					   me % 2 ? PLD_SET : PLD_ATOMIC_ADD));
	}
	PLD_TRY(begin_together(&dense, PLD_AT(3 * NRANKS), BURSTS + 1));
	for (int rank = 0; !me && rank < NRANKS; rank++) {
		CHECK_CELL(BURSTS * calls, &dense, PLD_AT(rank));
		CHECK_CELL(0, &dense, PLD_AT(NRANKS + rank));
	}
	return 0;
}

TEST_F(signal, adjacent_cells_of_a_window_do_not_disturb_each_other)
{
	pld_window_buffer *window;

	ASSERT_EQ(0, pld_alloc_window_buffer(self->domain, 4096, &window));
	RUN(self->domain, adjacent, window);
}

static int add_together(pld_domain *domain, void *buffer)
{
	int calls = burst_calls();
	pld_distributed_tensor signal;
	pld_dims sum = PLD_AT(0, 0);

	PLD_TRY(view(buffer, &signal));
	for (int i = 0; i < BURSTS * calls; i++) {
		if (i % calls == 0)
			PLD_TRY(begin_together(&signal, PLD_AT(1, 0),
					       i / calls + 1));
		CHECK_EQ(0,
			 pld_system_notify(&signal, 1, sum, 1, PLD_ATOMIC_ADD));
	}
	PLD_TRY(begin_together(&signal, PLD_AT(1, 0), BURSTS + 1));
	if (pld_rank(domain) == 1)
		CHECK_CELL(NRANKS * BURSTS * calls, &signal, sum);
	return 0;
}

TEST_F(signal, adds_of_all_ranks_to_one_cell_are_all_counted)
{
	RUN(self->domain, add_together, self->buffer);
}

/* ---- what wait returns ---- */

static int compare(pld_domain *domain, void *buffer)
{
	static const char below[] =
		"pld.system.wait: timed out after 0.000 s: cell [3, 2] of rank 0 is -5, expected >= -4; rank 3 should have notified it";
	static const char other[] =
		"pld.system.wait: timed out after 0.000 s: cell [3, 2] of rank 0 is -5, expected == 5; rank 3 should have notified it";
	pld_distributed_tensor signal;
	pld_dims at = PLD_AT(3, 2);

	if (pld_rank(domain))
		return 0;
	PLD_TRY(view(buffer, &signal));
	CHECK_EQ(0, pld_system_notify(&signal, 0, at, -5, PLD_SET));
	CHECK_EQ(0, pld_system_wait(&signal, at, -5, PLD_EQ));
	CHECK_EQ(0, pld_system_wait(&signal, at, -5, PLD_GE));
	CHECK_EQ(0, pld_system_wait(&signal, at, INT32_MIN, PLD_GE));
	CHECK_REFUSED(-ETIMEDOUT, below,
		      pld_system_wait_timeout(&signal, at, -4, PLD_GE, 0));
	CHECK_REFUSED(-ETIMEDOUT, other,
		      pld_system_wait_timeout(&signal, at, 5, PLD_EQ, 0));
	/* A timeout breaks nothing, as long as the kernel goes on. */
	CHECK_EQ(0, pld_system_notify(&signal, 0, at, 5, PLD_SET));
	CHECK_EQ(0, pld_system_wait(&signal, at, 5, PLD_EQ));
	CHECK_EQ(0, pld_system_wait_timeout(&signal, at, 5, PLD_EQ, INT64_MAX));
	return 0;
}

TEST_F(signal, eq_and_ge_are_signed_and_timeout_0_looks_once)
{
	RUN(self->domain, compare, self->buffer);
}

struct timeouts {
	pld_window_buffer *rows;
	pld_window_buffer *columns;
	pld_window_buffer *neither;
	pld_window_buffer *both;
};

static int time_out(pld_domain *domain, void *arg)
{
	struct timeouts *t = arg;
	pld_distributed_tensor signal;

	if (pld_rank(domain) != 2)
		return 0;
	PLD_TRY(pld_window(t->rows, PLD_SHAPE(NRANKS, 1), PLD_INT32, &signal));
	CHECK_EQ(0, pld_system_notify(&signal, 2, PLD_AT(1, 0), 6, PLD_SET));
	CHECK_REFUSED(-ETIMEDOUT,
		      "pld.system.wait: timed out after 0.020 s: cell [1, 0] of rank 2 is 6, expected >= 7; rank 1 should have notified it",
		      pld_system_wait_timeout(&signal, PLD_AT(1, 0), 7, PLD_GE,
					      SHORT));
	PLD_TRY(pld_window(t->columns, PLD_SHAPE(2, NRANKS), PLD_INT32, &signal));
	CHECK_REFUSED(-ETIMEDOUT,
		      "pld.system.wait: timed out after 0.020 s: cell [1, 3] of rank 2 is 0, expected == -1; rank 3 should have notified it",
		      pld_system_wait_timeout(&signal, PLD_AT(1, 3), -1, PLD_EQ,
					      SHORT));
	PLD_TRY(pld_window(t->neither, PLD_SHAPE(1, 1, 2), PLD_INT32, &signal));
	CHECK_REFUSED(-ETIMEDOUT,
		      "pld.system.wait: timed out after 0.020 s: cell [0, 0, 1] of rank 2 is 0, expected >= 2147483647",
		      pld_system_wait_timeout(&signal, PLD_AT(0, 0, 1),
					      INT32_MAX, PLD_GE, SHORT));
	/* Both dimensions count ranks, and nobody waits for itself. */
	PLD_TRY(pld_window(t->both, PLD_SHAPE(NRANKS, NRANKS), PLD_INT32,
			   &signal));
	CHECK_REFUSED(-ETIMEDOUT,
		      "pld.system.wait: timed out after 0.020 s: cell [2, 1] of rank 2 is 0, expected >= 1; rank 1 should have notified it",
		      pld_system_wait_timeout(&signal, PLD_AT(2, 1), 1, PLD_GE,
					      SHORT));
	CHECK_REFUSED(-ETIMEDOUT,
		      "pld.system.wait: timed out after 0.020 s: cell [3, 2] of rank 2 is 0, expected >= 1; rank 3 should have notified it",
		      pld_system_wait_timeout(&signal, PLD_AT(3, 2), 1, PLD_GE,
					      SHORT));
	return 0;
}

TEST_F(signal, timeout_names_cell_value_expectation_and_rank)
{
	struct timeouts t;

	ASSERT_EQ(0,
		  pld_alloc_signal(self->domain, PLD_SHAPE(NRANKS, 1), &t.rows));
	ASSERT_EQ(0, pld_alloc_signal(self->domain, PLD_SHAPE(2, NRANKS),
				      &t.columns));
	ASSERT_EQ(0, pld_alloc_signal(self->domain, PLD_SHAPE(1, 1, 2),
				      &t.neither));
	ASSERT_EQ(0, pld_alloc_signal(self->domain, PLD_SHAPE(NRANKS, NRANKS),
				      &t.both));
	RUN(self->domain, time_out, &t);
	/* The domain is as good as before. */
	RUN(self->domain, add_and_set, self->buffer);
}

static int wait_by_default(pld_domain *domain, void *buffer)
{
	pld_distributed_tensor signal;

	PLD_TRY(pld_window(buffer, PLD_SHAPE(1), PLD_INT32, &signal));
	return pld_system_wait(&signal, PLD_AT(0), 1, PLD_EQ);
}

TEST(wait_lasts_as_long_as_the_domain_says)
{
	static const char message[] =
		"rank 0: pld.system.wait: timed out after 0.030 s: cell [0] of rank 0 is 0, expected == 1";
	pld_domain_options options = { .timeout_ns = 30 * LIB_MS };
	pld_window_buffer *buffer;
	pld_domain *domain;

	ASSERT_EQ(0, pld_domain_create((int[]){ 0 }, 1, &options, &domain));
	ASSERT_EQ(0, pld_alloc_signal(domain, PLD_SHAPE(1), &buffer));
	EXPECT_REFUSED(-ETIMEDOUT, message,
		       pld_launch(domain, wait_by_default, buffer, NULL));
	pld_domain_destroy(domain);
}

/* ---- what they refuse ---- */

struct refused {
	pld_window_buffer *signal;
	pld_window_buffer *window;
};

static int refuse_views(pld_domain *domain, void *arg)
{
	static const char notify_dtype[] =
		"pld.system.notify: dtype of signal is uint32, wanted int32";
	struct refused *r = arg;
	pld_distributed_tensor other;
	int32_t cells[16] = { 0 };
	pld_dims at = PLD_AT(0, 0);
	pld_tensor plain;

	PLD_TRY(pld_tensor_init(&plain, cells, PLD_SHAPE(4, 4), PLD_INT32));
	CHECK_REFUSED(-EINVAL,
		      "pld.system.notify: signal must be a DistributedTensor, got Tensor",
		      pld_system_notify(&plain, 0, at, 1, PLD_SET));
	CHECK_REFUSED(-EINVAL,
		      "pld.system.notify: signal must be a DistributedTensor, got NULL",
		      pld_system_notify(NULL, 0, at, 1, PLD_SET));
	CHECK_REFUSED(-EINVAL,
		      "pld.system.wait: signal must be a DistributedTensor, got Tensor",
		      pld_system_wait(&plain, at, 1, PLD_EQ));
	CHECK_REFUSED(-EINVAL,
		      "pld.system.wait: signal must be a DistributedTensor, got NULL",
		      pld_system_wait_timeout(NULL, at, 1, PLD_EQ, 0));
	PLD_TRY(pld_window(r->window, PLD_SHAPE(4, 4), PLD_UINT32, &other));
	CHECK_REFUSED(-EINVAL, notify_dtype,
		      pld_system_notify(&other, 0, at, 1, PLD_SET));
	PLD_TRY(pld_window(r->window, PLD_SHAPE(4, 4), PLD_FP32, &other));
	CHECK_REFUSED(-EINVAL,
		      "pld.system.wait: dtype of signal is fp32, wanted int32",
		      pld_system_wait(&other, at, 1, PLD_EQ));
	PLD_TRY(pld_window(r->window, PLD_SHAPE(4, 4), PLD_INT32, &other));
	other.data = (char *)other.data + 2;
	CHECK_REFUSED(-EFAULT,
		      "pld.system.notify: signal is not aligned to int32",
		      pld_system_notify(&other, 0, at, 1, PLD_SET));
	CHECK_REFUSED(-EFAULT, "pld.system.wait: signal is not aligned to int32",
		      pld_system_wait(&other, at, 1, PLD_EQ));
	return 0;
}

static int refuse_values(pld_domain *domain, void *arg)
{
	struct refused *r = arg;
	pld_distributed_tensor signal;
	pld_dims at = PLD_AT(1, 2);

	PLD_TRY(view(r->signal, &signal));
	CHECK_REFUSED(-ERANGE, "pld.system.notify: peer is 4, wanted 0 to 3",
		      pld_system_notify(&signal, 4, at, 1, PLD_SET));
	CHECK_REFUSED(-ERANGE, "pld.system.notify: peer is -1, wanted 0 to 3",
		      pld_system_notify(&signal, -1, at, 1, PLD_SET));
	CHECK_REFUSED(-EINVAL,
		      "pld.system.notify: op is 2, wanted AtomicAdd (0) or Set (1)",
		      pld_system_notify(&signal, 0, at, 1, (pld_notify_op)2));
	CHECK_REFUSED(-EINVAL,
		      "pld.system.notify: op is -1, wanted AtomicAdd (0) or Set (1)",
		      pld_system_notify(&signal, 0, at, 1, (pld_notify_op)-1));
	CHECK_REFUSED(-EINVAL,
		      "pld.system.wait: cmp is 2, wanted Eq (0) or Ge (1)",
		      pld_system_wait(&signal, at, 0, (pld_cmp)2));
	CHECK_REFUSED(-EINVAL,
		      "pld.system.wait: timeout is -1 ns, wanted 0 or more",
		      pld_system_wait_timeout(&signal, at, 0, PLD_EQ, -1));
	return 0;
}

static int refuse_offsets(pld_domain *domain, void *arg)
{
	static const struct {
		int error;
		pld_dims at;
		const char *message;
	} bad[] = {
		{ -ERANGE, PLD_AT(4, 0),
		  "pld.system.%s: offsets [4, 0] with shape [1, 1] lie outside signal [4, 4]" },
		{ -ERANGE, PLD_AT(0, 4),
		  "pld.system.%s: offsets [0, 4] with shape [1, 1] lie outside signal [4, 4]" },
		{ -ERANGE, PLD_AT(-1, 0),
		  "pld.system.%s: offsets [-1, 0] with shape [1, 1] lie outside signal [4, 4]" },
		{ -ERANGE, PLD_AT(0, INT64_MAX),
		  "pld.system.%s: offsets [0, 9223372036854775807] with shape [1, 1] lie outside signal [4, 4]" },
		{ -EINVAL, PLD_AT(0),
		  "pld.system.%s: offsets [0] and shape [1] must have the 2 dimensions of signal [4, 4]" },
		{ -EINVAL, PLD_AT(0, 0, 0),
		  "pld.system.%s: offsets [0, 0, 0] and shape [1, 1, 1] must have the 2 dimensions of signal [4, 4]" },
	};
	struct refused *r = arg;
	pld_distributed_tensor signal;
	char message[256];

	PLD_TRY(view(r->signal, &signal));
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		snprintf(message, sizeof(message), bad[i].message, "notify");
		CHECK_REFUSED(bad[i].error, message,
			      pld_system_notify(&signal, 1, bad[i].at, 1,
						PLD_SET));
		snprintf(message, sizeof(message), bad[i].message, "wait");
		CHECK_REFUSED(bad[i].error, message,
			      pld_system_wait(&signal, bad[i].at, 1, PLD_EQ));
	}
	return 0;
}

/* The cell would lie before the window. */
static int refuse_strides(pld_domain *domain, void *arg)
{
	struct refused *r = arg;
	pld_distributed_tensor bad;
	char message[160];

	PLD_TRY(view(r->signal, &bad));
	bad.shape = PLD_SHAPE(3, 3);
	bad.stride[0] = 100;
	bad.stride[1] = -8;
	snprintf(message, sizeof(message),
		 "pld.system.notify: signal has a shape that does not lie in its memory of %zu bytes",
		 bad.bytes);
	CHECK_REFUSED(-EFAULT, message,
		      pld_system_notify(&bad, 1, PLD_AT(0, 2), 1, PLD_SET));
	return 0;
}

/* All ranks, so that each looks at what the others' calls have not changed. */
static int refuse(pld_domain *domain, void *arg)
{
	struct refused *r = arg;
	pld_distributed_tensor signal, window;

	PLD_TRY(refuse_views(domain, arg));
	PLD_TRY(refuse_values(domain, arg));
	PLD_TRY(refuse_offsets(domain, arg));
	PLD_TRY(refuse_strides(domain, arg));
	PLD_TRY(view(r->signal, &signal));
	PLD_TRY(pld_window(r->window, PLD_SHAPE(1024), PLD_INT32, &window));
	for (int i = 0; i < 16; i++)
		CHECK_CELL(0, &signal, PLD_AT(i / 4, i % 4));
	for (int i = 0; i < 1024; i++)
		CHECK_CELL(0, &window, PLD_AT(i));
	return 0;
}

TEST_F(signal, bad_arguments_are_refused_and_change_nothing)
{
	struct refused r = { .signal = self->buffer };

	ASSERT_EQ(0, pld_alloc_window_buffer(self->domain, 4096, &r.window));
	RUN(self->domain, refuse, &r);
}

/* ---- who is told ---- */

struct failing {
	int result;
	char message[PLD_MESSAGE_BYTES];
};

static void *fail_in_thread(void *arg)
{
	struct failing *f = arg;

	f->result = pld_system_notify(NULL, 0, PLD_AT(0), 0, PLD_SET);
	snprintf(f->message, sizeof(f->message), "%s", pld_last_error());
	return NULL;
}

TEST(last_error_is_the_threads_own)
{
	static const char message[] =
		"pld.system.wait: signal must be a DistributedTensor, got NULL";
	struct failing f = { .result = 0 };
	pthread_t thread;

	EXPECT_REFUSED(-EINVAL, message,
		       pld_system_wait(NULL, PLD_AT(0), 0, PLD_EQ));
	ASSERT_EQ(0, pthread_create(&thread, NULL, fail_in_thread, &f));
	pthread_join(thread, NULL);
	EXPECT_EQ(-EINVAL, f.result);
	EXPECT_STREQ("pld.system.notify: signal must be a DistributedTensor, got NULL",
		     f.message);
	EXPECT_STREQ(message, pld_last_error());
}

LIB_TEST_MAIN
