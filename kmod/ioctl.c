// SPDX-License-Identifier: GPL-2.0
/*
 * The table of ioctls and the one dispatcher for it. What holds for every
 * command is done here: which file it belongs to, sizes, unknown flags, copying
 * in and out. A command's function sees its arguments in kernel memory and
 * writes its answers there.
 */
#include <linux/file.h>
#include <linux/nospec.h>
#include <linux/sched.h>
#include <linux/uaccess.h>

#include "device.h"
#include "domain.h"
#include "export.h"
#include "ioctl.h"
#include "rank.h"
#include "show.h"
#include "wait.h"
#include "watch.h"
#include "window.h"

enum pld_answers {
	PLD_ANSWERS_NEVER,
	PLD_ANSWERS_SUCCESS,
	PLD_ANSWERS_ALWAYS,
};

/*
 * @min_size: size of the first version of the arguments
 * @kinds: of file that the command can be given to
 * @flags: known ones. ~0 where the second word is not flags
 * @answers: when the arguments go back to the caller
 * @finish: after a success, publishes or undoes what was made: its caller was
 *	told of it, or could not be
 */
struct pld_ioctl_op {
	unsigned int cmd;
	u32 size;
	u32 min_size;
	unsigned int kinds;
	u32 flags;
	enum pld_answers answers;
	int (*func)(struct pld_call *call);
	void (*finish)(struct pld_call *call, bool copied);
};

static int ioctl_info(struct pld_call *call)
{
	struct pld_sim_info *args = &call->args.info;

	args->abi_version = PLD_SIM_ABI_VERSION;
	args->nr_devices = pld_devices_count();
	args->max_ranks = PLD_SIM_MAX_RANKS;
	args->max_windows = PLD_SIM_MAX_WINDOWS;
	args->device_memory = pld_devices_memory_limit();
	return 0;
}

static const struct pld_ioctl_op pld_ops[] = {
	[PLD_SIM_CMD_INFO] = {
		.cmd = PLD_IOC_INFO,
		.size = sizeof(struct pld_sim_info),
		.min_size = 32,
		.kinds = PLD_DEVICE_FILE | PLD_RANK_FILE,
		.answers = PLD_ANSWERS_SUCCESS,
		.func = ioctl_info,
	},
	[PLD_SIM_CMD_DOMAIN_CREATE] = {
		.cmd = PLD_IOC_DOMAIN_CREATE,
		.size = sizeof(struct pld_sim_domain_create),
		.min_size = 24,
		.kinds = PLD_DEVICE_FILE,
		.answers = PLD_ANSWERS_SUCCESS,
		.func = pld_ioctl_domain_create,
		.finish = pld_finish_domain_create,
	},
	[PLD_SIM_CMD_JOIN] = {
		.cmd = PLD_IOC_JOIN,
		.size = sizeof(struct pld_sim_join),
		.min_size = 36,
		.kinds = PLD_DEVICE_FILE,
		.answers = PLD_ANSWERS_ALWAYS,
		.func = pld_ioctl_join,
		.finish = pld_finish_join,
	},
	[PLD_SIM_CMD_LEAVE] = {
		.cmd = PLD_IOC_LEAVE,
		.size = sizeof(struct pld_sim_leave),
		.min_size = 8,
		.kinds = PLD_RANK_FILE,
		.func = pld_ioctl_leave,
	},
	[PLD_SIM_CMD_WINDOW_ALLOC] = {
		.cmd = PLD_IOC_WINDOW_ALLOC,
		.size = sizeof(struct pld_sim_window_alloc),
		.min_size = 48,
		.kinds = PLD_DOMAIN_FILE,
		.flags = PLD_WINDOW_SIGNAL,
		.answers = PLD_ANSWERS_ALWAYS,
		.func = pld_ioctl_window_alloc,
		.finish = pld_finish_window_alloc,
	},
	[PLD_SIM_CMD_WINDOW_FREE] = {
		.cmd = PLD_IOC_WINDOW_FREE,
		.size = sizeof(struct pld_sim_window_free),
		.min_size = 8,
		.kinds = PLD_DOMAIN_FILE,
		.flags = ~0,
		.func = pld_ioctl_window_free,
	},
	[PLD_SIM_CMD_WAIT] = {
		.cmd = PLD_IOC_WAIT,
		.size = sizeof(struct pld_sim_wait),
		.min_size = 40,
		.kinds = PLD_RANK_FILE,
		.flags = PLD_WAIT_ANY | PLD_WAIT_BELL,
		.answers = PLD_ANSWERS_ALWAYS,
		.func = pld_ioctl_wait,
	},
	[PLD_SIM_CMD_RING] = {
		.cmd = PLD_IOC_RING,
		.size = sizeof(struct pld_sim_ring),
		.min_size = 24,
		.kinds = PLD_RANK_FILE,
		.func = pld_ioctl_ring,
	},
	[PLD_SIM_CMD_FAIL] = {
		.cmd = PLD_IOC_FAIL,
		.size = sizeof(struct pld_sim_fail),
		.min_size = 24,
		.kinds = PLD_RANK_FILE | PLD_DOMAIN_FILE,
		.func = pld_ioctl_fail,
	},
	[PLD_SIM_CMD_DOMAIN_RESET] = {
		.cmd = PLD_IOC_DOMAIN_RESET,
		.size = sizeof(struct pld_sim_domain_reset),
		.min_size = 8,
		.kinds = PLD_DOMAIN_FILE,
		.func = pld_ioctl_domain_reset,
	},
	[PLD_SIM_CMD_WINDOW_EXPORT] = {
		.cmd = PLD_IOC_WINDOW_EXPORT,
		.size = sizeof(struct pld_sim_window_export),
		.min_size = 40,
		.kinds = PLD_RANK_FILE | PLD_DOMAIN_FILE,
		.flags = PLD_EXPORT_READ_ONLY,
		.answers = PLD_ANSWERS_SUCCESS,
		.func = pld_ioctl_window_export,
		.finish = pld_finish_window_export,
	},
	[PLD_SIM_CMD_WINDOW_IMPORT] = {
		.cmd = PLD_IOC_WINDOW_IMPORT,
		.size = sizeof(struct pld_sim_window_import),
		.min_size = 64,
		.kinds = PLD_DOMAIN_FILE,
		.flags = PLD_WINDOW_SIGNAL,
		.answers = PLD_ANSWERS_ALWAYS,
		.func = pld_ioctl_window_import,
		.finish = pld_finish_window_import,
	},
	[PLD_SIM_CMD_ARM] = {
		.cmd = PLD_IOC_ARM,
		.size = sizeof(struct pld_sim_arm),
		.min_size = 24,
		.kinds = PLD_RANK_FILE,
		.flags = PLD_WAIT_ANY,
		.func = pld_ioctl_arm,
	},
	[PLD_SIM_CMD_SIGNAL_EVENTFD] = {
		.cmd = PLD_IOC_SIGNAL_EVENTFD,
		.size = sizeof(struct pld_sim_signal_eventfd),
		.min_size = 56,
		.kinds = PLD_RANK_FILE,
		.flags = PLD_WAIT_ANY | PLD_SIGNAL_ASK | PLD_SIGNAL_END,
		.answers = PLD_ANSWERS_SUCCESS,
		.func = pld_ioctl_signal_eventfd,
		.finish = pld_finish_signal_eventfd,
	},
	[PLD_SIM_CMD_SIGNAL_FENCE] = {
		.cmd = PLD_IOC_SIGNAL_FENCE,
		.size = sizeof(struct pld_sim_signal_fence),
		.min_size = 32,
		.kinds = PLD_RANK_FILE,
		.flags = PLD_WAIT_ANY,
		.answers = PLD_ANSWERS_SUCCESS,
		.func = pld_ioctl_signal_fence,
		.finish = pld_finish_signal_fence,
	},
	[PLD_SIM_CMD_DOMAINS] = {
		.cmd = PLD_IOC_DOMAINS,
		.size = sizeof(struct pld_sim_domains),
		.min_size = 16,
		.kinds = PLD_DEVICE_FILE | PLD_RANK_FILE,
		.answers = PLD_ANSWERS_SUCCESS,
		.func = pld_ioctl_domains,
		.finish = pld_finish_domains,
	},
};

