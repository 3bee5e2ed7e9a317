// SPDX-License-Identifier: GPL-2.0
/*
 * The fast path: what finds its data there and wakes nobody makes no system call,
 * allocates nothing and takes no lock. Counted, while a rank does it once more
 * than the first time, when a stage may be made: the kernel hands each system call
 * of the thread to a signal handler (PR_SET_SYSCALL_USER_DISPATCH), and the
 * linker calls of malloc and its like to what is below.
 *
 * Rank 0 does it. Rank 1 has done before what rank 0 would wait for, and sleeps
 * outside of the library, so that it needs no ring.
 */
#include <signal.h>
#include <stdatomic.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "lib_test.h"

/* linux/prctl.h from Linux 5.11 on */
#ifndef PR_SET_SYSCALL_USER_DISPATCH
#define PR_SET_SYSCALL_USER_DISPATCH 59
#define PR_SYS_DISPATCH_ON 1
#endif

/* What the kernel reads at each system call, and what it then does. */
enum selector {
	ALLOW = 0,
	BLOCK = 1,
};

static volatile char selector = ALLOW;
static volatile sig_atomic_t system_calls, last_call, heap_calls, locks;

/* The handler's own return is a call too, so that only the first one counts. */
static void on_call(int sig, siginfo_t *info, void *context)
{
	selector = ALLOW;
	system_calls++;
	last_call = info->si_syscall;
}

static void count_heap(void)
{
	if (selector == BLOCK)
		heap_calls++;
}

/* See the Makefile: --wrap. */
#define WRAP(result, name, parameters, arguments) \
	result __real_##name parameters;          \
	result __wrap_##name parameters;          \
	result __wrap_##name parameters           \
	{                                         \
		count_heap();                     \
		return __real_##name arguments;   \
	}

WRAP(void *, malloc, (size_t bytes), (bytes))
WRAP(void *, calloc, (size_t n, size_t bytes), (n, bytes))
WRAP(void *, realloc, (void *old, size_t bytes), (old, bytes))
WRAP(int, posix_memalign, (void **out, size_t align, size_t bytes),
     (out, align, bytes))
WRAP(void, free, (void *old), (old))

int __real_pthread_mutex_lock(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex)
{
	if (selector == BLOCK)
		locks++;
	return __real_pthread_mutex_lock(mutex);
}

/* In each rank: dispatch does not pass a fork. Other signals would return. */
static int begin_counting(void)
{
	struct sigaction act = {
		.sa_sigaction = on_call,
		.sa_flags = SA_SIGINFO,
	};
	sigset_t others;

	sigfillset(&others);
	sigdelset(&others, SIGSYS);
	CHECK_EQ(0, sigprocmask(SIG_BLOCK, &others, NULL));
	CHECK_EQ(0, sigaction(SIGSYS, &act, NULL));
	CHECK_EQ(0, prctl(PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_ON, 0,
			  0, &selector));
	return 0;
}

static bool can_count(void)
{
	return !prctl(PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_ON, 0, 0,
		      &selector);
}

#define BYTES 8
#define SIZE 2
#define NRANKS 2

struct fast {
	pld_domain *domain;
	pld_tensor mine;
	pld_tensor x;
	pld_tile tile;
	pld_distributed_tensor bytes;
	pld_distributed_tensor over;
	pld_distributed_tensor target;
	pld_distributed_tensor cells;
	pld_distributed_tensor barrier;
	pld_distributed_tensor gather;
	char memory[BYTES];
	int32_t slice[SIZE];
};

typedef int fast_call(struct fast *f);

/* It has been called before. */
static int count(const char *name, fast_call *call, struct fast *f)
{
	int result;

	system_calls = 0;
	heap_calls = 0;
	locks = 0;
	selector = BLOCK;
	result = call(f);
	selector = ALLOW;
	if (system_calls || heap_calls || locks)
		fprintf(stderr,
			"# %s: system call %d, %d allocations, %d locks\n",
			name, system_calls ? (int)last_call : -1,
			(int)heap_calls, (int)locks);
	CHECK_EQ(0, result);
	CHECK_EQ(0, system_calls);
	CHECK_EQ(0, heap_calls);
	CHECK_EQ(0, locks);
	return 0;
}

