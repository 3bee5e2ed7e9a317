// SPDX-License-Identifier: GPL-2.0
/*
 * Kill storms: four ranks run random programs, one to four of them are killed
 * at random moments. Who survives is told so, and who died; what was said to be
 * complete is right; nothing hangs and nothing is left over; then the next round.
 *
 *	lib_storm			the tests
 *	lib_storm --seed N		one round
 *
 * PLD_STORM_ROUNDS is how many rounds the tests run; `make check-storms` sets
 * it. PLD_BASE_SEED changes which. A round is a function of its seed, apart from
 * what the machine makes of the moments.
 */
#include <limits.h>

#include "storm_rank.h"
#include "storm_left.h"

#define BASE_SEED UINT64_C(19700101)
#define ROUNDS 8
#define ROUNDS_IN_A_GUEST 2
#define ROUNDS_PRINTED 100
#define TIMEOUT_NS (20000 * LIB_MS)
/*
 * The contract's, for a machine that wakes processes when it should; one that is
 * late itself has as much more. In rounds that are quiet it is hardly late.
 */
#define TOLD_NS (100 * LIB_MS)
#define QUIET_NS (10 * LIB_MS)
#define EXTRA_BYTES (256 << 10)
/* malloc()'s own, and what stdio keeps */
#define HEAP_SLACK (64 << 10)

struct storm_domain {
	pld_domain *domain;
	bool kmod;
	int tile_bytes;
	struct storm_round round;
};

struct counts {
	int rounds;
	int killed;
	int told;
	int finished;
	/* rounds in which nobody was left to be told */
	int all_dead;
	/* among the told, those who were held to the contract's time */
	int compared;
	int too_late;
	/* among these, those who were told in quiet rounds */
	int quiet;
	int64_t worst_quiet_ns;
	/* at worst, also less the machine's own lateness */
	int64_t worst_ns;
	int64_t worst_own_ns;
	int64_t worst_late_ns;
};

static struct storm_peers peers;
static struct counts counts;

/* ---- a round is drawn ---- */

static int slower(const struct storm_domain *d)
{
	return d->kmod ? 10 : 1;
}

static void draw_victims(const struct storm_domain *d, struct prop_random *r)
{
	int victims = prop_between(r, 1, STORM_RANKS);
	/* where ranks come to their end, about then too */
	int span = d->round.runs < INT_MAX ? 60000 : 20000;
	int64_t delay_ns = 0;

	while (victims) {
		struct storm_rank *rank =
			&storm->rank[prop_below(r, STORM_RANKS)];

		if (rank->victim)
			continue;
		/* at its birth; as it works; together with another one */
		switch (prop_below(r, 4)) {
		case 0:
			delay_ns = prop_below(r, 4000) * 1000 * slower(d);
			break;
		case 1:
			break;
		default:
			delay_ns = prop_below(r, span) * 1000 * slower(d);
		}
		rank->victim = 1;
		rank->delay_ns = delay_ns;
		victims--;
	}
}

static int draw_programs(struct storm_domain *d, uint64_t seed)
{
	struct storm_round *round = &d->round;

	for (int n = 0, i = 0; n < STORM_PROGRAMS; i++) {
		uint64_t one = prop_seed(seed, (uint64_t)i);

		if (prop_nranks(one) != STORM_RANKS ||
		    prop_stage_bytes(one) != d->tile_bytes)
			continue;
		round->program[n] = prop_generate(one);
		if (!round->program[n++])
			return -ENOMEM;
	}
	return 0;
}

static int draw_extras(struct storm_domain *d, struct prop_random *r)
{
	struct storm_round *round = &d->round;

	for (round->extras = 0; round->extras < STORM_EXTRAS; round->extras++) {
		int i = round->extras;

		if (prop_once_in(r, 2))
			break;
		round->extra_bytes[i] = (size_t)prop_between(r, 1, EXTRA_BYTES);
		PLD_TRY(pld_alloc_window_buffer(d->domain, round->extra_bytes[i],
						&round->extra[i]));
	}
	return 0;
}

