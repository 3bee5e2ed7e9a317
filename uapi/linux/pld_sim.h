/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * pld_sim: simulated accelerator ranks with symmetric windows and signals.
 *
 * Three kinds of file meet here:
 *
 *  - a *device file*, an open /dev/pld_sim. It answers PLD_IOC_INFO,
 *    PLD_IOC_DOMAIN_CREATE and PLD_IOC_JOIN;
 *  - a *rank file*, a device file after PLD_IOC_JOIN. It is one process's
 *    membership of a domain and can be used by that process only. It answers
 *    PLD_IOC_INFO, PLD_IOC_LEAVE, PLD_IOC_WAIT, PLD_IOC_RING, PLD_IOC_FAIL,
 *    PLD_IOC_WINDOW_EXPORT, PLD_IOC_ARM, PLD_IOC_SIGNAL_EVENTFD and
 *    PLD_IOC_SIGNAL_FENCE, mmap() and poll();
 *  - a *domain file*, returned by PLD_IOC_DOMAIN_CREATE. Holding it is the
 *    permission to join; it passes over fork() and SCM_RIGHTS. It answers
 *    PLD_IOC_WINDOW_ALLOC, PLD_IOC_WINDOW_FREE, PLD_IOC_FAIL,
 *    PLD_IOC_DOMAIN_RESET, PLD_IOC_WINDOW_EXPORT and PLD_IOC_WINDOW_IMPORT.
 *
 * A file that PLD_IOC_DOMAINS of a device or rank file returns is to be read.
 *
 * Ending: when a rank's process goes away, or closes its rank file, without
 * PLD_IOC_LEAVE, the rank is dead and the domain is broken. A broken domain
 * publishes why in its status page, wakes every waiter, and answers every
 * later wait, ring and join with the errno of the reason, until
 * PLD_IOC_DOMAIN_RESET.
 */
#ifndef _UAPI_LINUX_PLD_SIM_H
#define _UAPI_LINUX_PLD_SIM_H

#include <linux/ioctl.h>
#include <linux/types.h>

/**
 * DOC: Error vocabulary
 *
 * Every structure starts with its own size, so that it can grow: a caller of
 * an older header passes a shorter structure, whose missing tail reads as zero;
 * a caller of a newer header passes a longer one, whose unknown tail must be
 * zero. Fields named __reserved must be zero.
 *
 *  - ENOTTY: the command is not known, or not to this kind of file
 *  - EINVAL: a size below the first version's, or a value that no version
 *    accepts: unknown enum value, reserved field not zero, no ranks, no bytes,
 *    a device named twice, a cell that is not aligned, a private mapping
 *  - E2BIG: a tail that this kernel does not know is not zero, or a size is
 *    above 4096
 *  - EOPNOTSUPP: a flag that this kernel does not know
 *  - EFAULT: an address that cannot be read or written
 *  - EBADF: the file descriptor of a join is not a domain file's; a
 *    descriptor of an import, or an eventfd's, is not open
 *  - EACCES: open() without the node's permission; a mapping that would be
 *    executable, or writable where it says read-only; an import of a dma-buf
 *    that can only be read
 *  - EINTR: a signal whose handler does not restart system calls came during a
 *    wait, a join, an import or a reset; nothing has changed, and the call can
 *    be made again
 *  - EOVERFLOW: arithmetic on the caller's numbers does not fit
 *  - ENOENT: no such device, no such window, no such signal, or nothing at an
 *    mmap() offset
 *  - ERANGE: a rank or an offset outside its object; a mapping, an export or an
 *    import that goes on behind it, or an import of more than it; a fence's
 *    deadline that is too far away
 *  - ENOTCONN: the file has not joined a domain
 *  - EISCONN: the file has joined a domain already
 *  - EPERM: a rank file in the hands of a process that did not join with it
 *  - EBUSY: the rank is held, or ranks are still joined; during a
 *    PLD_IOC_DOMAIN_RESET, a join, a new window or another reset
 *  - ENOMEM: not enough memory, or more than a device's limit
 *  - EMFILE, ENFILE: no file descriptor is left for a new file
 *  - ENODEV: an import of a dma-buf that processes cannot map
 *  - EIO: an import of a dma-buf that its exporter does not map for the
 *    rank's device; zeroing imported memory, which its exporter refuses
 *  - ENXIO: the kernel cannot see the memory of a dma-buf: an import as a
 *    signal, or a wait
 *  - ENOSPC: PLD_SIM_MAX_WINDOWS windows or PLD_SIM_MAX_SIGNALS signals are
 *    there, or mmap() offsets have run out
 *  - EAGAIN: a wait with PLD_WAIT_BELL, whose bell was rung
 *  - ETIMEDOUT: a wait's deadline has passed; a domain broken by
 *    PLD_FAIL_TIMEOUT
 *  - EOWNERDEAD: a domain broken by PLD_FAIL_DEAD, PLD_FAIL_ERROR or
 *    PLD_FAIL_OUTSIDE
 *  - ECANCELED: a domain broken by PLD_FAIL_ABORT
 */

