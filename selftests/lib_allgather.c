// SPDX-License-Identifier: GPL-2.0
/*
 * pld.tensor.allgather: its refusals, in the order of the contract and before a
 * byte moves; its result; its signal afterwards; and what a peer that does not
 * come leads to. The tool's runs of it are in cli.sh.
 */
#include "lib_fault.h"
#include "lib_golden.h"
#include "lib_test.h"

#define NRANKS 4
#define SIZE 8
#define TARGETS 1000

static pld_window_buffer *data_buffer, *credits, *dense;
static struct shared *shared;

FIXTURE(allgather)
{
	pld_domain *domain;
};

FIXTURE_SETUP(allgather)
{
	pld_domain_options options = { .timeout_ns = 60000 * LIB_MS };
	const int devices[NRANKS] = { 3, 1, 7, 0 };

	ASSERT_EQ(0,
		  pld_domain_create(devices, NRANKS, &options, &self->domain));
	ASSERT_EQ(0, pld_alloc_window_buffer_shaped(self->domain,
						    PLD_SHAPE(TARGETS * NRANKS,
							      SIZE),
						    PLD_INT32, &data_buffer));
	ASSERT_EQ(0, pld_alloc_signal(self->domain, PLD_SHAPE(NRANKS, 2),
				      &credits));
	ASSERT_EQ(0, pld_alloc_window_buffer(self->domain, NRANKS * 4, &dense));
	shared = make_shared();
	ASSERT_NE(NULL, shared);
}

FIXTURE_TEARDOWN(allgather)
{
	pld_domain_destroy(self->domain);
}

/* What a call takes; each test spoils one of them. */
struct call {
	pld_tensor x;
	pld_distributed_tensor target;
	pld_distributed_tensor signal;
};

static int good_call(struct call *call, int32_t *x)
{
	PLD_TRY(pld_tensor_init(&call->x, x, PLD_SHAPE(1, SIZE), PLD_INT32));
	PLD_TRY(pld_window(data_buffer, PLD_SHAPE(NRANKS, SIZE), PLD_INT32,
			   &call->target));
	return pld_window(credits, PLD_SHAPE(NRANKS, 1), PLD_INT32,
			  &call->signal);
}

static int gather(const struct call *call)
{
	return pld_tensor_allgather(&call->x, &call->target, &call->signal);
}

/* The target and the signal of this rank hold nothing but zeros. */
static int nothing_moved(const struct call *call)
{
	const int32_t *word = call->target.data;

	for (int i = 0; i < NRANKS * SIZE; i++)
		CHECK_EQ(0, word[i]);
	for (int cell = 0; cell < NRANKS; cell++)
		PLD_TRY(pld_system_wait_timeout(&call->signal, PLD_AT(cell, 0),
						0, PLD_EQ, 0));
	return 0;
}

#define AG "pld.tensor.allgather "

static int refuse_local_data(const struct call *good)
{
	struct call bad = *good;
	pld_tile tile;

	CHECK_REFUSED(-EINVAL, AG "local_data must not be NULL",
		      pld_tensor_allgather(NULL, &bad.target, &bad.signal));
	/* The same buffer, before what kind of view it is. */
	bad.x = bad.target;
	CHECK_REFUSED(-EINVAL,
		      AG
		      "local_data and target must be different buffers, got overlapping ones",
		      gather(&bad));
	bad.x = good->x;
	bad.x.data = (char *)good->target.data + good->target.bytes - 4;
	CHECK_REFUSED(-EINVAL,
		      AG
		      "local_data and target must be different buffers, got overlapping ones",
		      gather(&bad));
	PLD_TRY(pld_tile_alloc(&tile, SIZE * sizeof(int32_t)));
	bad.x = tile;
	CHECK_REFUSED(-EINVAL,
		      AG "input must be a Tensor or DistributedTensor, got Tile",
		      gather(&bad));
	pld_tile_free(&tile);
	bad.x = good->x;
	bad.x.shape = PLD_SHAPE(2, SIZE / 2);
	CHECK_REFUSED(-EINVAL, AG "local_data must be [1, SIZE], got [2, 4]",
		      gather(&bad));
	bad.x.shape = PLD_SHAPE(SIZE);
	CHECK_REFUSED(-EINVAL, AG "local_data must be [1, SIZE], got [8]",
		      gather(&bad));
	return 0;
}

