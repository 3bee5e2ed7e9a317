// SPDX-License-Identifier: GPL-2.0
/*
 * Sub-domains: whose ranks they have, that they are isolated from each other
 * and from their parent, who is told what of whose failure, what resets and
 * ends them, and that domains with them can be used again and again.
 */
#include <stdlib.h>
#include <unistd.h>

#include "lib_fault.h"
#include "lib_left.h"
#include "lib_test.h"

#define NRANKS 5
#define LONG (60000 * LIB_MS)
/* Many launches, which valgrind and emulators take their time for. */
#define SLOW_TEST_F(fixture, test) TEST_F_TIMEOUT(fixture, test, 300)

/* A domain of a family, and what is allocated in it. */
struct home {
	pld_domain *domain;
	pld_window_buffer *data;
	pld_window_buffer *signal;
	int nranks;
	int ranks[NRANKS];
};

/* Rank 3 is in both sub-domains, rank 4 in none. */
enum { PARENT, BACK, LEFT, HOMES };

/*
 * Without the caches that malloc() has for each thread: what they keep counts as
 * given out, so that the heap would seem to grow for a long time.
 */
static void __attribute__((constructor)) without_caches(int argc, char **argv)
{
	(void)argc;
	if (getenv("GLIBC_TUNABLES") || getenv("PLD_VALGRIND"))
		return;
	setenv("GLIBC_TUNABLES", "glibc.malloc.tcache_count=0", 1);
	execv("/proc/self/exe", argv);
}

static struct home homes[HOMES];
static struct shared *shared;

FIXTURE(subdomain)
{
	pld_domain *domain;
};

static int furnish(struct home *home)
{
	home->nranks = pld_world_size(home->domain);
	PLD_TRY(pld_alloc_window_buffer_shaped(home->domain,
					       PLD_SHAPE(home->nranks, 4),
					       PLD_INT32, &home->data));
	return pld_alloc_signal(home->domain, PLD_SHAPE(home->nranks, 1),
				&home->signal);
}

static int make_homes(void)
{
	struct home back = { .ranks = { 3, 1 }, .nranks = 2 };
	struct home left = { .ranks = { 0, 2, 3 }, .nranks = 3 };

	homes[PARENT] = (struct home){ .ranks = { 0, 1, 2, 3, 4 } };
	homes[PARENT].domain = make_domain(NRANKS);
	homes[BACK] = back;
	homes[LEFT] = left;
	for (int i = BACK; i < HOMES; i++)
		PLD_TRY(pld_subdomain_create(homes[PARENT].domain,
					     homes[i].ranks, homes[i].nranks,
					     &homes[i].domain));
	for (int i = 0; i < HOMES; i++)
		PLD_TRY(furnish(&homes[i]));
	return 0;
}

FIXTURE_SETUP(subdomain)
{
	ASSERT_EQ(0, make_homes());
	self->domain = homes[PARENT].domain;
	shared = make_shared();
	ASSERT_NE(NULL, shared);
}

FIXTURE_TEARDOWN(subdomain)
{
	pld_domain_destroy(self->domain);
}

/* The rank that this process is in a home, or -1. */
static int place_in(const struct home *home, int parent_rank)
{
	for (int rank = 0; rank < home->nranks; rank++)
		if (home->ranks[rank] == parent_rank)
			return rank;
	return -1;
}

/* ---- whose ranks ---- */

static int refused_outside(const struct home *home, int me)
{
	pld_distributed_tensor view;
	pld_waiter *waiter;
	char message[128];

#define OUTSIDE(op, call)                                                            \
	do {                                                                         \
		snprintf(message, sizeof(message),                                   \
			 op                                                          \
			 ": rank %d of the parent domain is not in this sub-domain", \
			 me);                                                        \
		CHECK_REFUSED(-ENOTCONN, message, call);                             \
	} while (0)
	OUTSIDE("pld.rank", pld_rank(home->domain));
	OUTSIDE("pld.window",
		pld_window(home->data, PLD_SHAPE(1), PLD_INT32, &view));
	OUTSIDE("pld_abort", pld_abort(home->domain, 1));
	OUTSIDE("pld_waiter_create", pld_waiter_create(home->domain, &waiter));
	CHECK_EQ(home->nranks, pld_nranks(home->domain));
	/* These have no way to refuse. */
	pld_free_window_buffer(home->data);
	pld_domain_destroy(home->domain);
	return 0;
}

