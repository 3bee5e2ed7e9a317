// SPDX-License-Identifier: GPL-2.0
/*
 * Windows as dma-bufs and dma-bufs as windows, as a program sees them: from
 * whatever the machine has that makes dma-bufs, on either platform. The bytes
 * are looked at through the dma-buf itself.
 */
#include <signal.h>
#include <sys/mman.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <pld_dmabuf.h>
#include <pld_join.h>

#include "dmabuf_drivers.h"
#include "lib_dmabuf.h"
#include "lib_golden.h"
#include "lib_test.h"

#define NRANKS 3
#define PAGE 4096
#define TURNS 8
#define BYTES (3 * PAGE)
/* Cells of a signal of that size: they lie 128 bytes apart. */
#define CELLS (BYTES / 128)

/* ---- where dma-bufs come from ---- */

/* Makes a dma-buf of that many bytes, of any content; -1: not here. */
typedef int make_dmabuf(size_t bytes);

/* A window of another domain, which ends at once. */
static int from_window(size_t bytes)
{
	pld_domain *domain = make_domain(1);
	pld_window_buffer *buffer;
	int fd = -1;

	if (!domain || pld_alloc_window_buffer(domain, bytes, &buffer) ||
	    pld_window_export(buffer, 0, 0, 0, &fd))
		fd = -1;
	pld_domain_destroy(domain);
	return fd;
}

FIXTURE(dmabuf)
{
	pld_domain *domain;
	int fds[NRANKS];
	unsigned char *seen[NRANKS];
};

FIXTURE_VARIANT(dmabuf)
{
	make_dmabuf *make;
};

FIXTURE_VARIANT_ADD(dmabuf, window){
	.make = from_window,
};

FIXTURE_VARIANT_ADD(dmabuf, system_heap){
	.make = heap_buffer,
};

FIXTURE_VARIANT_ADD(dmabuf, udmabuf){
	.make = udmabuf_buffer,
};

/* One dma-buf per rank, and this process's own mapping of each. */
FIXTURE_SETUP(dmabuf)
{
	self->domain = make_domain(NRANKS);
	ASSERT_NE(NULL, self->domain);
	for (int rank = 0; rank < NRANKS; rank++) {
		self->fds[rank] = variant->make(BYTES);
		if (self->fds[rank] < 0)
			return;
		self->seen[rank] = mmap(NULL, BYTES, PROT_READ | PROT_WRITE,
					MAP_SHARED, self->fds[rank], 0);
		ASSERT_NE(MAP_FAILED, self->seen[rank]);
		golden_fill(self->seen[rank], BYTES, (unsigned int)rank);
	}
}

FIXTURE_TEARDOWN(dmabuf)
{
	pld_domain_destroy(self->domain);
}

/* The harness runs a test whose fixture skips. */
#define NEED_DMABUFS(_self)                                          \
	do {                                                         \
		if ((_self)->fds[0] < 0)                             \
			SKIP(return, "no such dma-buf can be made"); \
	} while (0)

/* udmabuf of 6.1 has no vmap: the module cannot look at cells in its memory. */
static bool kernel_sees(const pld_domain *domain, make_dmabuf *make)
{
	struct utsname kernel;

	uname(&kernel);
	return make != udmabuf_buffer ||
	       strcmp(pld_domain_platform(domain), "kmod") != 0 ||
	       strncmp(kernel.release, "6.1.", 4) != 0;
}

/* Where the memory cannot be a signal, the test is that the call says so. */
#define NEED_SIGNALS(_self, _variant)                                    \
	do {                                                             \
		pld_window_buffer *_none;                                \
                                                                         \
		NEED_DMABUFS(_self);                                     \
		if (kernel_sees((_self)->domain, (_variant)->make))      \
			break;                                           \
		EXPECT_REFUSED(-ENXIO, UNSEEN("fds[0]"),                 \
			       pld_signal_import((_self)->domain,        \
						 PLD_SHAPE(CELLS),       \
						 (_self)->fds, &_none)); \
		close_all((_self)->fds);                                 \
		return;                                                  \
	} while (0)

static void close_all(int *fds)
{
	for (int rank = 0; rank < NRANKS; rank++) {
		close(fds[rank]);
		fds[rank] = -1;
	}
}

/*
 * Each rank sees the next one's bytes, and then puts new ones there.
 */
