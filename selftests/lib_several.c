// SPDX-License-Identifier: GPL-2.0
/*
 * pld_system_wait_all and pld_system_wait_any: which conditions end them, what
 * they return and say, what they refuse, and that no notify of any of their
 * cells is lost.
 */
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "lib_fault.h"
#include "lib_test.h"

#define NRANKS 4
#define SHORT (20 * LIB_MS)
/* Of a wait that must be satisfied. */
#define LONG (20000 * LIB_MS)

FIXTURE(several)
{
	pld_domain *domain;
	pld_window_buffer *buffer;
};

FIXTURE_SETUP(several)
{
	self->domain = make_domain(NRANKS);
	ASSERT_NE(NULL, self->domain);
	ASSERT_EQ(0, pld_alloc_signal(self->domain, PLD_SHAPE(NRANKS, 16),
				      &self->buffer));
}

FIXTURE_TEARDOWN(several)
{
	pld_domain_destroy(self->domain);
}

static int view(void *buffer, pld_distributed_tensor *signal)
{
	return pld_window(buffer, PLD_SHAPE(NRANKS, 16), PLD_INT32, signal);
}

static pld_condition want(const pld_distributed_tensor *signal, int row,
			  int column, int32_t expected, pld_cmp cmp)
{
	return (pld_condition){ signal, PLD_AT(row, column), expected, cmp };
}

#define GE(row, column, expected) want(&signal, row, column, expected, PLD_GE)
#define EQ(row, column, expected) want(&signal, row, column, expected, PLD_EQ)
#define ANY(timeout, ...)                                                   \
	pld_system_wait_any((pld_condition[]){ __VA_ARGS__ },               \
			    ARRAY_SIZE(((pld_condition[]){ __VA_ARGS__ })), \
			    timeout)
#define ALL(timeout, ...)                                                   \
	pld_system_wait_all((pld_condition[]){ __VA_ARGS__ },               \
			    ARRAY_SIZE(((pld_condition[]){ __VA_ARGS__ })), \
			    timeout)

/* ---- what ends them ---- */

static int look(pld_domain *domain, void *buffer)
{
	pld_distributed_tensor signal;
	int me = pld_rank(domain);

	PLD_TRY(view(buffer, &signal));
	CHECK_EQ(0, pld_system_notify(&signal, me, PLD_AT(1, 2), 12, PLD_SET));
	CHECK_EQ(0, pld_system_notify(&signal, me, PLD_AT(3, 0), -30, PLD_SET));
	for (int64_t timeout = 0; timeout <= SHORT; timeout += SHORT) {
		CHECK_EQ(0, ALL(timeout, GE(1, 2, 12), EQ(3, 0, -30)));
		CHECK_EQ(0, ALL(timeout, EQ(0, 0, 0)));
		CHECK_EQ(0,
			 ALL(timeout, GE(1, 2, 3), GE(1, 2, -1), EQ(1, 2, 12)));
		CHECK_EQ(1,
			 ANY(timeout, GE(3, 0, -29), GE(1, 2, 12), EQ(0, 0, 0)));
		CHECK_EQ(0, ANY(timeout, EQ(3, 0, -30), EQ(3, 0, -30)));
		CHECK_EQ(2,
			 ANY(timeout, EQ(1, 2, 11), EQ(1, 2, 13), EQ(1, 2, 12)));
		CHECK_EQ(-ETIMEDOUT, ALL(timeout, EQ(1, 2, 12), EQ(1, 2, 11)));
		CHECK_EQ(-ETIMEDOUT, ANY(timeout, EQ(1, 2, 11), GE(1, 2, 13)));
	}
	return 0;
}

TEST_F(several, all_needs_all_and_any_returns_the_lowest)
{
	RUN(self->domain, look, self->buffer);
}

static int time_out(pld_domain *domain, void *buffer)
{
	static const char all[] =
		"pld_system_wait_all: timed out after 0.020 s: conditions[1]: cell [3, 5] of rank 2 is 6, expected >= 7; rank 3 should have notified it";
	static const char any[] =
		"pld_system_wait_any: timed out after 0.020 s: conditions[0]: cell [3, 5] of rank 2 is 6, expected == -7; rank 3 should have notified it";
	static const char one[] =
		"pld_system_wait_all: timed out after 0.000 s: conditions[0]: cell [0, 0] of rank 2 is 0, expected == 1; rank 0 should have notified it";
	pld_distributed_tensor signal;

	PLD_TRY(view(buffer, &signal));
	if (pld_rank(domain) != 2)
		return 0;
	CHECK_EQ(0, pld_system_notify(&signal, 2, PLD_AT(3, 5), 6, PLD_SET));
	CHECK_REFUSED(-ETIMEDOUT, all,
		      ALL(SHORT, GE(3, 5, 6), GE(3, 5, 7), GE(0, 0, 1)));
	CHECK_REFUSED(-ETIMEDOUT, any,
		      ANY(SHORT, EQ(3, 5, -7), GE(0, 0, 1), GE(3, 5, 7)));
	CHECK_REFUSED(-ETIMEDOUT, one, ALL(0, EQ(0, 0, 1)));
	return 0;
}

