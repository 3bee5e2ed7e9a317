// SPDX-License-Identifier: GPL-2.0
/*
 * The message-passing litmus: one rank puts and notifies, the other one waits
 * and reads, for any size and alignment. What it reads is never older than what
 * it has waited for. The wrong order, notify before put, must be caught.
 *
 * Sizes, alignments and how far the writer may run ahead are drawn anew for
 * every block of iterations, as a function of the seed, PLD_BASE_SEED.
 * PLD_LITMUS_ITERATIONS is their number; `make check-storms` sets it.
 */
#include "lib_fault.h"
#include "lib_test.h"
#include "prop_random.h"

#define BASE_SEED UINT64_C(6174)
#define ITERATIONS 50000
#define ITERATIONS_IN_A_GUEST 1000
#define ITERATIONS_OF_THE_WRONG_ORDER 20
#define WINDOW_BYTES (4 << 20)
#define LARGEST (256 << 10)
#define ALIGNMENTS 64
/* odd, so that what was in a place before has another last byte */
#define FARTHEST 32749
#define WRITER 0
#define READER 1

/* One signal [2, 1]: what was sent, at the reader; what was read, at the writer. */
static pld_window_buffer *data, *counters;

/* What the reader found, in memory that the test sees. */
struct found {
	int64_t read;
	int64_t stale;
	int blocks;
};

struct litmus {
	uint64_t seed;
	int64_t iterations;
	bool wrong_order;
	struct found *found;
};

/* Some iterations that have sizes, alignments and the rest in common. */
struct block {
	int64_t first;
	int n;
	int size;
	int src_at;
	int dst_at;
	/* from one place of the window to the next, and how many are used */
	int stride;
	int ahead;
};

static int draw_size(struct prop_random *r, int *n)
{
	switch (prop_below(r, 6)) {
	case 0:
	case 1:
		*n = 100000;
		return prop_between(r, 1, 16);
	case 2:
		*n = 100000;
		return prop_between(r, 1, 64);
	case 3:
		*n = 20000;
		return prop_between(r, 1, 512);
	case 4:
		*n = 4000;
		return prop_between(r, 1, 4096);
	default:
		*n = 40;
		return prop_between(r, 4096, LARGEST);
	}
}

/*
 * Hand in hand or some messages ahead, which takes long where processes wait for
 * a CPU; mostly the reader, which has less to do, keeps up by itself.
 */
static int draw_ahead(struct prop_random *r, int *n)
{
	switch (prop_below(r, 8)) {
	case 0:
		*n = 50;
		return prop_between(r, 1, 2);
	case 1:
		*n = 300;
		return prop_between(r, 3, 64);
	default:
		return FARTHEST;
	}
}

static void draw_block(struct prop_random *r, int64_t first, int64_t all,
		       struct block *block)
{
	block->first = first;
	block->size = draw_size(r, &block->n);
	block->src_at = prop_below(r, ALIGNMENTS);
	block->dst_at = prop_below(r, ALIGNMENTS);
	block->stride =
		(block->size + 2 * ALIGNMENTS - 1) / ALIGNMENTS * ALIGNMENTS;
	block->ahead = draw_ahead(r, &block->n);
	if (block->ahead > WINDOW_BYTES / block->stride)
		block->ahead = WINDOW_BYTES / block->stride;
	/* some blocks, however few messages there are */
	if (block->n > all / 20 + 1)
		block->n = (int)(all / 20 + 1);
	if (block->n > all - first)
		block->n = (int)(all - first);
}

/* Not 0; differs from one iteration to the next, and from word to word. */
static uint64_t word_of(int64_t iteration, int word)
{
	return (uint64_t)(iteration + 1) * UINT64_C(0x9e3779b97f4a7c15) +
	       (uint64_t)word * UINT64_C(0x0101010101010101);
}

static void fill(unsigned char *at, int size, int64_t iteration)
{
	uint64_t last = word_of(iteration, size / 8);

	for (int word = 0; word < size / 8; word++) {
		uint64_t value = word_of(iteration, word);

		memcpy(at + word * 8, &value, 8);
	}
	memcpy(at + size / 8 * 8, &last, (size_t)(size % 8));
}

/* Not volatile: an ordinary reader's loads are what is tested. */
static bool is_there(const unsigned char *at, int size, int64_t iteration)
{
	uint64_t last = word_of(iteration, size / 8), wrong = 0, value;

	for (int word = 0; word < size / 8; word++) {
		memcpy(&value, at + word * 8, 8);
		wrong |= value ^ word_of(iteration, word);
	}
	return !wrong && !memcmp(at + size / 8 * 8, &last, (size_t)(size % 8));
}

static int place_of(const struct block *block, int i)
{
	return i % block->ahead * block->stride + block->dst_at;
}