static int refuse_target(const struct call *good)
{
	struct call bad = *good;
	int32_t words[NRANKS * SIZE];

	CHECK_REFUSED(-EINVAL, AG "target must not be NULL",
		      pld_tensor_allgather(&bad.x, NULL, &bad.signal));
	PLD_TRY(pld_tensor_init(&bad.target, words, PLD_SHAPE(NRANKS, SIZE),
				PLD_INT32));
	CHECK_REFUSED(-EINVAL,
		      AG
		      "target must be a DistributedTensor [nranks, SIZE], got Tensor [4, 8]",
		      gather(&bad));
	bad.target = good->target;
	bad.target.shape = PLD_SHAPE(NRANKS, SIZE, 1);
	CHECK_REFUSED(-EINVAL,
		      AG
		      "target must be a DistributedTensor [nranks, SIZE], got DistributedTensor [4, 8, 1]",
		      gather(&bad));
	bad.target = good->target;
	bad.target.dtype = PLD_FP32;
	CHECK_REFUSED(-EINVAL,
		      AG "dtype of local_data must be target's fp32, got int32",
		      gather(&bad));
	bad.target = good->target;
	bad.target.shape = PLD_SHAPE(NRANKS, SIZE - 1);
	CHECK_REFUSED(-EINVAL, AG "SIZE of local_data must be target's 7, got 8",
		      gather(&bad));
	bad.target.shape = PLD_SHAPE(NRANKS + 1, SIZE);
	CHECK_REFUSED(-EINVAL, AG "target must have nranks = 4 rows, got 5",
		      gather(&bad));
	return 0;
}

static int refuse_signal(const struct call *good)
{
	struct call bad = *good;
	int32_t words[NRANKS];

	CHECK_REFUSED(-EINVAL, AG "signal must not be NULL",
		      pld_tensor_allgather(&bad.x, &bad.target, NULL));
	PLD_TRY(pld_tensor_init(&bad.signal, words, PLD_SHAPE(NRANKS, 1),
				PLD_INT32));
	CHECK_REFUSED(-EINVAL,
		      AG "signal must be a DistributedTensor, got Tensor",
		      gather(&bad));
	PLD_TRY(pld_window(dense, PLD_SHAPE(NRANKS, 1), PLD_FP32, &bad.signal));
	CHECK_REFUSED(-EINVAL, AG "signal must be int32 [4, 1], got fp32 [4, 1]",
		      gather(&bad));
	PLD_TRY(pld_window(credits, PLD_SHAPE(2, NRANKS), PLD_INT32,
			   &bad.signal));
	CHECK_REFUSED(-EINVAL,
		      AG "signal must be int32 [4, 1], got int32 [2, 4]",
		      gather(&bad));
	return 0;
}

static int refuse_window_as_source(const struct call *good)
{
	struct call bad = *good;
	pld_window_buffer *other = dense;

	/* [1, 4] from another window: every other check is passed. */
	PLD_TRY(pld_window(other, PLD_SHAPE(1, NRANKS), PLD_INT32, &bad.x));
	bad.target.shape = PLD_SHAPE(NRANKS, NRANKS);
	CHECK_REFUSED(-EINVAL,
		      AG
		      "local_data must be a plain Tensor, got DistributedTensor",
		      gather(&bad));
	return 0;
}

static int refuse_all(pld_domain *domain, void *arg)
{
	int32_t x[SIZE] = { 1, 2, 3, 4, 5, 6, 7, 8 };
	struct call good;

	(void)domain;
	(void)arg;
	PLD_TRY(good_call(&good, x));
	PLD_TRY(refuse_local_data(&good));
	PLD_TRY(refuse_target(&good));
	PLD_TRY(refuse_signal(&good));
	PLD_TRY(refuse_window_as_source(&good));
	return nothing_moved(&good);
}

TEST_F(allgather, bad_arguments_are_refused_before_a_byte_moves)
{
	RUN(self->domain, refuse_all, NULL);
}