/**
 * define PLD_SIM_ABI_VERSION - of this header; advances when something in it
 * means something else, and when something is added that libpld cannot do without
 */
#define PLD_SIM_ABI_VERSION 3

/** define PLD_SIM_MAX_RANKS - most devices, and so most ranks of a domain */
#define PLD_SIM_MAX_RANKS 256

/** define PLD_SIM_MAX_WINDOWS - most windows of one domain at a time */
#define PLD_SIM_MAX_WINDOWS 4096

/** define PLD_SIM_MAX_CONDITIONS - most cells of one wait */
#define PLD_SIM_MAX_CONDITIONS 64

/** define PLD_SIM_MAX_SIGNALS - most eventfds and fences of one rank file */
#define PLD_SIM_MAX_SIGNALS 256

/** define PLD_SIM_MAX_FENCE_NS - how far away a fence's deadline may be */
#define PLD_SIM_MAX_FENCE_NS 10000000000LL

#define PLD_SIM_IOC_TYPE 0xB9

enum {
	PLD_SIM_CMD_INFO = 0x00,
	PLD_SIM_CMD_DOMAIN_CREATE = 0x01,
	PLD_SIM_CMD_JOIN = 0x02,
	PLD_SIM_CMD_LEAVE = 0x03,
	PLD_SIM_CMD_WINDOW_ALLOC = 0x04,
	PLD_SIM_CMD_WINDOW_FREE = 0x05,
	PLD_SIM_CMD_WAIT = 0x06,
	PLD_SIM_CMD_RING = 0x07,
	PLD_SIM_CMD_FAIL = 0x08,
	PLD_SIM_CMD_DOMAIN_RESET = 0x09,
	PLD_SIM_CMD_WINDOW_EXPORT = 0x0a,
	PLD_SIM_CMD_WINDOW_IMPORT = 0x0b,
	PLD_SIM_CMD_ARM = 0x0c,
	PLD_SIM_CMD_SIGNAL_EVENTFD = 0x0d,
	PLD_SIM_CMD_SIGNAL_FENCE = 0x0e,
	PLD_SIM_CMD_DOMAINS = 0x0f,
};

/**
 * struct pld_sim_info - ioctl(PLD_IOC_INFO), on device and rank files
 * @size: sizeof(struct pld_sim_info)
 * @flags: must be 0
 * @abi_version: out: PLD_SIM_ABI_VERSION of the module
 * @nr_devices: out: devices present; their ids are 0 to nr_devices - 1
 * @max_ranks: out: most ranks of one domain
 * @max_windows: out: most windows of one domain at a time
 * @device_memory: out: most window bytes of one device, 0 for no limit
 */
struct pld_sim_info {
	__u32 size;
	__u32 flags;
	__u32 abi_version;
	__u32 nr_devices;
	__u32 max_ranks;
	__u32 max_windows;
	__aligned_u64 device_memory;
};

#define PLD_IOC_INFO _IO(PLD_SIM_IOC_TYPE, PLD_SIM_CMD_INFO)