static int move_bytes(pld_domain *domain, void *buffer)
{
	int me = pld_rank(domain), next = (me + 1) % NRANKS;
	unsigned char mine[BYTES];
	pld_distributed_tensor bytes;
	pld_tensor tensor;
	pld_tile look;

	PLD_TRY(pld_window(buffer, PLD_SHAPE(BYTES), PLD_UINT8, &bytes));
	PLD_TRY(pld_tile_alloc(&look, BYTES));
	CHECK_EQ(0, pld_tile_remote_load(&bytes, next, PLD_AT(0),
					 PLD_SHAPE(BYTES), &look));
	CHECK_EQ(BYTES, golden_differs(look.data, BYTES, (unsigned int)next));
	golden_fill(mine, BYTES, 10 + (unsigned int)me);
	PLD_TRY(pld_tensor_init(&tensor, mine, PLD_SHAPE(BYTES), PLD_UINT8));
	CHECK_EQ(0, pld_tensor_put(&bytes, next, &tensor, NULL));
	return 0;
}

TEST_F(dmabuf, ranks_read_and_write_imported_memory)
{
	pld_window_buffer *buffer;

	NEED_DMABUFS(self);
	ASSERT_EQ(0, pld_window_import(self->domain, BYTES, self->fds, &buffer))
	TH_LOG("%s", pld_last_error());
	close_all(self->fds);
	RUN(self->domain, move_bytes, buffer);
	for (int rank = 0; rank < NRANKS; rank++) {
		unsigned int from = (unsigned int)(rank + NRANKS - 1) % NRANKS;

		EXPECT_EQ(BYTES,
			  golden_differs(self->seen[rank], BYTES, 10 + from));
		golden_fill(self->seen[rank], BYTES, (unsigned int)rank);
	}
	/* Another launch finds what was written meanwhile. */
	RUN(self->domain, move_bytes, buffer);
	pld_free_window_buffer(buffer);
	EXPECT_EQ(BYTES, golden_differs(self->seen[0], BYTES, 10 + NRANKS - 1));
}

struct mixed {
	pld_window_buffer *buffer;
	size_t bytes;
};

/* Rank 1's memory is imported, the others' is new. */
static int look_at_mixed(pld_domain *domain, void *arg)
{
	struct mixed *m = arg;
	int64_t n = (int64_t)m->bytes;
	pld_distributed_tensor bytes;
	unsigned char last;
	pld_tile look;

	PLD_TRY(pld_window(m->buffer, PLD_SHAPE(n), PLD_UINT8, &bytes));
	PLD_TRY(pld_tile_alloc(&look, PAGE));
	last = ((unsigned char *)bytes.data)[n - 1];
	CHECK_EQ(pld_rank(domain) == 1 ? 0x77 : 0, last);
	for (int peer = 0; peer < NRANKS; peer++) {
		CHECK_EQ(0, pld_tile_remote_load(&bytes, peer, PLD_AT(n - 1),
						 PLD_SHAPE(1), &look));
		CHECK_EQ(peer == 1 ? 0x77 : 0, *(unsigned char *)look.data);
	}
	return 0;
}

TEST_F(dmabuf, some_ranks_memory_is_imported_and_the_others_own)
{
	static const size_t sizes[] = { 1, PAGE, BYTES - 5, (2u << 20) + PAGE };

	NEED_DMABUFS(self);
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		int fds[NRANKS] = {
			-1, variant->make((sizes[i] + PAGE - 1) & -PAGE), -1
		};
		struct mixed m = { .bytes = sizes[i] };
		unsigned char *seen;

		ASSERT_LE(0, fds[1]);
		ASSERT_EQ(0, pld_window_import(self->domain, m.bytes, fds,
					       &m.buffer))
		TH_LOG("%s", pld_last_error());
		seen = mmap(NULL, sizes[i], PROT_READ | PROT_WRITE, MAP_SHARED,
			    fds[1], 0);
		ASSERT_NE(MAP_FAILED, seen);
		seen[sizes[i] - 1] = 0x77;
		RUN(self->domain, look_at_mixed, &m);
		munmap(seen, sizes[i]);
		close(fds[1]);
		pld_free_window_buffer(m.buffer);
	}
}

/* Each rank's cell [peer] counts what the peer has notified. */
static int notify_and_wait(pld_domain *domain, void *buffer)
{
	int me = pld_rank(domain);
	pld_distributed_tensor signal;

	PLD_TRY(pld_window(buffer, PLD_SHAPE(NRANKS), PLD_INT32, &signal));
	/* The others sleep meanwhile. */
	if (!me)
		usleep(100000);
	for (int turn = 1; turn <= TURNS; turn++)
		for (int peer = 0; peer < NRANKS; peer++) {
			CHECK_EQ(0, pld_system_notify(&signal, peer, PLD_AT(me),
						      1, PLD_ATOMIC_ADD));
			CHECK_EQ(0, pld_system_wait(&signal, PLD_AT(peer), turn,
						    PLD_GE));
		}
	return 0;
}

