// SPDX-License-Identifier: GPL-2.0
/*
 * The message-passing litmus: one rank puts and notifies, the other one waits
 * and reads, for any size and alignment. What it reads is never older than what
 * it has waited for. The wrong order, notify before put, must be caught.
 *
 * Sizes, alignments and how far the writer may run ahead are drawn anew for
 * every block of iterations, as a function of the seed, PLD_BASE_SEED. Some blocks
 * are written past the caches: long puts, as lib/copy.h says, and stores in the writer's
 * own window, which the reader loads or gets from there, half of them as lib/staged.h
 * does where caches are far from each other.
 *
 * PLD_LITMUS_ITERATIONS is their number; `make check-storms` sets it.
 */
#include "../lib/staged.h"
#include "lib_fault.h"
#include "lib_test.h"
#include "prop_random.h"

#define BASE_SEED UINT64_C(6174)
#define ITERATIONS 50000
#define ITERATIONS_IN_A_GUEST 1000
#define ITERATIONS_OF_THE_WRONG_ORDER 40
#define PLACES_BYTES (4 << 20)
#define LARGEST (256 << 10)
/* A long put, and two of them in the window. */
#define LONG_LEAST ((int)PLD_PAST_CACHES)
#define LONGEST (LONG_LEAST + LARGEST)
#define WINDOW_BYTES (2 * LONGEST + 4 * ALIGNMENTS)
/* One block of each kind among as many; a short run has some, too. */
#define KINDS_TURN 16
#define LONG_AT 1
#define STAGED_EVERY 8
#define STAGED_AT 3
#define STAGED_MOST (512 << 10)
/* Messages of such a block, which take a thousand times as long as others. */
#define LONG_MESSAGES 3
#define STAGED_MESSAGES 100
/* More than are on their way past the caches at a time. */
#define END_BYTES 1024
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
	/* of these */
	int64_t longs;
	int64_t staged;
	/* of the staged ones */
	int64_t past;
	int64_t stale;
	int blocks;
};

struct litmus {
	uint64_t seed;
	int64_t iterations;
	bool wrong_order;
	struct found *found;
};

enum kind {
	PUT,
	LONG_PUT,
	STAGED_STORE,
};

