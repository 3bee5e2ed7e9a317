// SPDX-License-Identifier: GPL-2.0
/*
 * pld.tensor.put and pl.store of so much that it is copied by other means than little
 * is.
 */
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

#include "../lib/staged.h"
#include "lib_golden.h"
#include "lib_test.h"

#define LONG (16 << 20)
#define LONG_WINDOW (LONG + 256)

/*
 * So long that they are written past the caches, or nearly; at odd places too, and a
 * little further in their page than where they come from.
 */
static const struct {
	int64_t bytes;
	int64_t to;
	int64_t from;
} long_runs[] = {
	{ LONG - 1, 1, 0 },
	{ LONG, 0, 0 },
	{ LONG, 63, 5 },
	{ 2049, 1, 0 },
};

/* What one of the two ranks does, run after run. */
typedef int long_step(pld_distributed_tensor *data,
		      pld_distributed_tensor *signal, int run);

struct long_job {
	pld_window_buffer *data;
	pld_window_buffer *signal;
	long_step *of_rank[2];
	int runs;
};

static int run_steps(pld_domain *domain, void *arg)
{
	const struct long_job *job = arg;
	pld_distributed_tensor data, signal;

	PLD_TRY(pld_window(job->data, PLD_SHAPE(LONG_WINDOW), PLD_UINT8, &data));
	PLD_TRY(pld_window(job->signal, PLD_SHAPE(1), PLD_INT32, &signal));
	for (int run = 0; run < job->runs; run++)
		PLD_TRY(job->of_rank[pld_rank(domain)](&data, &signal, run));
	return 0;
}

static int run_both(long_step *rank0, long_step *rank1, int runs)
{
	struct long_job job = { .of_rank = { rank0, rank1 }, .runs = runs };
	pld_domain *domain = make_domain(2);
	int error = -1;

	if (domain && !pld_alloc_window_buffer(domain, LONG_WINDOW, &job.data) &&
	    !pld_alloc_signal(domain, PLD_SHAPE(1), &job.signal))
		error = run_ranks(domain, run_steps, &job);
	pld_domain_destroy(domain);
	return error;
}

static int put_long(pld_distributed_tensor *data,
		    pld_distributed_tensor *signal, int run)
{
	int64_t bytes = long_runs[run].bytes, from = long_runs[run].from;
	pld_put_options options = {
		.dst_offsets = PLD_AT(long_runs[run].to),
		.src_offsets = PLD_AT(from),
		.shape = PLD_SHAPE(bytes),
	};
	unsigned char *memory;
	pld_tensor src;

	CHECK(!posix_memalign((void **)&memory, 4096, LONG_WINDOW));
	PLD_TRY(pld_tensor_init(&src, memory, PLD_SHAPE(LONG_WINDOW), PLD_UINT8));
	golden_fill(memory + from, (size_t)bytes, (unsigned int)run);
	CHECK_EQ(0, pld_system_wait(signal, PLD_AT(0), run + 1, PLD_GE));
	CHECK_EQ(0, pld_tensor_put(data, 1, &src, &options));
	CHECK_EQ(0, pld_system_notify(signal, 1, PLD_AT(0), run + 1, PLD_SET));
	free(memory);
	return 0;
}

/* All is there when the notify is, and nothing else has changed. */
static int see_long(pld_distributed_tensor *data,
		    pld_distributed_tensor *signal, int run)
{
	size_t bytes = (size_t)long_runs[run].bytes;
	size_t to = (size_t)long_runs[run].to;
	unsigned char *window = data->data;

	memset(window, 0xee, LONG_WINDOW);
	CHECK_EQ(0, pld_system_notify(signal, 0, PLD_AT(0), run + 1, PLD_SET));
	CHECK_EQ(0, pld_system_wait(signal, PLD_AT(0), run + 1, PLD_GE));
	CHECK_EQ(0xee, window[to + bytes]);
	CHECK_EQ(bytes, golden_differs(window + to, bytes, (unsigned int)run));
	for (size_t i = 0; i < LONG_WINDOW; i++)
		if (i < to || i >= to + bytes)
			CHECK_EQ(0xee, window[i]);
	return 0;
}

TEST(long_runs_are_whole_when_the_notify_is_there)
{
	/* In pieces, too, whatever this processor is. */
	pld_string_crawls = true;
	ASSERT_EQ(0, run_both(put_long, see_long, ARRAY_SIZE(long_runs)));
}

/* What a rank stores in its own window, of lengths about those that matter. */
static const struct {
	int64_t bytes;
	int64_t to;
} staged_runs[] = {
	{ (32 << 10) - 1, 0 },	{ 32 << 10, 1 },  { (32 << 10) + 33, 63 },
	{ (512 << 10) - 1, 3 }, { 2 << 20, 200 },
};

/* Past the caches, timed, and through them without a look at the clock. */
static const int staged_ways[] = { 1, 0, -1 };

#define STAGED_RUNS (ARRAY_SIZE(staged_runs) * ARRAY_SIZE(staged_ways))

