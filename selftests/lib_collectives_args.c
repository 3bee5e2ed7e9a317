// SPDX-License-Identifier: GPL-2.0
/*
 * What the collectives refuse, each with its sentence, before a byte moves. The
 * allgather's own refusals are in lib_allgather.c.
 */
#include <sys/resource.h>

#include "lib_collective.h"
#include "lib_fault.h"

#define SIZE 6

static struct shared *shared;

/* Good arguments; each test spoils one of them. */
struct args {
	pld_distributed_tensor target, signal, input;
	pld_tensor plain;
	pld_tile tile;
	int32_t words[4 * SIZE];
	int32_t counts[4];
};

static int good_args(struct args *args, const struct world *world,
		     pld_dims shape, pld_dims signal)
{
	*args = (struct args){ .counts = { 1, 1, 1, 1 } };
	for (int i = 0; i < 4 * SIZE; i++)
		args->words[i] = 1 + i;
	PLD_TRY(pld_window(world->data[0], shape, PLD_INT32, &args->target));
	PLD_TRY(pld_window(world->data[1], shape, PLD_INT32, &args->input));
	PLD_TRY(pld_window(world->signal, signal, PLD_INT32, &args->signal));
	PLD_TRY(pld_tensor_init(&args->plain, args->words, shape, PLD_INT32));
	return pld_tile_alloc(&args->tile, 4 * SIZE * sizeof(int32_t));
}

/* Nobody has written to this rank's target and signal. */
static int nothing_moved(const struct world *world)
{
	pld_dims cells = ring_shape(world->nranks);
	pld_distributed_tensor target, signal;

	say_ready(shared);
	wait_for_ready(shared, world->nranks);
	PLD_TRY(pld_window(world->data[0], PLD_SHAPE(4 * SIZE), PLD_INT32,
			   &target));
	PLD_TRY(pld_window(world->signal, cells, PLD_INT32, &signal));
	for (int i = 0; i < 4 * SIZE; i++)
		CHECK_EQ(0, ((int32_t *)target.data)[i]);
	for (int row = 0; row < cells.n[0]; row++)
		for (int cell = 0; cell < cells.n[1]; cell++)
			CHECK_EQ(0, pld_system_wait_timeout(&signal,
							    PLD_AT(row, cell),
							    0, PLD_EQ, 0));
	return 0;
}

static int barrier_args(pld_domain *domain, void *arg)
{
	const struct world *world = arg;
	struct args good;
	pld_view bad;

	PLD_TRY(good_args(&good, world, PLD_SHAPE(4, SIZE), PLD_SHAPE(4, 1)));
	CHECK_REFUSED(-EINVAL, "pld.tensor.barrier signal must not be NULL",
		      pld_tensor_barrier(NULL));
	CHECK_REFUSED(-EINVAL,
		      "pld.tensor.barrier signal must be a DistributedTensor, got Tensor",
		      pld_tensor_barrier(&good.plain));
	bad = good.signal;
	bad.buffer = NULL;
	CHECK_REFUSED(-EFAULT, "pld.tensor.barrier: signal has no window buffer",
		      pld_tensor_barrier(&bad));
	bad = good.signal;
	bad.shape = PLD_SHAPE(1, 4);
	CHECK_REFUSED(-EINVAL,
		      "pld.tensor.barrier signal must be int32 [4, 1], got int32 [1, 4]",
		      pld_tensor_barrier(&bad));
	bad.shape = PLD_SHAPE(4, 2);
	bad.stride[1] = 1;
	CHECK_REFUSED(-EINVAL,
		      "pld.tensor.barrier signal must be int32 [4, 1], got int32 [4, 2]",
		      pld_tensor_barrier(&bad));
	bad = good.signal;
	bad.dtype = PLD_UINT32;
	CHECK_REFUSED(-EINVAL,
		      "pld.tensor.barrier signal must be int32 [4, 1], got uint32 [4, 1]",
		      pld_tensor_barrier(&bad));
	bad = good.signal;
	bad.data = (char *)bad.data + 2;
	CHECK_REFUSED(-EFAULT,
		      "pld.tensor.barrier: signal is not aligned to int32",
		      pld_tensor_barrier(&bad));
	bad = good.signal;
	PLD_TRY(pld_set_strides(&bad, PLD_AT(0, 0)));
	CHECK_REFUSED(-EINVAL,
		      "pld.tensor.barrier signal has elements that lie on each other",
		      pld_tensor_barrier(&bad));
	bad = good.signal;
	bad.data = (char *)bad.data - 4;
	CHECK_REFUSED(-EFAULT,
		      "pld.tensor.barrier: signal points outside the own window of 3072 bytes",
		      pld_tensor_barrier(&bad));
	pld_tile_free(&good.tile);
	return nothing_moved(world);
}