static int draw_round(struct storm_domain *d, uint64_t seed)
{
	struct prop_random r = { seed };

	memset(storm->rank, 0, sizeof(storm->rank));
	d->round.seed = seed;
	/* in some rounds, ranks come to their end by themselves */
	d->round.runs = prop_once_in(&r, 3) ? prop_between(&r, 1, 4) : INT_MAX;
	draw_victims(d, &r);
	PLD_TRY(draw_programs(d, seed));
	return draw_extras(d, &r);
}

static void forget_round(struct storm_domain *d)
{
	for (int i = 0; i < STORM_PROGRAMS; i++) {
		prop_free(d->round.program[i]);
		d->round.program[i] = NULL;
	}
	for (int i = 0; i < d->round.extras; i++)
		pld_free_window_buffer(d->round.extra[i]);
	d->round.extras = 0;
}

/* ---- what became of it ---- */

static int complain(const struct storm_domain *d, int rank, const char *what,
		    int error, const char *message)
{
	fprintf(stderr, "# seed %llu: rank %d: %s: %d \"%s\"\n",
		(unsigned long long)d->round.seed, rank, what, error, message);
	return -EBADMSG;
}

static int64_t first_kill(void)
{
	int64_t first = INT64_MAX;

	for (int r = 0; r < STORM_RANKS; r++)
		if (storm->rank[r].killed_at && storm->rank[r].killed_at < first)
			first = storm->rank[r].killed_at;
	return first;
}

static void keep_most(int64_t *most, int64_t value)
{
	if (value > *most)
		*most = value;
}

/*
 * What the machine itself was late by, while the rank was told: it had the victim
 * wait for a CPU to die on, which only the sleeper stands for, the launcher and the
 * rank itself.
 */
static int64_t lateness(const struct storm_rank *rank)
{
	return storm->late.ns + storm->queued_then - storm->queued_before +
	       rank->queued_then - rank->queued_before;
}

/* How long it took to tell; one who had not begun, from then on. */
static void measure(const struct storm_domain *d, int r)
{
	int64_t since = first_kill(), took, late = lateness(&storm->rank[r]);

	if (storm->rank[r].started_at > since)
		since = storm->rank[r].started_at;
	took = storm->rank[r].told_at - since;
	keep_most(&counts.worst_ns, took);
	/* An emulated guest's time is not the machine's. */
	if (d->kmod)
		return;
	counts.compared++;
	keep_most(&counts.worst_own_ns, took - late);
	if (late <= QUIET_NS) {
		counts.quiet++;
		keep_most(&counts.worst_quiet_ns, took);
	}
	if (took <= TOLD_NS + late)
		return;
	counts.too_late++;
	fprintf(stderr,
		"# seed %llu: rank %d was told after %lld us; the machine was late by %lld us, a sleeper by %lld, %d were runnable\n",
		(unsigned long long)d->round.seed, r, (long long)took / 1000,
		(long long)late / 1000, (long long)storm->late.ns / 1000,
		storm->late.runnable);
}

/* An end that the rank itself told: it was told of a death, or had finished. */
static int check_survivor(const struct storm_domain *d, int r,
			  const pld_rank_report *report)
{
	int named = storm_named(report->message);

	if (!report->error) {
		if (!storm->rank[r].finished)
			return complain(d, r, "a wrong OK", 0, "");
		counts.finished++;
		return 0;
	}
	if (report->error != -EOWNERDEAD || named < 0 || named >= STORM_RANKS ||
	    !storm->rank[named].killed_at ||
	    (storm->rank[r].told_at &&
	     storm->rank[named].killed_at > storm->rank[r].told_at))
		return complain(d, r, "names nobody who was killed",
				report->error, report->message);
	counts.told++;
	if (storm->rank[r].told_at)
		measure(d, r);
	return 0;
}

static bool died_by_kill(int r, const pld_rank_report *report)
{
	char cause[PLD_MESSAGE_BYTES];

	snprintf(cause, sizeof(cause),
		 "rank %d died: killed by signal 9 (Killed)", r);
	return report->error == -EOWNERDEAD && !strcmp(cause, report->message);
}

