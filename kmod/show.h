/* SPDX-License-Identifier: GPL-2.0 */
/* Domains as text, for debugfs and PLD_IOC_DOMAINS. */
#ifndef PLD_SIM_SHOW_H
#define PLD_SIM_SHOW_H

struct pld_call;
struct seq_file;

/* @seq->private is not NULL when its reader may see the domains of all. */
int pld_domains_show(struct seq_file *seq, void *unused);

int pld_ioctl_domains(struct pld_call *call);
void pld_finish_domains(struct pld_call *call, bool copied);

#endif