static int notify(struct fast *f)
{
	return pld_system_notify(&f->cells, 1, PLD_AT(0, 0), 1, PLD_ATOMIC_ADD);
}

static int notify_itself(struct fast *f)
{
	return pld_system_notify(&f->cells, 0, PLD_AT(1, 0), 1, PLD_SET);
}

static int satisfied_wait(struct fast *f)
{
	return pld_system_wait(&f->cells, PLD_AT(1, 0), 1, PLD_GE);
}

static int put(struct fast *f)
{
	return pld_tensor_put(&f->bytes, 1, &f->mine, NULL);
}

static int get(struct fast *f)
{
	return pld_tensor_get(&f->mine, 1, &f->bytes, NULL);
}

static int remote_load(struct fast *f)
{
	return pld_tile_remote_load(&f->bytes, 1, PLD_AT(0), PLD_SHAPE(BYTES),
				    &f->tile);
}

static int remote_store(struct fast *f)
{
	return pld_tile_remote_store(&f->tile, &f->bytes, 1, PLD_AT(0),
				     PLD_NONE);
}

static int barrier(struct fast *f)
{
	return pld_tensor_barrier(&f->barrier);
}

static int allgather(struct fast *f)
{
	return pld_tensor_allgather(&f->x, &f->target, &f->gather);
}

static const struct {
	const char *name;
	fast_call *call;
} calls[] = {
	{ "pld_system_notify", notify },
	{ "pld_system_notify to itself", notify_itself },
	{ "pld_system_wait", satisfied_wait },
	{ "pld_tensor_put", put },
	{ "pld_tensor_get", get },
	{ "pld_tile_remote_load", remote_load },
	{ "pld_tile_remote_store", remote_store },
	{ "pld_tensor_barrier", barrier },
	{ "pld_tensor_allgather", allgather },
};

/* Each is done twice. */
#define TIMES 2

static pld_window_buffer *bytes_buffer, *over_buffer, *target_buffer,
	*signals[3];

static int make_fast(struct fast *f, pld_domain *domain)
{
	f->domain = domain;
	for (int i = 0; i < SIZE; i++)
		f->slice[i] = 10 * (pld_rank(domain) + 1) + i;
	PLD_TRY(pld_tensor_init(&f->mine, f->memory, PLD_SHAPE(BYTES),
				PLD_UINT8));
	PLD_TRY(pld_tensor_init(&f->x, f->slice, PLD_SHAPE(1, SIZE), PLD_INT32));
	PLD_TRY(pld_tile_alloc(&f->tile, BYTES));
	PLD_TRY(pld_window(bytes_buffer, PLD_SHAPE(BYTES), PLD_UINT8, &f->bytes));
	PLD_TRY(pld_window(over_buffer, PLD_SHAPE(BYTES), PLD_UINT8, &f->over));
	PLD_TRY(pld_window(target_buffer, PLD_SHAPE(NRANKS, SIZE), PLD_INT32,
			   &f->target));
	PLD_TRY(pld_window(signals[0], PLD_SHAPE(NRANKS, 1), PLD_INT32,
			   &f->cells));
	PLD_TRY(pld_window(signals[1], PLD_SHAPE(NRANKS, 1), PLD_INT32,
			   &f->barrier));
	return pld_window(signals[2], PLD_SHAPE(NRANKS, 1), PLD_INT32,
			  &f->gather);
}