TEST_F(dmabuf, imported_signals_wake_and_begin_at_zero)
{
	pld_window_buffer *buffer;
	int32_t cell;

	NEED_SIGNALS(self, variant);
	ASSERT_EQ(0, pld_signal_import(self->domain, PLD_SHAPE(CELLS),
				       self->fds, &buffer))
	TH_LOG("%s", pld_last_error());
	close_all(self->fds);
	for (int launch = 0; launch < 2; launch++) {
		RUN(self->domain, notify_and_wait, buffer);
		for (int i = 0; i < NRANKS * NRANKS; i++) {
			memcpy(&cell, self->seen[i / NRANKS] + i % NRANKS * 128,
			       sizeof(cell));
			EXPECT_EQ(TURNS, cell);
		}
	}
	/* The cells that nobody has used. */
	for (int at = NRANKS * 128; at < BYTES; at++)
		EXPECT_EQ(0, self->seen[1][at]);
}

static int find_seven(pld_domain *domain, void *arg)
{
	pld_distributed_tensor signal;

	PLD_TRY(pld_window(pld_domain_buffer(domain, 0), PLD_SHAPE(CELLS),
			   PLD_INT32, &signal));
	return pld_system_wait_timeout(&signal, PLD_AT(0), 7, PLD_EQ, 0);
}

/* The process's exit status: 0 when rank 1 came in and found it. */
static int come_in_as_1(const char *path)
{
	pld_domain *domain;
	int error;

	do
		error = pld_domain_connect(path, 1, &domain);
	while (error == -ENOENT || error == -ECONNREFUSED);
	if (error)
		return 1;
	error = find_seven(domain, NULL);
	return pld_domain_disconnect(domain, error) || error;
}

/* The others may be at work when it does. */
TEST_F(dmabuf, who_comes_in_leaves_imported_signals_as_they_are)
{
	const pld_serve_options options = {
		.path = "/tmp/lib_dmabuf_import.socket",
		.ranks = (int[]){ 1 },
		.nranks = 1,
		.kernel = find_seven,
	};
	const int32_t seven = 7;
	pld_window_buffer *buffer;
	pid_t rank;
	int status;

	NEED_SIGNALS(self, variant);
	unlink(options.path);
	/* Before this process sets the window's addresses aside. */
	rank = fork();
	if (!rank)
		_exit(come_in_as_1(options.path));
	ASSERT_EQ(0, pld_signal_import(self->domain, PLD_SHAPE(CELLS),
				       self->fds, &buffer));
	close_all(self->fds);
	for (int r = 0; r < NRANKS; r++)
		memcpy(self->seen[r], &seven, sizeof(seven));
	EXPECT_EQ(0, pld_domain_serve(self->domain, &options, NULL))
	TH_LOG("%s", pld_last_error());
	ASSERT_EQ(rank, TEMP_FAILURE_RETRY(waitpid(rank, &status, 0)));
	EXPECT_EQ(0, status);
}

struct gather {
	pld_window_buffer *target;
	pld_window_buffer *signal;
};

static int gather(pld_domain *domain, void *arg)
{
	int32_t mine[4], me = pld_rank(domain), *all;
	struct gather *g = arg;
	pld_distributed_tensor data, signal;
	pld_tensor x;

	for (int i = 0; i < 4; i++)
		mine[i] = 100 * me + i;
	PLD_TRY(pld_tensor_init(&x, mine, PLD_SHAPE(1, 4), PLD_INT32));
	PLD_TRY(pld_window(g->target, PLD_SHAPE(NRANKS, 4), PLD_INT32, &data));
	PLD_TRY(pld_window(g->signal, PLD_SHAPE(NRANKS, 1), PLD_INT32, &signal));
	CHECK_EQ(0, pld_tensor_allgather(&x, &data, &signal));
	all = data.data;
	for (int i = 0; i < 4 * NRANKS; i++)
		CHECK_EQ(100 * (i / 4) + i % 4, all[i]);
	return 0;
}

TEST_F(dmabuf, collectives_run_on_imported_memory)
{
	int fds[NRANKS];
	struct gather g;

	NEED_SIGNALS(self, variant);
	for (int rank = 0; rank < NRANKS; rank++)
		fds[rank] = rank ? variant->make(PAGE) : -1;
	ASSERT_EQ(0,
		  pld_window_import(self->domain, BYTES, self->fds, &g.target));
	ASSERT_EQ(0, pld_signal_import(self->domain, PLD_SHAPE(NRANKS, 1), fds,
				       &g.signal));
	for (int rank = 1; rank < NRANKS; rank++)
		close(fds[rank]);
	RUN(self->domain, gather, &g);
	RUN(self->domain, gather, &g);
	for (int rank = 0; rank < NRANKS; rank++)
		EXPECT_EQ(0,
			  memcmp(self->seen[0], self->seen[rank], NRANKS * 16));
}

