/* SPDX-License-Identifier: GPL-2.0 */
/*
 * /dev/pld_sim and what hangs on an open one.
 */
#ifndef PLD_SIM_CHARDEV_H
#define PLD_SIM_CHARDEV_H

#include <linux/types.h>

struct pld_member;

/*
 * An open /dev/pld_sim. A device file while it has no @member, a rank file
 * from then on: @member is set once, and only the file's release ends it.
 * Bit 0 of @joining is a lock that is never waited for: it lets one join at a
 * time try to set @member.
 */
struct pld_file {
	struct pld_member *member;
	unsigned long joining;
};

bool pld_file_begin_join(struct pld_file *pfile);
void pld_file_end_join(struct pld_file *pfile, struct pld_member *member);

int pld_chardev_create(unsigned int gid);
void pld_chardev_destroy(void);

#endif