static int see_ranks(pld_domain *domain, void *arg)
{
	int me = pld_rank(domain);

	(void)arg;
	for (int i = 0; i < HOMES; i++) {
		struct home *home = &homes[i];
		pld_distributed_tensor view;
		pld_window_buffer *more;
		char message[128];
		pld_domain *ctx;

		snprintf(message, sizeof(message),
			 "pld.alloc_window_buffer: only the host side can do this, not rank %d",
			 me);
		CHECK_REFUSED(-EPERM, message,
			      pld_alloc_window_buffer(home->domain, 8, &more));
		if (place_in(home, me) < 0) {
			PLD_TRY(refused_outside(home, me));
			continue;
		}
		CHECK_EQ(place_in(home, me), pld_rank(home->domain));
		CHECK_EQ(home->nranks, pld_nranks(home->domain));
		PLD_TRY(pld_window(home->data, PLD_SHAPE(1), PLD_INT32, &view));
		PLD_TRY(pld_get_comm_ctx(&view, &ctx));
		CHECK(ctx == home->domain);
		pld_domain_destroy(home->domain);
		CHECK_EQ(place_in(home, me), pld_rank(home->domain));
	}
	return 0;
}

/* Views of two domains in one call; rank 3 is in all. */
static int mix_domains(pld_domain *domain, void *arg)
{
	pld_distributed_tensor target, input, signal;
	int32_t mine[4] = { 0 };
	pld_tensor x;

	(void)arg;
	if (pld_rank(domain) != 3)
		return 0;
	PLD_TRY(pld_tensor_init(&x, mine, PLD_SHAPE(1, 4), PLD_INT32));
	PLD_TRY(pld_window(homes[BACK].data, PLD_SHAPE(2, 4), PLD_INT32,
			   &target));
	PLD_TRY(pld_window(homes[PARENT].data, PLD_SHAPE(2, 4), PLD_INT32,
			   &input));
	PLD_TRY(pld_window(homes[PARENT].signal, PLD_SHAPE(2, 1), PLD_INT32,
			   &signal));
	CHECK_REFUSED(-EINVAL,
		      "pld.tensor.allgather signal and target must be of one domain",
		      pld_tensor_allgather(&x, &target, &signal));
	CHECK_REFUSED(-EINVAL,
		      "pld.tensor.broadcast signal and target must be of one domain",
		      pld_tensor_broadcast(&target, &signal, 0));
	CHECK_REFUSED(-EINVAL,
		      "pld.tensor.reduce_scatter signal and target must be of one domain",
		      pld_tensor_reduce_scatter(&target, &signal, PLD_SUM));
	CHECK_REFUSED(-EINVAL,
		      "pld.tensor.allreduce signal and target must be of one domain",
		      pld_tensor_allreduce(&target, &signal, PLD_SUM, PLD_MESH));
	CHECK_REFUSED(-EINVAL,
		      "pld.tensor.all_to_all signal and target must be of one domain",
		      pld_tensor_all_to_all(&input, &target, &signal));
	PLD_TRY(pld_window(homes[BACK].signal, PLD_SHAPE(2, 1), PLD_INT32,
			   &signal));
	CHECK_REFUSED(-EINVAL,
		      "pld.tensor.all_to_all input and target must be of one domain",
		      pld_tensor_all_to_all(&input, &target, &signal));
	return 0;
}

TEST_F(subdomain, views_of_two_domains_are_refused)
{
	RUN(self->domain, mix_domains, NULL);
}