#define BC "pld.tensor.broadcast "

static int broadcast_args(pld_domain *domain, void *arg)
{
	const struct world *world = arg;
	struct args good;
	pld_view bad;

	PLD_TRY(good_args(&good, world, PLD_SHAPE(4, SIZE), PLD_SHAPE(4, 1)));
	CHECK_REFUSED(-EINVAL, BC "target must not be NULL",
		      pld_tensor_broadcast(NULL, &good.signal, 0));
	CHECK_REFUSED(-EINVAL, BC "signal must not be NULL",
		      pld_tensor_broadcast(&good.target, NULL, 0));
	CHECK_REFUSED(-EINVAL,
		      BC "target must be a DistributedTensor, got Tensor",
		      pld_tensor_broadcast(&good.plain, &good.signal, 0));
	CHECK_REFUSED(-EINVAL, BC "signal must be a DistributedTensor, got Tile",
		      pld_tensor_broadcast(&good.target, &good.tile, 0));
	bad = good.signal;
	bad.shape = PLD_SHAPE(2, 4);
	CHECK_REFUSED(-EINVAL,
		      BC "signal must be int32 [4, 1], got int32 [2, 4]",
		      pld_tensor_broadcast(&good.target, &bad, 0));
	CHECK_REFUSED(-ERANGE, BC "root must be 0 to 3, got -1",
		      pld_tensor_broadcast(&good.target, &good.signal, -1));
	CHECK_REFUSED(-ERANGE, BC "root must be 0 to 3, got 4",
		      pld_tensor_broadcast(&good.target, &good.signal, 4));
	PLD_TRY(pld_window(world->data[0], PLD_SHAPE(4, 1), PLD_INT32, &bad));
	CHECK_REFUSED(-EINVAL, BC "signal and target must not overlap",
		      pld_tensor_broadcast(&good.target, &bad, 0));
	bad = good.target;
	bad.data = (char *)bad.data + bad.bytes;
	CHECK_REFUSED(-EFAULT,
		      "pld.tensor.broadcast: target points outside the own window of 12384 bytes",
		      pld_tensor_broadcast(&bad, &good.signal, 0));
	pld_tile_free(&good.tile);
	return nothing_moved(world);
}

#define RS "pld.tensor.reduce_scatter "