/* What rank 0 would wait for, as often as it will. Then no wait of rank 1's. */
static int be_early(struct fast *f)
{
	pld_put_options row = {
		.dst_offsets = PLD_AT(1, 0),
		.src_offsets = PLD_AT(0, 0),
		.shape = PLD_SHAPE(1, SIZE),
	};
	PLD_TRY(pld_tensor_put(&f->target, 0, &f->x, &row));
	PLD_TRY(pld_system_notify(&f->barrier, 0, PLD_AT(1, 0), TIMES,
				  PLD_ATOMIC_ADD));
	PLD_TRY(pld_system_notify(&f->gather, 0, PLD_AT(1, 0), TIMES,
				  PLD_ATOMIC_ADD));
	PLD_TRY(pld_system_notify(&f->cells, 0, PLD_AT(0, 0), 1, PLD_SET));
	while (!atomic_load_explicit((atomic_char *)f->over.data,
				     memory_order_acquire))
		usleep(1000);
	CHECK_EQ(TIMES, *(int32_t *)f->cells.data);
	return 0;
}

static int count_all(struct fast *f)
{
	static const int32_t wanted[NRANKS * SIZE] = { 10, 11, 20, 21 };

	PLD_TRY(pld_system_wait(&f->cells, PLD_AT(0, 0), 1, PLD_GE));
	PLD_TRY(begin_counting());
	for (size_t i = 0; i < ARRAY_SIZE(calls); i++) {
		CHECK_EQ(0, calls[i].call(f));
		PLD_TRY(count(calls[i].name, calls[i].call, f));
	}
	CHECK(!memcmp(f->target.data, wanted, sizeof(wanted)));
	return 0;
}

static int fast_kernel(pld_domain *domain, void *arg)
{
	struct fast f = { .memory = { 1 } };
	int result;

	PLD_TRY(make_fast(&f, domain));
	if (pld_rank(domain))
		return be_early(&f);
	result = count_all(&f);
	/* Rank 1 looks at it by itself. */
	PLD_TRY(pld_tensor_put(&f.over, 1, &f.mine, NULL));
	return result;
}

FIXTURE(fast)
{
	pld_domain *domain;
};

FIXTURE_SETUP(fast)
{
	if (!can_count())
		SKIP(return, "no PR_SET_SYSCALL_USER_DISPATCH: %s",
			   strerror(errno));
	self->domain = make_domain(NRANKS);
	ASSERT_NE(NULL, self->domain);
	ASSERT_EQ(0,
		  pld_alloc_window_buffer(self->domain, BYTES, &bytes_buffer));
	ASSERT_EQ(0, pld_alloc_window_buffer_shaped(self->domain,
						    PLD_SHAPE(NRANKS, SIZE),
						    PLD_INT32, &target_buffer));
	for (int i = 0; i < 3; i++)
		ASSERT_EQ(0, pld_alloc_signal(self->domain, PLD_SHAPE(NRANKS, 1),
					      &signals[i]));
	ASSERT_EQ(0, pld_alloc_window_buffer(self->domain, BYTES, &over_buffer));
}

FIXTURE_TEARDOWN(fast)
{
	pld_domain_destroy(self->domain);
}

TEST_F(fast, path_calls_nobody)
{
	RUN(self->domain, fast_kernel, NULL);
}

static int some_calls(struct fast *f)
{
	return (int)syscall(SYS_getppid) < 0;
}

static int some_allocation(struct fast *f)
{
	free(f->domain);
	f->domain = malloc(BYTES);
	return !f->domain;
}

/* Otherwise the test above says nothing. */
TEST_F(fast, calls_are_counted)
{
	struct fast f = { 0 };

	/* A heap that has such memory needs no system call for it. */
	ASSERT_EQ(0, some_allocation(&f));
	ASSERT_EQ(0, begin_counting());
	EXPECT_EQ(-EBADMSG, count("getppid", some_calls, &f));
	EXPECT_EQ(1, system_calls);
	EXPECT_EQ(SYS_getppid, last_call);
	EXPECT_EQ(-EBADMSG, count("malloc, free", some_allocation, &f));
	EXPECT_EQ(2, heap_calls);
	free(f.domain);
}

LIB_TEST_MAIN
