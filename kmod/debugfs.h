/* SPDX-License-Identifier: GPL-2.0 */
/* /sys/kernel/debug/pld_sim/domains */
#ifndef PLD_SIM_DEBUGFS_H
#define PLD_SIM_DEBUGFS_H

void pld_debugfs_create(void);
void pld_debugfs_destroy(void);

#endif
