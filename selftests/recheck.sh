#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# How often sleeping waits look at their cells by themselves, as a parameter of
# the module; and that they need not: without it, no ring is lost.

# shellcheck source-path=SCRIPTDIR disable=SC2317 # functions are called by way of check
. "$(dirname "$0")/module.inc"

recheck_is()
{
	[ "$(cat "$parameters/recheck_ms")" = "$1" ]
}

# run PROGRAM: its output only if it fails.
run()
{
	"./$1" > "$tmp/out" 2>&1 && return
	sed 's/^/# /' "$tmp/out"
	return 1
}

unload || exit 1
plan 5
check recheck_is_20_ms_by_default load
check recheck_is_told recheck_is 20
check recheck_can_be_never reload recheck_ms=0
check no_ring_is_lost_without_it run handshake
check no_ring_for_one_of_several_cells_is_lost_without_it run several
exit $failed
