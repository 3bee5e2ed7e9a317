/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A domain: an ordered set of devices whose ranks share windows.
 *
 * The domain file holds one reference and every rank file one more, for as
 * long as it is open, so that a mapping, which keeps its rank file open, may
 * use the domain too.
 *
 * Lock order, outer to inner:
 *
 *	pld_domains_lock
 *	  mmap_lock (of whoever calls mmap())
 *	    pld_domain.lock
 *	      pld_domain.state_lock, the windows' xa_lock
 *	        pld_rank.waiters.lock
 *	          pld_rank.pollers.lock, those of eventfds and fences
 *	    pld_import.lock
 *	      a dma-buf's reservation lock
 *	        pld_export.lock
 *
 * None is held while user memory is read or written. Other drivers' code, which
 * may wait for as long as it likes, is called with none of them held but
 * pld_import.lock and what the caller of mmap() brings: pld_domains_lock, which
 * everybody needs, and pld_domain.lock, which is taken below it, are never held
 * for long.
 */
#ifndef PLD_SIM_DOMAIN_H
#define PLD_SIM_DOMAIN_H

#include <linux/hrtimer.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/pid.h>
#include <linux/pld_sim.h>
#include <linux/spinlock.h>
#include <linux/uidgid.h>
#include <linux/wait.h>
#include <linux/xarray.h>

struct pld_call;
struct pld_device;

/*
 * A rank's place in its domain. The process that holds it: rank.h.
 *
 * @doorbell is a page that ranks read and only the module writes; its words
 * repeat @nr_waiters and @nr_rings.
 */
struct pld_rank {
	struct pld_device *device;
	struct pld_sim_doorbell *doorbell;
	wait_queue_head_t waiters;
	u32 nr_waiters;		/* protected by waiters.lock */
	u32 nr_rings;		/* the same; readers need no lock */
	u32 nr_sleepers;	/* those that are no watches; the same */
	bool rechecking;	/* the same: the timer is, or will be, there */
	struct hrtimer recheck;	/* looks for sleepers */
	wait_queue_head_t pollers;	/* of rank files */
	struct pid *process;	/* that joined, by state_lock; a reference */
};

struct pld_domain {
	struct kref ref;
	struct list_head node;	/* of all domains, by pld_domains_lock */
	u32 id;			/* for traces and show.c only */
	u32 nr_ranks;
	kuid_t owner;		/* effective user of its maker */
	struct pid *maker;	/* a reference */

	/*
	 * Protects the windows' table, and keeps reset and join apart. Readers
	 * of @windows that need one window get by with the xa_lock.
	 *
	 * A reset lets go of it while it zeroes. @resetting is set meanwhile:
	 * nobody joins, no window is added, there is no second reset (-EBUSY).
	 */
	struct mutex lock;
	bool resetting;
	struct xarray windows;
	struct list_head windows_by_offset;
	u32 nr_windows;
	u32 next_window;

	/*
	 * Protects what the status page says, which is where the domain's and
	 * its ranks' states are kept: ranks map it read-only. Also protects
	 * pld_member.joined and pld_rank.process. @status->reason may be read
	 * without it.
	 */
	spinlock_t state_lock;
	struct pld_sim_status *status;

	struct pld_rank ranks[];
};

extern struct mutex pld_domains_lock;
extern struct list_head pld_domains;

struct pld_domain *pld_domain_from_file(struct file *file);
void pld_domain_get(struct pld_domain *domain);
void pld_domain_put(struct pld_domain *domain);

int pld_domain_error(const struct pld_domain *domain);
bool pld_domain_break(struct pld_domain *domain,
		      enum pld_sim_fail_reason reason, u32 rank, s32 code);
void pld_rank_wake_all(struct pld_rank *rank);
void pld_domain_wake_all(struct pld_domain *domain);

int pld_ioctl_domain_create(struct pld_call *call);
void pld_finish_domain_create(struct pld_call *call, bool copied);
int pld_ioctl_domain_reset(struct pld_call *call);
int pld_ioctl_fail(struct pld_call *call);

#endif
