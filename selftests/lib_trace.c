// SPDX-License-Identifier: GPL-2.0
/*
 * What a launch tells of its ranks' operations: every line that ran, in the
 * order that it ran in, and what was moved.
 */
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib_test.h"

#define NRANKS 3

struct buffers {
	pld_window_buffer *data;
	pld_window_buffer *signal;
};

struct views {
	pld_distributed_tensor data;
	pld_distributed_tensor signal;
	pld_tensor x;
	pld_tile stage;
	pld_tile tile;
	float memory[8];
};

static int setup(struct views *v, const struct buffers *b)
{
	memset(v->memory, 0, sizeof(v->memory));
	PLD_TRY(pld_window(b->data, PLD_SHAPE(NRANKS, 8), PLD_FP32, &v->data));
	PLD_TRY(pld_window(b->signal, PLD_SHAPE(NRANKS, 1), PLD_INT32,
			   &v->signal));
	PLD_TRY(pld_tensor_init(&v->x, v->memory, PLD_SHAPE(1, 8), PLD_FP32));
	PLD_TRY(pld_tile_alloc(&v->tile, 32));
	PLD_TRY(pld_tile_alloc(&v->stage, 32));
	v->data.name = "data";
	v->x.name = "x";
	return 0;
}

/* Each operation once, by rank 1, with what can be said of it. */
static int one_of_each(pld_domain *domain, void *arg)
{
	pld_put_options part = {
		.dst_offsets = PLD_AT(1, 0),
		.src_offsets = PLD_AT(0, 0),
		.shape = PLD_SHAPE(1, 8),
	};
	struct views v;
	float value = 1;

	if (pld_rank(domain) != 1)
		return 0;
	PLD_TRY(setup(&v, arg));
	CHECK_EQ(0, pld_load(&v.x, PLD_AT(0, 2), PLD_SHAPE(1, 4), &v.tile));
	CHECK_EQ(0, pld_store(&v.tile, PLD_AT(1, 0), &v.data));
	CHECK_EQ(0, pld_tile_remote_load(&v.data, 2, PLD_AT(2, 0),
					 PLD_SHAPE(1, 8), &v.tile));
	v.tile.name = "t";
	CHECK_EQ(0, pld_tile_remote_store(&v.tile, &v.data, 0, PLD_AT(1, 0),
					  PLD_ADD));
	CHECK_EQ(0, pld_tensor_put(&v.data, 2, &v.x, &part));
	part.atomic = PLD_ADD;
	part.stage = &v.stage;
	part.chunk_rows = 1;
	part.chunk_cols = 4;
	part.pipeline = 1;
	v.stage.name = "ping_pong";
	CHECK_EQ(0, pld_tensor_put(&v.data, 1, &v.x, &part));
	part = (pld_put_options){
		.dst_offsets = PLD_AT(0, 0),
		.src_offsets = PLD_AT(2, 0),
		.shape = PLD_SHAPE(1, 3),
	};
	CHECK_EQ(0, pld_tensor_get(&v.x, 0, &v.data, &part));
	CHECK_EQ(0, pld_system_notify(&v.signal, 2, PLD_AT(1, 0), 1,
				      PLD_ATOMIC_ADD));
	CHECK_EQ(0, pld_system_notify(&v.signal, 1, PLD_AT(0, 0), -7, PLD_SET));
	CHECK_EQ(0, pld_system_wait(&v.signal, PLD_AT(0, 0), -7, PLD_EQ));
	CHECK_EQ(-ETIMEDOUT,
		 pld_system_wait_timeout(&v.signal, PLD_AT(2, 0), 3, PLD_GE, 1));
	/* Refused: it did not run. */
	CHECK_EQ(-ERANGE, pld_tensor_put(&v.data, 3, &v.x, NULL));
	CHECK_EQ(0, pld_read(&v.data, PLD_AT(0, 1), &value));
	CHECK_EQ(0, pld_write(&v.x, PLD_AT(0, 7), &value));
	CHECK_EQ(0, pld_load(&v.x, PLD_AT(0, 0), PLD_SHAPE(1, 4), &v.tile));
	CHECK_EQ(0, pld_add(&v.tile, &v.tile, &v.tile));
	CHECK_EQ(0, pld_mul(&v.tile, &v.tile, &v.stage));
	CHECK_EQ(0, pld_maximum(&v.tile, &v.stage, &v.tile));
	CHECK_EQ(0, pld_minimum(&v.stage, &v.tile, &v.tile));
	CHECK_EQ(0, pld_cast(&v.tile, PLD_FP16, &v.tile));
	return 0;
}