TEST_F(subdomain, ranks_are_numbered_in_the_order_of_the_list)
{
	RUN(self->domain, see_ranks, NULL);
	for (int i = 0; i < HOMES; i++) {
		EXPECT_EQ(homes[i].nranks, pld_world_size(homes[i].domain));
		EXPECT_STREQ(pld_domain_platform(self->domain),
			     pld_domain_platform(homes[i].domain));
		EXPECT_STREQ(pld_domain_platform_reason(self->domain),
			     pld_domain_platform_reason(homes[i].domain));
		EXPECT_REFUSED(-ENOTCONN, "pld.rank: the host side has no rank",
			       pld_rank(homes[i].domain));
	}
}

TEST_F(subdomain, what_is_no_subset_is_refused)
{
	static const char null[] =
		"pld_subdomain_create: parent, ranks and subdomain must not be NULL";
	const int bad[] = { 1, 0, 5, -1, 0 };
	pld_domain *sub = NULL;

	EXPECT_REFUSED(-EINVAL, null, pld_subdomain_create(NULL, bad, 1, &sub));
	EXPECT_REFUSED(-EINVAL, null,
		       pld_subdomain_create(self->domain, NULL, 1, &sub));
	EXPECT_REFUSED(-EINVAL, null,
		       pld_subdomain_create(self->domain, bad, 1, NULL));
	EXPECT_REFUSED(-EINVAL, "pld_subdomain_create: 0 ranks, wanted 1 to 5",
		       pld_subdomain_create(self->domain, bad, 0, &sub));
	EXPECT_REFUSED(-EINVAL, "pld_subdomain_create: 6 ranks, wanted 1 to 5",
		       pld_subdomain_create(self->domain, bad, 6, &sub));
	EXPECT_REFUSED(-ERANGE,
		       "pld_subdomain_create: ranks[2] is 5, wanted 0 to 4",
		       pld_subdomain_create(self->domain, bad, 3, &sub));
	EXPECT_REFUSED(-ERANGE,
		       "pld_subdomain_create: ranks[0] is -1, wanted 0 to 4",
		       pld_subdomain_create(self->domain, bad + 3, 2, &sub));
	EXPECT_REFUSED(-EINVAL, "pld_subdomain_create: rank 3 is named twice",
		       pld_subdomain_create(self->domain, (int[]){ 3, 1, 3 }, 3,
					    &sub));
	EXPECT_REFUSED(-EINVAL,
		       "pld_subdomain_create: parent is a sub-domain itself, wanted a domain that can be launched",
		       pld_subdomain_create(homes[BACK].domain, bad, 1, &sub));
	EXPECT_EQ(NULL, sub);
}

TEST_F(subdomain, is_launched_and_reset_with_its_parent_only)
{
	EXPECT_REFUSED(-EINVAL,
		       "pld_launch: a sub-domain is launched with its parent only",
		       pld_launch(homes[BACK].domain, see_ranks, NULL, NULL));
	EXPECT_REFUSED(-EINVAL,
		       "pld_domain_reset: a sub-domain is reset with its parent only",
		       pld_domain_reset(homes[BACK].domain));
	RUN(self->domain, see_ranks, NULL);
}

static int no_child_of_a_rank(pld_domain *domain, void *arg)
{
	static const char message[] =
		"pld.rank: this process was forked by rank 0 of the sub-domain (rank 3 of its parent) and is not a rank itself";
	int status;
	pid_t pid;

	(void)arg;
	if (pld_rank(domain) != 3)
		return 0;
	pid = fork();
	if (!pid)
		_exit(check_refused(-EPERM, message, pld_rank(homes[BACK].domain),
				    "pld_rank", __FILE__, __LINE__) != 0);
	CHECK_EQ(pid, TEMP_FAILURE_RETRY(waitpid(pid, &status, 0)));
	CHECK_EQ(0, status);
	return 0;
}

TEST_F(subdomain, child_of_a_rank_is_no_rank_of_it)
{
	RUN(self->domain, no_child_of_a_rank, NULL);
}

/* ---- isolation ---- */

