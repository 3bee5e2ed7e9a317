// SPDX-License-Identifier: GPL-2.0
/*
 * The builtin collectives against the serial model, from 1 to 64 ranks: each by
 * itself, and all of them in any order on one signal; what a death in the
 * middle leads to; the allgather that may be repeated.
 */
#include <sched.h>

#include "lib_collective.h"
#include "lib_fault.h"

static struct shared *shared;

/* A guest is emulated, and 64 ranks share few CPUs. */
static int few(const struct world *world)
{
	return is_slow() || world->nranks > 16;
}

/* What the rank brings into the own target, where that is where it goes. */
static void place(const struct rank *rank, const struct step *step, void *target)
{
	size_t size = (size_t)pld_dtype_size(step->dtype);
	int64_t n = elements(step, rank->world->nranks);
	int in_place = step->kind == REDUCE_SCATTER || step->kind == MESH ||
		       step->kind == TWO_PHASE || step->kind == RING ||
		       (step->kind == BROADCAST && step->root == rank->me);

	random_elements(step->dtype, rank->mine, n, seed_of(step, rank->me));
	if (in_place)
		memcpy(target, rank->mine, (size_t)n * size);
	/* Rows that all_to_all_v leaves alone; nobody else writes them now. */
	if (step->kind == ALL_TO_ALL_V)
		for (int from = 0; from < rank->world->nranks; from++)
			for (int row = rows_sent(step, from, rank->me);
			     row < MAX_ROWS; row++) {
				size_t bytes = (size_t)step->n * size;
				size_t at =
					(size_t)(from * MAX_ROWS + row) * bytes;

				memcpy((char *)rank->want + at,
				       (char *)target + at, bytes);
			}
}

static int all_to_all_v(const struct rank *rank, const struct step *step,
			const pld_view *input, const pld_view *target,
			const pld_view *signal)
{
	int32_t send[PLD_MAX_RANKS], recv[PLD_MAX_RANKS];

	for (int peer = 0; peer < rank->world->nranks; peer++) {
		send[peer] = rows_sent(step, rank->me, peer);
		recv[peer] = rows_sent(step, peer, rank->me);
	}
	return pld_tensor_all_to_all_v(input, target, signal, send, recv);
}

static int call(const struct rank *rank, const struct step *step,
		const pld_view *target, const pld_view *signal)
{
	pld_tensor input;
	pld_dims shape = step->kind == ALLGATHER ? PLD_SHAPE(1, step->n)
						 : target->shape;

	PLD_TRY(pld_tensor_init(&input, rank->mine, shape, step->dtype));
	switch (step->kind) {
	case BARRIER:
		return pld_tensor_barrier(signal);
	case BROADCAST:
		return pld_tensor_broadcast(target, signal, step->root);
	case ALLGATHER:
		return pld_tensor_allgather(&input, target, signal);
	case REDUCE_SCATTER:
		return pld_tensor_reduce_scatter(target, signal, step->op);
	case MESH:
	case TWO_PHASE:
	case RING:
		return pld_tensor_allreduce(target, signal, step->op,
					    mode_of(step->kind));
	case ALL_TO_ALL:
		return pld_tensor_all_to_all(&input, target, signal);
	default:
		return all_to_all_v(rank, step, &input, target, signal);
	}
}

static int run_step(const struct rank *rank, const struct step *step)
{
	const struct world *world = rank->world;
	pld_distributed_tensor target, signal;

	PLD_TRY(pld_window(world->data[step->slot],
			   target_shape(step, world->nranks), step->dtype,
			   &target));
	PLD_TRY(pld_window(world->signal, signal_shape(step->kind, world->nranks),
			   PLD_INT32, &signal));
	place(rank, step, target.data);
	CHECK_EQ(0, call(rank, step, &target, &signal));
	golden(rank, step);
	return differs(rank, step, target.data);
}