/* With everything wrong at once, each mended in its turn shows the next. */
static int refuse_in_order(pld_domain *domain, void *arg)
{
	int32_t x[SIZE];
	struct call call, good;
	pld_tile tile;

	(void)domain;
	(void)arg;
	PLD_TRY(good_call(&good, x));
	PLD_TRY(pld_tile_alloc(&tile, 64));
	call = good;
	call.x = tile;
	call.x.data = call.target.data;
	call.x.shape = PLD_SHAPE(3);
	call.target.shape = PLD_SHAPE(NRANKS);
	call.target.dtype = PLD_FP16;
	call.signal.shape = PLD_SHAPE(1, 1);
	CHECK_EQ(-EINVAL, gather(&call));
	CHECK(strstr(pld_last_error(), "overlapping"));
	call.x.data = tile.data;
	CHECK_EQ(-EINVAL, gather(&call));
	CHECK(strstr(pld_last_error(), "got Tile"));
	call.x.kind = PLD_DISTRIBUTED_TENSOR;
	CHECK_EQ(-EINVAL, gather(&call));
	CHECK(strstr(pld_last_error(), "must be [1, SIZE]"));
	call.x.shape = PLD_SHAPE(1, 3);
	call.x.dtype = PLD_INT32;
	CHECK_EQ(-EINVAL, gather(&call));
	CHECK(strstr(pld_last_error(), "[nranks, SIZE]"));
	call.target.shape = PLD_SHAPE(9, SIZE);
	CHECK_EQ(-EINVAL, gather(&call));
	CHECK(strstr(pld_last_error(), "dtype"));
	call.target.dtype = PLD_INT32;
	CHECK_EQ(-EINVAL, gather(&call));
	CHECK(strstr(pld_last_error(), "SIZE of"));
	call.x.shape = PLD_SHAPE(1, SIZE);
	CHECK_EQ(-EINVAL, gather(&call));
	CHECK(strstr(pld_last_error(), "rows"));
	call.target.shape = PLD_SHAPE(NRANKS, SIZE);
	CHECK_EQ(-EINVAL, gather(&call));
	CHECK(strstr(pld_last_error(), "signal must be int32"));
	call.signal = good.signal;
	CHECK_EQ(-EINVAL, gather(&call));
	CHECK(strstr(pld_last_error(), "plain Tensor"));
	pld_tile_free(&tile);
	return nothing_moved(&good);
}

TEST_F(allgather, checks_come_in_the_order_of_the_contract)
{
	RUN(self->domain, refuse_in_order, NULL);
}

/* Of call i: no two ranks and no two calls have an element in common. */
static int32_t element(int i, int rank, int column)
{
	return ((i * NRANKS) + rank) * SIZE + column + 1;
}

static int gather_into(struct call *call, int i, int rank)
{
	int32_t *x = call->x.data;

	for (int column = 0; column < SIZE; column++)
		x[column] = element(i, rank, column);
	call->target.data = (int32_t *)call->target.data + NRANKS * SIZE;
	return gather(call);
}

static int check_target(const int32_t *target, int i)
{
	for (int row = 0; row < NRANKS; row++)
		for (int column = 0; column < SIZE; column++)
			CHECK_EQ(element(i, row, column),
				 target[row * SIZE + column]);
	return 0;
}

static int gather_many(pld_domain *domain, void *arg)
{
	int rank = pld_rank(domain);
	int32_t x[SIZE];
	struct call call;
	const int32_t *targets;

	(void)arg;
	PLD_TRY(good_call(&call, x));
	targets = call.target.data;
	call.target.data = (int32_t *)call.target.data - NRANKS * SIZE;
	for (int i = 0; i < TARGETS; i++)
		PLD_TRY(gather_into(&call, i, rank));
	/* When everybody is here, nobody is in an allgather any more. */
	say_ready(shared);
	wait_for_ready(shared, NRANKS);
	for (int i = 0; i < TARGETS; i++)
		PLD_TRY(check_target(targets + i * NRANKS * SIZE, i));
	for (int cell = 0; cell < NRANKS; cell++)
		PLD_TRY(pld_system_wait_timeout(&call.signal, PLD_AT(cell, 0),
						0, PLD_EQ, 0));
	return 0;
}

TEST_F(allgather, a_thousand_calls_share_a_signal_and_leave_it_zero)
{
	RUN(self->domain, gather_many, NULL);
}

/* A dense INT32 view of a window is a signal too. */
static int gather_with_dense_signal(pld_domain *domain, void *arg)
{
	int32_t x[SIZE];
	struct call call;

	(void)arg;
	PLD_TRY(good_call(&call, x));
	PLD_TRY(pld_window(dense, PLD_SHAPE(NRANKS, 1), PLD_INT32, &call.signal));
	call.target.data = (int32_t *)call.target.data - NRANKS * SIZE;
	for (int i = 0; i < 10; i++) {
		PLD_TRY(gather_into(&call, i, pld_rank(domain)));
		PLD_TRY(check_target(call.target.data, i));
	}
	return 0;
}

TEST_F(allgather, a_dense_signal_will_do)
{
	RUN(self->domain, gather_with_dense_signal, NULL);
}