static int reduce_scatter_args(pld_domain *domain, void *arg)
{
	const struct world *world = arg;
	struct args good;
	pld_view bad;

	PLD_TRY(good_args(&good, world, PLD_SHAPE(4, SIZE), PLD_SHAPE(4, 1)));
	CHECK_REFUSED(-EINVAL, RS "target must not be NULL",
		      pld_tensor_reduce_scatter(NULL, &good.signal, PLD_SUM));
	CHECK_REFUSED(-EINVAL, RS "signal must not be NULL",
		      pld_tensor_reduce_scatter(&good.target, NULL, PLD_SUM));
	CHECK_REFUSED(-EINVAL,
		      RS
		      "target must be a DistributedTensor [nranks, SIZE], got Tensor [4, 6]",
		      pld_tensor_reduce_scatter(&good.plain, &good.signal,
						PLD_SUM));
	bad = good.target;
	bad.shape = PLD_SHAPE(4 * SIZE);
	CHECK_REFUSED(-EINVAL,
		      RS
		      "target must be a DistributedTensor [nranks, SIZE], got DistributedTensor [24]",
		      pld_tensor_reduce_scatter(&bad, &good.signal, PLD_SUM));
	bad.shape = PLD_SHAPE(3, SIZE);
	CHECK_REFUSED(-EINVAL, RS "target must have nranks = 4 rows, got 3",
		      pld_tensor_reduce_scatter(&bad, &good.signal, PLD_SUM));
	bad = good.target;
	bad.buffer = NULL;
	CHECK_REFUSED(-EFAULT,
		      "pld.tensor.reduce_scatter: target has no window buffer",
		      pld_tensor_reduce_scatter(&bad, &good.signal, PLD_SUM));
	bad = good.signal;
	bad.shape = PLD_SHAPE(4);
	CHECK_REFUSED(-EINVAL, RS "signal must be int32 [4, 1], got int32 [4]",
		      pld_tensor_reduce_scatter(&good.target, &bad, PLD_SUM));
	CHECK_REFUSED(-EINVAL,
		      RS
		      "op must be Sum (0), Max (1), Min (2) or Prod (3), got 4",
		      pld_tensor_reduce_scatter(&good.target, &good.signal,
						(pld_reduce_op)4));
	CHECK_REFUSED(-EINVAL,
		      RS
		      "op must be Sum (0), Max (1), Min (2) or Prod (3), got -1",
		      pld_tensor_reduce_scatter(&good.target, &good.signal,
						(pld_reduce_op)-1));
	bad = good.target;
	PLD_TRY(pld_set_strides(&bad, PLD_AT(0, 1)));
	CHECK_REFUSED(-EINVAL,
		      "pld.tensor.reduce_scatter target has elements that lie on each other",
		      pld_tensor_reduce_scatter(&bad, &good.signal, PLD_SUM));
	pld_tile_free(&good.tile);
	return nothing_moved(world);
}

#define AR "pld.tensor.allreduce "

static int allreduce_args(pld_domain *domain, void *arg)
{
	const struct world *world = arg;
	struct args good;
	pld_view bad;

	PLD_TRY(good_args(&good, world, PLD_SHAPE(2, 2 * SIZE), PLD_SHAPE(4, 1)));
	CHECK_REFUSED(-EINVAL, AR "target must not be NULL",
		      pld_tensor_allreduce(NULL, &good.signal, PLD_SUM,
					   PLD_MESH));
	CHECK_REFUSED(-EINVAL, AR "signal must not be NULL",
		      pld_tensor_allreduce(&good.target, NULL, PLD_SUM,
					   PLD_MESH));
	CHECK_REFUSED(-EINVAL,
		      AR "target must be a DistributedTensor, got Tensor",
		      pld_tensor_allreduce(&good.plain, &good.signal, PLD_SUM,
					   PLD_MESH));
	CHECK_REFUSED(-EINVAL,
		      AR
		      "op must be Sum (0), Max (1), Min (2) or Prod (3), got 7",
		      pld_tensor_allreduce(&good.target, &good.signal,
					   (pld_reduce_op)7, PLD_MESH));
	CHECK_REFUSED(-EINVAL,
		      AR
		      "mode must be mesh (0), two-phase (1) or ring (2), got 3",
		      pld_tensor_allreduce(&good.target, &good.signal, PLD_SUM,
					   (pld_allreduce_mode)3));
	CHECK_REFUSED(-EINVAL, AR "signal must be a DistributedTensor, got Tile",
		      pld_tensor_allreduce(&good.target, &good.tile, PLD_SUM,
					   PLD_MESH));
	bad = good.signal;
	bad.dtype = PLD_FP32;
	CHECK_REFUSED(-EINVAL,
		      AR
		      "signal of mode mesh must be int32 [4, 1], got fp32 [4, 1]",
		      pld_tensor_allreduce(&good.target, &bad, PLD_SUM,
					   PLD_MESH));
	bad = good.target;
	bad.stride[0]++;
	CHECK_REFUSED(-EINVAL, AR "target must be dense",
		      pld_tensor_allreduce(&bad, &good.signal, PLD_SUM,
					   PLD_MESH));
	PLD_TRY(pld_window(world->data[0], PLD_SHAPE(4, 1), PLD_INT32, &bad));
	CHECK_REFUSED(-EINVAL, AR "signal and target must not overlap",
		      pld_tensor_allreduce(&good.target, &bad, PLD_SUM,
					   PLD_MESH));
	pld_tile_free(&good.tile);
	return nothing_moved(world);
}