static const char *const one_of_each_text[] = {
	"tile = pl.tile.load(x, [0, 2], [1, 4])",
	"pl.tile.store(tile, [1, 0], data)",
	"tile = pld.tile.remote_load(data, 2, [2, 0], [1, 8])",
	"pld.tile.remote_store(t, data, 0, [1, 0], atomic=Add)",
	"pld.tile.put(data, 2, x, stage, [1, 0], [0, 0], [1, 8], atomic=None_)",
	"pld.tile.put(data, 1, x, ping_pong, [1, 0], [0, 0], [1, 8], atomic=Add, chunk_rows=1, chunk_cols=4, pipeline=True)",
	"pld.tile.get(x, 0, data, stage, [0, 0], [2, 0], [1, 3])",
	"pld.system.notify(signal, 2, [1, 0], 1, op=AtomicAdd)",
	"pld.system.notify(signal, 1, [0, 0], -7, op=Set)",
	"pld.system.wait(signal, [0, 0], -7, cmp=Eq)",
	"pld.system.wait(signal, [2, 0], 3, cmp=Ge)  # ETIMEDOUT, the cell was 0",
	"pl.tensor.read(data, [0, 1])",
	"pl.tensor.write(x, [0, 7])",
	"t = pl.tile.load(x, [0, 0], [1, 4])",
	"t = pl.tile.add(t, t)",
	"ping_pong = pl.tile.mul(t, t)",
	"t = pl.tile.maximum(t, ping_pong)",
	"t = pl.tile.minimum(ping_pong, t)",
	"t = pl.tile.cast(t, fp16)",
};

static int check_lines(const pld_domain *domain, int rank,
		       const char *const *lines, size_t count)
{
	char text[PLD_TRACE_TEXT_BYTES];
	uint64_t records, lost;
	pld_trace_record record;

	CHECK_EQ(0, pld_trace_length(domain, rank, &records, &lost));
	CHECK_EQ(count, records);
	CHECK_EQ(0, lost);
	for (size_t i = 0; i < count; i++) {
		CHECK_EQ(0, pld_trace_get(domain, rank, i, &record));
		CHECK_EQ(0, pld_trace_text(&record, text));
		if (strcmp(lines[i], text))
			return check_failed(__FILE__, __LINE__, text);
	}
	CHECK_EQ(-ERANGE, pld_trace_get(domain, rank, count, &record));
	CHECK_EQ(-ERANGE, pld_trace_get(domain, rank, UINT64_MAX, &record));
	return 0;
}

static int check_cost(const pld_domain *domain, int rank, pld_cost want)
{
	pld_cost got;

	CHECK_EQ(0, pld_launch_cost(domain, rank, &got));
	CHECK_EQ(want.bytes_sent, got.bytes_sent);
	CHECK_EQ(want.messages_sent, got.messages_sent);
	CHECK_EQ(want.bytes_received, got.bytes_received);
	CHECK_EQ(want.messages_received, got.messages_received);
	CHECK_EQ(want.notifies, got.notifies);
	CHECK_EQ(want.own_notifies, got.own_notifies);
	CHECK_EQ(want.waits, got.waits);
	return 0;
}

static int gather(pld_domain *domain, void *arg)
{
	struct views v;

	(void)domain;
	PLD_TRY(setup(&v, arg));
	CHECK_EQ(0, pld_tensor_allgather(&v.x, &v.data, &v.signal));
	return 0;
}

/* Rank 1's part of a builtin allgather of three. */
static const char *const gather_text[] = {
	"pld.tile.put(data, 0, x, stage, [1, 0], [0, 0], [1, 8], atomic=None_)",
	"pld.tile.put(data, 1, x, stage, [1, 0], [0, 0], [1, 8], atomic=None_)",
	"pld.tile.put(data, 2, x, stage, [1, 0], [0, 0], [1, 8], atomic=None_)",
	"pld.system.notify(signal, 0, [1, 0], 1, op=AtomicAdd)",
	"pld.system.notify(signal, 2, [1, 0], 1, op=AtomicAdd)",
	"pld.system.wait(signal, [0, 0], 1, cmp=Ge)",
	"pld.system.wait(signal, [2, 0], 1, cmp=Ge)",
	"pld.system.notify(signal, 1, [0, 0], -1, op=AtomicAdd)",
	"pld.system.notify(signal, 1, [2, 0], -1, op=AtomicAdd)",
};

/* What a notify found and a wait saw: a checker of orders needs them. */
static int hand_over(pld_domain *domain, void *arg)
{
	struct views v;

	PLD_TRY(setup(&v, arg));
	for (int i = 0; i < 3 && pld_rank(domain) == 0; i++)
		CHECK_EQ(0, pld_system_notify(&v.signal, 1, PLD_AT(0, 0), 5,
					      PLD_ATOMIC_ADD));
	if (pld_rank(domain) == 1)
		CHECK_EQ(0,
			 pld_system_wait(&v.signal, PLD_AT(0, 0), 15, PLD_GE));
	return 0;
}

