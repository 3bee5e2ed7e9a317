// SPDX-License-Identifier: GPL-2.0
/*
 * A DRM driver that moves its buffers and has syncobj, the guest's virtio-gpu: its
 * buffers as windows, and a condition on a cell as what its jobs wait for.
 */
#include <time.h>

#include <pld_event.h>

#include "lib_drm.h"
#include "virtio_gpu.h"

FIXTURE(virtio)
{
	int drm;
	pld_domain *domain;
	pld_window_buffer *signal;
};

FIXTURE_SETUP(virtio)
{
	virtio_gpu_load();
	self->drm = drmOpen("virtio_gpu", NULL);
	self->domain = make_domain(NRANKS);
	ASSERT_NE(NULL, self->domain);
	ASSERT_EQ(0, pld_alloc_signal(self->domain, PLD_SHAPE(NRANKS, 1),
				      &self->signal));
}

/* A fixture of this harness cannot skip its tests. */
#define NEED_VIRTIO(_self)                                      \
	do {                                                    \
		if ((_self)->drm < 0)                           \
			SKIP(return, "there is no virtio-gpu"); \
	} while (0)

FIXTURE_TEARDOWN(virtio)
{
	pld_domain_destroy(self->domain);
	if (self->drm >= 0)
		drmClose(self->drm);
}

struct windows {
	pld_window_buffer *data;
	pld_window_buffer *signal;
};

/* Each rank puts a slice to the next rank, which has it after the barrier. */
static int puts_to_next(pld_domain *domain, void *arg)
{
	struct windows *windows = arg;
	int me = pld_rank(domain);
	pld_distributed_tensor data, signal;

	PLD_TRY(pld_window(windows->data, PLD_SHAPE(BYTES), PLD_UINT8, &data));
	PLD_TRY(pld_window(windows->signal, PLD_SHAPE(NRANKS, 1), PLD_INT32,
			   &signal));
	/* What the device's buffers had. */
	if (me)
		CHECK_EQ(BYTES,
			 golden_differs(data.data, BYTES, (unsigned int)me));
	PLD_TRY(pld_tensor_barrier(&signal));
	CHECK_EQ(0,
		 put_slice(&data, me, (me + 1) % NRANKS, 10 + (unsigned int)me));
	PLD_TRY(pld_tensor_barrier(&signal));
	me = (me + NRANKS - 1) % NRANKS;
	CHECK_EQ(SLICE, golden_differs((char *)data.data + me * SLICE, SLICE,
				       10 + (unsigned int)me));
	return 0;
}

TEST_F(virtio, buffers_are_windows)
{
	struct windows windows = { .signal = self->signal };
	unsigned char *bytes[NRANKS];
	uint32_t handles[NRANKS] = { 0 };

	NEED_VIRTIO(self);
	for (int rank = 1; rank < NRANKS; rank++) {
		handles[rank] = gem_create(self->drm, BYTES);
		ASSERT_NE(0, handles[rank]);
		bytes[rank] = gem_map(self->drm, handles[rank], BYTES);
		ASSERT_NE(NULL, bytes[rank]);
		golden_fill(bytes[rank], BYTES, (unsigned int)rank);
	}
	ASSERT_EQ(0, pld_drm_import(self->domain, BYTES, self->drm, handles,
				    &windows.data));
	RUN(self->domain, puts_to_next, &windows);
	for (int rank = 1; rank < NRANKS; rank++) {
		size_t at = (size_t)(rank - 1) * SLICE;

		EXPECT_EQ(SLICE, golden_differs(bytes[rank] + at, SLICE,
						10 + (unsigned int)rank - 1));
		EXPECT_EQ(0, munmap(bytes[rank], BYTES));
	}
}

struct job {
	int drm;
	uint32_t syncobj;
	pld_window_buffer *signal;
};

/* 0 when the job may begin, -ETIME when it would wait longer than that. */
static int job_waits(struct job *job, int64_t ns)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return drmSyncobjWait(job->drm, &job->syncobj, 1,
			      now.tv_sec * INT64_C(1000000000) + now.tv_nsec + ns,
			      0, NULL);
}

/* Rank 0 has a job that is to begin when rank 1 has notified it. */
static int notifies_a_job(pld_domain *domain, void *arg)
{
	struct job *job = arg;
	pld_distributed_tensor signal;
	int fence;

	PLD_TRY(pld_window(job->signal, PLD_SHAPE(NRANKS, 1), PLD_INT32,
			   &signal));
	if (pld_rank(domain) == 1) {
		PLD_TRY(pld_system_wait(&signal, PLD_AT(1, 0), 1, PLD_EQ));
		return pld_system_notify(&signal, 0, PLD_AT(1, 0), 1,
					 PLD_ATOMIC_ADD);
	}
	if (pld_rank(domain))
		return 0;
	CHECK_EQ(0, pld_signal_fence(&signal, PLD_AT(1, 0), 1, PLD_EQ,
				     PLD_MAX_FENCE_NS, &fence));
	CHECK_EQ(0, drmSyncobjImportSyncFile(job->drm, job->syncobj, fence));
	close(fence);
	CHECK_EQ(-ETIME, job_waits(job, 20 * LIB_MS));
	PLD_TRY(pld_system_notify(&signal, 1, PLD_AT(1, 0), 1, PLD_ATOMIC_ADD));
	CHECK_EQ(0, job_waits(job, 20000 * LIB_MS));
	return 0;
}

TEST_F(virtio, job_waits_for_a_condition)
{
	struct job job = { .drm = self->drm, .signal = self->signal };
	uint64_t has = 0;

	NEED_VIRTIO(self);
	if (drmGetCap(self->drm, DRM_CAP_SYNCOBJ, &has) || !has)
		SKIP(return, "this kernel's virtio-gpu has no syncobj");
	if (strcmp(pld_domain_platform(self->domain), "kmod") != 0)
		SKIP(return, "platform memfd has no sync_files");
	ASSERT_EQ(0, drmSyncobjCreate(self->drm, 0, &job.syncobj));
	RUN(self->domain, notifies_a_job, &job);
	EXPECT_EQ(0, drmSyncobjDestroy(self->drm, job.syncobj));
}

LIB_TEST_MAIN