/* Shapes of another mode's signal, or of no mode's, for a number of ranks. */
static const struct other_mode {
	int nranks;
	pld_allreduce_mode mode;
	int rows, columns;
	const char *message;
} other_modes[] = {
	{ 4, PLD_MESH, 2, 4,
	  "mesh must be int32 [4, 1], got int32 [2, 4], which is for mode two-phase" },
	{ 4, PLD_MESH, 6, 4,
	  "mesh must be int32 [4, 1], got int32 [6, 4], which is for mode ring" },
	{ 4, PLD_TWO_PHASE, 4, 1,
	  "two-phase must be int32 [2, 4], got int32 [4, 1], which is for mode mesh" },
	{ 4, PLD_TWO_PHASE, 6, 4,
	  "two-phase must be int32 [2, 4], got int32 [6, 4], which is for mode ring" },
	{ 4, PLD_RING, 4, 1,
	  "ring must be int32 [6, 4], got int32 [4, 1], which is for mode mesh" },
	{ 4, PLD_RING, 2, 4,
	  "ring must be int32 [6, 4], got int32 [2, 4], which is for mode two-phase" },
	{ 4, PLD_RING, 4, 6, "ring must be int32 [6, 4], got int32 [4, 6]" },
	{ 2, PLD_MESH, 2, 2,
	  "mesh must be int32 [2, 1], got int32 [2, 2], which is for mode two-phase or ring" },
	{ 2, PLD_RING, 2, 1,
	  "ring must be int32 [2, 2], got int32 [2, 1], which is for mode mesh" },
	{ 1, PLD_TWO_PHASE, 1, 1,
	  "two-phase must be int32 [2, 1], got int32 [1, 1], which is for mode mesh or ring" },
	{ 1, PLD_RING, 2, 1,
	  "ring must be int32 [1, 1], got int32 [2, 1], which is for mode two-phase" },
};

#define OTHER_MODES ((int)(sizeof(other_modes) / sizeof(*other_modes)))

static int refuse_mode(const struct world *world, const struct other_mode *other)
{
	pld_distributed_tensor target, signal;
	char message[PLD_MESSAGE_BYTES];

	snprintf(message, sizeof(message), AR "signal of mode %s",
		 other->message);
	PLD_TRY(pld_window(world->data[0], PLD_SHAPE(SIZE), PLD_INT32, &target));
	PLD_TRY(pld_window(world->signal, PLD_SHAPE(1), PLD_INT32, &signal));
	signal.shape = PLD_SHAPE(other->rows, other->columns);
	CHECK_REFUSED(-EINVAL, message,
		      pld_tensor_allreduce(&target, &signal, PLD_SUM,
					   other->mode));
	return 0;
}

static int other_modes_args(pld_domain *domain, void *arg)
{
	for (int i = 0; i < OTHER_MODES; i++)
		if (other_modes[i].nranks == pld_nranks(domain))
			PLD_TRY(refuse_mode(arg, &other_modes[i]));
	return nothing_moved(arg);
}

#define A2A "pld.tensor.all_to_all "

