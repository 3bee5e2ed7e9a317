// SPDX-License-Identifier: GPL-2.0
/*
 * Random programs on real ranks against a serial model: every byte of every
 * window, of the signals and of every rank's private memory must be as the
 * model has it, and a call with a wrong argument must be refused and change
 * nothing.
 *
 *	lib_property			the tests
 *	lib_property --seed N [-v]	one program; -v prints its steps
 *
 * PLD_SEED=N is another way to say --seed N. PLD_BASE_SEED and PLD_PROGRAMS
 * change which programs the tests draw, and how many of them.
 *
 * A program is a function of its seed: so is the number of its ranks and the
 * size of the domain's stage, and programs that have both in common run in one
 * launch, one after the other.
 */
#include <pthread.h>
#include <sys/mman.h>

#include "lib_left.h"
#include "prop_check.h"
#include "prop_generate.h"

#define BASE_SEED UINT64_C(20240317)
#define PROGRAMS 10000
#define PROGRAMS_IN_A_GUEST 250
#define PROGRAMS_OF_SANITIZERS 500
#define PROGRAMS_IN_VALGRIND 6
#define BATCH 40
#define TIMEOUT_NS (20000 * LIB_MS)

/* Between the ranks, without the library. */
struct shared {
	pthread_barrier_t barrier;
	uint64_t running; /* the seed */
};

struct batch {
	struct prop_buffers buffers;
	struct shared *shared;
	int n;
	struct prop_program *program[BATCH];
};

static int run_one(struct batch *batch, struct prop_rank *rank)
{
	PLD_TRY(prop_reset(rank));
	pthread_barrier_wait(&batch->shared->barrier);
	/* Any rank's: all run the same one. */
	__atomic_store_n(&batch->shared->running, rank->program->seed,
			 __ATOMIC_RELAXED);
	PLD_TRY(prop_run(rank));
	pthread_barrier_wait(&batch->shared->barrier);
	return prop_check(rank);
}

static int run_all(pld_domain *domain, void *arg)
{
	static unsigned char memory[PROP_PRIVATE_BYTES]
		__attribute__((aligned(128)));
	struct batch *batch = arg;
	struct prop_rank rank = {
		.domain = domain,
		.buffers = &batch->buffers,
		.me = pld_rank(domain),
		.memory = memory,
	};

	for (int i = 0; i < batch->n; i++) {
		rank.program = batch->program[i];
		PLD_TRY(run_one(batch, &rank));
	}
	return 0;
}

