// SPDX-License-Identifier: GPL-2.0
/*
 * Where every field of the interface is, and the numbers that programs are
 * built with: the same in every build of the header. Needs no module.
 *
 * This file is also built for 32 bit.
 */
#include <stddef.h>

#include <kselftest_harness.h>
#include <linux/pld_sim.h>

#define EXPECT_LAYOUT(_struct, _field, _at, _bytes)                       \
	do {                                                              \
		EXPECT_EQ(_at, offsetof(struct _struct, _field));         \
		EXPECT_EQ(_bytes, sizeof(((struct _struct *)0)->_field)); \
	} while (0)

TEST(layout_of_device_commands)
{
	EXPECT_EQ(32, sizeof(struct pld_sim_info));
	EXPECT_LAYOUT(pld_sim_info, size, 0, 4);
	EXPECT_LAYOUT(pld_sim_info, flags, 4, 4);
	EXPECT_LAYOUT(pld_sim_info, abi_version, 8, 4);
	EXPECT_LAYOUT(pld_sim_info, nr_devices, 12, 4);
	EXPECT_LAYOUT(pld_sim_info, max_ranks, 16, 4);
	EXPECT_LAYOUT(pld_sim_info, max_windows, 20, 4);
	EXPECT_LAYOUT(pld_sim_info, device_memory, 24, 8);

	EXPECT_EQ(24, sizeof(struct pld_sim_domain_create));
	EXPECT_LAYOUT(pld_sim_domain_create, size, 0, 4);
	EXPECT_LAYOUT(pld_sim_domain_create, flags, 4, 4);
	EXPECT_LAYOUT(pld_sim_domain_create, devices, 8, 8);
	EXPECT_LAYOUT(pld_sim_domain_create, nranks, 16, 4);
	EXPECT_LAYOUT(pld_sim_domain_create, out_fd, 20, 4);

	EXPECT_EQ(36, sizeof(struct pld_sim_join));
	EXPECT_LAYOUT(pld_sim_join, size, 0, 4);
	EXPECT_LAYOUT(pld_sim_join, flags, 4, 4);
	EXPECT_LAYOUT(pld_sim_join, domain_fd, 8, 4);
	EXPECT_LAYOUT(pld_sim_join, rank, 12, 4);
	EXPECT_LAYOUT(pld_sim_join, nranks, 16, 4);
	EXPECT_LAYOUT(pld_sim_join, epoch, 20, 4);
	EXPECT_LAYOUT(pld_sim_join, reason, 24, 4);
	EXPECT_LAYOUT(pld_sim_join, failed_rank, 28, 4);
	EXPECT_LAYOUT(pld_sim_join, code, 32, 4);

	EXPECT_EQ(16, sizeof(struct pld_sim_domains));
	EXPECT_LAYOUT(pld_sim_domains, size, 0, 4);
	EXPECT_LAYOUT(pld_sim_domains, flags, 4, 4);
	EXPECT_LAYOUT(pld_sim_domains, out_fd, 8, 4);
	EXPECT_LAYOUT(pld_sim_domains, __reserved, 12, 4);
}

TEST(layout_of_domain_commands)
{
	EXPECT_EQ(48, sizeof(struct pld_sim_window_alloc));
	EXPECT_LAYOUT(pld_sim_window_alloc, size, 0, 4);
	EXPECT_LAYOUT(pld_sim_window_alloc, flags, 4, 4);
	EXPECT_LAYOUT(pld_sim_window_alloc, length, 8, 8);
	EXPECT_LAYOUT(pld_sim_window_alloc, window, 16, 4);
	EXPECT_LAYOUT(pld_sim_window_alloc, __reserved, 20, 4);
	EXPECT_LAYOUT(pld_sim_window_alloc, stride, 24, 8);
	EXPECT_LAYOUT(pld_sim_window_alloc, mmap_offset, 32, 8);
	EXPECT_LAYOUT(pld_sim_window_alloc, available, 40, 8);

	EXPECT_EQ(8, sizeof(struct pld_sim_window_free));
	EXPECT_LAYOUT(pld_sim_window_free, size, 0, 4);
	EXPECT_LAYOUT(pld_sim_window_free, window, 4, 4);

	EXPECT_EQ(40, sizeof(struct pld_sim_window_export));
	EXPECT_LAYOUT(pld_sim_window_export, size, 0, 4);
	EXPECT_LAYOUT(pld_sim_window_export, flags, 4, 4);
	EXPECT_LAYOUT(pld_sim_window_export, window, 8, 4);
	EXPECT_LAYOUT(pld_sim_window_export, rank, 12, 4);
	EXPECT_LAYOUT(pld_sim_window_export, offset, 16, 8);
	EXPECT_LAYOUT(pld_sim_window_export, length, 24, 8);
	EXPECT_LAYOUT(pld_sim_window_export, out_fd, 32, 4);
	EXPECT_LAYOUT(pld_sim_window_export, __reserved, 36, 4);

	EXPECT_EQ(64, sizeof(struct pld_sim_window_import));
	EXPECT_LAYOUT(pld_sim_window_import, size, 0, 4);
	EXPECT_LAYOUT(pld_sim_window_import, flags, 4, 4);
	EXPECT_LAYOUT(pld_sim_window_import, length, 8, 8);
	EXPECT_LAYOUT(pld_sim_window_import, fds, 16, 8);
	EXPECT_LAYOUT(pld_sim_window_import, nr_fds, 24, 4);
	EXPECT_LAYOUT(pld_sim_window_import, window, 28, 4);
	EXPECT_LAYOUT(pld_sim_window_import, stride, 32, 8);
	EXPECT_LAYOUT(pld_sim_window_import, mmap_offset, 40, 8);
	EXPECT_LAYOUT(pld_sim_window_import, available, 48, 8);
	EXPECT_LAYOUT(pld_sim_window_import, refused, 56, 4);
	EXPECT_LAYOUT(pld_sim_window_import, __reserved, 60, 4);

	EXPECT_EQ(8, sizeof(struct pld_sim_domain_reset));
	EXPECT_LAYOUT(pld_sim_domain_reset, size, 0, 4);
	EXPECT_LAYOUT(pld_sim_domain_reset, flags, 4, 4);
}