TEST_F(several, timeout_names_the_first_that_is_missing)
{
	RUN(self->domain, time_out, self->buffer);
}

/* ---- sleeping ---- */

/* Rank 0 waits for all; each other one comes later than any spin lasts. */
static int gather_late(pld_domain *domain, void *buffer)
{
	enum { ROUNDS = 12 };
	pld_distributed_tensor signal;
	pld_condition all[NRANKS - 1];
	int me = pld_rank(domain);

	PLD_TRY(view(buffer, &signal));
	for (int round = 1; round <= ROUNDS; round++) {
		if (me) {
			CHECK_EQ(0, pld_system_wait(&signal, PLD_AT(0, 0),
						    round - 1, PLD_GE));
			sleep_ms((me + round) % NRANKS * 2);
			CHECK_EQ(0, pld_system_notify(&signal, 0, PLD_AT(me, me),
						      1, PLD_ATOMIC_ADD));
			continue;
		}
		for (int i = 1; i < NRANKS; i++)
			all[i - 1] = GE(i, i, round);
		CHECK_EQ(0, pld_system_wait_all(all, NRANKS - 1, LONG));
		for (int i = 1; i < NRANKS; i++) {
			CHECK_EQ(0,
				 pld_system_wait_timeout(&signal, PLD_AT(i, i),
							 round, PLD_EQ, 0));
			CHECK_EQ(0, pld_system_notify(&signal, i, PLD_AT(0, 0),
						      1, PLD_ATOMIC_ADD));
		}
	}
	return 0;
}

TEST_F(several, all_sleeps_until_the_last_notify)
{
	RUN(self->domain, gather_late, self->buffer);
}

/* Tokens of all others, in whichever order they come; each is answered. */
static int serve(pld_domain *domain, void *buffer)
{
	int rounds = getenv("PLD_VALGRIND") ? 30 : 300;
	int32_t served[NRANKS] = { 0 };
	pld_distributed_tensor signal;
	int me = pld_rank(domain);

	PLD_TRY(view(buffer, &signal));
	for (int i = 1; me && i <= rounds; i++) {
		if (i % 16 == me)
			sleep_ms(2);
		CHECK_EQ(0, pld_system_notify(&signal, 0, PLD_AT(me, 0), 1,
					      PLD_ATOMIC_ADD));
		CHECK_EQ(0, pld_system_wait_timeout(&signal, PLD_AT(0, 0), i,
						    PLD_GE, LONG));
	}
	for (int i = 0; !me && i < rounds * (NRANKS - 1); i++) {
		int peer = ANY(LONG, GE(1, 0, served[1] + 1),
			       GE(2, 0, served[2] + 1), GE(3, 0, served[3] + 1));

		CHECK(peer >= 0 && peer < NRANKS - 1);
		served[++peer]++;
		CHECK_EQ(0, pld_system_notify(&signal, peer, PLD_AT(0, 0), 1,
					      PLD_ATOMIC_ADD));
	}
	for (int peer = 1; !me && peer < NRANKS; peer++)
		CHECK_EQ(rounds, served[peer]);
	return 0;
}

TEST_F_TIMEOUT(several, any_serves_peers_in_the_order_they_come, 120)
{
	RUN(self->domain, serve, self->buffer);
}

/*
 * All 64 cells of a rank, in which lie some that share a line of the doorbell,
 * each set by another rank than the one before.
 */
static int sixty_four(pld_domain *domain, void *buffer)
{
	pld_condition all[PLD_MAX_CONDITIONS];
	pld_distributed_tensor signal;
	int me = pld_rank(domain);

	PLD_TRY(view(buffer, &signal));
	for (int i = 0; i < PLD_MAX_CONDITIONS; i++)
		all[i] = want(&signal, i / 16, i % 16, i - 32, PLD_EQ);
	for (int i = 0; i < PLD_MAX_CONDITIONS; i++) {
		if (i % 8 == 0)
			sleep_ms(1);
		for (int peer = 0; i % NRANKS == me && peer < NRANKS; peer++)
			CHECK_EQ(0, pld_system_notify(&signal, peer,
						      all[i].offsets, i - 32,
						      PLD_SET));
	}
	CHECK_EQ(0, pld_system_wait_all(all, PLD_MAX_CONDITIONS, LONG));
	/* As cell 32 was when it was new. */
	all[32].expected = 1;
	CHECK_EQ(-ETIMEDOUT,
		 pld_system_wait_all(all, PLD_MAX_CONDITIONS, SHORT));
	CHECK_EQ(0, pld_system_wait_any(all, PLD_MAX_CONDITIONS, SHORT));
	return 0;
}

TEST_F(several, sixty_four_cells_at_once)
{
	RUN(self->domain, sixty_four, self->buffer);
}