static int all_to_all_args(pld_domain *domain, void *arg)
{
	const struct world *world = arg;
	struct args good;
	pld_view bad;

	PLD_TRY(good_args(&good, world, PLD_SHAPE(4, SIZE), PLD_SHAPE(4, 1)));
	CHECK_REFUSED(-EINVAL, A2A "input must not be NULL",
		      pld_tensor_all_to_all(NULL, &good.target, &good.signal));
	CHECK_REFUSED(-EINVAL, A2A "target must not be NULL",
		      pld_tensor_all_to_all(&good.plain, NULL, &good.signal));
	CHECK_REFUSED(-EINVAL, A2A "signal must not be NULL",
		      pld_tensor_all_to_all(&good.plain, &good.target, NULL));
	CHECK_REFUSED(-EINVAL,
		      A2A
		      "input and target must be different buffers, got overlapping ones",
		      pld_tensor_all_to_all(&good.target, &good.target,
					    &good.signal));
	CHECK_REFUSED(-EINVAL,
		      A2A
		      "input must be a Tensor or DistributedTensor, got Tile",
		      pld_tensor_all_to_all(&good.tile, &good.target,
					    &good.signal));
	bad = good.target;
	bad.shape = PLD_SHAPE(4, 2, 3);
	CHECK_REFUSED(-EINVAL,
		      A2A
		      "target must be a DistributedTensor [nranks, SIZE], got DistributedTensor [4, 2, 3]",
		      pld_tensor_all_to_all(&good.plain, &bad, &good.signal));
	bad = good.plain;
	bad.dtype = PLD_FP32;
	CHECK_REFUSED(-EINVAL,
		      A2A "dtype of input must be target's int32, got fp32",
		      pld_tensor_all_to_all(&bad, &good.target, &good.signal));
	bad = good.plain;
	bad.shape = PLD_SHAPE(SIZE, 4);
	CHECK_REFUSED(-EINVAL,
		      A2A "shape of input must be target's [4, 6], got [6, 4]",
		      pld_tensor_all_to_all(&bad, &good.target, &good.signal));
	bad = good.input;
	bad.shape = PLD_SHAPE(5, 2);
	good.target.shape = PLD_SHAPE(5, 2);
	CHECK_REFUSED(-EINVAL, A2A "target must have nranks = 4 rows, got 5",
		      pld_tensor_all_to_all(&bad, &good.target, &good.signal));
	good.target.shape = PLD_SHAPE(4, SIZE);
	bad = good.signal;
	bad.shape = PLD_SHAPE(1, 1);
	CHECK_REFUSED(-EINVAL,
		      A2A "signal must be int32 [4, 1], got int32 [1, 1]",
		      pld_tensor_all_to_all(&good.input, &good.target, &bad));
	bad = good.plain;
	bad.bytes = 4;
	CHECK_REFUSED(-EFAULT,
		      "pld.tensor.all_to_all: input has a shape that does not lie in its memory of 4 bytes",
		      pld_tensor_all_to_all(&bad, &good.target, &good.signal));
	PLD_TRY(pld_window(world->data[0], PLD_SHAPE(4, 1), PLD_INT32, &bad));
	CHECK_REFUSED(-EINVAL, A2A "signal and target must not overlap",
		      pld_tensor_all_to_all(&good.input, &good.target, &bad));
	pld_tile_free(&good.tile);
	return nothing_moved(world);
}

#define A2AV "pld.tensor.all_to_all_v "