/**
 * struct pld_sim_domain_create - ioctl(PLD_IOC_DOMAIN_CREATE), on device files
 * @size: sizeof(struct pld_sim_domain_create)
 * @flags: must be 0
 * @devices: address of nranks __u32 device ids, all different; rank r is on
 *	device devices[r]
 * @nranks: number of ranks, 1 to PLD_SIM_MAX_RANKS
 * @out_fd: out: the domain file, close-on-exec
 *
 * ENOENT: no such device. EINVAL: nranks out of range, or a device named twice.
 */
struct pld_sim_domain_create {
	__u32 size;
	__u32 flags;
	__aligned_u64 devices;
	__u32 nranks;
	__s32 out_fd;
};

#define PLD_IOC_DOMAIN_CREATE \
	_IO(PLD_SIM_IOC_TYPE, PLD_SIM_CMD_DOMAIN_CREATE)

/**
 * struct pld_sim_join - ioctl(PLD_IOC_JOIN), on device files
 * @size: sizeof(struct pld_sim_join)
 * @flags: must be 0
 * @domain_fd: a domain file
 * @rank: the rank to become, below the domain's nranks
 * @nranks: out: number of ranks of the domain
 * @epoch: out: the status page's epoch at the moment of joining
 * @reason: out, also with an error: enum pld_sim_fail_reason of the domain
 * @failed_rank: out, when @reason is not PLD_FAIL_NONE: the rank that is the
 *	cause
 * @code: out, then too: as in struct pld_sim_fail
 *
 * The file becomes a rank file of the calling process. EBADF: domain_fd is not
 * a domain file. EBUSY: the rank is held, or was held since the last reset, or
 * the domain is being reset.
 */
struct pld_sim_join {
	__u32 size;
	__u32 flags;
	__s32 domain_fd;
	__u32 rank;
	__u32 nranks;
	__u32 epoch;
	__u32 reason;
	__u32 failed_rank;
	__s32 code;
};

#define PLD_IOC_JOIN _IO(PLD_SIM_IOC_TYPE, PLD_SIM_CMD_JOIN)

/**
 * struct pld_sim_leave - ioctl(PLD_IOC_LEAVE), on rank files
 * @size: sizeof(struct pld_sim_leave)
 * @flags: must be 0
 *
 * The rank ends in good order: its going away is not a death any more. Its
 * mappings stay until they are unmapped; the file takes no further rank
 * command (ENOTCONN) and no new mapping.
 */
struct pld_sim_leave {
	__u32 size;
	__u32 flags;
};

#define PLD_IOC_LEAVE _IO(PLD_SIM_IOC_TYPE, PLD_SIM_CMD_LEAVE)

/**
 * enum pld_sim_window_flags - what a window is for
 * @PLD_WINDOW_SIGNAL: holds signal cells, and is zeroed by
 *	PLD_IOC_DOMAIN_RESET. (A wait is possible on any window.)
 */
enum pld_sim_window_flags {
	PLD_WINDOW_SIGNAL = 1 << 0,
};

/**
 * struct pld_sim_window_alloc - ioctl(PLD_IOC_WINDOW_ALLOC), on domain files
 * @size: sizeof(struct pld_sim_window_alloc)
 * @flags: of enum pld_sim_window_flags
 * @length: bytes per rank, at least 1
 * @window: out: id of the window
 * @__reserved: must be 0
 * @stride: out: distance in bytes from one rank's memory to the next rank's,
 *	in the mmap() offsets of rank files; length rounded up to pages, from
 *	2 MiB on to 2 MiB
 * @mmap_offset: out: mmap() offset of rank 0's memory; rank r's is at
 *	mmap_offset + r * stride. A mapping may cover the memory of several
 *	ranks; what lies between length, rounded up to pages, and stride has no
 *	memory (SIGBUS)
 * @available: out, also with ENOMEM: bytes per rank that could have been had
 *	at that moment, by an estimate
 *
 * Every rank gets memory of its own: zeroed, DMA-mapped for the rank's device,
 * charged to the calling process's memory cgroup and to the device's limit.
 */
struct pld_sim_window_alloc {
	__u32 size;
	__u32 flags;
	__aligned_u64 length;
	__u32 window;
	__u32 __reserved;
	__aligned_u64 stride;
	__aligned_u64 mmap_offset;
	__aligned_u64 available;
};

