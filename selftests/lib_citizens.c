// SPDX-License-Identifier: GPL-2.0
/*
 * Bad citizens: a rank that scribbles, unmaps, closes, forks, runs another
 * program, stops, or has no descriptors or memory left. Its own domain goes on
 * or fails and says why; no other rank crashes. Another domain, on the same
 * devices, gathers all the time and must not notice. Then the first one is reset
 * and works again.
 *
 * What a contract says of scribbled memory: a window holds what was written to
 * it, wrong or not; a wait sees what is in its cell. So such a domain may gather
 * what nobody sent, or wait until its time runs out.
 *
 * PLD_CITIZENS is how often each test is done, and makes it longer; `make
 * check-storms` sets it.
 */
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "lib_fault.h"
#include "lib_left.h"
#include "pld_counters.h"
#include "pld_proc.h"
#include "prop_random.h"
#include "storm_gather.h"
#include "storm_late.h"

#define BAD 2
#define RUNS 60
#define BAD_AT 20
/* of the innocent domain, before the bad one begins and after it has ended */
#define GATHERS_MORE 20
/*
 * As long as it may stand still at a time, besides what the machine is late itself: its
 * ranks could run and did not, or were woken late. In a guest, the time in which it
 * must gather anyway.
 */
#define STILL_NS (100 * LIB_MS)
#define STILL_NS_IN_A_GUEST (2000 * LIB_MS)
#define LOOK_NS (10 * LIB_MS)
#define BYTES 65536
#define LARGE_TILE (32 << 20)
#define SEED UINT64_C(1793)

/* Between all processes of a test. */
struct town {
	/* of the innocent domain */
	int stop;
	int gathers;
	int64_t gathered_at;
	pid_t pids[GATHER_RANKS];
	/* how long its ranks have waited for a CPU, at the last look */
	int64_t queued_ns;
	int64_t looked_at;
	/* since the deed began: the longest time from one gather to the next, and less
	 * what its ranks waited for a CPU meanwhile
	 */
	int64_t still_ns;
	int64_t idle_ns;
	struct late late;
	/* of the bad one */
	pid_t child;
	int gathered[GATHER_RANKS];
	int error;
	char message[PLD_MESSAGE_BYTES];
};

static struct town *town;
static struct gather buffers;

static int times(void)
{
	return (int)from_environment("PLD_CITIZENS", 1);
}

/* Long enough to see something, as often as there is time for it. */
static int long_ms(void)
{
	return getenv("PLD_CITIZENS") ? 1000 : 100;
}

/*
 * A domain in trouble waits that long for what never comes. It must do for what
 * does come, too, which an emulated guest with the kernel's checkers makes slow.
 */
static int64_t trouble_ns(void)
{
	return (in_a_guest() ? 3000 : long_ms()) * LIB_MS;
}

/* ---- the innocent domain ---- */

static void keep_most(int64_t *most, int64_t value)
{
	if (value > __atomic_load_n(most, __ATOMIC_RELAXED))
		__atomic_store_n(most, value, __ATOMIC_RELAXED);
}

/* How long the innocent ranks could run and did not, in all; 0: nobody says. */
static int64_t queued_ns(void)
{
	int64_t sum = 0;

	for (int rank = 0; rank < GATHER_RANKS; rank++)
		sum += late_queued(
			__atomic_load_n(&town->pids[rank], __ATOMIC_RELAXED));
	return sum;
}

static void count_gather(void)
{
	int64_t now = now_ns(), still = now - town->gathered_at, before;

	keep_most(&town->still_ns, still);
	if (now - town->looked_at > LOOK_NS) {
		before = town->queued_ns;
		town->queued_ns = queued_ns();
		town->looked_at = now;
		keep_most(&town->idle_ns, still - (town->queued_ns - before));
	}
	town->gathered_at = now_ns();
	/* Release: who waits for more of them sees how long they took. */
	__atomic_fetch_add(&town->gathers, 1, __ATOMIC_RELEASE);
}

static int gather_until_told(pld_domain *domain, void *arg)
{
	int32_t said = 0;

	__atomic_store_n(&town->pids[pld_rank(domain)], getpid(),
			 __ATOMIC_RELAXED);
	for (int run = 0; !said; run++) {
		int word = __atomic_load_n(&town->stop, __ATOMIC_RELAXED);

		PLD_TRY(gather_word(domain, arg, run, true, word, &said));
		if (!pld_rank(domain))
			count_gather();
	}
	return 0;
}

