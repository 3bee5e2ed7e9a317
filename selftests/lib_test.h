/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tests of libpld, on the platform that PLD_PLATFORM names: domains, kernels
 * run on all ranks, and checks that can be made in a rank's process, where the
 * harness's own macros do not work.
 *
 * A rank's check prints what failed and makes the kernel return -EBADMSG, and
 * so the launch; the test then fails by the launch's result.
 */
#ifndef PLD_LIB_TEST_H
#define PLD_LIB_TEST_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <kselftest_harness.h>
#include <pld.h>

#define LIB_MS INT64_C(1000000)

/* Set in a rank's process by run_ranks(), for what it prints. */
static int lib_here __attribute__((unused)) = -1;

static inline int check_failed(const char *file, int line, const char *what)
{
	fprintf(stderr, "# %s:%d: rank %d: %s\n", file, line, lib_here, what);
	return -EBADMSG;
}

static inline int check_equal(long long wanted, long long got, const char *what,
			      const char *file, int line)
{
	char text[PLD_MESSAGE_BYTES];

	if (wanted == got)
		return 0;
	snprintf(text, sizeof(text), "%s is %lld, wanted %lld (last error: %s)",
		 what, got, wanted, pld_last_error());
	return check_failed(file, line, text);
}

static inline int check_refused(int error, const char *message, int got,
				const char *what, const char *file, int line)
{
	char text[3 * PLD_MESSAGE_BYTES];

	if (got == error && !strcmp(message, pld_last_error()))
		return 0;
	snprintf(text, sizeof(text),
		 "%s\n#   is     %d \"%s\"\n#   wanted %d \"%s\"", what, got,
		 pld_last_error(), error, message);
	return check_failed(file, line, text);
}

/* In a function that returns 0 or a negative errno: a kernel or its helper. */
#define CHECK(cond)                                              \
	do {                                                     \
		if (!(cond))                                     \
			return check_failed(__FILE__, __LINE__,  \
					    "not true: " #cond); \
	} while (0)
/* Integers. */
#define CHECK_EQ(wanted, got)                                            \
	PLD_TRY(check_equal((long long)(wanted), (long long)(got), #got, \
			    __FILE__, __LINE__))
/* The call returns this error, and pld_last_error() is exactly message. */
#define CHECK_REFUSED(error, message, call) \
	PLD_TRY(check_refused(error, message, call, #call, __FILE__, __LINE__))
/* The same in a test of the harness. */
#define EXPECT_REFUSED(error, message, call)                              \
	EXPECT_EQ(0, check_refused(error, message, call, #call, __FILE__, \
				   __LINE__))
/* Runs a kernel on all ranks; each must return 0. */
#define RUN(domain, kernel, arg) ASSERT_EQ(0, run_ranks(domain, kernel, arg))

struct lib_job {
	pld_kernel *kernel;
	void *arg;
};

static inline int lib_start(pld_domain *domain, void *arg)
{
	struct lib_job *job = arg;

	lib_here = pld_rank(domain);
	return job->kernel(domain, job->arg);
}

/* pld_launch(), with each rank's failure printed. */
static inline int run_ranks(pld_domain *domain, pld_kernel *kernel, void *arg)
{
	pld_rank_report reports[PLD_MAX_RANKS] = { 0 };
	struct lib_job job = { .kernel = kernel, .arg = arg };
	int error = pld_launch(domain, lib_start, &job, reports);

	for (int rank = 0; rank < pld_world_size(domain); rank++)
		if (reports[rank].error)
			fprintf(stderr, "# rank %d: %d, %s\n", rank,
				reports[rank].error, reports[rank].message);
	if (error)
		fprintf(stderr, "# launch: %d, %s\n", error, pld_last_error());
	return error;
}

/* A domain of devices 0 to nranks - 1, or NULL, with the reason printed. */
static inline pld_domain *make_domain(int nranks)
{
	int devices[PLD_MAX_RANKS];
	pld_domain *domain;

	for (int i = 0; i < nranks; i++)
		devices[i] = i;
	if (!pld_domain_create(devices, nranks, NULL, &domain))
		return domain;
	fprintf(stderr, "# domain of %d ranks: %s\n", nranks, pld_last_error());
	return NULL;
}

/*
 * DMA debugging forbids a second mapping where exporters hand memory over by
 * mapping it, as the kernel's own do. libpld's are made for it.
 */
static inline bool second_mapping_is_forbidden(void)
{
	return !access("/sys/kernel/debug/dma-api", F_OK);
}

/* A number that the environment gives, or the one that it does not change. */
static inline uint64_t from_environment(const char *name, uint64_t otherwise)
{
	const char *text = getenv(name);

	return text ? strtoull(text, NULL, 0) : otherwise;
}

/* On the module, which the tests meet in an emulated guest. */
static inline bool in_a_guest(void)
{
	pld_domain *domain = make_domain(1);
	bool kmod = domain && !strcmp(pld_domain_platform(domain), "kmod");

	pld_domain_destroy(domain);
	return kmod;
}

/* A platform that cannot be used skips all; one that is broken fails the tests. */
static inline void skip_without_platform(void)
{
	pld_domain *domain;

	switch (pld_domain_create((int[]){ 0 }, 1, NULL, &domain)) {
	case 0:
		pld_domain_destroy(domain);
		break;
	case -ENODEV:
	case -EACCES:
	case -EPROTO:
	case -ENOSYS:
		ksft_exit_skip("%s\n", pld_last_error());
	}
}

/* In place of TEST_HARNESS_MAIN. */
#define LIB_TEST_MAIN                                                  \
	static void __attribute__((constructor)) before_any_test(void) \
	{                                                              \
		skip_without_platform();                               \
	}                                                              \
	TEST_HARNESS_MAIN

/* For a main() of one's own, which calls test_harness_run(). */
#define LIB_TEST_BEFORE_OWN_MAIN                                                \
	static void __attribute__((constructor)) before_any_test(void)          \
	{                                                                       \
		skip_without_platform();                                        \
	}                                                                       \
	static void __attribute__((constructor)) __constructor_order_last(void) \
	{                                                                       \
		if (!__constructor_order)                                       \
			__constructor_order = _CONSTRUCTOR_ORDER_BACKWARD;      \
	}

#endif /* PLD_LIB_TEST_H */
