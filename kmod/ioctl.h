/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One ioctl call, on its way through the dispatcher. It lives on the stack of
 * the calling process and needs no lock; what it points to is held by the open
 * file.
 */
#ifndef PLD_SIM_IOCTL_H
#define PLD_SIM_IOCTL_H

#include <linux/bits.h>
#include <linux/pld_sim.h>
#include <linux/types.h>

struct file;
struct pld_domain;
struct pld_file;
struct pld_member;
struct pld_watch;

enum pld_file_kind {
	PLD_DEVICE_FILE = BIT(0),
	PLD_RANK_FILE = BIT(1),
	PLD_DOMAIN_FILE = BIT(2),
};

struct pld_call {
	enum pld_file_kind kind;
	struct pld_file *file;		/* of device and rank files */
	struct pld_member *member;	/* of rank files */
	struct pld_domain *domain;	/* of rank and domain files */
	struct pld_watch *new_watch;
	struct pld_watch *old_watch;	/* taken away, with its caller's reference */
	bool old_waited;		/* and out of the queue */
	union {
		struct file *new_file;
		struct pld_member *new_member;
	};
	union {
		struct {
			u32 size;
			u32 flags;
		};
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
	} args;
};

long pld_ioctl(struct pld_call *call, unsigned int cmd, unsigned long arg);
void pld_call_publish(struct pld_call *call, int fd, bool copied);

#endif
