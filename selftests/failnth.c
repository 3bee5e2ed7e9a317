// SPDX-License-Identifier: GPL-2.0
/*
 * Every failure path: each way into the module is called again and again, with
 * its first step failing, its second, and so on until none is left. A step is an
 * allocation or a copy from or to user space, of the module or of what it calls.
 *
 * A call that fails says so with the errno of the step that failed, ENOMEM for an
 * allocation and EFAULT for a copy; it has changed nothing, and works right after.
 * How many steps a call has, and how many of them make it fail, is printed, and
 * compared with the numbers in the table of calls, so that none is lost unnoticed.
 *
 * One variant of the fixture is one call.
 */
#include <sys/eventfd.h>

#include "failnth_calls.h"
#include "failnth_state.h"

FIXTURE_SETUP(call)
{
	self->target = -1;
	self->other = -1;
	self->nth = failnth_open();
	ASSERT_LE(0, self->nth);
	self->injected = kernel_log_open();
	ASSERT_LE(0, self->injected);
	self->lacks = fault_settings_change(&self->settings);
	ASSERT_EQ(NULL, self->lacks)
	TH_LOG("the kernel has no %s", self->lacks);
	self->device = sim_open();
	ASSERT_LE(0, self->device);
	self->domain = sim_domain(2);
	ASSERT_LE(0, self->domain);
	ASSERT_EQ(0, sim_alloc(self->domain, 4 * SIM_PAGE, 0, &self->small));
	ASSERT_EQ(0, sim_alloc(self->domain, 2 * SIM_HUGE, 0, &self->huge));
	self->rank = sim_member(self->domain, 0);
	ASSERT_LE(0, self->rank);
	self->event = eventfd(0, EFD_CLOEXEC);
	self->exporter = exporter_open();
	for (int i = 0; i < SEVERAL; i++)
		self->conditions[i] = (struct pld_sim_condition){
			.offset = 4 * i,
			.window = self->small.window,
			.cmp = PLD_SIM_CMP_GE,
		};
}

FIXTURE_TEARDOWN(call)
{
	if (!self->lacks)
		fault_settings_restore(&self->settings);
	close(self->rank);
	close(self->domain);
	close(self->device);
	close(self->event);
	close(self->exporter);
	close(self->injected);
	close(self->nth);
}

static bool prepare(world *w, const FIXTURE_VARIANT(call) * variant)
{
	return !variant->prepare || variant->prepare(w);
}

/* After a call that worked: as if it had not been made, nor prepared. */
static void undo(world *w, const FIXTURE_VARIANT(call) * variant, int ret)
{
	if (variant->undo)
		variant->undo(w, ret);
	close(w->target);
	close(w->other);
	w->target = -1;
	w->other = -1;
}

static int plain_call(world *w, const FIXTURE_VARIANT(call) * variant)
{
	int ret = variant->call(w);

	undo(w, variant, ret);
	return ret;
}

/* The steps of a call that works. Now and then one has more, to get memory. */
static unsigned int count_steps(world *w, const FIXTURE_VARIANT(call) * variant)
{
	unsigned int least = FAILNTH_NEVER;

	for (int i = 0; i < 5; i++) {
		unsigned int steps;
		int ret;

		prepare(w, variant);
		failnth_arm(w->nth, FAILNTH_NEVER);
		ret = variant->call(w);
		steps = FAILNTH_NEVER - failnth_disarm(w->nth);
		undo(w, variant, ret);
		if (steps < least)
			least = steps;
	}
	return least;
}

/*
 * A page fault within a copy may lack memory, too, which to the copy is a bad address
 * like any other.
 */
static bool is_answer(const FIXTURE_VARIANT(call) * variant, int ret, bool copy)
{
	if (copy)
		return ret == -EFAULT;
	return ret == -ENOMEM || (variant->faults && ret == -EFAULT);
}

/* Each step fails once, the first first. How many of them made the call fail. */
static unsigned int sweep(struct __test_metadata *_metadata, world *w,
			  const FIXTURE_VARIANT(call) * variant,
			  const char *idle)
{
	static char before[STATE_BYTES];
	unsigned int failed = 0;
	bool injected = true;

	for (unsigned int nth = 1; injected; nth++) {
		bool copy;
		int ret;

		ASSERT_TRUE(prepare(w, variant));
		take_state(w, before);
		fault_was_copy(w->injected);
		failnth_arm(w->nth, nth);
		ret = variant->call(w);
		injected = !failnth_disarm(w->nth);
		copy = fault_was_copy(w->injected);
		if (ret < 0) {
			failed++;
			EXPECT_TRUE(injected);
			EXPECT_TRUE(is_answer(variant, ret, copy))
			TH_LOG("step %u, %s: %s", nth,
			       copy ? "a copy" : "an allocation",
			       strerror(-ret));
			ASSERT_TRUE(state_is(w, before))
			TH_LOG("step %u: %s", nth, strerror(-ret));
			ret = variant->call(w);
		}
		ASSERT_LE(0, ret)
		TH_LOG("after step %u: %s", nth, strerror(-ret));
		undo(w, variant, ret);
		ASSERT_TRUE(state_is(w, idle))
		TH_LOG("undone after step %u", nth);
	}
	return failed;
}

/*
 * A sweep misses a step where the call before had one more, to get memory: the most of
 * some sweeps counts.
 */
#define SWEEPS 5

TEST_F_TIMEOUT(call, with_any_step_failing_changes_nothing, 600)
{
	static char idle[STATE_BYTES];
	long long references = steady_references();
	unsigned int failed = 0, steps;
	int log = kernel_log_open();

	ASSERT_TRUE(prepare(self, variant))
	TH_LOG("what %s needs is not here", variant->name);
	ASSERT_LE(0, plain_call(self, variant));
	/* A fence is there for longer than its file. */
	ASSERT_EQ(references, settled_references(references));
	take_state(self, idle);
	for (int i = 0; i < SWEEPS && (!i || failed < variant->least_failures);
	     i++) {
		unsigned int now = sweep(_metadata, self, variant, idle);

		if (now > failed)
			failed = now;
	}
	steps = count_steps(self, variant);
	TH_LOG("%s: %u steps, %u failures", variant->name, steps, failed);
	EXPECT_LE(variant->least, steps);
	EXPECT_LE(variant->least_failures, failed);
	EXPECT_EQ(0, kernel_log_splats(log));
	close(log);
}

static void __attribute__((constructor)) skip_without_injection(void)
{
	int fd = failnth_open();

	if (fd < 0)
		ksft_exit_skip("the kernel has no fault injection: %s\n",
			       strerror(errno));
	close(fd);
}

PLD_TEST_MAIN