#define MANY (PLD_TRACE_RECORDS + 5)

static int many(pld_domain *domain, void *arg)
{
	struct views v;

	PLD_TRY(setup(&v, arg));
	for (int i = 0; i < MANY && !pld_rank(domain); i++)
		CHECK_EQ(0, pld_system_notify(&v.signal, 0, PLD_AT(0, 0), i,
					      PLD_SET));
	return 0;
}

/* Also with a child, whose own calls are none of the rank's. */
static int killed(pld_domain *domain, void *arg)
{
	struct views v;
	pid_t child;

	PLD_TRY(setup(&v, arg));
	if (pld_rank(domain))
		return 0;
	CHECK_EQ(0, pld_load(&v.x, PLD_AT(0, 0), PLD_SHAPE(1, 8), &v.tile));
	child = fork();
	if (!child) {
		pld_load(&v.x, PLD_AT(0, 0), PLD_SHAPE(1, 4), &v.tile);
		_exit(0);
	}
	while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
		;
	raise(SIGKILL);
	return 0;
}

static const char *const killed_text[] = {
	"tile = pl.tile.load(x, [0, 0], [1, 8])",
};

FIXTURE(trace)
{
	pld_domain *domain;
	struct buffers buffers;
};

FIXTURE_SETUP(trace)
{
	pld_domain_options options = { .observe = 1 };

	ASSERT_EQ(0, pld_domain_create((int[]){ 0, 1, 2 }, NRANKS, &options,
				       &self->domain));
	ASSERT_EQ(0, pld_alloc_window_buffer(self->domain, 4096,
					     &self->buffers.data));
	ASSERT_EQ(0, pld_alloc_signal(self->domain, PLD_SHAPE(NRANKS, 1),
				      &self->buffers.signal));
}

FIXTURE_TEARDOWN(trace)
{
	pld_domain_destroy(self->domain);
}

TEST_F(trace, every_operation_has_its_line)
{
	RUN(self->domain, one_of_each, &self->buffers);
	ASSERT_EQ(0, check_lines(self->domain, 1, one_of_each_text,
				 ARRAY_SIZE(one_of_each_text)));
	ASSERT_EQ(0, check_lines(self->domain, 0, NULL, 0));
}

TEST_F(trace, collective_is_what_it_is_made_of)
{
	RUN(self->domain, gather, &self->buffers);
	ASSERT_EQ(0, check_lines(self->domain, 1, gather_text,
				 ARRAY_SIZE(gather_text)));
}

/* Rows of 32 bytes; what stays on the own rank is not counted. */
TEST_F(trace, cost_is_what_was_moved)
{
	RUN(self->domain, one_of_each, &self->buffers);
	EXPECT_EQ(0, check_cost(self->domain, 0,
				(pld_cost){ .bytes_sent = 12,
					    .messages_sent = 1,
					    .bytes_received = 32,
					    .messages_received = 1 }));
	EXPECT_EQ(0, check_cost(self->domain, 1,
				(pld_cost){ .bytes_sent = 64,
					    .messages_sent = 2,
					    .bytes_received = 44,
					    .messages_received = 2,
					    .notifies = 1,
					    .own_notifies = 1,
					    .waits = 2 }));
	EXPECT_EQ(0, check_cost(self->domain, 2,
				(pld_cost){ .bytes_sent = 32,
					    .messages_sent = 1,
					    .bytes_received = 32,
					    .messages_received = 1 }));
}

TEST_F(trace, each_launch_begins_anew)
{
	RUN(self->domain, one_of_each, &self->buffers);
	for (int i = 0; i < 2; i++) {
		RUN(self->domain, gather, &self->buffers);
		for (int rank = 0; rank < NRANKS; rank++)
			EXPECT_EQ(0,
				  check_cost(self->domain, rank,
					     (pld_cost){ .bytes_sent = 64,
							 .messages_sent = 2,
							 .bytes_received = 64,
							 .messages_received = 2,
							 .notifies = 2,
							 .own_notifies = 2,
							 .waits = 2 }));
	}
}

TEST_F(trace, notify_has_what_it_found_and_wait_what_it_saw)
{
	pld_trace_record record;

	RUN(self->domain, hand_over, &self->buffers);
	for (uint64_t i = 0; i < 3; i++) {
		ASSERT_EQ(0, pld_trace_get(self->domain, 0, i, &record));
		EXPECT_EQ(5 * (int32_t)i, record.seen);
		EXPECT_EQ(5, record.value);
	}
	ASSERT_EQ(0, pld_trace_get(self->domain, 1, 0, &record));
	EXPECT_EQ(15, record.seen);
}