/* When everybody is here, every cell is zero. */
static int signal_is_zero(const struct world *world)
{
	pld_dims shape = ring_shape(world->nranks);
	pld_distributed_tensor signal;

	say_ready(shared);
	wait_for_ready(shared, world->nranks);
	PLD_TRY(pld_window(world->signal, shape, PLD_INT32, &signal));
	for (int row = 0; row < shape.n[0]; row++)
		for (int cell = 0; cell < shape.n[1]; cell++)
			CHECK_EQ(0, pld_system_wait_timeout(&signal,
							    PLD_AT(row, cell),
							    0, PLD_EQ, 0));
	return 0;
}

FIXTURE(ranks)
{
	struct world world;
};

FIXTURE_VARIANT(ranks)
{
	int nranks;
	int64_t most;
	size_t tile_bytes;
};

/* Tiles from one in which nothing fits to one in which all does. */
#define RANKS(n, ...)                    \
	FIXTURE_VARIANT_ADD(ranks, n)    \
	{                                \
		.nranks = n, __VA_ARGS__ \
	}

RANKS(1, .most = 4099, .tile_bytes = 1000);
RANKS(2, .most = 4099, .tile_bytes = 100);
RANKS(3, .most = 4099, .tile_bytes = 1024);
RANKS(4, .most = 4099, .tile_bytes = 65536);
RANKS(7, .most = 4099, .tile_bytes = 1024);
RANKS(8, .most = 4099, .tile_bytes = 4096);
RANKS(16, .most = 1024, .tile_bytes = 256);
RANKS(64, .most = 130, .tile_bytes = 64);

FIXTURE_SETUP(ranks)
{
	if (is_slow() && (variant->nranks > 8 || variant->nranks == 7 ||
			  variant->nranks == 1))
		return; /* the test skips */
	self->world = (struct world){
		.nranks = variant->nranks,
		.most = variant->most,
		.tile_bytes = variant->tile_bytes,
	};
	ASSERT_EQ(0, make_world(&self->world));
	shared = make_shared();
	ASSERT_NE(NULL, shared);
}

FIXTURE_TEARDOWN(ranks)
{
	pld_domain_destroy(self->world.domain);
}

/* Numbers a step after another, on the windows by turns. */
struct series {
	struct rank rank;
	struct step step;
};

static int next(struct series *series)
{
	series->step.seed++;
	series->step.slot ^= 1;
	series->step.root =
		(int)(series->step.seed % (uint64_t)series->rank.world->nranks);
	return run_step(&series->rank, &series->step);
}

static int64_t fitting(const struct world *world, enum kind kind, int64_t n)
{
	return kind == ALL_TO_ALL_V && n > world->most / MAX_ROWS
		       ? world->most / MAX_ROWS
		       : n;
}

/* All sizes, of as many dtypes and operations as there is time for. */
static int all_sizes(pld_domain *domain, void *arg)
{
	static const int64_t sizes[] = { 1, 2, 63, 64, 130, 1024, 4099 };
	const struct world *world = arg;
	struct series s = { 0 };

	PLD_TRY(make_rank(&s.rank, world));
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++)
		for (int kind = 0; kind < NR_KINDS; kind++) {
			if (sizes[i] > world->most)
				continue;
			if (is_slow() && sizes[i] > 130)
				continue;
			s.step.kind = (enum kind)kind;
			s.step.n = fitting(world, s.step.kind, sizes[i]);
			s.step.dtype = (pld_dtype)(s.step.seed % 12);
			s.step.op = (pld_reduce_op)(s.step.seed / 12 % 4);
			PLD_TRY(next(&s));
		}
	PLD_TRY(signal_is_zero(world));
	free_rank(&s.rank);
	return 0;
}

TEST_F(ranks, every_collective_in_every_size)
{
	if (!self->world.domain)
		SKIP(return, "fewer ranks where all is slow");
	RUN(self->world.domain, all_sizes, &self->world);
}

