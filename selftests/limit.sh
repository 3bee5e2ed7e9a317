#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# The limit of a device's window memory, which is a parameter of the module.

# shellcheck source-path=SCRIPTDIR disable=SC2317 # functions are called by way of check
. "$(dirname "$0")/module.inc"

limit=$((16 * 1024 * 1024))

# refused NRANKS LENGTH AVAILABLE: a window that is too large says so.
refused()
{
	answer=$(./ranks "$1" "$2") && return 1
	[ "$answer" = "window: Cannot allocate memory, $3 available" ] ||
		{ echo "# $answer"; return 1; }
}

used()
{
	[ "$(cat /sys/devices/platform/pld_sim."$1"/memory_used)" = "$2" ]
}

plan 9
check limit_is_a_parameter reload device_memory_mb=16
check one_byte_more_than_the_limit_is_ENOMEM \
	refused 1 $((limit + 1)) $limit
check refused_window_is_not_counted used 0 0
check each_device_has_the_whole_limit users 2 $limit
check window_is_counted_in_full used 1 $limit
check nothing_is_left_for_another_domain refused 1 1 0
check what_others_use_is_not_touched used 1 $limit
check limit_is_free_again_when_the_users_are_killed kill_users
check all_of_it_can_be_had_again users 1 $limit
kill_users
exit $failed