static int die_while_waited_for(pld_domain *domain, void *buffer)
{
	pld_distributed_tensor signal;

	PLD_TRY(view(buffer, &signal));
	if (pld_rank(domain) == 3) {
		CHECK_EQ(0, ALL(LONG, GE(0, 8, 1), GE(1, 8, 1), GE(2, 8, 1)));
		sleep_ms(20);
		raise(SIGKILL);
	}
	CHECK_EQ(0, pld_system_notify(&signal, 3, PLD_AT(pld_rank(domain), 8),
				      1, PLD_SET));
	if (pld_rank(domain) == 1) {
		CHECK_REFUSED(-EOWNERDEAD, "pld_system_wait_any: rank 3 died",
			      ANY(LONG, GE(0, 0, 1), GE(2, 0, 1)));
		return 0;
	}
	CHECK_REFUSED(-EOWNERDEAD, "pld_system_wait_all: rank 3 died",
		      ALL(LONG, GE(3, 3, 1), GE(3, 3, 0)));
	return 0;
}

TEST_F(several, death_ends_them_and_is_named)
{
	pld_rank_report reports[NRANKS];

	EXPECT_REFUSED(-EOWNERDEAD, "rank 3 died: killed by signal 9 (Killed)",
		       pld_launch(self->domain, die_while_waited_for,
				  self->buffer, reports));
	for (int rank = 0; rank < 3; rank++)
		EXPECT_EQ(0, reports[rank].error);
}

/* ---- what they refuse ---- */

static int refuse(pld_domain *domain, void *buffer)
{
	pld_condition many[PLD_MAX_CONDITIONS + 1];
	pld_distributed_tensor signal, floats;
	int32_t cells[4] = { 0 };
	pld_tensor plain;

	(void)domain;
	PLD_TRY(view(buffer, &signal));
	PLD_TRY(pld_tensor_init(&plain, cells, PLD_SHAPE(2, 2), PLD_INT32));
	floats = signal;
	floats.dtype = PLD_FP32;
	for (int i = 0; i <= PLD_MAX_CONDITIONS; i++)
		many[i] = GE(0, 0, 0);
	CHECK_REFUSED(-EINVAL,
		      "pld_system_wait_all: conditions must not be NULL",
		      pld_system_wait_all(NULL, 1, 0));
	CHECK_REFUSED(-EINVAL, "pld_system_wait_any: count is 0, wanted 1 to 64",
		      pld_system_wait_any(many, 0, 0));
	CHECK_REFUSED(-EINVAL,
		      "pld_system_wait_any: count is 65, wanted 1 to 64",
		      pld_system_wait_any(many, PLD_MAX_CONDITIONS + 1, 0));
	CHECK_REFUSED(-EINVAL,
		      "pld_system_wait_all: count is -1, wanted 1 to 64",
		      pld_system_wait_all(many, -1, 0));
	CHECK_REFUSED(-EINVAL,
		      "pld_system_wait_all: timeout is -1 ns, wanted 0 or more",
		      pld_system_wait_all(many, PLD_MAX_CONDITIONS, -1));
	CHECK_REFUSED(-EINVAL,
		      "pld_system_wait_all: conditions[1].signal must be a DistributedTensor, got Tensor",
		      ALL(0, GE(0, 0, 0), want(&plain, 0, 0, 0, PLD_GE)));
	CHECK_REFUSED(-EINVAL,
		      "pld_system_wait_any: conditions[0].signal must be a DistributedTensor, got NULL",
		      ANY(0, want(NULL, 0, 0, 0, PLD_GE), GE(0, 0, 0)));
	CHECK_REFUSED(-EINVAL,
		      "pld_system_wait_any: dtype of conditions[2].signal is fp32, wanted int32",
		      ANY(0, GE(0, 0, 0), GE(0, 0, 0),
			  want(&floats, 0, 0, 0, PLD_GE)));
	CHECK_REFUSED(-ERANGE,
		      "pld_system_wait_all: offsets [0, 16] with shape [1, 1] lie outside conditions[1].signal [4, 16]",
		      ALL(0, GE(0, 0, 0), GE(0, 16, 0)));
	CHECK_REFUSED(-EINVAL,
		      "pld_system_wait_all: conditions[1].cmp is 2, wanted Eq (0) or Ge (1)",
		      ALL(0, GE(0, 0, 0), want(&signal, 0, 0, 0, (pld_cmp)2)));
	CHECK_REFUSED(-EINVAL,
		      "pld_system_wait_all: conditions[0].cmp is -1, wanted Eq (0) or Ge (1)",
		      ALL(0, want(&signal, 0, 0, 0, (pld_cmp)-1)));
	return 0;
}

TEST_F(several, bad_arguments_are_refused)
{
	RUN(self->domain, refuse, self->buffer);
}

TEST(only_ranks_wait)
{
	pld_domain *domain = make_domain(1);
	pld_distributed_tensor signal = { 0 };

	ASSERT_NE(NULL, domain);
	EXPECT_REFUSED(-EINVAL,
		       "pld_system_wait_all: conditions[0].signal must be a DistributedTensor, got no view",
		       ALL(0, GE(0, 0, 0)));
	pld_domain_destroy(domain);
}

LIB_TEST_MAIN