static int all_dtypes(pld_domain *domain, void *arg)
{
	static const int64_t sizes[] = { 5, 63, 300 };
	const struct world *world = arg;
	struct series s = { 0 };

	PLD_TRY(make_rank(&s.rank, world));
	for (int dtype = 0; dtype <= LAST_DTYPE; dtype++)
		for (int kind = 0; kind < NR_KINDS; kind++)
			for (int op = PLD_SUM; op <= PLD_PROD; op++) {
				if (few(world) && op != (dtype + kind) % 4)
					continue;
				if (world->nranks > 16 && (dtype + kind) % 3)
					continue;
				s.step.kind = (enum kind)kind;
				s.step.dtype = (pld_dtype)dtype;
				s.step.op = (pld_reduce_op)op;
				s.step.n = sizes[s.step.seed % 3];
				if (s.step.n > world->most / MAX_ROWS)
					s.step.n = world->most / MAX_ROWS;
				PLD_TRY(next(&s));
			}
	PLD_TRY(signal_is_zero(world));
	free_rank(&s.rank);
	return 0;
}

TEST_F(ranks, every_collective_of_every_dtype_and_operation)
{
	if (!self->world.domain)
		SKIP(return, "fewer ranks where all is slow");
	RUN(self->world.domain, all_dtypes, &self->world);
}

/* Long enough for others to be in their next call, or not at all. */
static void dawdle(uint64_t random)
{
	if (random % 8 == 0)
		sleep_ms(1);
	else if (random % 8 < 4)
		sched_yield();
}

static int mixed_calls(pld_domain *domain, void *arg)
{
	const struct world *world = arg;
	int calls = few(world) ? 40 : 300;
	struct series s = { .step.seed = 1000 };

	PLD_TRY(make_rank(&s.rank, world));
	for (int i = 0; i < calls; i++) {
		uint64_t random = mixed((uint64_t)i + 77);

		s.step.kind = (enum kind)(random % NR_KINDS);
		s.step.dtype = (pld_dtype)((random >> 8) % 12);
		s.step.op = (pld_reduce_op)((random >> 16) % 4);
		s.step.n = 1 + (int64_t)((random >> 20) % 40);
		dawdle(mixed(random + (uint64_t)s.rank.me));
		PLD_TRY(next(&s));
		dawdle(mixed(random - (uint64_t)s.rank.me));
	}
	PLD_TRY(signal_is_zero(world));
	free_rank(&s.rank);
	return 0;
}

TEST_F(ranks, collectives_of_all_kinds_share_a_signal)
{
	if (!self->world.domain)
		SKIP(return, "fewer ranks where all is slow");
	RUN(self->world.domain, mixed_calls, &self->world);
}

/* One target, filled and reduced again without anything in between. */
static int repeat_in_place(pld_domain *domain, void *arg)
{
	static const enum kind kinds[] = { MESH, TWO_PHASE, RING,
					   REDUCE_SCATTER };
	const struct world *world = arg;
	int calls = few(world) ? 20 : 200;
	struct step step = { .n = 40 };
	struct rank rank;

	PLD_TRY(make_rank(&rank, world));
	for (int i = 0; i < calls; i++) {
		uint64_t random = mixed((uint64_t)i + 5);

		step.seed++;
		step.kind = kinds[random % 4];
		step.dtype = random >> 8 & 1 ? PLD_FP32 : PLD_BF16;
		PLD_TRY(run_step(&rank, &step));
		if ((int)((random >> 16) % (uint64_t)world->nranks) == rank.me)
			sleep_ms(1);
	}
	free_rank(&rank);
	return 0;
}

TEST_F(ranks, reductions_in_place_need_no_barrier_between_them)
{
	if (!self->world.domain)
		SKIP(return, "fewer ranks where all is slow");
	RUN(self->world.domain, repeat_in_place, &self->world);
}

FIXTURE(four)
{
	struct world world;
};

FIXTURE_SETUP(four)
{
	self->world = (struct world){
		.nranks = 4,
		.most = 4096,
		.tile_bytes = 512,
	};
	ASSERT_EQ(0, make_world(&self->world));
	shared = make_shared();
	ASSERT_NE(NULL, shared);
}

FIXTURE_TEARDOWN(four)
{
	pld_domain_destroy(self->world.domain);
}