static struct shared *make_shared(int nranks)
{
	struct shared *shared = mmap(NULL, sizeof(*shared),
				     PROT_READ | PROT_WRITE,
				     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pthread_barrierattr_t between_processes;

	if (shared == MAP_FAILED)
		return NULL;
	pthread_barrierattr_init(&between_processes);
	pthread_barrierattr_setpshared(&between_processes,
				       PTHREAD_PROCESS_SHARED);
	pthread_barrier_init(&shared->barrier, &between_processes,
			     (unsigned int)nranks);
	return shared;
}

static pld_domain *make_prop_domain(int nranks, int tile_bytes)
{
	pld_domain_options options = {
		.timeout_ns = TIMEOUT_NS,
		.tile_bytes = (size_t)tile_bytes,
	};
	int devices[PROP_RANKS];
	pld_domain *domain;

	for (int i = 0; i < nranks; i++)
		devices[i] = i;
	if (!pld_domain_create(devices, nranks, &options, &domain))
		return domain;
	fprintf(stderr, "# domain of %d ranks: %s\n", nranks, pld_last_error());
	return NULL;
}

static int make_buffers(pld_domain *domain, struct prop_buffers *buffers)
{
	int nranks = pld_world_size(domain), cells = prop_cells(nranks);

	for (int i = 0; i < PROP_WINDOWS; i++)
		PLD_TRY(pld_alloc_window_buffer(domain, PROP_PLACE_BYTES,
						&buffers->window[i]));
	PLD_TRY(pld_alloc_signal(domain, PLD_SHAPE(nranks, PROP_COLUMNS),
				 &buffers->cells));
	PLD_TRY(pld_alloc_signal(domain, PLD_SHAPE(cells), &buffers->spread));
	return pld_alloc_window_buffer_shaped(domain, PLD_SHAPE(cells),
					      PLD_INT32, &buffers->dense);
}

/* Runs the programs that are there, if any, and frees them. */
static int launch(pld_domain *domain, struct batch *batch)
{
	int error = batch->n ? pld_launch(domain, run_all, batch, NULL) : 0;

	/* A rank whose program failed has said so. */
	if (error && error != -EBADMSG)
		fprintf(stderr, "# seed %llu: launch: %d, %s\n",
			(unsigned long long)batch->shared->running, error,
			pld_last_error());
	for (int i = 0; i < batch->n; i++)
		prop_free(batch->program[i]);
	batch->n = 0;
	return error;
}

static int add(pld_domain *domain, struct batch *batch, uint64_t seed)
{
	batch->program[batch->n] = prop_generate(seed);
	if (!batch->program[batch->n])
		return -ENOMEM;
	batch->n++;
	return batch->n == BATCH ? launch(domain, batch) : 0;
}

/* Which of the programs are to run. */
struct selection {
	uint64_t base;
	int count;
	int nranks;
	int tile_bytes;
};

static bool is_selected(const struct selection *selection, uint64_t seed)
{
	return prop_nranks(seed) == selection->nranks &&
	       prop_stage_bytes(seed) == selection->tile_bytes;
}

static int count_selected(const struct selection *selection)
{
	int selected = 0;

	for (int i = 0; i < selection->count; i++)
		selected += is_selected(selection,
					prop_seed(selection->base, (uint64_t)i));
	return selected;
}

static int run_selected(pld_domain *domain, struct batch *batch,
			const struct selection *selection)
{
	for (int i = 0; i < selection->count; i++) {
		uint64_t seed = prop_seed(selection->base, (uint64_t)i);

		if (is_selected(selection, seed))
			PLD_TRY(add(domain, batch, seed));
	}
	return launch(domain, batch);
}

static int run_class(const struct selection *selection)
{
	int selected = count_selected(selection);
	struct batch batch = { .n = 0 };
	pld_domain *domain;
	int error;

	if (!selected)
		return 0;
	printf("# %d programs of %d ranks, stages of %d bytes\n", selected,
	       selection->nranks, selection->tile_bytes);
	domain = make_prop_domain(selection->nranks, selection->tile_bytes);
	if (!domain)
		return -ENODEV;
	batch.shared = make_shared(selection->nranks);
	if (!batch.shared)
		return -ENOMEM;
	error = make_buffers(domain, &batch.buffers);
	if (!error)
		error = run_selected(domain, &batch, selection);
	pld_domain_destroy(domain);
	munmap(batch.shared, sizeof(*batch.shared));
	return error;
}

static int programs(void)
{
	if (getenv("PLD_VALGRIND"))
		return PROGRAMS_IN_VALGRIND;
	if (in_a_guest())
		return PROGRAMS_IN_A_GUEST;
	return SANITIZED ? PROGRAMS_OF_SANITIZERS : PROGRAMS;
}

FIXTURE(programs)
{
	struct selection selection;
};

FIXTURE_VARIANT(programs)
{
	int nranks;
};

#define RANKS(n)                              \
	FIXTURE_VARIANT_ADD(programs, of_##n) \
	{                                     \
		.nranks = n,                  \
	}

RANKS(1);
RANKS(2);
RANKS(3);
RANKS(4);
RANKS(5);
RANKS(6);
RANKS(7);
RANKS(8);
RANKS(16);

FIXTURE_SETUP(programs)
{
	self->selection = (struct selection){
		.base = from_environment("PLD_BASE_SEED", BASE_SEED),
		.count = (int)from_environment("PLD_PROGRAMS",
					       (uint64_t)programs()),
		.nranks = variant->nranks,
	};
}

FIXTURE_TEARDOWN(programs)
{
}

TEST_F_TIMEOUT(programs, leave_what_the_model_has, 120)
{
	for (int i = 0; i < PROP_STAGES; i++) {
		self->selection.tile_bytes = prop_stages[i];
		ASSERT_EQ(0, run_class(&self->selection));
	}
}

static int replay(uint64_t seed, bool verbose)
{
	struct batch batch = { .n = 0 };
	pld_domain *domain;
	int error;

	domain = make_prop_domain(prop_nranks(seed), prop_stage_bytes(seed));
	if (!domain)
		return 1;
	batch.shared = make_shared(prop_nranks(seed));
	error = make_buffers(domain, &batch.buffers);
	if (!error && batch.shared)
		error = add(domain, &batch, seed);
	if (verbose && batch.n)
		prop_print(batch.program[0]);
	if (!error)
		error = launch(domain, &batch);
	pld_domain_destroy(domain);
	printf("seed %llu: %s\n", (unsigned long long)seed,
	       error ? "FAILED" : "OK");
	return error != 0;
}

LIB_TEST_BEFORE_OWN_MAIN

int main(int argc, char **argv)
{
	const char *seed = getenv("PLD_SEED");
	bool verbose = false;

	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "-v"))
			verbose = true;
		else if (!strcmp(argv[i], "--seed") && i + 1 < argc)
			seed = argv[++i];
	}
	if (seed)
		return replay(strtoull(seed, NULL, 0), verbose);
	return test_harness_run(argc, argv);
}