#define PLD_IOC_WINDOW_ALLOC _IO(PLD_SIM_IOC_TYPE, PLD_SIM_CMD_WINDOW_ALLOC)

/**
 * struct pld_sim_window_free - ioctl(PLD_IOC_WINDOW_FREE), on domain files
 * @size: sizeof(struct pld_sim_window_free)
 * @window: id from PLD_IOC_WINDOW_ALLOC
 *
 * The id ends at once; the memory goes with its last mapping.
 */
struct pld_sim_window_free {
	__u32 size;
	__u32 window;
};

#define PLD_IOC_WINDOW_FREE _IO(PLD_SIM_IOC_TYPE, PLD_SIM_CMD_WINDOW_FREE)

/**
 * enum pld_sim_cmp - how a wait compares its cell, both sides signed
 * @PLD_SIM_CMP_EQ: cell == expected
 * @PLD_SIM_CMP_GE: cell >= expected
 */
enum pld_sim_cmp {
	PLD_SIM_CMP_EQ = 0,
	PLD_SIM_CMP_GE = 1,
};

/**
 * struct pld_sim_condition - a cell of a wait, and what is expected of it
 * @offset: byte offset of the cell, an aligned __s32, in the calling rank's
 *	own memory of the window
 * @window: id of the window
 * @cmp: enum pld_sim_cmp
 * @expected: what the cell is compared with
 * @__reserved: must be 0
 */
struct pld_sim_condition {
	__aligned_u64 offset;
	__u32 window;
	__u32 cmp;
	__s32 expected;
	__u32 __reserved;
};

/**
 * enum pld_sim_wait_flags - kinds of waits
 * @PLD_WAIT_ANY: one condition is enough; without it all must hold
 * @PLD_WAIT_BELL: before its deadline the wait does not sleep, and ends with
 *	EAGAIN, where its conditions do not hold and the bell of the rank's
 *	doorbell is not @bell of struct pld_sim_wait (any more). A ring for another
 *	cell than the conditions' advances the bell, but wakes no wait that sleeps:
 *	who is to end one rings for one of its cells.
 */
enum pld_sim_wait_flags {
	PLD_WAIT_ANY = 1 << 0,
	PLD_WAIT_BELL = 1 << 1,
};

/**
 * struct pld_sim_wait - ioctl(PLD_IOC_WAIT), on rank files
 * @size: sizeof(struct pld_sim_wait)
 * @flags: of enum pld_sim_wait_flags
 * @offset: of the one condition, as in struct pld_sim_condition; 0 when
 *	nr_conditions is not
 * @window: the same
 * @cmp: the same
 * @expected: the same
 * @value: out, also with an error that is not about the arguments: the cell of
 *	condition @index as last seen
 * @deadline_ns: absolute CLOCK_MONOTONIC time in nanoseconds; at or below the
 *	present, the cells are looked at once
 * @conditions: address of nr_conditions struct pld_sim_condition
 * @nr_conditions: how many, at most PLD_SIM_MAX_CONDITIONS; 0 for one that is
 *	here
 * @index: out, with @value: with PLD_WAIT_ANY the first condition that holds,
 *	otherwise the first that does not; 0 where there is none
 * @bell: with PLD_WAIT_BELL: the bell as it was when the caller last looked at
 *	what a ring may tell of; otherwise 0
 * @__reserved: must be 0
 *
 * Sleeps until the conditions hold, looking at their cells one after the other.
 * Whoever changes a cell must then read the waiters word of the rank's
 * doorbell, with a full barrier between the two, and call PLD_IOC_RING when it
 * is not zero. For writers that ring nothing, a sleeping wait also looks at its
 * cells again every recheck_ms, a parameter of the module; when that is 0, at a
 * ring and at the deadline only.
 *
 * The same cell may be in several conditions. A wait that is restarted after a
 * signal reads its arguments again. EAGAIN: see PLD_WAIT_BELL.
 */
struct pld_sim_wait {
	__u32 size;
	__u32 flags;
	__aligned_u64 offset;
	__u32 window;
	__u32 cmp;
	__s32 expected;
	__s32 value;
	__aligned_s64 deadline_ns;
	__aligned_u64 conditions;
	__u32 nr_conditions;
	__u32 index;
	__u32 bell;
	__u32 __reserved;
};