static int gather_and_dawdle(pld_domain *domain, void *arg)
{
	const struct world *world = arg;
	int calls = is_slow() ? 50 : 200, size = 64, nranks = world->nranks;
	pld_distributed_tensor target, signal, data;
	void *first;
	pld_tensor x;
	int32_t mine[64];

	PLD_TRY(pld_window(world->data[0], PLD_SHAPE(2 * nranks, size),
			   PLD_INT32, &target));
	PLD_TRY(pld_window(world->signal, PLD_SHAPE(nranks, 1), PLD_INT32,
			   &signal));
	PLD_TRY(pld_tensor_init(&x, mine, PLD_SHAPE(1, size), PLD_INT32));
	first = target.data;
	for (int i = 0; i < calls; i++) {
		const int32_t *got;

		for (int at = 0; at < size; at++)
			mine[at] = (i * nranks + lib_here) * size + at;
		CHECK_EQ(0, pld_tensor_allgather_flags(&x, &target, &signal,
						       PLD_REUSE_TARGET, &data));
		got = data.data;
		CHECK_EQ(nranks, data.shape.n[0]);
		CHECK_EQ(size, data.shape.n[1]);
		CHECK(got == (int32_t *)first + i % 2 * nranks * size);
		for (int at = 0; at < nranks * size; at++) {
			if (lib_here == 2 && at % (nranks * size / 4) == 7)
				sleep_ms(1);
			CHECK_EQ(i * nranks * size + at, got[at]);
		}
	}
	return signal_is_zero(world);
}

TEST_F(four, allgather_with_reuse_target_waits_for_slow_readers)
{
	/* The second launch begins with the first slot again. */
	RUN(self->world.domain, gather_and_dawdle, &self->world);
	shared->ready = 0;
	RUN(self->world.domain, gather_and_dawdle, &self->world);
}

/*
 * Two views of one buffer by turns, whose slots lie over each other: what one
 * call has gathered stays until the own rank begins the next.
 */
static int gather_two_views(pld_domain *domain, void *arg)
{
	static const int sizes[] = { 64, 32, 64, 16, 16, 64 };
	const struct world *world = arg;
	int nranks = world->nranks, calls = is_slow() ? 12 : 60;
	pld_distributed_tensor target, signal, data;
	int32_t mine[64];
	pld_tensor x;

	PLD_TRY(pld_window(world->signal, PLD_SHAPE(nranks, 1), PLD_INT32,
			   &signal));
	for (int i = 0; i < calls; i++) {
		int size = sizes[i % 6];
		const int32_t *got;

		PLD_TRY(pld_window(world->data[0], PLD_SHAPE(2 * nranks, size),
				   PLD_INT32, &target));
		PLD_TRY(pld_tensor_init(&x, mine, PLD_SHAPE(1, size), PLD_INT32));
		for (int at = 0; at < size; at++)
			mine[at] = (i * nranks + lib_here) * 64 + at;
		CHECK_EQ(0, pld_tensor_allgather_flags(&x, &target, &signal,
						       PLD_REUSE_TARGET, &data));
		got = data.data;
		if (lib_here == i % nranks)
			sleep_ms(3);
		for (int at = 0; at < nranks * size; at++)
			CHECK_EQ((i * nranks + at / size) * 64 + at % size,
				 got[at]);
	}
	return signal_is_zero(world);
}

TEST_F(four, allgather_with_reuse_target_of_two_views)
{
	RUN(self->world.domain, gather_two_views, &self->world);
}

static int gather_without_flags(pld_domain *domain, void *arg)
{
	const struct world *world = arg;
	pld_distributed_tensor target, signal, data = { 0 };
	int32_t mine[3] = { lib_here, lib_here + 10, lib_here + 20 };
	pld_tensor x;

	PLD_TRY(pld_window(world->data[0], PLD_SHAPE(4, 3), PLD_INT32, &target));
	PLD_TRY(pld_window(world->signal, PLD_SHAPE(4, 1), PLD_INT32, &signal));
	PLD_TRY(pld_tensor_init(&x, mine, PLD_SHAPE(1, 3), PLD_INT32));
	CHECK_EQ(0, pld_tensor_allgather_flags(&x, &target, &signal, 0, &data));
	CHECK(!memcmp(&target, &data, sizeof(data)));
	for (int i = 0; i < 12; i++)
		CHECK_EQ(i / 3 + 10 * (i % 3), ((int32_t *)data.data)[i]);
	return 0;
}