static int all_to_all_v_args(pld_domain *domain, void *arg)
{
	const struct world *world = arg;
	char message[PLD_MESSAGE_BYTES];
	struct args good;
	pld_view bad;
	int32_t own[4] = { 1, 1, 1, 1 };

	/* MAX is 2. */
	PLD_TRY(good_args(&good, world, PLD_SHAPE(8, SIZE / 2), PLD_SHAPE(4, 1)));
#define CALL(input, target, send, recv) \
	pld_tensor_all_to_all_v(input, target, &good.signal, send, recv)
	CHECK_REFUSED(-EINVAL, A2AV "input must not be NULL",
		      CALL(NULL, &good.target, good.counts, good.counts));
	CHECK_REFUSED(-EINVAL, A2AV "send_counts must not be NULL",
		      CALL(&good.plain, &good.target, NULL, good.counts));
	CHECK_REFUSED(-EINVAL, A2AV "recv_counts must not be NULL",
		      CALL(&good.plain, &good.target, good.counts, NULL));
	CHECK_REFUSED(-EINVAL,
		      A2AV
		      "target must be a DistributedTensor [nranks * MAX, SIZE], got Tensor [8, 3]",
		      CALL(&good.input, &good.plain, good.counts, good.counts));
	bad = good.input;
	bad.shape = PLD_SHAPE(6, 4);
	good.target.shape = PLD_SHAPE(6, 4);
	CHECK_REFUSED(-EINVAL,
		      A2AV
		      "target must have a multiple of nranks = 4 rows, got 6",
		      CALL(&bad, &good.target, good.counts, good.counts));
	good.target.shape = PLD_SHAPE(8, SIZE / 2);
	good.counts[2] = -1;
	CHECK_REFUSED(-ERANGE,
		      A2AV "send_counts[2] must be 0 to MAX = 2, got -1",
		      CALL(&good.plain, &good.target, good.counts, own));
	CHECK_REFUSED(-ERANGE,
		      A2AV "recv_counts[2] must be 0 to MAX = 2, got -1",
		      CALL(&good.plain, &good.target, own, good.counts));
	good.counts[2] = 3;
	CHECK_REFUSED(-ERANGE, A2AV "send_counts[2] must be 0 to MAX = 2, got 3",
		      CALL(&good.plain, &good.target, good.counts, own));
	good.counts[2] = 1;
	own[lib_here] = 2;
	snprintf(message, sizeof(message),
		 A2AV
		 "recv_counts[%d] of rank %d must be its send_counts[%d] = 1, got 2",
		 lib_here, lib_here, lib_here);
	CHECK_REFUSED(-EINVAL, message,
		      CALL(&good.plain, &good.target, good.counts, own));
	pld_tile_free(&good.tile);
	return nothing_moved(world);
}

#define AG "pld.tensor.allgather "

static int allgather_flags(pld_domain *domain, void *arg)
{
	const struct world *world = arg;
	pld_distributed_tensor data;
	struct args good;
	pld_tensor x;

	PLD_TRY(good_args(&good, world, PLD_SHAPE(4, SIZE), PLD_SHAPE(4, 1)));
	PLD_TRY(pld_tensor_init(&x, good.words, PLD_SHAPE(1, SIZE), PLD_INT32));
#undef CALL
#define CALL(flags, data) \
	pld_tensor_allgather_flags(&x, &good.target, &good.signal, flags, data)
	CHECK_REFUSED(-EINVAL, AG "data must not be NULL", CALL(0, NULL));
	CHECK_REFUSED(-EINVAL,
		      AG "flags must be 0 or PLD_REUSE_TARGET (1), got 0x3",
		      CALL(3, &data));
	CHECK_REFUSED(-EINVAL,
		      AG
		      "target must have 2 * nranks = 8 rows with PLD_REUSE_TARGET, got 4",
		      CALL(PLD_REUSE_TARGET, &data));
	good.target.shape = PLD_SHAPE(8, 1, SIZE / 2);
	CHECK_REFUSED(-EINVAL,
		      AG
		      "target must be a DistributedTensor [2 * nranks, SIZE], got DistributedTensor [8, 1, 3]",
		      CALL(PLD_REUSE_TARGET, &data));
	good.target.shape = PLD_SHAPE(8, SIZE);
	CHECK_REFUSED(-EINVAL, AG "target must have nranks = 4 rows, got 8",
		      CALL(0, &data));
	pld_tile_free(&good.tile);
	return nothing_moved(world);
}

FIXTURE(args)
{
	struct world world;
};

static int make_args_world(struct world *world, int nranks)
{
	*world = (struct world){
		.nranks = nranks,
		.most = 384,
		.tile_bytes = 64,
	};
	shared = make_shared();
	return shared ? make_world(world) : -ENOMEM;
}

FIXTURE_SETUP(args)
{
	ASSERT_EQ(0, make_args_world(&self->world, 4));
}

FIXTURE_TEARDOWN(args)
{
	pld_domain_destroy(self->world.domain);
}

TEST_F(args, barrier_refuses)
{
	RUN(self->world.domain, barrier_args, &self->world);
}

TEST_F(args, broadcast_refuses)
{
	RUN(self->world.domain, broadcast_args, &self->world);
}