TEST(layout_of_rank_commands)
{
	EXPECT_EQ(8, sizeof(struct pld_sim_leave));
	EXPECT_LAYOUT(pld_sim_leave, size, 0, 4);
	EXPECT_LAYOUT(pld_sim_leave, flags, 4, 4);

	EXPECT_EQ(64, sizeof(struct pld_sim_wait));
	EXPECT_LAYOUT(pld_sim_wait, size, 0, 4);
	EXPECT_LAYOUT(pld_sim_wait, flags, 4, 4);
	EXPECT_LAYOUT(pld_sim_wait, offset, 8, 8);
	EXPECT_LAYOUT(pld_sim_wait, window, 16, 4);
	EXPECT_LAYOUT(pld_sim_wait, cmp, 20, 4);
	EXPECT_LAYOUT(pld_sim_wait, expected, 24, 4);
	EXPECT_LAYOUT(pld_sim_wait, value, 28, 4);
	EXPECT_LAYOUT(pld_sim_wait, deadline_ns, 32, 8);
	EXPECT_LAYOUT(pld_sim_wait, conditions, 40, 8);
	EXPECT_LAYOUT(pld_sim_wait, nr_conditions, 48, 4);
	EXPECT_LAYOUT(pld_sim_wait, index, 52, 4);
	EXPECT_LAYOUT(pld_sim_wait, bell, 56, 4);
	EXPECT_LAYOUT(pld_sim_wait, __reserved, 60, 4);

	EXPECT_EQ(24, sizeof(struct pld_sim_condition));
	EXPECT_LAYOUT(pld_sim_condition, offset, 0, 8);
	EXPECT_LAYOUT(pld_sim_condition, window, 8, 4);
	EXPECT_LAYOUT(pld_sim_condition, cmp, 12, 4);
	EXPECT_LAYOUT(pld_sim_condition, expected, 16, 4);
	EXPECT_LAYOUT(pld_sim_condition, __reserved, 20, 4);

	EXPECT_EQ(24, sizeof(struct pld_sim_ring));
	EXPECT_LAYOUT(pld_sim_ring, size, 0, 4);
	EXPECT_LAYOUT(pld_sim_ring, flags, 4, 4);
	EXPECT_LAYOUT(pld_sim_ring, offset, 8, 8);
	EXPECT_LAYOUT(pld_sim_ring, window, 16, 4);
	EXPECT_LAYOUT(pld_sim_ring, rank, 20, 4);

	EXPECT_EQ(24, sizeof(struct pld_sim_fail));
	EXPECT_LAYOUT(pld_sim_fail, size, 0, 4);
	EXPECT_LAYOUT(pld_sim_fail, flags, 4, 4);
	EXPECT_LAYOUT(pld_sim_fail, reason, 8, 4);
	EXPECT_LAYOUT(pld_sim_fail, rank, 12, 4);
	EXPECT_LAYOUT(pld_sim_fail, code, 16, 4);
	EXPECT_LAYOUT(pld_sim_fail, __reserved, 20, 4);
}