TEST_F(four, allgather_without_flags_fills_the_target)
{
	RUN(self->world.domain, gather_without_flags, &self->world);
}

/* The window forms of input, of the host's allgather and of all_to_all. */
static int fill_window(pld_domain *domain, void *arg)
{
	const struct world *world = arg;
	pld_distributed_tensor mine;

	PLD_TRY(pld_window(world->data[0], PLD_SHAPE(1, 100), PLD_INT16, &mine));
	random_elements(PLD_INT16, mine.data, 100, (uint64_t)lib_here);
	return 0;
}

static int check_window(pld_domain *domain, void *arg)
{
	const struct world *world = arg;
	pld_distributed_tensor all;
	int16_t want[100];

	PLD_TRY(pld_window(world->data[1], PLD_SHAPE(4, 100), PLD_INT16, &all));
	for (int row = 0; row < 4; row++) {
		random_elements(PLD_INT16, want, 100, (uint64_t)row);
		CHECK(!memcmp(want, (int16_t *)all.data + row * 100,
			      sizeof(want)));
	}
	return 0;
}

TEST_F(four, host_allgather_reads_windows)
{
	RUN(self->world.domain, fill_window, &self->world);
	for (int i = 0; i < 3; i++)
		ASSERT_EQ(0, pld_host_allgather(self->world.data[0],
						self->world.data[1],
						self->world.signal, 100,
						PLD_INT16));
	RUN(self->world.domain, check_window, &self->world);
}

static int all_to_all_from_window(pld_domain *domain, void *arg)
{
	const struct world *world = arg;
	pld_distributed_tensor input, target, signal;
	int32_t *word;

	PLD_TRY(pld_window(world->data[0], PLD_SHAPE(4, 5), PLD_INT32, &input));
	PLD_TRY(pld_window(world->data[1], PLD_SHAPE(4, 5), PLD_INT32, &target));
	PLD_TRY(pld_window(world->signal, PLD_SHAPE(4, 1), PLD_INT32, &signal));
	word = input.data;
	for (int i = 0; i < 20; i++)
		word[i] = 100 * lib_here + i;
	CHECK_EQ(0, pld_tensor_all_to_all(&input, &target, &signal));
	word = target.data;
	for (int i = 0; i < 20; i++)
		CHECK_EQ(100 * (i / 5) + 5 * lib_here + i % 5, word[i]);
	return 0;
}

TEST_F(four, all_to_all_takes_a_window_as_input)
{
	RUN(self->world.domain, all_to_all_from_window, &self->world);
}

/* Where a death meets a call. */
struct death {
	const struct world *world;
	enum kind kind;
	int ms;
};

/* The harness has a handler of its own. */
static void die_in(int ms)
{
	const struct itimerval soon = { .it_value.tv_usec = ms * 1000 };

	signal(SIGALRM, SIG_DFL);
	setitimer(ITIMER_REAL, &soon, NULL);
}

/* Rank 1 is killed by a timer, wherever it is then. */
static int until_death(pld_domain *domain, void *arg)
{
	const struct death *death = arg;
	struct step step = {
		.kind = death->kind,
		.dtype = PLD_FP16,
		.n = 1000,
	};
	pld_distributed_tensor target, signal;
	struct rank rank;
	int error;

	lib_here = pld_rank(domain);
	PLD_TRY(make_rank(&rank, death->world));
	PLD_TRY(pld_window(death->world->data[0], target_shape(&step, 4),
			   step.dtype, &target));
	PLD_TRY(pld_window(death->world->signal, signal_shape(death->kind, 4),
			   PLD_INT32, &signal));
	say_ready(shared);
	wait_for_ready(shared, 4);
	if (rank.me == 1)
		die_in(death->ms);
	do {
		error = call(&rank, &step, &target, &signal);
	} while (!error);
	CHECK_EQ(-EOWNERDEAD, error);
	CHECK(strstr(pld_last_error(), ": rank 1 died"));
	free_rank(&rank);
	say_ready(shared);
	return 0;
}

