#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Loading the module with each of its steps failing leaves nothing behind.

# shellcheck source-path=SCRIPTDIR disable=SC2317 # functions are called by way of check
. "$(dirname "$0")/module.inc"

[ -e /proc/self/fail-nth ] || skip "the kernel has no fault injection"

# Where modprobe would find it.
file()
{
	if [ -n "$PLD_MODULE" ]; then
		echo "$PLD_MODULE"
	else
		modprobe -D pld_sim | sed -n 's/^insmod \([^ ]*\).*/\1/p' | tail -n 1
	fi
}

each_step()
{
	unload && ./loadnth "$(file)" && load
}

plan 1
check a_load_that_fails_at_any_step_leaves_nothing each_step
exit $failed