/* A descriptor that its caller was not told of must not come to life. */
void pld_call_publish(struct pld_call *call, int fd, bool copied)
{
	if (copied) {
		fd_install(fd, call->new_file);
	} else {
		put_unused_fd(fd);
		fput(call->new_file);
	}
}

static const struct pld_ioctl_op *find_op(unsigned int cmd)
{
	unsigned int nr = _IOC_NR(cmd);
	const struct pld_ioctl_op *op;

	if (nr >= ARRAY_SIZE(pld_ops))
		return NULL;
	op = &pld_ops[array_index_nospec(nr, ARRAY_SIZE(pld_ops))];
	return op->cmd == cmd ? op : NULL;
}

static int check_kind(const struct pld_call *call,
		      const struct pld_ioctl_op *op)
{
	if (call->kind == PLD_RANK_FILE && !pld_member_is_current(call->member))
		return -EPERM;
	if (!(op->kinds & call->kind)) {
		if (call->kind == PLD_DEVICE_FILE && op->kinds & PLD_RANK_FILE)
			return -ENOTCONN;
		if (call->kind == PLD_RANK_FILE && op->kinds & PLD_DEVICE_FILE)
			return -EISCONN;
		return -ENOTTY;
	}
	/* What a device file answers, a rank file answers after leaving too. */
	if (call->kind == PLD_RANK_FILE && !(op->kinds & PLD_DEVICE_FILE) &&
	    !pld_member_joined(call->member))
		return -ENOTCONN;
	return 0;
}

static int copy_args(struct pld_call *call, const struct pld_ioctl_op *op,
		     void __user *arg)
{
	u32 size;
	int ret;

	if (get_user(size, (u32 __user *)arg))
		return -EFAULT;
	if (size < op->min_size)
		return -EINVAL;
	if (size > PAGE_SIZE)
		return -E2BIG;
	ret = copy_struct_from_user(&call->args, op->size, arg, size);
	if (ret)
		return ret;
	/* It may have been changed between the two reads. */
	call->args.size = size;
	if (call->args.flags & ~op->flags)
		return -EOPNOTSUPP;
	return 0;
}

static bool answer(struct pld_call *call, const struct pld_ioctl_op *op,
		   int ret, void __user *arg)
{
	if (op->answers == PLD_ANSWERS_NEVER ||
	    (ret && op->answers != PLD_ANSWERS_ALWAYS))
		return true;
	return !copy_to_user(arg, &call->args, min(op->size, call->args.size));
}

long pld_ioctl(struct pld_call *call, unsigned int cmd, unsigned long arg)
{
	void __user *uarg = (void __user *)arg;
	const struct pld_ioctl_op *op;
	bool copied;
	int ret;

	op = find_op(cmd);
	if (!op)
		return -ENOTTY;
	ret = check_kind(call, op);
	if (ret)
		return ret;
	ret = copy_args(call, op, uarg);
	if (ret)
		return ret;

	ret = op->func(call);
	copied = answer(call, op, ret, uarg);
	if (ret)
		return ret;
	if (op->finish)
		op->finish(call, copied);
	if (!copied)
		return -EFAULT;
	return 0;
}
