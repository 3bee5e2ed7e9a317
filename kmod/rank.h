/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A member: one process's holding of one rank. It belongs to the device file
 * that joined, which becomes a rank file by it, and lives as long as the file.
 *
 * A file can outlive its process: mappings, forked children and passed
 * descriptors keep it open. So the end of a process is not learned from the
 * file's release but from the end of its address space, and from a close by
 * the file table that joined, of whichever descriptor of the file. What comes
 * first takes @joined away.
 */
#ifndef PLD_SIM_RANK_H
#define PLD_SIM_RANK_H

#include <linux/fs.h>
#include <linux/list.h>
#include <linux/mmu_notifier.h>
#include <linux/types.h>

struct pld_call;
struct pld_domain;
struct pld_watch;

struct pld_member {
	struct mmu_notifier notifier;	/* holds the address space's struct */
	fl_owner_t files;		/* only compared, never followed */
	struct pld_domain *domain;	/* a reference */
	u32 rank;
	bool joined;	/* protected by domain->state_lock; a hint without */

	/* Its watches (watch.h), protected by the lock of the rank's queue. */
	struct pld_watch *armed;	/* for poll, or NULL */
	struct list_head signals;	/* for eventfds, until they are ended */
	u32 nr_signals;			/* those, and for fences */
	u64 last_cookie;
};

void pld_member_died(struct pld_member *member);
void pld_member_destroy(struct pld_member *member);

/* Whether the calling process is the one that joined. */
static inline bool pld_member_is_current(const struct pld_member *member)
{
	return member->notifier.mm == current->mm;
}

static inline bool pld_member_joined(const struct pld_member *member)
{
	return READ_ONCE(member->joined);
}

int pld_ioctl_join(struct pld_call *call);
void pld_finish_join(struct pld_call *call, bool copied);
int pld_ioctl_leave(struct pld_call *call);

#endif
