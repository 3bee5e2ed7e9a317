#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# pld-drm against the driver vgem, on the platform $PLD_PLATFORM.

# shellcheck source-path=SCRIPTDIR disable=SC2317,SC2034 # functions are called by way of check, program is tool.inc's
program=pld-drm
. "$(dirname "$0")/tool.inc"

node=/dev/dri/card0

[ "$(id -u)" != 0 ] || modprobe -q vgem 2>/dev/null
why_not=$("$tool" -d 0,1 --import 0,1 2>&1) || case $why_not in
*"there is no vgem device"* | *"platform kmod: no "*) skip "$why_not" ;;
esac

# Windows of memfd are exported by a driver that not every kernel has.
exports()
{
	[ "$PLD_PLATFORM" = kmod ] || [ -e /dev/udmabuf ] || return 4
}

# run RANKS BYTES IMPORTED OPTION...: OK, and a line for each rank; as many as
# IMPORTED has letters, and those alone, have the device's buffers.
run()
{
	ranks=$1 bytes=$2 imported=$3
	shift 3
	"$tool" "$@" >"$tmp/out" 2>"$tmp/err" && [ ! -s "$tmp/err" ] &&
		grep -q "^DRM device /dev/dri/.* (vgem)$" "$tmp/out" &&
		[ "$(tail -n 1 "$tmp/out")" = OK ] &&
		[ "$(grep -c "^rank [0-9]: $bytes bytes are right in the window and in the device's buffer" "$tmp/out")" = "$ranks" ] &&
		[ "$(grep -c "^rank [${imported:-x}]:.* that it is, " "$tmp/out")" = "${#imported}" ] &&
		[ "$(grep -c "^rank [^${imported:-x}]:.* that it was made, " "$tmp/out")" = $((ranks - ${#imported})) ] &&
		return
	sed 's/^/# /' "$tmp/out" "$tmp/err"
	return 1
}

# 4 slices of 64 fp32.
every_second_rank()
{
	exports && run 4 1024 13 -d 0,1,2,3
}

all_ranks()
{
	run 3 36012 012 -d 4,1,7 --import 2,0,1 --size 3001 --dtype int32 \
		--drm "$node"
}

# A render node makes no buffers, but takes them.
render_node()
{
	refused "/dev/dri/renderD128 makes no buffer of 512 bytes: Permission denied" \
		-d 0,1 --drm /dev/dri/renderD128 &&
		exports &&
		run 2 16000 "" -d 0,1 --import none --drm /dev/dri/renderD128 \
			--size 1000 --dtype fp64
}

no_such_device()
{
	refused "device 999 does not exist: .*" -d 0,999
}

too_large()
{
	refused "4611686018427387904 elements on each of 2 ranks are more bytes than can be counted" \
		-d 0,1 --size 4611686018427387904 &&
	refused "$node makes no buffer of 1152921504606846976 bytes: Value too large for defined data type" \
		-d 0,1 --size 576460752303423488 --dtype int8
}

# Who has no permission is told what to do.
not_for_everybody()
{
	[ "$(id -u)" = 0 ] && id user >/dev/null 2>&1 || return 4
	su user -c "$tool -d 0,1" >"$tmp/out" 2>"$tmp/err"
	[ $? = 2 ] && [ ! -s "$tmp/out" ] && [ "$(cat "$tmp/err")" = \
		"pld-drm: no permission to open $node, which may be vgem's; join the group that owns it" ] || return 1
	su user -c "$tool -d 0,1 --drm $node" >"$tmp/out" 2>"$tmp/err"
	[ $? = 2 ] && [ "$(cat "$tmp/err")" = \
		"pld-drm: cannot open $node: Permission denied" ]
}

plan 6
check every_second_rank_has_the_devices_buffer every_second_rank
check all_ranks_have_on_a_device_that_is_named all_ranks
check render_node_takes_windows_and_makes_none render_node
check device_of_the_platform_that_is_none no_such_device
check size_that_is_too_large too_large
check not_for_everybody not_for_everybody
exit $failed