TEST_F(args, reduce_scatter_refuses)
{
	RUN(self->world.domain, reduce_scatter_args, &self->world);
}

TEST_F(args, allreduce_refuses)
{
	RUN(self->world.domain, allreduce_args, &self->world);
}

TEST_F(args, all_to_all_refuses)
{
	RUN(self->world.domain, all_to_all_args, &self->world);
}

TEST_F(args, all_to_all_v_refuses)
{
	RUN(self->world.domain, all_to_all_v_args, &self->world);
}

TEST_F(args, allgather_refuses_flags)
{
	RUN(self->world.domain, allgather_flags, &self->world);
}

TEST_F(args, a_signal_of_another_mode_is_refused_by_name)
{
	RUN(self->world.domain, other_modes_args, &self->world);
	for (int nranks = 1; nranks <= 2; nranks++) {
		struct world fewer;

		ASSERT_EQ(0, make_args_world(&fewer, nranks));
		RUN(fewer.domain, other_modes_args, &fewer);
		pld_domain_destroy(fewer.domain);
	}
}

#define HA "pld_host_allgather "

TEST_F(args, host_allgather_refuses)
{
	pld_window_buffer *a = self->world.data[0], *b = self->world.data[1];
	pld_window_buffer *signal = self->world.signal, *small, *foreign;
	pld_domain *other = make_domain(2);

	ASSERT_NE(NULL, other);
	ASSERT_EQ(0, pld_alloc_window_buffer(other, 64, &foreign));
	ASSERT_EQ(0, pld_alloc_window_buffer(self->world.domain, 12, &small));
	EXPECT_REFUSED(-EINVAL, HA "local_data must not be NULL",
		       pld_host_allgather(NULL, b, signal, 8, PLD_INT32));
	EXPECT_REFUSED(-EINVAL, HA "target must not be NULL",
		       pld_host_allgather(a, NULL, signal, 8, PLD_INT32));
	EXPECT_REFUSED(-EINVAL, HA "signal must not be NULL",
		       pld_host_allgather(a, b, NULL, 8, PLD_INT32));
	EXPECT_REFUSED(-EINVAL,
		       HA
		       "local_data and target must be different buffers, got the same one",
		       pld_host_allgather(a, a, signal, 8, PLD_INT32));
	EXPECT_REFUSED(-EINVAL,
		       HA
		       "signal must be a buffer of its own, got that of target",
		       pld_host_allgather(a, b, b, 8, PLD_INT32));
	EXPECT_REFUSED(-EINVAL,
		       HA
		       "signal must be a buffer of its own, got that of local_data",
		       pld_host_allgather(a, b, a, 8, PLD_INT32));
	EXPECT_REFUSED(-EINVAL, HA "buffers must be of one domain",
		       pld_host_allgather(foreign, b, signal, 8, PLD_INT32));
	EXPECT_REFUSED(-EINVAL,
		       HA "local_data must be a buffer for data, got a signal",
		       pld_host_allgather(signal, b, a, 8, PLD_INT32));
	EXPECT_REFUSED(-EINVAL,
		       "pld_host_allgather: shape is [1, 0], wanted every dimension positive",
		       pld_host_allgather(a, b, signal, 0, PLD_INT32));
	EXPECT_REFUSED(-EINVAL, "dtype 99 is not one of the 12 known",
		       pld_host_allgather(a, b, signal, 8, (pld_dtype)99));
	EXPECT_REFUSED(-EINVAL,
		       HA
		       "local_data must hold int32 [1, 4] of 16 bytes, got a buffer of 12",
		       pld_host_allgather(small, b, signal, 4, PLD_INT32));
	EXPECT_REFUSED(-EINVAL,
		       HA
		       "target must hold int32 [4, 2] of 32 bytes, got a buffer of 12",
		       pld_host_allgather(a, small, signal, 2, PLD_INT32));
	EXPECT_REFUSED(-EINVAL, HA "signal must have nranks = 4 cells, got 3",
		       pld_host_allgather(a, b, small, 8, PLD_INT32));
	pld_domain_destroy(other);
}