/*
 * In every home that this rank is in: an allgather, and many adds to a cell that
 * has the same place in all homes. Each must see its own ranks' only.
 */
static int crowd(struct home *home, int number, int me, int rounds)
{
	pld_distributed_tensor data, signal;
	int32_t mine[4];
	pld_tensor x;

	PLD_TRY(pld_tensor_init(&x, mine, PLD_SHAPE(1, 4), PLD_INT32));
	PLD_TRY(pld_window(home->data, PLD_SHAPE(home->nranks, 4), PLD_INT32,
			   &data));
	PLD_TRY(pld_window(home->signal, PLD_SHAPE(home->nranks, 1), PLD_INT32,
			   &signal));
	for (int i = 0; i < 4; i++)
		mine[i] = 1000 * number + 10 * me + i;
	CHECK_EQ(0, pld_tensor_allgather(&x, &data, &signal));
	for (int at = 0; at < 4 * home->nranks; at++)
		CHECK_EQ(1000 * number + 10 * home->ranks[at / 4] + at % 4,
			 ((int32_t *)data.data)[at]);
	for (int i = 0; i < rounds; i++)
		for (int peer = 0; peer < home->nranks; peer++)
			CHECK_EQ(0,
				 pld_system_notify(&signal, peer, PLD_AT(0, 0),
						   1 + number, PLD_ATOMIC_ADD));
	CHECK_EQ(0, pld_system_wait_timeout(&signal, PLD_AT(0, 0),
					    (1 + number) * rounds * home->nranks,
					    PLD_EQ, LONG));
	return 0;
}

static int crowd_all(pld_domain *domain, void *arg)
{
	int me = pld_rank(domain);

	for (int i = 0; i < HOMES; i++)
		if (place_in(&homes[i], me) >= 0)
			PLD_TRY(crowd(&homes[i], i, me, *(int *)arg));
	return 0;
}

TEST_F(subdomain, parent_and_overlapping_ones_are_isolated)
{
	int rounds = 1000;

	RUN(self->domain, crowd_all, &rounds);
}

/* Signals as zero as in the parent, data as it was left. */
static int find_as_left(pld_domain *domain, void *arg)
{
	int me = pld_rank(domain);

	(void)arg;
	for (int i = 0; i < HOMES; i++) {
		pld_distributed_tensor data, signal;

		if (place_in(&homes[i], me) < 0)
			continue;
		PLD_TRY(pld_window(homes[i].data, PLD_SHAPE(4), PLD_INT32,
				   &data));
		PLD_TRY(pld_window(homes[i].signal, PLD_SHAPE(1, 1), PLD_INT32,
				   &signal));
		CHECK_EQ(1000 * i + 10 * homes[i].ranks[0],
			 *(int32_t *)data.data);
		CHECK_EQ(0, pld_system_wait_timeout(&signal, PLD_AT(0, 0), 0,
						    PLD_EQ, 0));
	}
	return 0;
}

TEST_F(subdomain, launch_keeps_data_and_zeroes_signals)
{
	int rounds = 1;

	for (int i = 0; i < 3; i++) {
		RUN(self->domain, crowd_all, &rounds);
		RUN(self->domain, find_as_left, NULL);
	}
}

TEST_F(subdomain, can_be_made_and_ended_between_launches)
{
	struct home before = homes[LEFT];
	int rounds = 3;

	RUN(self->domain, crowd_all, &rounds);
	pld_domain_destroy(homes[LEFT].domain);
	homes[LEFT] = (struct home){ .ranks = { 4, 3, 2, 1 }, .nranks = 4 };
	ASSERT_EQ(0, pld_subdomain_create(self->domain, homes[LEFT].ranks, 4,
					  &homes[LEFT].domain));
	ASSERT_EQ(0, furnish(&homes[LEFT]));
	RUN(self->domain, crowd_all, &rounds);
	pld_domain_destroy(homes[BACK].domain);
	homes[BACK] = before;
	ASSERT_EQ(0, pld_subdomain_create(self->domain, homes[BACK].ranks, 3,
					  &homes[BACK].domain));
	ASSERT_EQ(0, furnish(&homes[BACK]));
	RUN(self->domain, crowd_all, &rounds);
}