#define PLD_IOC_WAIT _IO(PLD_SIM_IOC_TYPE, PLD_SIM_CMD_WAIT)

/**
 * struct pld_sim_ring - ioctl(PLD_IOC_RING), on rank files
 * @size: sizeof(struct pld_sim_ring)
 * @flags: must be 0
 * @offset: byte offset of the cell that was changed
 * @window: id of the window
 * @rank: whose memory holds the cell
 *
 * Advances the bell of the rank's doorbell, and lets the waiters of that cell
 * look again.
 */
struct pld_sim_ring {
	__u32 size;
	__u32 flags;
	__aligned_u64 offset;
	__u32 window;
	__u32 rank;
};

#define PLD_IOC_RING _IO(PLD_SIM_IOC_TYPE, PLD_SIM_CMD_RING)

/**
 * enum pld_sim_fail_reason - why a domain is broken
 * @PLD_FAIL_NONE: it is not
 * @PLD_FAIL_DEAD: a rank's process went away without leaving. Waits return
 *	EOWNERDEAD. Set by the kernel, and by PLD_IOC_FAIL
 * @PLD_FAIL_ERROR: a rank gave up with an error. Waits return EOWNERDEAD
 * @PLD_FAIL_TIMEOUT: a rank did not do its part in time. Waits return ETIMEDOUT
 * @PLD_FAIL_ABORT: a rank asked for the end of all. Waits return ECANCELED
 * @PLD_FAIL_OUTSIDE: what the domain depends on failed, but none of its ranks;
 *	the rank that is named has no meaning. Waits return EOWNERDEAD
 */
enum pld_sim_fail_reason {
	PLD_FAIL_NONE = 0,
	PLD_FAIL_DEAD = 1,
	PLD_FAIL_ERROR = 2,
	PLD_FAIL_TIMEOUT = 3,
	PLD_FAIL_ABORT = 4,
	PLD_FAIL_OUTSIDE = 5,
};

/**
 * struct pld_sim_fail - ioctl(PLD_IOC_FAIL), on rank and domain files
 * @size: sizeof(struct pld_sim_fail)
 * @flags: must be 0
 * @reason: enum pld_sim_fail_reason, not PLD_FAIL_NONE
 * @rank: the rank that is the cause
 * @code: published as it is; for PLD_FAIL_ABORT the exit code that was asked
 *	for, for PLD_FAIL_ERROR a negative errno
 * @__reserved: must be 0
 *
 * Breaks the domain. The first failure stays: on a broken domain this does
 * nothing and returns 0.
 */
struct pld_sim_fail {
	__u32 size;
	__u32 flags;
	__u32 reason;
	__u32 rank;
	__s32 code;
	__u32 __reserved;
};

#define PLD_IOC_FAIL _IO(PLD_SIM_IOC_TYPE, PLD_SIM_CMD_FAIL)

/**
 * struct pld_sim_domain_reset - ioctl(PLD_IOC_DOMAIN_RESET), on domain files
 * @size: sizeof(struct pld_sim_domain_reset)
 * @flags: must be 0
 *
 * Makes the domain as new, but for the contents of its data windows: signal
 * windows are zeroed, every rank can be joined again, the epoch advances.
 * EBUSY while a rank is joined, or another reset goes on.
 *
 * Imported signals are zeroed when the fences in their dma-bufs have signalled,
 * which may last; meanwhile nobody joins and no window is added (EBUSY). A
 * signal ends the wait. After an error the domain is as it was, but for cells
 * that are zero already.
 */
struct pld_sim_domain_reset {
	__u32 size;
	__u32 flags;
};

#define PLD_IOC_DOMAIN_RESET _IO(PLD_SIM_IOC_TYPE, PLD_SIM_CMD_DOMAIN_RESET)

/**
 * enum pld_sim_export_flags - what an exported dma-buf allows
 * @PLD_EXPORT_READ_ONLY: processes can map it for reading only
 */
enum pld_sim_export_flags {
	PLD_EXPORT_READ_ONLY = 1 << 0,
};