TEST_F(four, a_death_in_the_middle_is_named_by_all_others)
{
	for (int kind = 0; kind < NR_KINDS; kind++)
		for (int ms = 1; ms <= 3; ms++) {
			struct death death = {
				.world = &self->world,
				.kind = (enum kind)kind,
				.ms = ms,
			};

			shared->ready = 0;
			EXPECT_EQ(-EOWNERDEAD,
				  pld_launch(self->world.domain, until_death,
					     &death, NULL));
			/* All were ready, and three found the right error. */
			EXPECT_EQ(7, shared->ready)
			{
				TH_LOG("%s, %d ms: %s", kind_names[kind], ms,
				       pld_last_error());
			}
			ASSERT_EQ(0, pld_domain_reset(self->world.domain));
		}
}

/* A launch with a call of one kind. */
struct launch {
	const struct world *world;
	struct step step;
};

static int run_launch(pld_domain *domain, void *arg)
{
	const struct launch *launch = arg;
	struct rank rank;

	PLD_TRY(make_rank(&rank, launch->world));
	PLD_TRY(run_step(&rank, &launch->step));
	free_rank(&rank);
	return 0;
}

/* Bytes that a rank sends to others, as doc/collectives.md has it. */
static uint64_t bytes_sent(const struct step *step, int rank, uint64_t p)
{
	uint64_t size = (uint64_t)pld_dtype_size(step->dtype);
	uint64_t n = (uint64_t)step->n * size, rows = 0;

	switch (step->kind) {
	case BARRIER:
		return 0;
	case BROADCAST:
		return rank == step->root ? (p - 1) * n : 0;
	case TWO_PHASE:
		return 2 * (p - 1) * n / p;
	case RING:
		return (step->dtype == PLD_BF16 ? 3 * p - 4 : 2 * (p - 1)) * n /
		       p;
	case ALL_TO_ALL_V:
		for (int to = 0; to < (int)p; to++)
			if (to != rank)
				rows += (uint64_t)rows_sent(step, rank, to);
		return rows * n;
	default:
		return (p - 1) * n;
	}
}

static uint64_t notifies(const struct step *step, uint64_t p)
{
	switch (step->kind) {
	case REDUCE_SCATTER:
	case MESH:
	case TWO_PHASE:
		return 2 * (p - 1);
	case RING:
		/* Each step's, a last one; of halves a second and one back. */
		return 2 * (p - 1) + 1 +
		       (step->dtype == PLD_BF16 ? 2 * (p - 2) : 0);
	default:
		return p - 1;
	}
}

TEST(every_collective_costs_what_its_page_says)
{
	struct world world = {
		.nranks = 4,
		.most = 400,
		.tile_bytes = 65536,
		.observe = 1,
	};
	struct launch launch = { .world = &world };
	struct step *step = &launch.step;

	ASSERT_EQ(0, make_world(&world));
	for (int i = 0; i < 2 * NR_KINDS; i++) {
		uint64_t sent = 0, received = 0;

		*step = (struct step){
			.kind = (enum kind)(i / 2),
			.dtype = i % 2 ? PLD_BF16 : PLD_FP32,
			.n = 100,
			.root = 2,
			.seed = (uint64_t)i,
		};
		RUN(world.domain, run_launch, &launch);
		for (int rank = 0; rank < world.nranks; rank++) {
			pld_cost cost;

			ASSERT_EQ(0, pld_launch_cost(world.domain, rank, &cost));
			EXPECT_EQ(bytes_sent(step, rank, 4), cost.bytes_sent)
			{
				TH_LOG("%s of %s, rank %d",
				       kind_names[step->kind],
				       pld_dtype_name(step->dtype), rank);
			}
			EXPECT_EQ(notifies(step, 4), cost.notifies);
			EXPECT_EQ(notifies(step, 4), cost.waits);
			sent += cost.bytes_sent;
			received += cost.bytes_received;
		}
		EXPECT_EQ(sent, received);
	}
	pld_domain_destroy(world.domain);
}

LIB_TEST_MAIN