static int stage(pld_distributed_tensor *data, pld_distributed_tensor *signal,
		 int run)
{
	int64_t bytes = staged_runs[run % ARRAY_SIZE(staged_runs)].bytes;
	int64_t to = staged_runs[run % ARRAY_SIZE(staged_runs)].to;
	unsigned char *memory = malloc((size_t)bytes);
	pld_tile tile;

	CHECK(memory);
	golden_fill(memory, (size_t)bytes, (unsigned int)run);
	memset(data->data, 0xee, LONG_WINDOW);
	PLD_TRY(pld_tile_init(&tile, memory, PLD_SHAPE(bytes), PLD_UINT8));
	atomic_store(&data->buffer->staged,
		     staged_ways[(size_t)run / ARRAY_SIZE(staged_runs)]);
	CHECK_EQ(0, pld_store(&tile, PLD_AT(to), data));
	CHECK_EQ(0, pld_system_notify(signal, 1, PLD_AT(0), run + 1, PLD_SET));
	/* Not before it has been seen. */
	CHECK_EQ(0, pld_system_wait(signal, PLD_AT(0), run + 1, PLD_GE));
	free(memory);
	return 0;
}

static int see_staged(pld_distributed_tensor *data,
		      pld_distributed_tensor *signal, int run)
{
	size_t bytes = (size_t)staged_runs[run % ARRAY_SIZE(staged_runs)].bytes;
	size_t to = (size_t)staged_runs[run % ARRAY_SIZE(staged_runs)].to;
	unsigned char *seen;
	pld_tile tile;

	PLD_TRY(pld_tile_alloc(&tile, LONG_WINDOW));
	CHECK_EQ(0, pld_system_wait(signal, PLD_AT(0), run + 1, PLD_GE));
	CHECK_EQ(0, pld_tile_remote_load(data, 0, PLD_AT(0),
					 PLD_SHAPE(LONG_WINDOW), &tile));
	seen = tile.data;
	CHECK_EQ(bytes, golden_differs(seen + to, bytes, (unsigned int)run));
	for (size_t i = 0; i < LONG_WINDOW; i++)
		if (i < to || i >= to + bytes)
			CHECK_EQ(0xee, seen[i]);
	CHECK_EQ(0, pld_system_notify(signal, 0, PLD_AT(0), run + 1, PLD_SET));
	pld_tile_free(&tile);
	return 0;
}

TEST(staged_runs_are_whole_when_the_notify_is_there)
{
	ASSERT_EQ(0, run_both(stage, see_staged, STAGED_RUNS));
}

#define SLOW_BYTES (64 << 10)
#define SLOW_MS 5

static unsigned char *slow_memory;

/* The first look at it takes a thousand times as long as the copy. */
static void be_slow(int signal)
{
	const struct timespec while_ = { .tv_nsec = SLOW_MS * 1000000 };

	(void)signal;
	nanosleep(&while_, NULL);
	mprotect(slow_memory, SLOW_BYTES, PROT_READ | PROT_WRITE);
}

/* A slow store, and all that follow it until one is timed again. */
static int stage_slowly(pld_distributed_tensor *data,
			pld_distributed_tensor *signal, int run)
{
	struct sigaction slowly = { .sa_handler = be_slow };
	_Atomic int *staged = &data->buffer->staged;
	pld_tile tile;
	int past;

	(void)signal;
	(void)run;
	slow_memory = mmap(NULL, SLOW_BYTES, PROT_NONE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(slow_memory != MAP_FAILED);
	/* No other signal ends its sleep. */
	sigfillset(&slowly.sa_mask);
	CHECK_EQ(0, sigaction(SIGSEGV, &slowly, NULL));
	PLD_TRY(pld_tile_init(&tile, slow_memory, PLD_SHAPE(SLOW_BYTES),
			      PLD_UINT8));
	CHECK_EQ(0, atomic_load(staged));
	CHECK_EQ(0, pld_store(&tile, PLD_AT(0), data));
	past = atomic_load(staged);
	CHECK(past > 0);
	for (int left = past - 1; left >= 0; left--) {
		CHECK_EQ(0, pld_store(&tile, PLD_AT(0), data));
		CHECK_EQ(left, atomic_load(staged));
	}
	CHECK_EQ(0, pld_store(&tile, PLD_AT(0), data));
	CHECK(atomic_load(staged) != 0);
	/* After fast ones, too. */
	atomic_store(staged, -2);
	CHECK_EQ(0, pld_store(&tile, PLD_AT(0), data));
	CHECK_EQ(-1, atomic_load(staged));
	CHECK_EQ(0, pld_store(&tile, PLD_AT(0), data));
	CHECK_EQ(0, atomic_load(staged));
	return 0;
}

static int do_nothing(pld_distributed_tensor *data,
		      pld_distributed_tensor *signal, int run)
{
	(void)data;
	(void)signal;
	(void)run;
	return 0;
}

TEST(after_a_slow_store_some_go_past_the_caches_and_one_is_timed_again)
{
	ASSERT_EQ(0, run_both(stage_slowly, do_nothing, 1));
}

LIB_TEST_MAIN