TEST_F(trace, latest_records_are_kept)
{
	uint64_t records, lost;
	pld_trace_record record;

	RUN(self->domain, many, &self->buffers);
	ASSERT_EQ(0, pld_trace_length(self->domain, 0, &records, &lost));
	EXPECT_EQ(PLD_TRACE_RECORDS, records);
	EXPECT_EQ(5, lost);
	ASSERT_EQ(0, pld_trace_get(self->domain, 0, 0, &record));
	EXPECT_EQ(5, record.value);
	ASSERT_EQ(0, pld_trace_get(self->domain, 0, records - 1, &record));
	EXPECT_EQ(MANY - 1, record.value);
}

TEST_F(trace, killed_rank_has_left_what_it_did)
{
	ASSERT_EQ(-EOWNERDEAD,
		  pld_launch(self->domain, killed, &self->buffers, NULL));
	ASSERT_EQ(0, check_lines(self->domain, 0, killed_text, 1));
}

static int cost_on_a_rank(pld_domain *domain, void *arg)
{
	pld_cost cost;

	CHECK_REFUSED(-EPERM,
		      "pld_launch_cost: wanted a domain of the host side",
		      pld_launch_cost(domain, 0, &cost));
	return 0;
}

TEST_F(trace, ranks_are_refused)
{
	RUN(self->domain, cost_on_a_rank, NULL);
}

TEST_F(trace, host_side_refusals)
{
	pld_trace_record record = { 0 };
	char text[PLD_TRACE_TEXT_BYTES];
	pld_domain *quiet = make_domain(2);
	uint64_t records;
	pld_cost cost;

	ASSERT_NE(NULL, quiet);
	EXPECT_REFUSED(-ENODATA,
		       "pld_launch_cost: nothing was observed: set observe in the domain's options, and launch",
		       pld_launch_cost(self->domain, 0, &cost));
	RUN(self->domain, many, &self->buffers);
	EXPECT_REFUSED(-ERANGE, "pld_launch_cost: rank is 3, wanted 0 to 2",
		       pld_launch_cost(self->domain, 3, &cost));
	EXPECT_REFUSED(-ERANGE, "pld_trace_length: rank is -1, wanted 0 to 2",
		       pld_trace_length(self->domain, -1, &records, NULL));
	EXPECT_REFUSED(-ENODATA,
		       "pld_trace_length: nothing was observed: set observe in the domain's options, and launch",
		       pld_trace_length(quiet, 0, &records, NULL));
	EXPECT_REFUSED(-EINVAL,
		       "pld_launch_cost: wanted a domain of the host side",
		       pld_launch_cost(NULL, 0, &cost));
	EXPECT_REFUSED(-EINVAL, "pld_launch_cost: cost must not be NULL",
		       pld_launch_cost(self->domain, 0, NULL));
	EXPECT_REFUSED(-EINVAL, "pld_trace_length: records must not be NULL",
		       pld_trace_length(self->domain, 0, NULL, NULL));
	EXPECT_REFUSED(-EINVAL, "pld_trace_get: record must not be NULL",
		       pld_trace_get(self->domain, 0, 0, NULL));
	ASSERT_EQ(0, pld_trace_length(self->domain, 0, &records, NULL));
	EXPECT_REFUSED(-ERANGE,
		       "pld_trace_get: rank 0 has no whole record 16384",
		       pld_trace_get(self->domain, 0, records, &record));
	record.op = (pld_trace_op)77;
	EXPECT_REFUSED(-EINVAL,
		       "pld_trace_text: record and text must not be NULL",
		       pld_trace_text(NULL, text));
	EXPECT_REFUSED(-EINVAL, "pld_trace_text: 77 is no operation",
		       pld_trace_text(&record, text));
	pld_domain_destroy(quiet);
}

/* A rank may have left anything in its records. */
TEST(records_that_a_rank_scribbled_over)
{
	static const int errors[] = { INT32_MIN, INT32_MAX, 5, -4096, -4095 };
	pld_trace_record record = { .op = PLD_TRACE_WAIT, .seen = 4 };
	char text[PLD_TRACE_TEXT_BYTES];

	memset(record.dst, 'x', sizeof(record.dst));
	record.dst_offsets.ndim = INT32_MIN;
	for (size_t i = 0; i < sizeof(errors) / sizeof(*errors); i++) {
		record.error = errors[i];
		ASSERT_EQ(0, pld_trace_text(&record, text));
		ASSERT_STREQ("pld.system.wait(xxxxxxxxxxxxxxxxxxxxxxx, [], 0, cmp=Eq)  # failed, the cell was 4",
			     text);
	}
	record.error = -ETIMEDOUT;
	ASSERT_EQ(0, pld_trace_text(&record, text));
	ASSERT_STREQ("pld.system.wait(xxxxxxxxxxxxxxxxxxxxxxx, [], 0, cmp=Eq)  # ETIMEDOUT, the cell was 4",
		     text);
}

LIB_TEST_MAIN