/**
 * struct pld_sim_window_export - ioctl(PLD_IOC_WINDOW_EXPORT), on domain and
 * rank files
 * @size: sizeof(struct pld_sim_window_export)
 * @flags: of enum pld_sim_export_flags
 * @window: id of the window
 * @rank: whose memory of it
 * @offset: of the first byte, a multiple of the page size
 * @length: bytes, a multiple of the page size, or 0 for all from @offset on;
 *	out: bytes of the dma-buf
 * @out_fd: out: the dma-buf, close-on-exec
 * @__reserved: must be 0
 *
 * Makes a part of a rank's memory a dma-buf, which keeps the window's memory,
 * charged as before, when the window and its domain are gone. Memory that was
 * imported can be exported as a whole and without flags only (EINVAL), and is
 * then the dma-buf that was imported.
 *
 * ENOENT: no such window. ERANGE: no such rank, or more than its memory.
 */
struct pld_sim_window_export {
	__u32 size;
	__u32 flags;
	__u32 window;
	__u32 rank;
	__aligned_u64 offset;
	__aligned_u64 length;
	__s32 out_fd;
	__u32 __reserved;
};

#define PLD_IOC_WINDOW_EXPORT \
	_IO(PLD_SIM_IOC_TYPE, PLD_SIM_CMD_WINDOW_EXPORT)

/**
 * struct pld_sim_window_import - ioctl(PLD_IOC_WINDOW_IMPORT), on domain files
 * @size: sizeof(struct pld_sim_window_import)
 * @flags: of enum pld_sim_window_flags
 * @length: bytes per rank, at least 1
 * @fds: address of nr_fds __s32: for each rank the descriptor of a dma-buf,
 *	or -1 for memory as PLD_IOC_WINDOW_ALLOC makes it
 * @nr_fds: the domain's number of ranks
 * @window: out: id of the window
 * @stride: out: as in struct pld_sim_window_alloc
 * @mmap_offset: out: the same. A mapping that lies in one rank's imported
 *	memory is one of the dma-buf; in one that covers more, imported memory
 *	is not there (SIGBUS)
 * @available: out, also with ENOMEM: as in struct pld_sim_window_alloc, for
 *	those ranks whose memory is not imported; 2^64 - 1 when there are none
 * @refused: out, also with an error: the rank whose descriptor is the cause
 *	of the error, otherwise PLD_SIM_NO_RANK
 * @__reserved: must be 0
 *
 * Makes a window out of other drivers' memory: all of each dma-buf, mapped for
 * DMA by the rank's device. It holds the dma-bufs, whose descriptors
 * may be closed. With PLD_WINDOW_SIGNAL imported memory is zeroed too, at
 * once and at each PLD_IOC_DOMAIN_RESET.
 *
 * With @refused: EBADF: it is not open. EINVAL: not a dma-buf. ERANGE: smaller
 * or larger than length, rounded up to pages. EACCES: it can only be read. ENODEV:
 * processes cannot map it. EIO: its exporter does not map it for the rank's
 * device. ENXIO: as a signal: the kernel cannot see it.
 */
struct pld_sim_window_import {
	__u32 size;
	__u32 flags;
	__aligned_u64 length;
	__aligned_u64 fds;
	__u32 nr_fds;
	__u32 window;
	__aligned_u64 stride;
	__aligned_u64 mmap_offset;
	__aligned_u64 available;
	__u32 refused;
	__u32 __reserved;
};

/** define PLD_SIM_NO_RANK - in place of a rank */
#define PLD_SIM_NO_RANK 0xffffffff

#define PLD_IOC_WINDOW_IMPORT \
	_IO(PLD_SIM_IOC_TYPE, PLD_SIM_CMD_WINDOW_IMPORT)

/**
 * struct pld_sim_arm - ioctl(PLD_IOC_ARM), on rank files
 * @size: sizeof(struct pld_sim_arm)
 * @flags: 0 or PLD_WAIT_ANY
 * @conditions: address of nr_conditions struct pld_sim_condition; 0 when that
 *	is 0
 * @nr_conditions: how many, at most PLD_SIM_MAX_CONDITIONS; 0 to arm nothing
 * @__reserved: must be 0
 *
 * Arms the conditions in place of those before, for poll(), select() and epoll
 * on the rank file. It polls EPOLLIN while they hold, each look being one at
 * the cells; an edge-triggered epoll is told when they have come to hold, and
 * again at each ring while they do. It polls EPOLLERR | EPOLLHUP when the domain
 * is broken or the rank has ended, armed or not. In a process that did not
 * join with it, and before it has joined, it polls EPOLLERR.
 *
 * For whoever changes a cell, armed conditions are a wait that sleeps.
 */