TEST(layout_of_commands_for_event_loops)
{
	EXPECT_EQ(24, sizeof(struct pld_sim_arm));
	EXPECT_LAYOUT(pld_sim_arm, size, 0, 4);
	EXPECT_LAYOUT(pld_sim_arm, flags, 4, 4);
	EXPECT_LAYOUT(pld_sim_arm, conditions, 8, 8);
	EXPECT_LAYOUT(pld_sim_arm, nr_conditions, 16, 4);
	EXPECT_LAYOUT(pld_sim_arm, __reserved, 20, 4);

	EXPECT_EQ(56, sizeof(struct pld_sim_signal_eventfd));
	EXPECT_LAYOUT(pld_sim_signal_eventfd, size, 0, 4);
	EXPECT_LAYOUT(pld_sim_signal_eventfd, flags, 4, 4);
	EXPECT_LAYOUT(pld_sim_signal_eventfd, conditions, 8, 8);
	EXPECT_LAYOUT(pld_sim_signal_eventfd, nr_conditions, 16, 4);
	EXPECT_LAYOUT(pld_sim_signal_eventfd, eventfd, 20, 4);
	EXPECT_LAYOUT(pld_sim_signal_eventfd, deadline_ns, 24, 8);
	EXPECT_LAYOUT(pld_sim_signal_eventfd, cookie, 32, 8);
	EXPECT_LAYOUT(pld_sim_signal_eventfd, result, 40, 4);
	EXPECT_LAYOUT(pld_sim_signal_eventfd, index, 44, 4);
	EXPECT_LAYOUT(pld_sim_signal_eventfd, value, 48, 4);
	EXPECT_LAYOUT(pld_sim_signal_eventfd, __reserved, 52, 4);

	EXPECT_EQ(32, sizeof(struct pld_sim_signal_fence));
	EXPECT_LAYOUT(pld_sim_signal_fence, size, 0, 4);
	EXPECT_LAYOUT(pld_sim_signal_fence, flags, 4, 4);
	EXPECT_LAYOUT(pld_sim_signal_fence, conditions, 8, 8);
	EXPECT_LAYOUT(pld_sim_signal_fence, nr_conditions, 16, 4);
	EXPECT_LAYOUT(pld_sim_signal_fence, out_fd, 20, 4);
	EXPECT_LAYOUT(pld_sim_signal_fence, deadline_ns, 24, 8);
}

TEST(layout_of_shared_pages)
{
	EXPECT_EQ(1088, sizeof(struct pld_sim_status));
	EXPECT_LAYOUT(pld_sim_status, epoch, 0, 4);
	EXPECT_LAYOUT(pld_sim_status, reason, 4, 4);
	EXPECT_LAYOUT(pld_sim_status, rank, 8, 4);
	EXPECT_LAYOUT(pld_sim_status, code, 12, 4);
	EXPECT_LAYOUT(pld_sim_status, nranks, 16, 4);
	EXPECT_LAYOUT(pld_sim_status, __reserved, 20, 44);
	EXPECT_LAYOUT(pld_sim_status, rank_state, 64, 1024);

	EXPECT_EQ(8, sizeof(struct pld_sim_doorbell));
	EXPECT_LAYOUT(pld_sim_doorbell, waiters, 0, 4);
	EXPECT_LAYOUT(pld_sim_doorbell, bell, 4, 4);
}

TEST(numbers_of_commands_and_offsets_stay)
{
	EXPECT_EQ(0xb900, PLD_IOC_INFO);
	EXPECT_EQ(0xb901, PLD_IOC_DOMAIN_CREATE);
	EXPECT_EQ(0xb902, PLD_IOC_JOIN);
	EXPECT_EQ(0xb903, PLD_IOC_LEAVE);
	EXPECT_EQ(0xb904, PLD_IOC_WINDOW_ALLOC);
	EXPECT_EQ(0xb905, PLD_IOC_WINDOW_FREE);
	EXPECT_EQ(0xb906, PLD_IOC_WAIT);
	EXPECT_EQ(0xb907, PLD_IOC_RING);
	EXPECT_EQ(0xb908, PLD_IOC_FAIL);
	EXPECT_EQ(0xb909, PLD_IOC_DOMAIN_RESET);
	EXPECT_EQ(0xb90a, PLD_IOC_WINDOW_EXPORT);
	EXPECT_EQ(0xb90b, PLD_IOC_WINDOW_IMPORT);
	EXPECT_EQ(0xb90c, PLD_IOC_ARM);
	EXPECT_EQ(0xb90d, PLD_IOC_SIGNAL_EVENTFD);
	EXPECT_EQ(0xb90e, PLD_IOC_SIGNAL_FENCE);
	EXPECT_EQ(0xb90f, PLD_IOC_DOMAINS);
	EXPECT_EQ(0x0, PLD_SIM_MMAP_STATUS);
	EXPECT_EQ(0x1000, PLD_SIM_MMAP_DOORBELLS);
	EXPECT_EQ(0x1000, PLD_SIM_DOORBELL_STRIDE);
}

TEST_HARNESS_MAIN
