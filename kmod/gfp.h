/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How memory is asked for on behalf of a user, whose memory cgroup pays.
 *
 * Who asks for more than there is, in the cgroup or in all, has made a mistake,
 * and is told -ENOMEM. Nobody is to be killed for it, which is what
 * __GFP_RETRY_MAYFAIL says, and the log has nothing to say of it.
 */
#ifndef PLD_SIM_GFP_H
#define PLD_SIM_GFP_H

#include <linux/gfp.h>

#define PLD_GFP (GFP_KERNEL_ACCOUNT | __GFP_NOWARN | __GFP_RETRY_MAYFAIL)

#endif /* PLD_SIM_GFP_H */