static int write_block(const struct litmus *litmus, const struct block *block,
		       const pld_distributed_tensor *window,
		       const pld_distributed_tensor *signal)
{
	static unsigned char memory[LARGEST + ALIGNMENTS]
		__attribute__((aligned(ALIGNMENTS)));
	pld_put_options options = {
		.dst_offsets = PLD_AT(0),
		.src_offsets = PLD_AT(block->src_at),
		.shape = PLD_SHAPE(block->size),
	};
	pld_tensor src;

	PLD_TRY(pld_tensor_init(&src, memory, PLD_SHAPE(sizeof(memory)),
				PLD_UINT8));
	for (int i = 0; i < block->n; i++) {
		int64_t iteration = block->first + i;

		/* That place has been read. */
		if (i >= block->ahead)
			PLD_TRY(pld_system_wait(signal, PLD_AT(READER, 0),
						(int32_t)(iteration -
							  block->ahead + 1),
						PLD_GE));
		fill(memory + block->src_at, block->size, iteration);
		options.dst_offsets.n[0] = place_of(block, i);
		if (litmus->wrong_order) {
			PLD_TRY(pld_system_notify(signal, READER,
						  PLD_AT(WRITER, 0), 1,
						  PLD_ATOMIC_ADD));
			/* The reader comes between on any machine. */
			PLD_TRY(pld_system_wait(signal, PLD_AT(READER, 0),
						(int32_t)(iteration + 1),
						PLD_GE));
		}
		PLD_TRY(pld_tensor_put(window, READER, &src, &options));
		if (!litmus->wrong_order)
			PLD_TRY(pld_system_notify(signal, READER,
						  PLD_AT(WRITER, 0), 1,
						  PLD_ATOMIC_ADD));
	}
	/* All has been read: the next block has other places. */
	return pld_system_wait(signal, PLD_AT(READER, 0),
			       (int32_t)(block->first + block->n), PLD_GE);
}

static void tell_stale(const struct litmus *litmus, const struct block *block,
		       int64_t iteration)
{
	if (litmus->found->stale++ || litmus->wrong_order)
		return;
	fprintf(stderr,
		"# seed %llu, iteration %lld: stale: %d bytes from %d to %d, %d ahead\n",
		(unsigned long long)litmus->seed, (long long)iteration,
		block->size, block->src_at, block->dst_at, block->ahead);
}

/* Says what has been read when half of the places are free again. */
static int read_block(const struct litmus *litmus, const struct block *block,
		      const pld_distributed_tensor *window,
		      const pld_distributed_tensor *signal)
{
	const unsigned char *own = window->data;
	int often = (block->ahead + 1) / 2, told = 0;

	for (int i = 0; i < block->n; i++) {
		int64_t iteration = block->first + i;

		PLD_TRY(pld_system_wait(signal, PLD_AT(WRITER, 0),
					(int32_t)(iteration + 1), PLD_GE));
		if (!is_there(own + place_of(block, i), block->size, iteration))
			tell_stale(litmus, block, iteration);
		if (i + 1 - told < often && i + 1 < block->n)
			continue;
		PLD_TRY(pld_system_notify(signal, WRITER, PLD_AT(READER, 0),
					  i + 1 - told, PLD_ATOMIC_ADD));
		told = i + 1;
	}
	litmus->found->read += block->n;
	litmus->found->blocks++;
	return 0;
}

static int pass_messages(pld_domain *domain, void *arg)
{
	const struct litmus *litmus = arg;
	struct prop_random r = { litmus->seed };
	pld_distributed_tensor window, signal;
	struct block block;

	PLD_TRY(pld_window(data, PLD_SHAPE(WINDOW_BYTES), PLD_UINT8, &window));
	PLD_TRY(pld_window(counters, PLD_SHAPE(2, 1), PLD_INT32, &signal));
	for (int64_t i = 0; i < litmus->iterations; i += block.n) {
		draw_block(&r, i, litmus->iterations, &block);
		if (litmus->wrong_order)
			block.ahead = 1;
		if (pld_rank(domain) == WRITER)
			PLD_TRY(write_block(litmus, &block, &window, &signal));
		else
			PLD_TRY(read_block(litmus, &block, &window, &signal));
	}
	return 0;
}

FIXTURE(litmus)
{
	pld_domain *domain;
	struct litmus litmus;
	struct found *found;
};

FIXTURE_SETUP(litmus)
{
	self->domain = make_domain(2);
	ASSERT_NE(NULL, self->domain);
	ASSERT_EQ(0, pld_alloc_window_buffer(self->domain, WINDOW_BYTES, &data));
	ASSERT_EQ(0, pld_alloc_signal(self->domain, PLD_SHAPE(2, 1), &counters));
	self->found = mmap(NULL, sizeof(*self->found), PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, self->found);
	self->litmus = (struct litmus){
		.seed = from_environment("PLD_BASE_SEED", BASE_SEED),
		.found = self->found,
	};
}

FIXTURE_TEARDOWN(litmus)
{
	pld_domain_destroy(self->domain);
}

TEST_F_TIMEOUT(litmus, what_was_notified_is_never_stale, 1800)
{
	int64_t begun = now_ns();

	self->litmus.iterations =
		(int64_t)from_environment("PLD_LITMUS_ITERATIONS",
					  in_a_guest() ? ITERATIONS_IN_A_GUEST
						       : ITERATIONS);
	RUN(self->domain, pass_messages, &self->litmus);
	TH_LOG("seed %llu: %lld messages in %d blocks, %lld ns each",
	       (unsigned long long)self->litmus.seed,
	       (long long)self->found->read, self->found->blocks,
	       (long long)((now_ns() - begun) / self->found->read));
	EXPECT_EQ(self->litmus.iterations, self->found->read);
	EXPECT_EQ(0, self->found->stale);
}

TEST_F_TIMEOUT(litmus, a_notify_before_its_put_is_caught, 300)
{
	self->litmus.wrong_order = true;
	self->litmus.iterations = ITERATIONS_OF_THE_WRONG_ORDER;
	RUN(self->domain, pass_messages, &self->litmus);
	EXPECT_EQ(ITERATIONS_OF_THE_WRONG_ORDER, self->found->stale);
}

LIB_TEST_MAIN