static int check_rank(const struct storm_domain *d, int r,
		      const pld_rank_report *report)
{
	if (storm->rank[r].pid && !kill(storm->rank[r].pid, 0))
		return complain(d, r, "its process is left over",
				storm->rank[r].pid, "");
	if (storm->rank[r].killed_at && died_by_kill(r, report)) {
		counts.killed++;
		return 0;
	}
	return check_survivor(d, r, report);
}

/* The launch's own result is that of the first who died, or 0. */
static int check_result(const struct storm_domain *d, int error,
			const pld_rank_report *reports)
{
	const char *message = error ? pld_last_error() : "";
	int died = 0, cause = -1;

	for (int r = 0; r < STORM_RANKS; r++) {
		if (!storm->rank[r].killed_at || !died_by_kill(r, &reports[r]))
			continue;
		died++;
		if (!strcmp(message, reports[r].message))
			cause = r;
	}
	counts.all_dead += died == STORM_RANKS;
	if (error ? error != -EOWNERDEAD || cause < 0 : died)
		return complain(d, -1, "the launch", error, message);
	return 0;
}

static int check_round(const struct storm_domain *d, int error,
		       const pld_rank_report *reports)
{
	int worst = check_result(d, error, reports);

	for (int r = 0; r < STORM_RANKS; r++) {
		int one = check_rank(d, r, &reports[r]);

		if (one)
			worst = one;
	}
	if (left_of_devices("ranks") || left_of_devices("waiters"))
		worst = complain(d, -1, "ranks or waits are left over",
				 (int)left_of_devices("ranks"), "");
	if (left_stuck())
		worst = complain(d, -1, "processes are stuck in the kernel",
				 left_processes('D'), "");
	counts.rounds++;
	keep_most(&counts.worst_late_ns, storm->late.ns);
	return worst;
}

static int run_round(struct storm_domain *d, uint64_t seed)
{
	pld_rank_report reports[STORM_RANKS] = { 0 };
	int error = draw_round(d, seed);

	if (!error) {
		storm_go(&peers);
		error = pld_launch(d->domain, storm_kernel, &d->round, reports);
		storm_over(&peers);
		error = check_round(d, error, reports);
	}
	forget_round(d);
	if (!error)
		error = pld_domain_reset(d->domain);
	if (error)
		fprintf(stderr, "# seed %llu: lib_storm --seed %llu: %d\n",
			(unsigned long long)seed, (unsigned long long)seed,
			error);
	return error;
}

/* ---- the domain, for a round or some ---- */

static int make_buffers(struct storm_domain *d)
{
	struct prop_buffers *b = &d->round.buffers;
	int cells = prop_cells(STORM_RANKS);

	for (int i = 0; i < PROP_WINDOWS; i++)
		PLD_TRY(pld_alloc_window_buffer(d->domain, PROP_PLACE_BYTES,
						&b->window[i]));
	PLD_TRY(pld_alloc_signal(d->domain, PLD_SHAPE(STORM_RANKS, PROP_COLUMNS),
				 &b->cells));
	PLD_TRY(pld_alloc_signal(d->domain, PLD_SHAPE(cells), &b->spread));
	PLD_TRY(pld_alloc_window_buffer_shaped(d->domain, PLD_SHAPE(cells),
					       PLD_INT32, &b->dense));
	PLD_TRY(pld_alloc_signal(d->domain, PLD_SHAPE(STORM_RANKS, 1),
				 &d->round.credits));
	return pld_alloc_window_buffer_shaped(d->domain,
					      PLD_SHAPE(STORM_RANKS, STORM_SLICE),
					      PLD_INT32, &d->round.gathered);
}

static int open_domain(struct storm_domain *d, uint64_t seed)
{
	const int devices[STORM_RANKS] = { 0, 1, 2, 3 };
	pld_domain_options options = {
		.timeout_ns = TIMEOUT_NS,
		.tile_bytes = (size_t)prop_stage_bytes(seed),
	};

	d->tile_bytes = prop_stage_bytes(seed);
	PLD_TRY(pld_domain_create(devices, STORM_RANKS, &options, &d->domain));
	d->kmod = !strcmp(pld_domain_platform(d->domain), "kmod");
	return make_buffers(d);
}

static void close_domain(struct storm_domain *d)
{
	pld_domain_destroy(d->domain);
	d->domain = NULL;
}