static int one_stays_away(pld_domain *domain, void *arg)
{
	int32_t x[SIZE];
	struct call call;

	(void)arg;
	PLD_TRY(good_call(&call, x));
	/* Nobody is late but the one who does not come. */
	say_ready(shared);
	wait_for_ready(shared, NRANKS);
	if (pld_rank(domain) == 1) {
		wait_for_ready(shared, 2 * NRANKS - 1);
		return 0;
	}
	CHECK_EQ(-ETIMEDOUT, gather(&call));
	CHECK(strstr(pld_last_error(), "rank 1 "));
	/* It did half of its work: the domain is broken for all. */
	CHECK_REFUSED(-ETIMEDOUT,
		      "pld.tensor.allgather: rank 1 did not do its part in time",
		      gather(&call));
	CHECK_REFUSED(-ETIMEDOUT,
		      "pld.system.notify: rank 1 did not do its part in time",
		      pld_system_notify(&call.signal, 0, PLD_AT(0, 0), 1,
					PLD_ATOMIC_ADD));
	say_ready(shared);
	return 0;
}

TEST_F(allgather, a_rank_that_stays_away_breaks_the_domain)
{
	pld_domain_options options = { .timeout_ns = 2000 * LIB_MS };
	const int devices[NRANKS] = { 0, 1, 2, 3 };
	pld_domain *domain;

	ASSERT_EQ(0, pld_domain_create(devices, NRANKS, &options, &domain));
	ASSERT_EQ(0, pld_alloc_window_buffer_shaped(domain,
						    PLD_SHAPE(NRANKS, SIZE),
						    PLD_INT32, &data_buffer));
	ASSERT_EQ(0, pld_alloc_signal(domain, PLD_SHAPE(NRANKS, 1), &credits));
	RUN(domain, one_stays_away, NULL);
	pld_domain_destroy(domain);
}

/* A rank dies in the middle of a row of calls. */
static int gather_until_death(pld_domain *domain, void *arg)
{
	int rank = pld_rank(domain);
	int32_t x[SIZE];
	struct call call;

	PLD_TRY(good_call(&call, x));
	call.target.data = (int32_t *)call.target.data - NRANKS * SIZE;
	for (int i = 0; i < TARGETS; i++) {
		if (rank == 1 && i == *(int *)arg)
			raise(SIGKILL);
		PLD_TRY(gather_into(&call, i, rank));
		PLD_TRY(check_target(call.target.data, i));
	}
	return 0;
}

TEST_F(allgather, a_death_between_calls_ends_the_others)
{
	for (int i = 0; i < 4; i++) {
		pld_rank_report reports[NRANKS];

		EXPECT_REFUSED(-EOWNERDEAD,
			       "rank 1 died: killed by signal 9 (Killed)",
			       pld_launch(self->domain, gather_until_death,
					  &(int){ i * 37 }, reports));
		for (int rank = 0; rank < NRANKS; rank++)
			EXPECT_EQ(-EOWNERDEAD, reports[rank].error);
		ASSERT_EQ(0, pld_domain_reset(self->domain));
	}
}

/* In several blocks, and so many bytes that they are written past the caches. */
static const int64_t long_sizes[] = { 300001, 1500003 };

struct long_buffers {
	pld_window_buffer *data;
	pld_window_buffer *signal;
};

static int gather_long(pld_domain *domain, int64_t size,
		       const struct long_buffers *b)
{
	int nranks = pld_nranks(domain), me = pld_rank(domain);
	pld_distributed_tensor data, signal;
	unsigned char *mine = malloc((size_t)size);
	pld_tensor x;

	CHECK(mine);
	golden_fill(mine, (size_t)size, (unsigned int)(size + me));
	PLD_TRY(pld_tensor_init(&x, mine, PLD_SHAPE(1, size), PLD_UINT8));
	PLD_TRY(pld_window(b->data, PLD_SHAPE(nranks, size), PLD_UINT8, &data));
	PLD_TRY(pld_window(b->signal, PLD_SHAPE(nranks, 1), PLD_INT32, &signal));
	CHECK_EQ(0, pld_tensor_allgather(&x, &data, &signal));
	for (int rank = 0; rank < nranks; rank++)
		CHECK_EQ(size,
			 (int64_t)golden_differs((char *)data.data + rank * size,
						 (size_t)size,
						 (unsigned int)(size + rank)));
	free(mine);
	return pld_tensor_barrier(&signal);
}

static int gather_long_rows(pld_domain *domain, void *arg)
{
	for (size_t i = 0; i < ARRAY_SIZE(long_sizes); i++)
		PLD_TRY(gather_long(domain, long_sizes[i], arg));
	return 0;
}

TEST(long_rows_arrive_whole)
{
	pld_domain *domain = make_domain(3);
	struct long_buffers b;

	ASSERT_NE(NULL, domain);
	ASSERT_EQ(0, pld_alloc_window_buffer(domain, 3 * 1500003, &b.data));
	ASSERT_EQ(0, pld_alloc_signal(domain, PLD_SHAPE(3, 1), &b.signal));
	RUN(domain, gather_long_rows, &b);
	pld_domain_destroy(domain);
}

LIB_TEST_MAIN