/* ---- failures ---- */

enum ending { BY_SIGKILL, BY_ERROR, BY_ABORT, BY_SUB_ABORT, BY_TIMEOUT };

static const char *const ends_as[] = {
	[BY_SIGKILL] = "died",
	[BY_ERROR] = "failed: Numerical argument out of domain",
	[BY_ABORT] = "aborted with code 9",
	[BY_SUB_ABORT] = "aborted with code 9",
};

struct failure {
	enum ending ending;
	int victim;
	/* where each of the others waits */
	int waits_in[NRANKS];
};

static int end(pld_domain *domain, const struct failure *f)
{
	wait_for_ready(shared, NRANKS - 1);
	sleep_ms(20);
	shared->died_at = now_ns();
	switch (f->ending) {
	case BY_SIGKILL:
		raise(SIGKILL);
		break;
	case BY_ABORT:
		return pld_abort(domain, 9);
	case BY_SUB_ABORT:
		return pld_abort(homes[f->waits_in[f->victim]].domain, 9);
	default:
		break;
	}
	return -EDOM;
}

static int wait_in_vain(const struct home *home)
{
	pld_distributed_tensor signal;

	PLD_TRY(pld_window(home->signal, PLD_SHAPE(home->nranks, 1), PLD_INT32,
			   &signal));
	say_ready(shared);
	return pld_system_wait_timeout(&signal, PLD_AT(0, 0), 1, PLD_GE, LONG);
}

static int fail_or_wait(pld_domain *domain, void *arg)
{
	const struct failure *f = arg;
	int me = pld_rank(domain), error;

	if (me == f->victim)
		return end(domain, f);
	error = wait_in_vain(&homes[f->waits_in[me]]);
	shared->told_at[me] = now_ns();
	return error;
}

/* The victim as the ranks of a home call it. */
static const char *name_in(const struct home *home, int victim, char text[80])
{
	int rank = place_in(home, victim);

	if (home == &homes[PARENT])
		snprintf(text, 80, "rank %d", victim);
	else if (rank < 0)
		snprintf(text, 80, "rank %d of the parent domain", victim);
	else
		snprintf(text, 80,
			 "rank %d of the sub-domain (rank %d of its parent)",
			 rank, victim);
	return text;
}

static void expect_told(struct __test_metadata *_metadata, pld_domain *domain,
			struct failure *f, int error)
{
	pld_rank_report reports[NRANKS];
	int64_t latest = deadline_ns(100);

	shared->ready = 0;
	EXPECT_EQ(error, pld_launch(domain, fail_or_wait, f, reports))
	TH_LOG("%s", pld_last_error());
	for (int rank = 0; rank < NRANKS; rank++) {
		char message[PLD_MESSAGE_BYTES], name[80];

		if (rank == f->victim)
			continue;
		snprintf(message, sizeof(message),
			 "rank %d: pld.system.wait: %s %s", rank,
			 name_in(&homes[f->waits_in[rank]], f->victim, name),
			 ends_as[f->ending]);
		EXPECT_STREQ(message, reports[rank].message);
		EXPECT_GT(latest, shared->told_at[rank] - shared->died_at)
		TH_LOG("rank %d was told after %lld us", rank,
		       (long long)(shared->told_at[rank] - shared->died_at) /
			       1000);
	}
	for (int i = 0; i < HOMES; i++)
		EXPECT_EQ(f->ending == BY_ABORT || f->ending == BY_SUB_ABORT ? 9
									     : 0,
			  pld_abort_code(homes[i].domain));
	ASSERT_EQ(0, pld_domain_reset(domain));
}