/* In the domain of the round before if that fits and chance has it. */
static int next_round(struct storm_domain *d, uint64_t seed,
		      const struct left *before)
{
	if (d->domain && (seed % 2 || d->tile_bytes != prop_stage_bytes(seed))) {
		close_domain(d);
		if (!left_as_before(before, HEAP_SLACK))
			return -EBUSY;
	}
	if (!d->domain)
		PLD_TRY(open_domain(d, seed));
	return run_round(d, seed);
}

static void print_counts(void)
{
	printf("# %d rounds: %d ranks killed, %d told, %d finished; in %d rounds all were killed\n",
	       counts.rounds, counts.killed, counts.told, counts.finished,
	       counts.all_dead);
	printf("# told after %lld us at most; a sleeper was late by %lld us at most\n",
	       (long long)counts.worst_ns / 1000,
	       (long long)counts.worst_late_ns / 1000);
	printf("# %d of them were held to %lld us and the machine's own lateness: %lld us at most without the latter, %d too late\n",
	       counts.compared, (long long)TOLD_NS / 1000,
	       (long long)counts.worst_own_ns / 1000, counts.too_late);
	printf("# where the machine was late by %lld us at most: %d were told, after %lld us at most\n",
	       (long long)QUIET_NS / 1000, counts.quiet,
	       (long long)counts.worst_quiet_ns / 1000);
	fflush(stdout);
}

static int rounds(void)
{
	return (int)from_environment("PLD_STORM_ROUNDS",
				     in_a_guest() ? ROUNDS_IN_A_GUEST : ROUNDS);
}

/* The first round is not counted: it opens what stays open. */
static int run_rounds(uint64_t base, int n)
{
	struct storm_domain d = { 0 };
	struct left before;
	int error;

	PLD_TRY(open_domain(&d, base));
	PLD_TRY(run_round(&d, base));
	close_domain(&d);
	before = left_now();
	for (int i = 0; i < n; i++) {
		error = next_round(&d, prop_seed(base, (uint64_t)i), &before);
		if (error)
			return error;
		if ((i + 1) % ROUNDS_PRINTED == 0)
			print_counts();
	}
	close_domain(&d);
	return left_as_before(&before, HEAP_SLACK) ? 0 : -EBUSY;
}

FIXTURE(storm){};

FIXTURE_SETUP(storm)
{
	if (!left_own_folders())
		TH_LOG("/tmp and /dev/shm are everybody's");
	ASSERT_TRUE(!in_a_guest() || left_has_module());
	ASSERT_EQ(0, storm_begin(&peers));
}

FIXTURE_TEARDOWN(storm)
{
	storm_end(&peers);
}

TEST_F_TIMEOUT(storm, survivors_are_told_and_nothing_is_left, 1800)
{
	uint64_t base = from_environment("PLD_BASE_SEED", BASE_SEED);
	int n = rounds();

	printf("# base seed %llu, %d rounds\n", (unsigned long long)base, n);
	EXPECT_EQ(0, run_rounds(base, n));
	print_counts();
	/* A few rounds beside other tests say nothing about time. */
	if (!getenv("PLD_STORM_ROUNDS"))
		return;
	EXPECT_EQ(0, counts.too_late);
	/* Who is told before it has begun has no time of its own. */
	if (!in_a_guest())
		EXPECT_LE(counts.told, 2 * counts.compared);
}

static int replay(uint64_t seed)
{
	struct storm_domain d = { 0 };
	int error;

	setpgid(0, 0);
	error = storm_begin(&peers);
	if (!error)
		error = open_domain(&d, seed);
	if (!error)
		error = run_round(&d, seed);
	close_domain(&d);
	storm_end(&peers);
	print_counts();
	printf("seed %llu: %s\n", (unsigned long long)seed,
	       error ? "FAILED" : "OK");
	return error != 0;
}

LIB_TEST_BEFORE_OWN_MAIN

int main(int argc, char **argv)
{
	const char *seed = getenv("PLD_SEED");

	if (argc == 3 && !strcmp(argv[1], "--seed"))
		seed = argv[2];
	if (seed)
		return replay(strtoull(seed, NULL, 0));
	return test_harness_run(argc, argv);
}
