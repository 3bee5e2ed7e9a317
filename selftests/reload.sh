#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Unloading: refused while somebody uses the module, and clean after users that
# were killed, again and again.

# shellcheck source-path=SCRIPTDIR disable=SC2317 # functions are called by way of check
. "$(dirname "$0")/module.inc"

cycles=10
length=$((4 * 1024 * 1024))

refused()
{
	! rmmod pld_sim 2>/dev/null && [ -e "$node" ] &&
		[ -e /sys/devices/platform/pld_sim.0 ]
}

gone()
{
	[ ! -e "$node" ] && [ ! -e /sys/module/pld_sim ] &&
		[ ! -e /sys/class/pld_sim ] &&
		[ ! -e /sys/kernel/debug/pld_sim ] &&
		[ ! -e /sys/devices/platform/pld_sim.0 ]
}

available_mb()
{
	awk '/^MemAvailable/ { print int($2 / 1024) }' /proc/meminfo
}

# What is left of them when all files are closed, but one of another kind.
fence_alone()
{
	users fence && [ "$(cat /sys/module/pld_sim/refcnt)" = 1 ]
}

fence_is_over()
{
	kill_users && unload && gone
}

load_again()
{
	unload && load
}

# Leaking one cycle's windows each time would cost 160 MiB in the end.
cycle_all()
{
	before=$(available_mb)
	cycle=0
	while [ "$cycle" -lt "$cycles" ]; do
		cycle=$((cycle + 1))
		users 4 "$length" && kill_users && load_again || return 1
	done
	after=$(available_mb)
	echo "# MiB available before $before, after $after"
	[ "$after" -gt $((before - 80)) ]
}

plan 9
check users_start users 4 $length
check unloading_is_refused_while_there_are_users refused
check killed_users_leave_no_reference kill_users
check unloading_works_then unload
check unloading_leaves_nothing_behind gone
load
check a_sync_file_is_all_that_somebody_has fence_alone
check unloading_is_refused_while_it_is_open refused
check unloading_works_after_its_close fence_is_over
load
check cycles_of_users_killing_and_reloading_leak_nothing cycle_all
exit $failed
