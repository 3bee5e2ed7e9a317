// SPDX-License-Identifier: GPL-2.0
/*
 * What an import of dma-bufs refuses, and tells: arguments, rights, and what the
 * drivers of the dma-bufs lack.
 */
#include <fcntl.h>
#include <unistd.h>

#include <pld_dmabuf.h>

#include "dmabuf_drivers.h"
#include "lib_dmabuf.h"
#include "lib_test.h"
#include "pld_exporter.h"

#define NRANKS 3
#define PAGE 4096
#define BYTES (3 * PAGE)

FIXTURE(import)
{
	pld_domain *domain;
};

FIXTURE_SETUP(import)
{
	self->domain = make_domain(NRANKS);
	ASSERT_NE(NULL, self->domain);
}

FIXTURE_TEARDOWN(import)
{
	pld_domain_destroy(self->domain);
}

TEST_F(import, import_refuses_what_is_no_dma_buf)
{
	int memfd = memfd_create("lib_dmabuf_refused", MFD_CLOEXEC);
	int file = open("/dev/null", O_RDWR | O_CLOEXEC), closed = dup(file);
	pld_window_buffer *none = NULL;
	char text[PLD_MESSAGE_BYTES];

	close(closed);
	ASSERT_EQ(0, ftruncate(memfd, BYTES));
	for (int rank = 0; rank < NRANKS; rank++) {
		int fds[NRANKS] = { -1, -1, -1 };

		fds[rank] = closed;
		snprintf(text, sizeof(text),
			 "pld_window_import: fds[%d] is %d, which is not an open descriptor",
			 rank, closed);
		EXPECT_REFUSED(-EBADF, text,
			       pld_window_import(self->domain, BYTES, fds,
						 &none));
		fds[rank] = -2;
		snprintf(text, sizeof(text),
			 "pld_signal_import: fds[%d] is -2, which is not an open descriptor",
			 rank);
		EXPECT_REFUSED(-EBADF, text,
			       pld_signal_import(self->domain, PLD_SHAPE(2),
						 fds, &none));
		for (int i = 0; i < 2; i++) {
			fds[rank] = i ? memfd : file;
			snprintf(text, sizeof(text),
				 "pld_window_import: fds[%d] is %d, which is not a dma-buf",
				 rank, fds[rank]);
			EXPECT_REFUSED(-EINVAL, text,
				       pld_window_import(self->domain, BYTES,
							 fds, &none));
		}
	}
	EXPECT_EQ(NULL, none);
	close(memfd);
	close(file);
}

TEST_F(import, import_refuses_arguments_that_make_no_sense)
{
	int fds[NRANKS] = { -1, -1, -1 };
	pld_window_buffer *none;

	EXPECT_REFUSED(-EINVAL, "pld_window_import: fds must not be NULL",
		       pld_window_import(self->domain, BYTES, NULL, &none));
	EXPECT_REFUSED(-EINVAL, "pld_signal_import: fds must not be NULL",
		       pld_signal_import(self->domain, PLD_SHAPE(1), NULL,
					 &none));
	EXPECT_REFUSED(-EINVAL,
		       "pld_window_import: domain and buffer must not be NULL",
		       pld_window_import(NULL, BYTES, fds, &none));
	EXPECT_REFUSED(-EINVAL,
		       "pld_window_import: domain and buffer must not be NULL",
		       pld_window_import(self->domain, BYTES, fds, NULL));
	EXPECT_REFUSED(-EINVAL, "pld_window_import: 0 bytes, wanted at least 1",
		       pld_window_import(self->domain, 0, fds, &none));
	/* Nothing but memory of its own is an ordinary buffer. */
	EXPECT_EQ(0, pld_window_import(self->domain, BYTES, fds, &none));
}

TEST_F(import, read_only_dma_buf_is_refused)
{
	int fds[NRANKS] = { -1, heap_buffer_for(BYTES, O_RDONLY), -1 };
	pld_window_buffer *none;

	if (fds[1] < 0)
		SKIP(return, "there is no system heap");
	EXPECT_REFUSED(-EACCES,
		       "pld_window_import: the dma-buf fds[1] can only be read, wanted one that can be written",
		       pld_window_import(self->domain, BYTES, fds, &none));
	close(fds[1]);
}

TEST_F(import, what_drivers_lack_is_told)
{
	static const struct {
		__u32 lacks;
		int error;
		const char *message;
	} cases[] = {
		{ TEST_NO_MMAP, -ENODEV,
		  "pld_signal_import: the dma-buf fds[1] cannot be mapped by a process" },
		{ TEST_MAP_FAILS, -EIO,
		  "pld_signal_import: the dma-buf fds[1] cannot be mapped by the device of rank 1" },
		{ TEST_PEER2PEER, -EIO,
		  "pld_signal_import: the dma-buf fds[1] cannot be mapped by the device of rank 1" },
		{ TEST_NO_VMAP, -ENXIO, UNSEEN("fds[1]") },
	};
	bool kmod = !strcmp(pld_domain_platform(self->domain), "kmod");
	int exporter = exporter_open();

	if (exporter < 0)
		SKIP(return, "there is no " EXPORTER_NODE
			     " (module pld_test_exporter)");
	/* Memfd needs none but the first. */
	for (size_t i = 0; i < (kmod ? ARRAY_SIZE(cases) : 1); i++) {
		int fds[NRANKS] = { -1, -1, -1 };
		pld_window_buffer *none;

		fds[1] = exporter_make(exporter, PAGE, cases[i].lacks);
		EXPECT_REFUSED(cases[i].error, cases[i].message,
			       pld_signal_import(self->domain, PLD_SHAPE(2),
						 fds, &none));
		close(fds[1]);
	}
	EXPECT_EQ(0, exporter_count(exporter).buffers);
	close(exporter);
}

static int wait_unseen(pld_domain *domain, void *buffer)
{
	pld_distributed_tensor cells;

	PLD_TRY(pld_window(buffer, PLD_SHAPE(8), PLD_INT32, &cells));
	/* Spins first, and sleeps then. */
	CHECK_REFUSED(-ENXIO,
		      "waiting for a cell: the kernel cannot see the imported memory that it is in",
		      pld_system_wait(&cells, PLD_AT(0), 1, PLD_EQ));
	return 0;
}

TEST_F(import, wait_that_the_kernel_cannot_see_says_so)
{
	int exporter = exporter_open(), fds[NRANKS];
	pld_window_buffer *buffer;

	if (exporter < 0 || strcmp(pld_domain_platform(self->domain), "kmod"))
		SKIP(return, "no platform kmod with pld_test_exporter");
	for (int rank = 0; rank < NRANKS; rank++)
		fds[rank] = exporter_make(exporter, BYTES, TEST_NO_VMAP);
	ASSERT_EQ(0, pld_window_import(self->domain, BYTES, fds, &buffer));
	RUN(self->domain, wait_unseen, buffer);
	for (int rank = 0; rank < NRANKS; rank++)
		close(fds[rank]);
	close(exporter);
}

static int import_as_rank(pld_domain *domain, void *arg)
{
	int fds[NRANKS] = { -1, -1, -1 }, me = pld_rank(domain);
	char text[PLD_MESSAGE_BYTES];
	pld_window_buffer *none;

	snprintf(text, sizeof(text),
		 "pld_window_import: only the host side can do this, not rank %d",
		 me);
	CHECK_REFUSED(-EPERM, text,
		      pld_window_import(domain, BYTES, fds, &none));
	return 0;
}

TEST_F(import, rank_does_not_import)
{
	RUN(self->domain, import_as_rank, NULL);
}

LIB_TEST_MAIN