/* Some iterations that have sizes, alignments and the rest in common. */
struct block {
	enum kind kind;
	/* past the caches, not as the library would have it */
	bool past;
	/* how the reader is told */
	pld_notify_op op;
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

static enum kind kind_of(int number)
{
	if (number % KINDS_TURN == LONG_AT)
		return LONG_PUT;
	return number % STAGED_EVERY == STAGED_AT ? STAGED_STORE : PUT;
}

static void draw_sizes(struct prop_random *r, struct block *block)
{
	switch (block->kind) {
	case LONG_PUT:
		block->n = LONG_MESSAGES;
		block->size = prop_between(r, LONG_LEAST, LONGEST);
		block->ahead = prop_between(r, 1, 2);
		break;
	case STAGED_STORE:
		block->n = STAGED_MESSAGES;
		block->size = prop_between(r, PLD_STAGED_LEAST, STAGED_MOST);
		block->ahead = prop_between(r, 1, 8);
		break;
	default:
		block->size = draw_size(r, &block->n);
		block->ahead = draw_ahead(r, &block->n);
	}
}

static void draw_block(struct prop_random *r, int number, int64_t first,
		       int64_t all, struct block *block)
{
	int places;

	block->kind = kind_of(number);
	block->past = number % (2 * STAGED_EVERY) == STAGED_AT;
	block->op = prop_once_in(r, 2) ? PLD_SET : PLD_ATOMIC_ADD;
	block->first = first;
	draw_sizes(r, block);
	block->src_at = prop_below(r, ALIGNMENTS);
	block->dst_at = prop_below(r, ALIGNMENTS);
	block->stride =
		(block->size + 2 * ALIGNMENTS - 1) / ALIGNMENTS * ALIGNMENTS;
	places = (block->kind == LONG_PUT ? WINDOW_BYTES : PLACES_BYTES) /
		 block->stride;
	if (block->ahead > places)
		block->ahead = places;
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

/*
 * Are that many bytes from a word on, the message's last ones, there? Not volatile: an
 * ordinary reader's loads are what is tested.
 */
static bool is_end_there(const unsigned char *at, int first, int bytes,
			 int64_t iteration)
{
	int words = bytes / 8;
	uint64_t last = word_of(iteration, first + words), wrong = 0, value;

	for (int word = 0; word < words; word++) {
		memcpy(&value, at + word * 8, 8);
		wrong |= value ^ word_of(iteration, first + word);
	}
	return !wrong && !memcmp(at + words * 8, &last, (size_t)(bytes % 8));
}

static bool is_there(const unsigned char *at, int size, int64_t iteration)
{
	return is_end_there(at, 0, size, iteration);
}

static int place_of(const struct block *block, int i)
{
	return i % block->ahead * block->stride + block->dst_at;
}

/* What both ranks use for all blocks. */
struct views {
	pld_distributed_tensor window;
	pld_distributed_tensor signal;
};

static unsigned char memory[LONGEST + ALIGNMENTS]
	__attribute__((aligned(ALIGNMENTS)));

/* The value is the iteration's, whichever way it gets there. */
static int tell_reader(const struct views *v, const struct block *block,
		       int64_t iteration)
{
	int32_t value = block->op == PLD_SET ? (int32_t)(iteration + 1) : 1;

	return pld_system_notify(&v->signal, READER, PLD_AT(WRITER, 0), value,
				 block->op);
}

static int wait_for_reader(const struct views *v, int64_t read)
{
	return pld_system_wait(&v->signal, PLD_AT(READER, 0), (int32_t)read,
			       PLD_GE);
}

/* To the reader's window; a store is to the own one. */
static int move(const struct views *v, const struct block *block, int i)
{
	pld_put_options options = {
		.dst_offsets = PLD_AT(place_of(block, i)),
		.src_offsets = PLD_AT(block->src_at),
		.shape = PLD_SHAPE(block->size),
	};
	pld_tensor src;
	pld_tile tile;

	if (block->kind == STAGED_STORE) {
		PLD_TRY(pld_tile_init(&tile, memory + block->src_at,
				      PLD_SHAPE(block->size), PLD_UINT8));
		if (block->past)
			atomic_store(&data->staged, 1);
		return pld_store(&tile, PLD_AT(place_of(block, i)), &v->window);
	}
	PLD_TRY(pld_tensor_init(&src, memory, PLD_SHAPE(sizeof(memory)),
				PLD_UINT8));
	return pld_tensor_put(&v->window, READER, &src, &options);
}

static int write_block(const struct litmus *litmus, const struct views *v,
		       const struct block *block)
{
	for (int i = 0; i < block->n; i++) {
		int64_t iteration = block->first + i;

		/* That place has been read. */
		if (i >= block->ahead)
			PLD_TRY(wait_for_reader(v, iteration - block->ahead + 1));
		fill(memory + block->src_at, block->size, iteration);
		if (litmus->wrong_order) {
			PLD_TRY(tell_reader(v, block, iteration));
			/* The reader comes between on any machine. */
			PLD_TRY(wait_for_reader(v, iteration + 1));
		}
		PLD_TRY(move(v, block, i));
		if (!litmus->wrong_order)
			PLD_TRY(tell_reader(v, block, iteration));
	}
	/* All has been read: the next block has other places. */
	return wait_for_reader(v, block->first + block->n);
}

static void tell_stale(const struct litmus *litmus, const struct block *block,
		       int64_t iteration)
{
	if (litmus->found->stale++ || litmus->wrong_order)
		return;
	fprintf(stderr,
		"# seed %llu, iteration %lld: stale: %d bytes from %d to %d, %d ahead, kind %d, told by %s\n",
		(unsigned long long)litmus->seed, (long long)iteration,
		block->size, block->src_at, block->dst_at, block->ahead,
		(int)block->kind, block->op == PLD_SET ? "Set" : "AtomicAdd");
}

/* size bytes of the writer's window, into memory at to. */
static int fetch(const struct views *v, int64_t at, int size, unsigned char *to)
{
	pld_tile tile;

	PLD_TRY(pld_tile_init(&tile, to, PLD_SHAPE(size), PLD_UINT8));
	return pld_tile_remote_load(&v->window, WRITER, PLD_AT(at),
				    PLD_SHAPE(size), &tile);
}

static int get(const struct views *v, const struct block *block, int64_t at)
{
	pld_get_options options = {
		.dst_offsets = PLD_AT(block->src_at),
		.src_offsets = PLD_AT(at),
		.shape = PLD_SHAPE(block->size),
	};
	pld_tensor dst;

	PLD_TRY(pld_tensor_init(&dst, memory, PLD_SHAPE(sizeof(memory)),
				PLD_UINT8));
	return pld_tensor_get(&dst, WRITER, &v->window, &options);
}

/* What is on its way past the caches is there last; so its end is looked at first. */
static int see_end(const struct views *v, const struct block *block, int i,
		   bool *there)
{
	static unsigned char end[END_BYTES + 8] __attribute__((aligned(8)));
	int first = (block->size - END_BYTES) / 8,
	    bytes = block->size - first * 8;
	int at = place_of(block, i) + first * 8;
	const unsigned char *seen = (const unsigned char *)v->window.data + at;

	if (block->kind == STAGED_STORE) {
		PLD_TRY(fetch(v, at, bytes, end));
		seen = end;
	}
	*there = is_end_there(seen, first, bytes, block->first + i);
	return 0;
}

/* Is the message there: in the own window, or in the writer's? */
static int receive(const struct views *v, const struct block *block, int i,
		   bool *there)
{
	int at = place_of(block, i);
	const unsigned char *seen = (const unsigned char *)v->window.data + at;
	bool end_there = true;

	if (block->kind != PUT)
		PLD_TRY(see_end(v, block, i, &end_there));
	if (block->kind == STAGED_STORE) {
		seen = memory + block->src_at;
		PLD_TRY(i % 2 ? get(v, block, at)
			      : fetch(v, at, block->size,
				      memory + block->src_at));
	}
	*there = end_there && is_there(seen, block->size, block->first + i);
	return 0;
}

static void count_block(struct found *found, const struct block *block)
{
	found->read += block->n;
	found->longs += block->kind == LONG_PUT ? block->n : 0;
	found->staged += block->kind == STAGED_STORE ? block->n : 0;
	found->past += block->past ? block->n : 0;
	found->blocks++;
}

/* Says what has been read when half of the places are free again. */
static int read_block(const struct litmus *litmus, const struct views *v,
		      const struct block *block)
{
	int often = (block->ahead + 1) / 2, told = 0;
	bool there;

	for (int i = 0; i < block->n; i++) {
		int64_t iteration = block->first + i;

		PLD_TRY(pld_system_wait(&v->signal, PLD_AT(WRITER, 0),
					(int32_t)(iteration + 1), PLD_GE));
		PLD_TRY(receive(v, block, i, &there));
		if (!there)
			tell_stale(litmus, block, iteration);
		if (i + 1 - told < often && i + 1 < block->n)
			continue;
		PLD_TRY(pld_system_notify(&v->signal, WRITER, PLD_AT(READER, 0),
					  i + 1 - told, PLD_ATOMIC_ADD));
		told = i + 1;
	}
	count_block(litmus->found, block);
	return 0;
}

static int pass_messages(pld_domain *domain, void *arg)
{
	const struct litmus *litmus = arg;
	struct prop_random r = { litmus->seed };
	struct block block;
	struct views v;
	int number = 0;

	PLD_TRY(pld_window(data, PLD_SHAPE(WINDOW_BYTES), PLD_UINT8, &v.window));
	PLD_TRY(pld_window(counters, PLD_SHAPE(2, 1), PLD_INT32, &v.signal));
	for (int64_t i = 0; i < litmus->iterations; i += block.n) {
		draw_block(&r, number++, i, litmus->iterations, &block);
		if (litmus->wrong_order)
			block.ahead = 1;
		if (pld_rank(domain) == WRITER)
			PLD_TRY(write_block(litmus, &v, &block));
		else
			PLD_TRY(read_block(litmus, &v, &block));
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
	TH_LOG("seed %llu: %lld messages in %d blocks, %lld ns each; %lld of them long puts, %lld staged stores, %lld of these past the caches",
	       (unsigned long long)self->litmus.seed,
	       (long long)self->found->read, self->found->blocks,
	       (long long)((now_ns() - begun) / self->found->read),
	       (long long)self->found->longs, (long long)self->found->staged,
	       (long long)self->found->past);
	EXPECT_EQ(self->litmus.iterations, self->found->read);
	EXPECT_EQ(0, self->found->stale);
	EXPECT_LT(0, self->found->longs);
	EXPECT_LT(0, self->found->past);
	EXPECT_LT(self->found->past, self->found->staged);
}

TEST_F_TIMEOUT(litmus, a_notify_before_its_put_is_caught, 300)
{
	self->litmus.wrong_order = true;
	self->litmus.iterations = ITERATIONS_OF_THE_WRONG_ORDER;
	RUN(self->domain, pass_messages, &self->litmus);
	EXPECT_EQ(ITERATIONS_OF_THE_WRONG_ORDER, self->found->stale);
	EXPECT_LT(0, self->found->longs);
	EXPECT_LT(0, self->found->past);
	EXPECT_LT(self->found->past, self->found->staged);
}

LIB_TEST_MAIN