/* Ranks wait in the parent, in the victim's sub-domain and in another one. */
SLOW_TEST_F(subdomain, failure_of_a_member_is_named_everywhere)
{
	static const int errors[] = { -EOWNERDEAD, -EDOM, -ECANCELED,
				      -ECANCELED };
	int rounds = 2;

	for (enum ending ending = BY_SIGKILL; ending < BY_TIMEOUT; ending++) {
		struct failure f = {
			.ending = ending,
			.victim = 1,
			.waits_in = { LEFT, BACK, LEFT, BACK, PARENT },
		};

		expect_told(_metadata, self->domain, &f, errors[ending]);
		RUN(self->domain, crowd_all, &rounds);
	}
}

SLOW_TEST_F(subdomain, failure_of_a_stranger_ends_its_waits_too)
{
	struct failure f = {
		.victim = 4,
		.waits_in = { LEFT, BACK, LEFT, LEFT, 0 },
	};

	for (f.ending = BY_SIGKILL; f.ending < BY_SUB_ABORT; f.ending++)
		expect_told(_metadata, self->domain, &f,
			    (int[]){ -EOWNERDEAD, -EDOM, -ECANCELED }[f.ending]);
}

/* Rank 0 of BACK, rank 3 of the parent, does not come to the collective. */
static int stay_away(pld_domain *domain, void *arg)
{
	struct home *home = &homes[BACK];
	pld_distributed_tensor data, signal;
	int32_t mine[4] = { 0 };
	pld_tensor x;

	(void)arg;
	if (pld_rank(domain) != 1)
		return wait_in_vain(
			&homes[place_in(&homes[LEFT], pld_rank(domain)) >= 0
				       ? LEFT
				       : PARENT]);
	PLD_TRY(pld_tensor_init(&x, mine, PLD_SHAPE(1, 4), PLD_INT32));
	PLD_TRY(pld_window(home->data, PLD_SHAPE(2, 4), PLD_INT32, &data));
	PLD_TRY(pld_window(home->signal, PLD_SHAPE(2, 1), PLD_INT32, &signal));
	return pld_tensor_allgather(&x, &data, &signal);
}

TEST(timeout_in_a_collective_of_it_is_told_to_all)
{
	static const char cause[] =
		"rank 1: pld.tensor.allgather: timed out after 2.000 s: cell [0, 0] of rank 1 of the sub-domain (rank 1 of its parent) is 0, expected >= 1; rank 0 of the sub-domain (rank 3 of its parent) should have notified it";
	static const char in_left[] =
		"rank 0: pld.system.wait: rank 2 of the sub-domain (rank 3 of its parent) did not do its part in time";
	static const char in_parent[] =
		"rank 4: pld.system.wait: rank 3 did not do its part in time";
	pld_domain_options options = { .timeout_ns = 2000 * LIB_MS };
	pld_rank_report reports[NRANKS];
	int rounds = 2;

	shared = make_shared();
	ASSERT_NE(NULL, shared);
	homes[BACK] = (struct home){ .ranks = { 3, 1 } };
	homes[LEFT] = (struct home){ .ranks = { 0, 2, 3 } };
	homes[PARENT] = (struct home){ .ranks = { 0, 1, 2, 3, 4 } };
	ASSERT_EQ(0, pld_domain_create((int[]){ 0, 1, 2, 3, 4 }, NRANKS,
				       &options, &homes[PARENT].domain));
	ASSERT_EQ(0,
		  pld_subdomain_create(homes[PARENT].domain, homes[BACK].ranks,
				       2, &homes[BACK].domain));
	ASSERT_EQ(0,
		  pld_subdomain_create(homes[PARENT].domain, homes[LEFT].ranks,
				       3, &homes[LEFT].domain));
	for (int i = 0; i < HOMES; i++)
		ASSERT_EQ(0, furnish(&homes[i]));
	EXPECT_REFUSED(-ETIMEDOUT, cause,
		       pld_launch(homes[PARENT].domain, stay_away, NULL,
				  reports));
	EXPECT_STREQ(in_left, reports[0].message);
	EXPECT_STREQ(in_parent, reports[4].message);
	ASSERT_EQ(0, pld_domain_reset(homes[PARENT].domain));
	RUN(homes[PARENT].domain, crowd_all, &rounds);
	pld_domain_destroy(homes[PARENT].domain);
}