static int die_or_wait(pld_domain *domain, void *buffer)
{
	pld_distributed_tensor signal;

	PLD_TRY(pld_window(buffer, PLD_SHAPE(NRANKS), PLD_INT32, &signal));
	if (pld_rank(domain) == 1) {
		PLD_TRY(pld_system_notify(&signal, 1, PLD_AT(2), 42, PLD_SET));
		raise(SIGKILL);
	}
	return pld_system_wait(&signal, PLD_AT(0), 1, PLD_EQ);
}

TEST_F(dmabuf, death_of_a_rank_leaves_the_dma_buf_and_the_domain_usable)
{
	pld_window_buffer *buffer;
	int32_t cell;

	NEED_SIGNALS(self, variant);
	ASSERT_EQ(0, pld_signal_import(self->domain, PLD_SHAPE(CELLS),
				       self->fds, &buffer));
	close_all(self->fds);
	EXPECT_REFUSED(-EOWNERDEAD, "rank 1 died: killed by signal 9 (Killed)",
		       pld_launch(self->domain, die_or_wait, buffer, NULL));
	memcpy(&cell, self->seen[1] + 2 * 128, sizeof(cell));
	EXPECT_EQ(42, cell);
	ASSERT_EQ(0, pld_domain_reset(self->domain));
	RUN(self->domain, notify_and_wait, buffer);
}

struct parts {
	pld_domain *sub;
	pld_window_buffer *buffer;
};

static int look_in_part(pld_domain *domain, void *arg)
{
	struct parts *p = arg;
	pld_distributed_tensor bytes;
	int me = pld_rank(domain);

	if (!me)
		return 0;
	CHECK_EQ(2 - me, pld_rank(p->sub));
	PLD_TRY(pld_window(p->buffer, PLD_SHAPE(BYTES), PLD_UINT8, &bytes));
	CHECK_EQ(BYTES, golden_differs(bytes.data, BYTES, me == 2 ? 2 : 0));
	return 0;
}

TEST_F(dmabuf, sub_domain_imports_for_its_own_ranks)
{
	int fds[] = { self->fds[2], self->fds[0] };
	struct parts p;

	NEED_DMABUFS(self);
	ASSERT_EQ(0, pld_subdomain_create(self->domain, (int[]){ 2, 1 }, 2,
					  &p.sub));
	ASSERT_EQ(0, pld_window_import(p.sub, BYTES, fds, &p.buffer));
	close_all(self->fds);
	RUN(self->domain, look_in_part, &p);
}

TEST_F(dmabuf, import_refuses_a_dma_buf_of_another_size)
{
	pld_window_buffer *none = NULL;
	int fds[NRANKS] = { -1, -1, self->fds[2] };

	NEED_DMABUFS(self);
	EXPECT_REFUSED(-ERANGE,
		       "pld_window_import: the dma-buf fds[2] has 12288 bytes, wanted 16384",
		       pld_window_import(self->domain, BYTES + 1, fds, &none));
	EXPECT_REFUSED(-ERANGE,
		       "pld_signal_import: the dma-buf fds[2] has 12288 bytes, wanted 16384",
		       pld_signal_import(self->domain, PLD_SHAPE(CELLS + 1),
					 fds, &none));
	/* One that is too large would give more away than the window. */
	EXPECT_REFUSED(-ERANGE,
		       "pld_window_import: the dma-buf fds[2] has 12288 bytes, wanted 8192",
		       pld_window_import(self->domain, BYTES - PAGE, fds, &none));
	EXPECT_REFUSED(-ERANGE,
		       "pld_signal_import: the dma-buf fds[2] has 12288 bytes, wanted 4096",
		       pld_signal_import(self->domain, PLD_SHAPE(1), fds, &none));
	EXPECT_EQ(NULL, none);
}

/* The same dma-buf, from every exporter, in two ranks' places at once. */
TEST_F(dmabuf, two_ranks_may_share_a_dma_buf)
{
	int fds[NRANKS] = { self->fds[0], self->fds[0], self->fds[0] };
	pld_window_buffer *buffer;

	NEED_DMABUFS(self);
	if (variant->make != from_window && second_mapping_is_forbidden())
		SKIP(return, "DMA debugging forbids this exporter to do so");
	ASSERT_EQ(0, pld_window_import(self->domain, BYTES, fds, &buffer));
	memset(self->seen[0], 0x77, BYTES);
	for (int rank = 0; rank < NRANKS; rank++) {
		int fd;

		EXPECT_EQ(0, pld_window_export(buffer, rank, 0, 0, &fd));
		EXPECT_EQ(BYTES, lseek(fd, 0, SEEK_END));
		close(fd);
	}
}

LIB_TEST_MAIN