static int innocent(struct peer *self, void *arg)
{
	pld_domain *domain = make_domain(GATHER_RANKS);
	struct gather own;

	(void)self;
	(void)arg;
	NEED(domain != NULL);
	NEED(!gather_alloc(domain, BYTES, &own));
	NEED(!run_ranks(domain, gather_until_told, &own));
	pld_domain_destroy(domain);
	return 0;
}

static int gathers(void)
{
	return __atomic_load_n(&town->gathers, __ATOMIC_ACQUIRE);
}

/* Waits until the innocent domain has gathered some more; false: it hangs. */
static bool gathers_go_on(void)
{
	int before = gathers();

	for (int i = 0; i < 20000; i++) {
		if (gathers() - before >= GATHERS_MORE)
			return true;
		sleep_ms(1);
	}
	return false;
}

/* ---- what the bad rank does ---- */

/* Calls deed(mapping's start, its end) for all that it shares and can write to. */
static int each_shared(void (*deed)(char *start, char *end, void *arg),
		       void *arg)
{
	unsigned long start[64], end[64];
	char line[512], permissions[8];
	int n = 0;
	FILE *maps = fopen("/proc/self/maps", "r");

	CHECK(maps != NULL);
	while (n < 64 && fgets(line, sizeof(line), maps)) {
		CHECK_EQ(3, sscanf(line, "%lx-%lx %7s", &start[n], &end[n],
				   permissions));
		if (!strcmp(permissions, "rw-s") &&
		    start[n] != (unsigned long)town)
			n++;
	}
	fclose(maps);
	CHECK(n > 0);
	for (int i = 0; i < n; i++)
		deed((char *)start[i], (char *)end[i], arg);
	return 0;
}

static void scribble_over(char *start, char *end, void *arg)
{
	struct prop_random *r = arg;
	size_t words = (size_t)(end - start) / sizeof(uint32_t);

	for (int i = 0; i < 200; i++)
		((volatile uint32_t *)start)[prop_next(r) % words] =
			(uint32_t)prop_next(r);
}

static int scribble(pld_domain *domain)
{
	struct prop_random r = { SEED };
	int64_t end = now_ns() + long_ms() * LIB_MS;

	(void)domain;
	while (now_ns() < end)
		PLD_TRY(each_shared(scribble_over, &r));
	return 0;
}

static void unmap_one(char *start, char *end, void *arg)
{
	(void)arg;
	munmap(start, (size_t)(end - start));
}

/* A sanitizer would turn it into an exit. */
static int unmap(pld_domain *domain)
{
	(void)domain;
	signal(SIGSEGV, SIG_DFL);
	return each_shared(unmap_one, NULL);
}