struct pld_sim_arm {
	__u32 size;
	__u32 flags;
	__aligned_u64 conditions;
	__u32 nr_conditions;
	__u32 __reserved;
};

#define PLD_IOC_ARM _IO(PLD_SIM_IOC_TYPE, PLD_SIM_CMD_ARM)

/**
 * enum pld_sim_signal_flags - what to do with a signal that is there
 * @PLD_SIGNAL_ASK: tell how it stands
 * @PLD_SIGNAL_END: the same, and take it away
 */
enum pld_sim_signal_flags {
	PLD_SIGNAL_ASK = 1 << 16,
	PLD_SIGNAL_END = 1 << 17,
};

/**
 * struct pld_sim_signal_eventfd - ioctl(PLD_IOC_SIGNAL_EVENTFD), on rank files
 * @size: sizeof(struct pld_sim_signal_eventfd)
 * @flags: 0 or PLD_WAIT_ANY, or one of enum pld_sim_signal_flags alone
 * @conditions: address of nr_conditions struct pld_sim_condition
 * @nr_conditions: how many, 1 to PLD_SIM_MAX_CONDITIONS
 * @eventfd: an eventfd
 * @deadline_ns: absolute CLOCK_MONOTONIC time in nanoseconds; at or below the
 *	present, the cells are looked at once
 * @cookie: 0; out: names the signal, among those of this rank file; never 0
 * @result: 0; out, with PLD_SIGNAL_ASK and PLD_SIGNAL_END: EAGAIN, negative, while
 *	it waits; otherwise why it told: 0 when the conditions held, or the
 *	negative errno that a wait would have answered
 * @index: 0; out, with @result: as in struct pld_sim_wait
 * @value: 0; out, with @result: the same, as last seen
 * @__reserved: must be 0
 *
 * Adds 1 to the eventfd, once, when a wait for the conditions would end: they
 * hold, the deadline has passed, the domain is broken, or the rank has ended.
 * Then the signal waits no more, but is there, to be asked, until it is taken
 * away or the rank file goes. That the eventfd is closed does not end it. With
 * PLD_SIGNAL_ASK and PLD_SIGNAL_END, @cookie is in, and all other fields are 0.
 *
 * EBADF: eventfd is no open file; EINVAL: it is no eventfd. ENOSPC:
 * PLD_SIM_MAX_SIGNALS signals are there, those that have told included. ENOENT:
 * there is no such signal.
 */
struct pld_sim_signal_eventfd {
	__u32 size;
	__u32 flags;
	__aligned_u64 conditions;
	__u32 nr_conditions;
	__s32 eventfd;
	__aligned_s64 deadline_ns;
	__aligned_u64 cookie;
	__s32 result;
	__u32 index;
	__s32 value;
	__u32 __reserved;
};

#define PLD_IOC_SIGNAL_EVENTFD \
	_IO(PLD_SIM_IOC_TYPE, PLD_SIM_CMD_SIGNAL_EVENTFD)

/**
 * struct pld_sim_signal_fence - ioctl(PLD_IOC_SIGNAL_FENCE), on rank files
 * @size: sizeof(struct pld_sim_signal_fence)
 * @flags: 0 or PLD_WAIT_ANY
 * @conditions: address of nr_conditions struct pld_sim_condition
 * @nr_conditions: how many, 1 to PLD_SIM_MAX_CONDITIONS
 * @out_fd: out: a sync_file (linux/sync_file.h), close-on-exec
 * @deadline_ns: absolute CLOCK_MONOTONIC time in nanoseconds, above 0 and at
 *	most PLD_SIM_MAX_FENCE_NS from the present
 *
 * The sync_file's fence signals when a wait for the conditions would end. Where
 * they do not hold then, it carries the wait's errno: ETIMEDOUT after the
 * deadline, what broke the domain, or ENOTCONN when the rank has left. Whoever
 * waits for a fence, such as a device's driver, cannot be kept for ever by it.
 *
 * ERANGE: the deadline is too far away. ENOSPC: PLD_SIM_MAX_SIGNALS signals are
 * there; a fence is one until it has signalled.
 */
