// SPDX-License-Identifier: GPL-2.0
/*
 * The rules that every command of the module follows, run for every command:
 * structures that state their size and may grow, flags, reserved fields,
 * addresses, and the kinds of file that answer. One variant of the fixture is
 * one command.
 *
 * This file is also built for 32 bit.
 */
#include <stdbool.h>
#include <stddef.h>
#include <sys/eventfd.h>

#include "pld_counters.h"
#include "pld_test.h"

#define TAIL 64

/* Kinds of file that the module hands out. */
enum kind { DEVICE, RANK, DOMAIN, KINDS };

/* Any command's structure, with room for a tail that the module knows not. */
union args {
	__u32 size;
	struct pld_sim_info info;
	struct pld_sim_domain_create domain_create;
	struct pld_sim_join join;
	struct pld_sim_leave leave;
	struct pld_sim_window_alloc window_alloc;
	struct pld_sim_window_free window_free;
	struct pld_sim_wait wait;
	struct pld_sim_ring ring;
	struct pld_sim_fail fail;
	struct pld_sim_domain_reset domain_reset;
	struct pld_sim_window_export window_export;
	struct pld_sim_window_import window_import;
	struct pld_sim_arm arm;
	struct pld_sim_signal_eventfd signal_eventfd;
	struct pld_sim_signal_fence signal_fence;
	struct pld_sim_domains domains;
	unsigned char bytes[256];
};

static const __u32 two_devices[] = { 0, 1 };
static __s32 two_dmabufs[2];

/*
 * The rank file belongs to a domain of its own, so that nobody is joined to
 * the domain of the domain file.
 */
FIXTURE(command)
{
	int fd[KINDS];
	int home;
	int event;
	struct pld_sim_condition condition;
	__u32 window;
	__u32 home_window;
	union args args;
};

FIXTURE_VARIANT(command)
{
	unsigned long cmd;
	__u32 size;
	enum kind kind;
	int flags_at;
	int reserved_at;
	int writes_back;
	int answer[KINDS];
};

#define NOT_THERE (-1)
#define FLAGS_OF(_name) offsetof(struct pld_sim_##_name, flags)
#define RESERVED_OF(_name) offsetof(struct pld_sim_##_name, __reserved)

/* The numbers of the commands below. */
static bool is_here[_IOC_NRMASK + 1];

/*
 * COMMAND - one variant: where the flags and the reserved field are, whether
 * the module writes the structure back, the command's own kind of file, and
 * what each kind of file answers when everything else is right.
 */