static int unmap_and_map_anew(pld_domain *domain)
{
	pld_distributed_tensor signal;

	(void)domain;
	PLD_TRY(pld_window(buffers.signal, PLD_SHAPE(GATHER_RANKS, 1),
			   PLD_INT32, &signal));
	/* Its peers' notifies no longer reach it. */
	CHECK(mmap((void *)((uintptr_t)signal.data & ~(uintptr_t)4095), 4096,
		   PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != MAP_FAILED);
	return 0;
}

/* The others wait for this rank until it is taken for dead. */
static int close_all(pld_domain *domain)
{
	pld_distributed_tensor signal;
	int error = 0;

	(void)domain;
	syscall(SYS_close_range, STDERR_FILENO + 1, ~0U, 0);
	for (int i = 0; i < 20000 && !error; i++) {
		sleep_ms(1);
		error = pld_window(buffers.signal, PLD_SHAPE(GATHER_RANKS, 1),
				   PLD_INT32, &signal);
	}
	CHECK_EQ(-EOWNERDEAD, error);
	return error;
}

static int try_in_child(pld_domain *domain)
{
	int32_t said;

	CHECK_EQ(-EPERM, gather_word(domain, &buffers, 0, false, 0, &said));
	return 0;
}

static int fork_a_child(pld_domain *domain)
{
	pid_t child = fork();

	CHECK(child >= 0);
	if (!child) {
		prctl(PR_SET_PDEATHSIG, 0);
		town->error = try_in_child(domain);
		/* Release: the rank and the test see what the child found. */
		__atomic_store_n(&town->child, getpid(), __ATOMIC_RELEASE);
		for (;;)
			pause();
	}
	while (!__atomic_load_n(&town->child, __ATOMIC_ACQUIRE))
		sleep_ms(1);
	return town->error;
}

static int exec_program(pld_domain *domain)
{
	(void)domain;
	execlp("sleep", "sleep", "60", (char *)NULL);
	return -ENOEXEC;
}

static int stop(pld_domain *domain)
{
	pid_t rank = getpid(), child = fork();

	(void)domain;
	CHECK(child >= 0);
	if (!child) {
		sleep_ms(long_ms());
		kill(rank, SIGCONT);
		_exit(0);
	}
	raise(SIGSTOP);
	CHECK_EQ(child, TEMP_FAILURE_RETRY(waitpid(child, NULL, 0)));
	return 0;
}

static int use_up_descriptors(pld_domain *domain)
{
	struct rlimit none = { 3, 3 };
	pld_waiter *waiter;

	CHECK_EQ(0, setrlimit(RLIMIT_NOFILE, &none));
	CHECK_REFUSED(-EMFILE, "pld_waiter_create: eventfd: Too many open files",
		      pld_waiter_create(domain, &waiter));
	return 0;
}

/* No page more than it has. */
static int use_up_memory(pld_domain *domain)
{
	struct rlimit limit = { 0, RLIM_INFINITY };
	long long pages = 0;
	pld_tile tile;
	FILE *statm = fopen("/proc/self/statm", "r");

	(void)domain;
	CHECK(statm && fscanf(statm, "%lld", &pages) == 1);
	fclose(statm);
	limit.rlim_cur = (rlim_t)pages * 4096;
	CHECK_EQ(0, setrlimit(RLIMIT_AS, &limit));
	CHECK_EQ(-ENOMEM, pld_tile_alloc(&tile, LARGE_TILE));
	CHECK(strstr(pld_last_error(), "pld_tile_alloc"));
	return 0;
}

/* A stage is made by the first put in chunks: there is no memory for it then. */
static int want_a_stage(pld_domain *domain)
{
	const pld_put_options in_chunks = { .chunk_cols = 1 };
	pld_distributed_tensor data;
	int32_t word = 0;
	pld_tensor x;

	PLD_TRY(use_up_memory(domain));
	PLD_TRY(pld_window(buffers.data, PLD_SHAPE(1), PLD_INT32, &data));
	PLD_TRY(pld_tensor_init(&x, &word, PLD_SHAPE(1), PLD_INT32));
	return pld_tensor_put(&data, BAD, &x, &in_chunks);
}

/* ---- the domain that it is in ---- */

struct bad {
	int (*deed)(pld_domain *domain);
	/* gathers before it */
	int at;
	bool check;
};

static int gather_and_be_bad(pld_domain *domain, void *arg)
{
	const struct bad *bad = arg;
	int me = pld_rank(domain);
	int32_t said;

	for (int run = 0; run < RUNS; run++) {
		if (me == BAD && run == bad->at)
			PLD_TRY(bad->deed(domain));
		PLD_TRY(gather_word(domain, &buffers, run, bad->check, run,
				    &said));
		if (bad->check)
			CHECK_EQ(run, said);
		town->gathered[me] = run + 1;
	}
	return 0;
}

static int gather_well(pld_domain *domain, void *arg)
{
	(void)arg;
	for (int run = 0; run < RUNS; run++)
		PLD_TRY(gather_once(domain, &buffers, run));
	return 0;
}

FIXTURE(citizens)
{
	bool kmod;
	struct peer sleeper;
	struct peer innocent;
	pld_domain *domain;
	pld_rank_report reports[GATHER_RANKS];
	int log;
};

static int make_bad_domain(int64_t timeout_ns, size_t tile_bytes,
			   pld_domain **domain)
{
	const int devices[GATHER_RANKS] = { 0, 1, 2, 3 };
	pld_domain_options options = {
		.timeout_ns = timeout_ns,
		.tile_bytes = tile_bytes,
	};

	PLD_TRY(pld_domain_create(devices, GATHER_RANKS, &options, domain));
	return gather_alloc(*domain, BYTES, &buffers);
}

FIXTURE_SETUP(citizens)
{
	struct rlimit no_core = { 0, 0 };

	setrlimit(RLIMIT_CORE, &no_core);
	self->kmod = in_a_guest();
	self->log = self->kmod ? kernel_log_open() : -1;
	town = mmap(NULL, sizeof(*town), PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, town);
	ASSERT_EQ(0, peer_start(&self->sleeper, late_sleeper, &town->late));
	ASSERT_EQ(0, peer_start(&self->innocent, innocent, NULL));
	ASSERT_TRUE(gathers_go_on());
	ASSERT_EQ(0, make_bad_domain(20000 * LIB_MS, 0, &self->domain));
}

FIXTURE_TEARDOWN(citizens)
{
	pld_domain_destroy(self->domain);
	EXPECT_TRUE(gathers_go_on());
	__atomic_store_n(&town->stop, 1, __ATOMIC_RELAXED);
	EXPECT_EQ(0, peer_reap(&self->innocent));
	peer_kill(&self->sleeper);
	if (self->log >= 0)
		EXPECT_EQ(0, kernel_log_splats(self->log));
}

/* From here on to expect_unnoticed(). */
static int watch_innocent(void)
{
	late_begin(&town->late);
	__atomic_store_n(&town->still_ns, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&town->idle_ns, 0, __ATOMIC_RELAXED);
	return gathers();
}

/* While the deed was done the innocent domain gathered, and goes on with it. */
static void expect_unnoticed(struct __test_metadata *_metadata,
			     const FIXTURE_DATA(citizens) * self, int before,
			     int64_t took)
{
	int during = gathers() - before;
	int64_t idle, may;

	EXPECT_TRUE(gathers_go_on());
	late_end(&town->late);
	idle = __atomic_load_n(&town->idle_ns, __ATOMIC_RELAXED);
	may = self->kmod ? STILL_NS_IN_A_GUEST
			 : STILL_NS + GATHER_RANKS * town->late.ns;
	fprintf(stderr,
		"# the others gathered %d times in %lld us, and stood still for %lld us at most, %lld us without a wish to run; a sleeper was late by %lld us\n",
		during, (long long)took / 1000, (long long)town->still_ns / 1000,
		(long long)idle / 1000, (long long)town->late.ns / 1000);
	/* An emulated guest's time is not the machine's. */
	if (!self->kmod && queued_ns()) {
		EXPECT_LE(idle, may);
	} else if (took > may) {
		EXPECT_LT(0, during);
	}
}

/* The deed; then the domain works again, and the innocent one has all the time. */
static int be_bad(struct __test_metadata *_metadata,
		  FIXTURE_DATA(citizens) * self, struct bad bad)
{
	int before = watch_innocent(), error;
	int64_t begun = now_ns();

	memset(self->reports, 0, sizeof(self->reports));
	memset(town->gathered, 0, sizeof(town->gathered));
	error = pld_launch(self->domain, gather_and_be_bad, &bad, self->reports);
	snprintf(town->message, sizeof(town->message), "%s",
		 error ? pld_last_error() : "");
	expect_unnoticed(_metadata, self, before, now_ns() - begun);
	EXPECT_EQ(0, pld_domain_reset(self->domain));
	EXPECT_EQ(0, run_ranks(self->domain, gather_well, NULL));
	return error;
}

static bool begins(const char *message, const char *with)
{
	return !strncmp(message, with, strlen(with));
}

/* How many ranks say so. */
static int say(const FIXTURE_DATA(citizens) * self, const char *what)
{
	int count = 0;

	for (int rank = 0; rank < GATHER_RANKS; rank++)
		count += !!strstr(self->reports[rank].message, what);
	return count;
}

static void print_reports(const FIXTURE_DATA(citizens) * self)
{
	for (int rank = 0; rank < GATHER_RANKS; rank++)
		fprintf(stderr, "# rank %d: %d, %s\n", rank,
			self->reports[rank].error, self->reports[rank].message);
}

/* Everything is right, as if nothing had been. */
static void expect_good(struct __test_metadata *_metadata,
			FIXTURE_DATA(citizens) * self,
			int (*deed)(pld_domain *domain))
{
	for (int i = 0; i < times(); i++) {
		int error = be_bad(_metadata, self,
				   (struct bad){ deed, BAD_AT, true });

		EXPECT_EQ(0, error);
		if (error)
			print_reports(self);
		for (int rank = 0; rank < GATHER_RANKS; rank++)
			EXPECT_EQ(RUNS, town->gathered[rank]);
	}
}

/* The launch says who died, and so do the other ranks. */
static void expect_death(struct __test_metadata *_metadata,
			 FIXTURE_DATA(citizens) * self,
			 int (*deed)(pld_domain *domain))
{
	for (int i = 0; i < times(); i++) {
		int error = be_bad(_metadata, self,
				   (struct bad){ deed, BAD_AT, true });

		EXPECT_EQ(-EOWNERDEAD, error);
		EXPECT_TRUE(begins(town->message, "rank 2 died: "));
		for (int rank = 0; rank < GATHER_RANKS; rank++) {
			EXPECT_EQ(-EOWNERDEAD, self->reports[rank].error);
			EXPECT_NE(NULL, strstr(self->reports[rank].message,
					       "rank 2 died"));
		}
	}
}

/*
 * Something may be wrong with its data, but nobody else crashes or hangs. With a
 * sentence, some rank says it.
 */
static void expect_trouble(struct __test_metadata *_metadata,
			   FIXTURE_DATA(citizens) * self,
			   int (*deed)(pld_domain *domain), const char *sentence)
{
	pld_domain_destroy(self->domain);
	ASSERT_EQ(0, make_bad_domain(trouble_ns(), 0, &self->domain));
	for (int i = 0; i < times(); i++) {
		int error = be_bad(_metadata, self,
				   (struct bad){ deed, BAD_AT, false });

		for (int rank = 0; rank < GATHER_RANKS; rank++) {
			const pld_rank_report *report = &self->reports[rank];

			EXPECT_TRUE(!report->error ||
				    report->error == -ETIMEDOUT ||
				    report->error == -EOWNERDEAD ||
				    report->error == -ECANCELED);
			EXPECT_EQ(!report->error, !report->message[0]);
			EXPECT_EQ(NULL, strstr(report->message, "killed by"));
			EXPECT_TRUE(!report->error || error);
		}
		/* Nobody did that. */
		EXPECT_EQ(0, say(self, "the domain was reset"));
		if (sentence)
			EXPECT_LT(0, say(self, sentence));
		if (i == 0)
			print_reports(self);
	}
}

TEST_F_TIMEOUT(citizens, who_scribbles_hurts_its_own_domain_only, 600)
{
	/* The module maps its status pages for reading only. */
	expect_trouble(_metadata, self, scribble,
		       self->kmod ? NULL
				  : "the domain's status page was overwritten");
}

TEST_F_TIMEOUT(citizens, who_maps_something_else_hurts_its_own_domain_only, 600)
{
	expect_trouble(_metadata, self, unmap_and_map_anew, NULL);
}

TEST_F_TIMEOUT(citizens, who_unmaps_is_dead, 600)
{
	expect_death(_metadata, self, unmap);
}

TEST_F_TIMEOUT(citizens, who_closes_its_files_is_dead, 600)
{
	expect_death(_metadata, self, close_all);
}

TEST_F_TIMEOUT(citizens, who_runs_another_program_is_dead, 600)
{
	expect_death(_metadata, self, exec_program);
}

TEST_F_TIMEOUT(citizens, a_child_that_lives_on_is_nobodys_trouble, 600)
{
	for (int i = 0; i < times(); i++) {
		town->child = 0;
		EXPECT_EQ(0, be_bad(_metadata, self,
				    (struct bad){ fork_a_child, BAD_AT, true }));
		EXPECT_LT(0, town->child);
		EXPECT_EQ(0, kill(town->child, SIGKILL));
	}
}

TEST_F_TIMEOUT(citizens, who_stops_for_a_while_is_waited_for, 600)
{
	expect_good(_metadata, self, stop);
}

TEST_F_TIMEOUT(citizens, who_has_no_descriptors_left_goes_on, 600)
{
	expect_good(_metadata, self, use_up_descriptors);
}

TEST_F_TIMEOUT(citizens, who_has_no_memory_left_goes_on, 600)
{
	if (SANITIZED)
		SKIP(return, "a sanitizer needs memory itself");
	expect_good(_metadata, self, use_up_memory);
}

TEST_F_TIMEOUT(citizens, who_has_no_memory_for_a_stage_says_so, 600)
{
	if (SANITIZED)
		SKIP(return, "a sanitizer needs memory itself");
	pld_domain_destroy(self->domain);
	ASSERT_EQ(0, make_bad_domain(20000 * LIB_MS, LARGE_TILE, &self->domain));
	for (int i = 0; i < times(); i++) {
		EXPECT_EQ(-ENOMEM,
			  be_bad(_metadata, self,
				 (struct bad){ want_a_stage, 0, true }));
		EXPECT_TRUE(begins(town->message, "rank 2: "));
		EXPECT_EQ(-EOWNERDEAD, self->reports[0].error);
		EXPECT_NE(NULL, strstr(self->reports[0].message,
				       "rank 2 failed: Cannot allocate memory"));
	}
}

LIB_TEST_MAIN
