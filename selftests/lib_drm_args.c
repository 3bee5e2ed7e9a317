// SPDX-License-Identifier: GPL-2.0
/*
 * What libpld-drm does where there is no DRM device: arguments and descriptors
 * that it refuses, and a window without any buffer.
 */
#include "lib_drm.h"

FIXTURE(no_device)
{
	pld_domain *domain;
	/* of ranks that have no buffer, and of ranks that should have one */
	uint32_t none[NRANKS];
	uint32_t some[NRANKS];
};

FIXTURE_SETUP(no_device)
{
	self->domain = make_domain(NRANKS);
	ASSERT_NE(NULL, self->domain);
	self->some[1] = 1;
}

FIXTURE_TEARDOWN(no_device)
{
	pld_domain_destroy(self->domain);
}

TEST_F(no_device, arguments_that_make_no_sense_are_refused)
{
	static const char nulls[] =
		"pld_drm_import: domain, handles and buffer must not be NULL";
	static const char nulls_each[] =
		"pld_drm_import: domain, buffers and buffer must not be NULL";
	pld_drm_buffer buffers[NRANKS] = { 0 };
	pld_window_buffer *none = NULL;

	EXPECT_REFUSED(-EINVAL, nulls,
		       pld_drm_import(NULL, BYTES, -1, self->none, &none));
	EXPECT_REFUSED(-EINVAL, nulls,
		       pld_drm_import(self->domain, BYTES, -1, NULL, &none));
	EXPECT_REFUSED(-EINVAL, nulls,
		       pld_drm_import(self->domain, BYTES, -1, self->none, NULL));
	EXPECT_REFUSED(-EINVAL, nulls_each,
		       pld_drm_import_each(NULL, BYTES, buffers, &none));
	EXPECT_REFUSED(-EINVAL, nulls_each,
		       pld_drm_import_each(self->domain, BYTES, NULL, &none));
	EXPECT_REFUSED(-EINVAL, nulls_each,
		       pld_drm_import_each(self->domain, BYTES, buffers, NULL));
	EXPECT_REFUSED(-EINVAL, "pld_drm_export: handle must not be NULL",
		       pld_drm_export(NULL, 0, 0, 0, -1, NULL));
	EXPECT_EQ(NULL, none);
}

TEST_F(no_device, what_is_no_drm_device_is_refused)
{
	int file = open("/dev/null", O_RDWR | O_CLOEXEC);
	pld_window_buffer *none = NULL;
	char message[PLD_MESSAGE_BYTES];
	int free_fd = lowest_free_fd();

	snprintf(message, sizeof(message),
		 "pld_drm_import: drm_fd is %d, wanted a descriptor of a DRM device: Inappropriate ioctl for device",
		 file);
	EXPECT_REFUSED(-ENOTTY, message,
		       pld_drm_import(self->domain, BYTES, file, self->some,
				      &none));
	EXPECT_REFUSED(-EBADF,
		       "pld_drm_import: drm_fd is -1, wanted a descriptor of a DRM device: Bad file descriptor",
		       pld_drm_import(self->domain, BYTES, -1, self->some,
				      &none));
	EXPECT_EQ(NULL, none);
	EXPECT_EQ(free_fd, lowest_free_fd());
}

static int finds_zeros(pld_domain *domain, void *buffer)
{
	pld_distributed_tensor data;
	unsigned char *bytes;

	(void)domain;
	PLD_TRY(pld_window(buffer, PLD_SHAPE(BYTES), PLD_UINT8, &data));
	bytes = data.data;
	for (size_t at = 0; at < BYTES; at++)
		CHECK_EQ(0, bytes[at]);
	memset(bytes, 1, BYTES);
	return 0;
}

/* A descriptor that nobody needs is not looked at. */
TEST_F(no_device, window_without_buffers_is_memory_of_its_own)
{
	pld_window_buffer *data;

	ASSERT_EQ(0, pld_drm_import(self->domain, BYTES, -1, self->none, &data));
	RUN(self->domain, finds_zeros, data);
	pld_free_window_buffer(data);
}

LIB_TEST_MAIN