static int allgather_on_the_host(pld_domain *domain, void *arg)
{
	struct world *world = arg;

	CHECK_REFUSED(-EPERM,
		      "pld_host_allgather: only the host side can do this, not rank 0",
		      pld_host_allgather(world->data[0], world->data[1],
					 world->signal, 8, PLD_INT32));
	return 0;
}

TEST_F(args, host_allgather_is_for_the_host_side)
{
	struct world one;

	ASSERT_EQ(0, make_args_world(&one, 1));
	RUN(one.domain, allgather_on_the_host, &one);
	pld_domain_destroy(one.domain);
}

/* The collectives that need memory of their own. */
enum { BY_MESH, BY_TWO_PHASE, BY_REDUCE_SCATTER, HUNGRY };

static const char *const hungry[HUNGRY] = {
	"pld.tensor.allreduce: no memory for 12582912 bytes of scratch",
	"pld.tensor.allreduce: no memory for 25165824 bytes of scratch",
	"pld.tensor.reduce_scatter: no memory for 12582912 bytes of scratch",
};

struct hunger {
	struct world world;
	int collective;
};

static int call_hungry(const struct hunger *hunger)
{
	const struct world *world = &hunger->world;
	pld_distributed_tensor target, signal;

	PLD_TRY(pld_window(world->data[0], PLD_SHAPE(2, 1 << 20), PLD_FP16,
			   &target));
	PLD_TRY(pld_window(world->signal, PLD_SHAPE(2, 1), PLD_INT32, &signal));
	switch (hunger->collective) {
	case BY_TWO_PHASE:
		PLD_TRY(pld_window(world->signal, PLD_SHAPE(2, 2), PLD_INT32,
				   &signal));
		return pld_tensor_allreduce(&target, &signal, PLD_SUM,
					    PLD_TWO_PHASE);
	case BY_MESH:
		target.shape = PLD_SHAPE(1, 1 << 20);
		return pld_tensor_allreduce(&target, &signal, PLD_SUM, PLD_MESH);
	default:
		return pld_tensor_reduce_scatter(&target, &signal, PLD_SUM);
	}
}

/*
 * Rank 0 has no address space left. Its peer is in the call, and is told: no
 * later call of rank 0's may be taken for this one.
 */
static int no_memory(pld_domain *domain, void *arg)
{
	const struct rlimit none = { 1 << 20, 1 << 20 };
	const struct hunger *hunger = arg;
	pld_distributed_tensor here;

	/* Nobody joins a domain that is broken: rank 1 is here first. */
	PLD_TRY(pld_window(hunger->world.data[1], PLD_SHAPE(1), PLD_INT32,
			   &here));
	if (pld_rank(domain)) {
		PLD_TRY(pld_system_notify(&here, 0, PLD_AT(0),
					  hunger->collective + 1, PLD_SET));
		CHECK_EQ(-EOWNERDEAD, call_hungry(hunger));
		CHECK(strstr(pld_last_error(),
			     ": rank 0 failed: Cannot allocate memory"));
		return 0;
	}
	PLD_TRY(pld_system_wait(&here, PLD_AT(0), hunger->collective + 1,
				PLD_EQ));
	CHECK_EQ(0, setrlimit(RLIMIT_AS, &none));
	CHECK_REFUSED(-ENOMEM, hungry[hunger->collective], call_hungry(hunger));
	CHECK_EQ(-EOWNERDEAD, call_hungry(hunger));
	return 0;
}

TEST(without_memory_nothing_moves_and_all_are_told)
{
	struct hunger hunger = {
		.world = {
			.nranks = 2,
			.most = 2 << 20,
			.tile_bytes = 64 << 20,
		},
	};

	if (ASAN || getenv("PLD_VALGRIND"))
		SKIP(return,
			   "the checker's own allocator would be the one to fail");
	ASSERT_EQ(0, make_world(&hunger.world));
	for (int i = 0; i < HUNGRY; i++) {
		hunger.collective = i;
		RUN(hunger.world.domain, no_memory, &hunger);
	}
	pld_domain_destroy(hunger.world.domain);
}

LIB_TEST_MAIN