/* ---- again and again ---- */

/* Runs of every kind, in a domain that stays. */
static int use_again(pld_domain *domain, int i)
{
	struct failure f = {
		.ending = i % BY_TIMEOUT,
		.victim = i % 2 ? 3 : 1,
		.waits_in = { LEFT, BACK, LEFT, BACK, PARENT },
	};
	int rounds = 2;

	if (i % 3 == 0) {
		shared->ready = 0;
		CHECK(pld_launch(domain, fail_or_wait, &f, NULL) < 0);
		CHECK_EQ(0, pld_domain_reset(domain));
	}
	return run_ranks(domain, crowd_all, &rounds);
}

/* The emulated guest and valgrind are slow. */
static int lives(void)
{
	const char *platform = getenv("PLD_PLATFORM");

	return getenv("PLD_VALGRIND") || !platform || strcmp(platform, "memfd")
		       ? 12
		       : 60;
}

SLOW_TEST_F(subdomain, domain_can_be_used_again_after_any_failure)
{
	int files, mappings;
	size_t heap;

	for (int i = 0; i < 6; i++)
		ASSERT_EQ(0, use_again(self->domain, i));
	files = count_files();
	mappings = count_mappings();
	heap = count_heap();
	for (int i = 0; i < lives(); i++)
		ASSERT_EQ(0, use_again(self->domain, i));
	if (!getenv("PLD_VALGRIND"))
		EXPECT_EQ(files, count_files());
	/* Mappings of the heap grow at first; each family has more. */
	EXPECT_GT(mappings + lives() / 2, count_mappings());
	EXPECT_GE(heap + 1024, count_heap());
	EXPECT_EQ(-1, waitpid(-1, NULL, WNOHANG));
}

/* A family that ends in one of many orders. */
static int live(int i)
{
	int rounds = 1;

	PLD_TRY(make_homes());
	if (i % 4 == 0)
		PLD_TRY(run_ranks(homes[PARENT].domain, crowd_all, &rounds));
	if (i % 2)
		pld_free_window_buffer(homes[BACK].data);
	if (i & 2)
		pld_domain_destroy(homes[i & 4 ? BACK : LEFT].domain);
	if (i & 8)
		pld_domain_destroy(homes[i & 4 ? LEFT : BACK].domain);
	pld_domain_destroy(homes[PARENT].domain);
	return 0;
}

TEST(nothing_is_left_of_many_families)
{
	int files, mappings;
	size_t heap;

	for (int i = 0; i < 4; i++)
		ASSERT_EQ(0, live(i));
	files = count_files();
	mappings = count_mappings();
	heap = count_heap();
	for (int i = 0; i < 16 + lives() / 2; i++)
		ASSERT_EQ(0, live(i));
	if (!getenv("PLD_VALGRIND"))
		EXPECT_EQ(files, count_files());
	/* Mappings of the heap grow at first; each family has more. */
	EXPECT_GT(mappings + lives() / 2, count_mappings());
	EXPECT_GE(heap + 1024, count_heap());
}

/* A fork of the host that ends it has no say in it. */
TEST_F(subdomain, fork_of_the_host_ends_its_own_copy_only)
{
	int rounds = 1, status;
	pid_t pid = fork();

	ASSERT_LE(0, pid);
	if (!pid) {
		pld_domain *sub;
		int error = pld_subdomain_create(self->domain, (int[]){ 0 }, 1,
						 &sub);

		pld_domain_destroy(homes[BACK].domain);
		pld_domain_destroy(self->domain);
		_exit(error != -EPERM);
	}
	ASSERT_EQ(pid, TEMP_FAILURE_RETRY(waitpid(pid, &status, 0)));
	EXPECT_EQ(0, status);
	RUN(self->domain, crowd_all, &rounds);
}

LIB_TEST_MAIN