struct pld_sim_signal_fence {
	__u32 size;
	__u32 flags;
	__aligned_u64 conditions;
	__u32 nr_conditions;
	__s32 out_fd;
	__aligned_s64 deadline_ns;
};

#define PLD_IOC_SIGNAL_FENCE _IO(PLD_SIM_IOC_TYPE, PLD_SIM_CMD_SIGNAL_FENCE)

/**
 * struct pld_sim_domains - ioctl(PLD_IOC_DOMAINS), on device and rank files
 * @size: sizeof(struct pld_sim_domains)
 * @flags: must be 0
 * @out_fd: out: a file to read the domains from, close-on-exec
 * @__reserved: must be 0
 *
 * The file says, at the time it is read, which domains the caller's effective
 * user has made, with their ranks, waits and windows; to a caller with
 * CAP_SYS_ADMIN all there are. What its lines mean is written in doc/sysfs.md.
 */
struct pld_sim_domains {
	__u32 size;
	__u32 flags;
	__s32 out_fd;
	__u32 __reserved;
};

#define PLD_IOC_DOMAINS _IO(PLD_SIM_IOC_TYPE, PLD_SIM_CMD_DOMAINS)

/*
 * mmap() of rank files: MAP_SHARED only (EINVAL), never executable, nor
 * writable where it says read-only (EACCES). A mapping lies in one window, in
 * the doorbells or in the status page: ENOENT when there is none of them at
 * the offset, ERANGE when it ends before the mapping does. fork() does not
 * pass mappings on.
 */

/** define PLD_SIM_MMAP_STATUS - offset of struct pld_sim_status, read-only */
#define PLD_SIM_MMAP_STATUS 0x0ULL
/**
 * define PLD_SIM_MMAP_DOORBELLS - offset of nranks struct pld_sim_doorbell,
 * PLD_SIM_DOORBELL_STRIDE apart, read-only
 */
#define PLD_SIM_MMAP_DOORBELLS 0x1000ULL
#define PLD_SIM_DOORBELL_STRIDE 0x1000ULL

/**
 * enum pld_sim_rank_state - where a rank stands
 * @PLD_RANK_ABSENT: not joined since the domain was made or reset
 * @PLD_RANK_JOINED: a process holds it
 * @PLD_RANK_LEFT: ended in good order
 * @PLD_RANK_DEAD: ended otherwise
 */
enum pld_sim_rank_state {
	PLD_RANK_ABSENT = 0,
	PLD_RANK_JOINED = 1,
	PLD_RANK_LEFT = 2,
	PLD_RANK_DEAD = 3,
};

/**
 * struct pld_sim_status - a domain's status page
 * @epoch: advances when the domain breaks and when it is reset. A rank whose
 *	epoch at joining is not this one any more looks at the rest, which was
 *	written before epoch
 * @reason: enum pld_sim_fail_reason
 * @rank: the rank that is the cause, when reason is not PLD_FAIL_NONE
 * @code: as in struct pld_sim_fail
 * @nranks: number of ranks
 * @__reserved: 0
 * @rank_state: enum pld_sim_rank_state of each rank
 */
struct pld_sim_status {
	__u32 epoch;
	__u32 reason;
	__u32 rank;
	__s32 code;
	__u32 nranks;
	__u32 __reserved[11];
	__u32 rank_state[PLD_SIM_MAX_RANKS];
};

/**
 * struct pld_sim_doorbell - a rank's doorbell page
 * @waiters: how many waits of this rank sleep, armed conditions, eventfds and
 *	fences included; a hint that saves rings
 * @bell: how often the rank was rung for, modulo 2^32
 */
struct pld_sim_doorbell {
	__u32 waiters;
	__u32 bell;
};

#endif /* _UAPI_LINUX_PLD_SIM_H */