#define COMMAND(_name, _cmd, _flags, _reserved, _back, _kind, ...)           \
	static void __attribute__((constructor)) _name##_is_here(void)       \
	{                                                                    \
		is_here[_IOC_NR(_cmd)] = true;                               \
	}                                                                    \
	FIXTURE_VARIANT_ADD(command, _name)                                  \
	{                                                                    \
		.cmd = _cmd, .size = sizeof(struct pld_sim_##_name),         \
		.kind = _kind, .flags_at = _flags, .reserved_at = _reserved, \
		.writes_back = _back, .answer = { __VA_ARGS__ },             \
	}

COMMAND(info, PLD_IOC_INFO, FLAGS_OF(info), NOT_THERE, 1,
	DEVICE, [DOMAIN] = -ENOTTY);
COMMAND(domain_create, PLD_IOC_DOMAIN_CREATE, FLAGS_OF(domain_create),
	NOT_THERE, 1, DEVICE, [RANK] = -EISCONN, [DOMAIN] = -ENOTTY);
COMMAND(join, PLD_IOC_JOIN, FLAGS_OF(join), NOT_THERE, 1,
	DEVICE, [RANK] = -EISCONN, [DOMAIN] = -ENOTTY);
COMMAND(leave, PLD_IOC_LEAVE, FLAGS_OF(leave), NOT_THERE, 0,
	RANK, [DEVICE] = -ENOTCONN, [DOMAIN] = -ENOTTY);
COMMAND(window_alloc, PLD_IOC_WINDOW_ALLOC, FLAGS_OF(window_alloc),
	RESERVED_OF(window_alloc), 1,
	DOMAIN, [DEVICE] = -ENOTTY, [RANK] = -ENOTTY);
COMMAND(window_free, PLD_IOC_WINDOW_FREE, NOT_THERE, NOT_THERE, 0,
	DOMAIN, [DEVICE] = -ENOTTY, [RANK] = -ENOTTY);
COMMAND(wait, PLD_IOC_WAIT, FLAGS_OF(wait), RESERVED_OF(wait), 1,
	RANK, [DEVICE] = -ENOTCONN, [DOMAIN] = -ENOTTY);
COMMAND(ring, PLD_IOC_RING, FLAGS_OF(ring), NOT_THERE, 0,
	RANK, [DEVICE] = -ENOTCONN, [DOMAIN] = -ENOTTY);
COMMAND(fail, PLD_IOC_FAIL, FLAGS_OF(fail), RESERVED_OF(fail), 0,
	RANK, [DEVICE] = -ENOTCONN);
COMMAND(domain_reset, PLD_IOC_DOMAIN_RESET, FLAGS_OF(domain_reset), NOT_THERE,
	0, DOMAIN, [DEVICE] = -ENOTTY, [RANK] = -ENOTTY);

COMMAND(window_export, PLD_IOC_WINDOW_EXPORT, FLAGS_OF(window_export),
	RESERVED_OF(window_export), 1,
	DOMAIN, [DEVICE] = -ENOTCONN, [RANK] = -ENOENT);
COMMAND(window_import, PLD_IOC_WINDOW_IMPORT, FLAGS_OF(window_import),
	RESERVED_OF(window_import), 1,
	DOMAIN, [DEVICE] = -ENOTTY, [RANK] = -ENOTTY);
COMMAND(arm, PLD_IOC_ARM, FLAGS_OF(arm), RESERVED_OF(arm), 0,
	RANK, [DEVICE] = -ENOTCONN, [DOMAIN] = -ENOTTY);
COMMAND(signal_eventfd, PLD_IOC_SIGNAL_EVENTFD, FLAGS_OF(signal_eventfd),
	RESERVED_OF(signal_eventfd), 1,
	RANK, [DEVICE] = -ENOTCONN, [DOMAIN] = -ENOTTY);
COMMAND(signal_fence, PLD_IOC_SIGNAL_FENCE, FLAGS_OF(signal_fence), NOT_THERE,
	1, RANK, [DEVICE] = -ENOTCONN, [DOMAIN] = -ENOTTY);
COMMAND(domains, PLD_IOC_DOMAINS, FLAGS_OF(domains), RESERVED_OF(domains), 1,
	DEVICE, [DOMAIN] = -ENOTTY);

/* The arguments with which the command succeeds on its own kind of file. */
static void fill_args(FIXTURE_DATA(command) * self, unsigned long cmd,
		      __u32 size)
{
	union args *a = &self->args;

	memset(a, 0, sizeof(*a));
	a->size = size;
	switch (cmd) {
	case PLD_IOC_DOMAIN_CREATE:
		a->domain_create.devices = (uintptr_t)two_devices;
		a->domain_create.nranks = 2;
		a->domain_create.out_fd = -1;
		break;
	case PLD_IOC_JOIN:
		a->join.domain_fd = self->fd[DOMAIN];
		break;
	case PLD_IOC_WINDOW_ALLOC:
		a->window_alloc.length = SIM_PAGE + 1;
		break;
	case PLD_IOC_WINDOW_FREE:
		a->window_free.window = self->window;
		break;
	case PLD_IOC_WAIT:
		a->wait.window = self->home_window;
		a->wait.value = 77;
		break;
	case PLD_IOC_RING:
		a->ring.window = self->home_window;
		a->ring.rank = 1;
		break;
	case PLD_IOC_ARM:
		a->arm.conditions = (uintptr_t)&self->condition;
		a->arm.nr_conditions = 1;
		break;
	case PLD_IOC_SIGNAL_EVENTFD:
		a->signal_eventfd.conditions = (uintptr_t)&self->condition;
		a->signal_eventfd.nr_conditions = 1;
		a->signal_eventfd.eventfd = self->event;
		break;
	case PLD_IOC_SIGNAL_FENCE:
		a->signal_fence.conditions = (uintptr_t)&self->condition;
		a->signal_fence.nr_conditions = 1;
		a->signal_fence.deadline_ns = sim_after(SIM_SEC);
		a->signal_fence.out_fd = -1;
		break;
	case PLD_IOC_FAIL:
		a->fail.reason = PLD_FAIL_ERROR;
		a->fail.code = -EIO;
		break;
	case PLD_IOC_WINDOW_EXPORT:
		a->window_export.window = self->window;
		a->window_export.rank = 1;
		a->window_export.offset = SIM_PAGE;
		a->window_export.out_fd = -1;
		break;
	case PLD_IOC_WINDOW_IMPORT:
		a->window_import.length = SIM_PAGE + 1;
		a->window_import.fds = (uintptr_t)two_dmabufs;
		a->window_import.nr_fds = 2;
		break;
	}
}

/* Whether a command that succeeded wrote back what it should. */
static int wrote_back(const union args *a, unsigned long cmd)
{
	switch (cmd) {
	case PLD_IOC_INFO:
		return a->info.abi_version == PLD_SIM_ABI_VERSION &&
		       a->info.max_ranks == PLD_SIM_MAX_RANKS &&
		       a->info.max_windows == PLD_SIM_MAX_WINDOWS &&
		       a->info.nr_devices >= 2;
	case PLD_IOC_DOMAIN_CREATE:
		return fcntl(a->domain_create.out_fd, F_GETFD) == FD_CLOEXEC;
	case PLD_IOC_DOMAINS:
		return fcntl(a->domains.out_fd, F_GETFD) == FD_CLOEXEC;
	case PLD_IOC_JOIN:
		return a->join.nranks == 2;
	case PLD_IOC_WINDOW_ALLOC:
		return a->window_alloc.stride == 2 * SIM_PAGE &&
		       a->window_alloc.mmap_offset % SIM_PAGE == 0 &&
		       a->window_alloc.available > 0;
	case PLD_IOC_WAIT:
		return a->wait.value == 0;
	case PLD_IOC_WINDOW_EXPORT:
		return fcntl(a->window_export.out_fd, F_GETFD) == FD_CLOEXEC &&
		       a->window_export.length == SIM_PAGE;
	case PLD_IOC_WINDOW_IMPORT:
		return a->window_import.stride == 2 * SIM_PAGE &&
		       a->window_import.mmap_offset % SIM_PAGE == 0 &&
		       a->window_import.available > 0 &&
		       a->window_import.refused == PLD_SIM_NO_RANK;
	case PLD_IOC_SIGNAL_EVENTFD:
		return a->signal_eventfd.cookie != 0;
	case PLD_IOC_SIGNAL_FENCE:
		return fcntl(a->signal_fence.out_fd, F_GETFD) == FD_CLOEXEC;
	}
	return 1;
}

FIXTURE_SETUP(command)
{
	struct pld_sim_window_alloc win;

	self->fd[DEVICE] = sim_open();
	ASSERT_LE(0, self->fd[DEVICE]);
	self->home = sim_domain(2);
	ASSERT_LE(0, self->home);
	ASSERT_EQ(0, sim_alloc(self->home, SIM_PAGE, 0, &win));
	self->home_window = win.window;
	self->condition.window = win.window;
	self->event = eventfd(0, EFD_CLOEXEC);
	ASSERT_LE(0, self->event);
	self->fd[RANK] = sim_member(self->home, 0);
	ASSERT_LE(0, self->fd[RANK]);

	self->fd[DOMAIN] = sim_domain(2);
	ASSERT_LE(0, self->fd[DOMAIN]);
	/* An id that the other domain does not have. */
	for (int i = 0; i < 2; i++)
		ASSERT_EQ(0, sim_alloc(self->fd[DOMAIN], 2 * SIM_PAGE, 0, &win));
	self->window = win.window;
	two_dmabufs[0] = sim_export(self->fd[DOMAIN], self->window, 0);
	ASSERT_LE(0, two_dmabufs[0]);
	two_dmabufs[1] = -1;
	fill_args(self, variant->cmd, variant->size);
}

FIXTURE_TEARDOWN(command)
{
	for (int k = 0; k < KINDS; k++)
		close(self->fd[k]);
	close(self->event);
	close(self->home);
	close(two_dmabufs[0]);
}

/* Of the structure's first version, which old callers pass. */
static __u32 least_size(unsigned long cmd, __u32 size)
{
	return cmd == PLD_IOC_WAIT ? 40 : size;
}

static __u32 known_flags(unsigned long cmd)
{
	switch (cmd) {
	case PLD_IOC_WINDOW_ALLOC:
	case PLD_IOC_WINDOW_IMPORT:
		return PLD_WINDOW_SIGNAL;
	case PLD_IOC_WINDOW_EXPORT:
		return PLD_EXPORT_READ_ONLY;
	case PLD_IOC_WAIT:
		return PLD_WAIT_ANY | PLD_WAIT_BELL;
	case PLD_IOC_ARM:
	case PLD_IOC_SIGNAL_FENCE:
		return PLD_WAIT_ANY;
	case PLD_IOC_SIGNAL_EVENTFD:
		return PLD_WAIT_ANY | PLD_SIGNAL_ASK | PLD_SIGNAL_END;
	}
	return 0;
}

#define CALL(self, variant) \
	sim_ioctl((self)->fd[(variant)->kind], (variant)->cmd, &(self)->args)

TEST_F(command, exact_size_is_accepted)
{
	EXPECT_EQ(0, CALL(self, variant));
	EXPECT_EQ(variant->size, self->args.size);
	EXPECT_TRUE(wrote_back(&self->args, variant->cmd));
}

TEST_F(command, short_size_is_EINVAL_and_changes_nothing)
{
	union args before;

	for (__u32 size = 0; size < least_size(variant->cmd, variant->size);
	     size++) {
		self->args.size = size;
		before = self->args;
		EXPECT_EQ(-EINVAL, CALL(self, variant))
		TH_LOG("size %u", size);
		EXPECT_EQ(0, memcmp(&before, &self->args, sizeof(before)));
	}
	self->args.size = variant->size;
	EXPECT_EQ(0, CALL(self, variant));
}

TEST_F(command, first_versions_size_is_accepted_and_no_more_written)
{
	static const unsigned char zeros[TAIL];
	__u32 size = least_size(variant->cmd, variant->size);

	self->args.size = size;
	EXPECT_EQ(0, CALL(self, variant));
	EXPECT_EQ(size, self->args.size);
	EXPECT_TRUE(wrote_back(&self->args, variant->cmd));
	EXPECT_EQ(0, memcmp(zeros, self->args.bytes + size, TAIL));
}

TEST_F(command, longer_with_zero_tail_is_as_exact)
{
	static const unsigned char zeros[TAIL];

	self->args.size = variant->size + TAIL;
	EXPECT_EQ(0, CALL(self, variant));
	EXPECT_EQ(variant->size + TAIL, self->args.size);
	EXPECT_TRUE(wrote_back(&self->args, variant->cmd));
	EXPECT_EQ(0, memcmp(zeros, self->args.bytes + variant->size, TAIL));
}

TEST_F(command, longer_with_garbage_is_E2BIG_and_changes_nothing)
{
	union args before;

	self->args.size = variant->size + TAIL;
	for (int at = 0; at < TAIL; at++) {
		self->args.bytes[variant->size + at] = 1;
		before = self->args;
		EXPECT_EQ(-E2BIG, CALL(self, variant))
		TH_LOG("byte %d of the tail", at);
		EXPECT_EQ(0, memcmp(&before, &self->args, sizeof(before)));
		self->args.bytes[variant->size + at] = 0;
	}
	EXPECT_EQ(0, CALL(self, variant));
}

TEST_F(command, longer_than_a_page_is_E2BIG)
{
	char page[SIM_PAGE + 8] = { 0 };
	__u32 size = SIM_PAGE + 8;

	memcpy(page, &self->args, variant->size);
	memcpy(page, &size, sizeof(size));
	EXPECT_EQ(-E2BIG,
		  sim_ioctl(self->fd[variant->kind], variant->cmd, page));
}

/* One bit after the other of the word at @at, unless @known. */
static int refuses_bits(FIXTURE_DATA(command) * self, int fd, unsigned long cmd,
			int at, __u32 known, int errno_)
{
	int refused = 0;

	for (int bit = 0; bit < 32; bit++) {
		__u32 word = 1U << bit;

		if (word & known)
			continue;
		memcpy(self->args.bytes + at, &word, sizeof(word));
		refused += sim_ioctl(fd, cmd, &self->args) == errno_;
	}
	memset(self->args.bytes + at, 0, sizeof(__u32));
	return refused;
}

TEST_F(command, unknown_flag_is_EOPNOTSUPP_and_reserved_bit_EINVAL)
{
	__u32 known = known_flags(variant->cmd);
	int fd = self->fd[variant->kind];

	if (variant->flags_at != NOT_THERE)
		EXPECT_EQ(32 - __builtin_popcount(known),
			  refuses_bits(self, fd, variant->cmd,
				       variant->flags_at, known, -EOPNOTSUPP));
	if (variant->reserved_at != NOT_THERE)
		EXPECT_EQ(32, refuses_bits(self, fd, variant->cmd,
					   variant->reserved_at, 0, -EINVAL));
	EXPECT_EQ(0, CALL(self, variant));
}

TEST_F(command, bad_address_is_EFAULT)
{
	int fd = self->fd[variant->kind];
	unsigned char *map;

	EXPECT_EQ(-EFAULT, sim_ioctl(fd, variant->cmd, NULL));
	EXPECT_EQ(-EFAULT, sim_ioctl(fd, variant->cmd, (void *)-64L));

	map = mmap(NULL, 2 * SIM_PAGE, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, map);
	ASSERT_EQ(0, munmap(map + SIM_PAGE, SIM_PAGE));
	map += SIM_PAGE - sizeof(variant->size);
	memcpy(map, &variant->size, sizeof(variant->size));
	EXPECT_EQ(-EFAULT, sim_ioctl(fd, variant->cmd, map));

	EXPECT_EQ(0, CALL(self, variant));
}

static int open_descriptors(void)
{
	int n = 0;

	for (int fd = 0; fd < 256; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

TEST_F(command, read_only_structure_is_EFAULT_if_written_back_and_undoes_all)
{
	int want = variant->writes_back ? -EFAULT : 0;
	long long used = device_memory_used(0);
	int before = open_descriptors();
	void *map;

	map = mmap(NULL, SIM_PAGE, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, map);
	memcpy(map, &self->args, sizeof(self->args));
	ASSERT_EQ(0, mprotect(map, SIM_PAGE, PROT_READ));
	EXPECT_EQ(want, sim_ioctl(self->fd[variant->kind], variant->cmd, map));
	EXPECT_EQ(before, open_descriptors());
	if (!variant->writes_back)
		return;
	/* What its caller was not told of has not happened. */
	EXPECT_EQ(used, device_memory_used(0));
	EXPECT_EQ(0, CALL(self, variant));
}

TEST_F(command, each_kind_of_file_answers_as_documented)
{
	for (int k = 0; k < KINDS; k++) {
		fill_args(self, variant->cmd, variant->size);
		EXPECT_EQ(variant->answer[k],
			  sim_ioctl(self->fd[k], variant->cmd, &self->args))
		TH_LOG("kind of file %d", k);
	}
}

TEST_F(command, other_encodings_of_the_number_are_ENOTTY)
{
	int fd = self->fd[variant->kind];
	unsigned long nr = _IOC_NR(variant->cmd);

	EXPECT_EQ(-ENOTTY, sim_ioctl(fd,
				     _IOC(_IOC_READ | _IOC_WRITE,
					  PLD_SIM_IOC_TYPE, nr, variant->size),
				     &self->args));
	EXPECT_EQ(-ENOTTY,
		  sim_ioctl(fd, _IO(PLD_SIM_IOC_TYPE - 1, nr), &self->args));
	EXPECT_EQ(-ENOTTY, sim_ioctl(fd, _IO(0, nr) | 0x80, &self->args));
}

/* With a size that is too short for any command, which so does nothing. */
TEST(no_command_is_answered_that_is_not_here)
{
	int domain = sim_domain(1);
	const int fds[KINDS] = { sim_open(), sim_member(domain, 0), domain };
	union args none = { .size = 0 };

	for (unsigned int nr = 0; nr < ARRAY_SIZE(is_here); nr++) {
		bool answered = false;

		for (int k = 0; k < KINDS; k++) {
			ASSERT_LE(0, fds[k]);
			if (sim_ioctl(fds[k], _IO(PLD_SIM_IOC_TYPE, nr),
				      &none) != -ENOTTY)
				answered = true;
		}
		EXPECT_EQ(is_here[nr], answered)
		TH_LOG("number %#x", nr);
	}
	for (int k = 0; k < KINDS; k++)
		close(fds[k]);
}

PLD_TEST_MAIN
