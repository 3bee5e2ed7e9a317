#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# The number of devices and the group of the node, as parameters of the module.

# shellcheck source-path=SCRIPTDIR disable=SC2317 # functions are called by way of check
. "$(dirname "$0")/module.inc"

# A load that fails, and leaves nothing behind.
refused()
{
	! load "$@" 2>/dev/null && [ ! -e "$node" ] &&
		[ ! -e /sys/module/pld_sim ] &&
		[ ! -e /sys/devices/platform/pld_sim.0 ]
}

group_is()
{
	soon test -e "$node" && [ "$(stat -c '%a %g' "$node")" = "660 $1" ]
}

too_many_ranks()
{
	[ "$(./ranks "$1" 1)" = "domain: No such file or directory" ]
}

unload || exit 1
plan 11
check no_device_is_refused refused devices=0
check more_than_256_devices_are_refused refused devices=257
check negative_number_is_refused refused devices=-1
check group_that_cannot_be_is_refused refused gid=4294967295
check one_device_is_enough load devices=1
check one_device_takes_one_rank users 1 4
kill_users
check one_device_takes_no_second_rank too_many_ranks 2
check group_is_a_parameter reload gid=1234
check node_is_of_that_group group_is 1234
# The sleep of so many is cheap only if none looks up again and again.
check there_can_be_256_devices reload devices=256 recheck_ms=0
check there_can_be_256_ranks users 256 4
kill_users
exit $failed
