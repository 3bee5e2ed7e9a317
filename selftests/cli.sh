#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# pld-allgather on a platform, which is $PLD_PLATFORM: results, what the
# platform refuses, and ranks that are killed or stopped. On kmod, which the
# emulated guest runs, fewer sizes and types are tried together.

# shellcheck source-path=SCRIPTDIR disable=SC2317 # functions are called by way of check
. "$(dirname "$0")/tool.inc"
trap 'kill_all; rm -rf "$tmp"' EXIT

why_not=$("$tool" -d 0,1 2>&1) || case $why_not in
*"platform kmod: no "*) skip "$why_not" ;;
esac

mib_and_3=$((1024 * 1024 + 3))
if [ "$PLD_PLATFORM" = kmod ]; then
	devices=$(cat /sys/module/pld_sim/parameters/devices)
else
	devices=64
fi

# first N: device ids 0 to N - 1, in a list.
first()
{
	seq -s , 0 $(($1 - 1))
}

available_kib()
{
	awk '/^MemAvailable/ { print $2 }' /proc/meminfo
}

#
# 1. Results.
#

# turn LIST: the list with its first word at the end.
turn()
{
	echo "${1#* } ${1%% *}"
}

# Each size with each type in each mode. In the guest each size has a type of its
# own, and where MODES are given also the mode whose turn it is.
jobs()
{
	types=$2 modes=${3:-}
	for size in $1; do
		if [ "$PLD_PLATFORM" != kmod ]; then
			tried_types=$types tried_modes="hand builtin"
		else
			tried_types=${types%% *}
			tried_modes=${modes%% *}
			types=$(turn "$types")
			modes=$(turn "$modes")
		fi
		for how in ${tried_modes:-hand builtin}; do
			for dtype in $tried_types; do
				echo "$how $size $dtype"
			done
		done
	done
}

# all_right DEVICES SIZES TYPES [MODES]
all_right()
{
	jobs "$2" "$3" "${4:-}" >"$tmp/jobs"
	while read -r how size dtype; do
		ok -d "$1" --mode "$how" --size "$size" --dtype "$dtype" \
			--iters 3 || return 1
	done <"$tmp/jobs"
}

# The names of types with as many bytes mean the same to a copy: one of each
# width goes with all sizes.
few_types="int8 bf16 fp32 int64"
all_types="$few_types fp64 fp16 int32 int16 uint64 uint32 uint16 uint8"

# In the guest a type of each width, which the sizes above do not have together.
every_type()
{
	types=$all_types
	[ "$PLD_PLATFORM" != kmod ] || types=fp64
	for type in $types; do
		all_right "$(first 3)" 1000 "$type" || return 1
	done
}

# large_slices NRANKS TYPE: smaller types for more ranks.
large_slices()
{
	for mode in hand builtin; do
		ok -d "$(first "$1")" --mode "$mode" --size "$mib_and_3" \
			--dtype "$2" || return 1
	done
}

# fp16 has 63488 finite values: 2 ranks with 31744 elements are all of them.
all_values_of_fp16()
{
	ok -d 0,1 --size 31744 --dtype fp16
}

small_tiles()
{
	for tile in 8 24 4096; do
		ok -d "$(first 3)" --mode hand --tile "$tile" --size 999 \
			--dtype fp64 || return 1
	done
}

many_calls()
{
	ok -d "$(first 4)" --mode "$1" --iters 1000
}

one_rank_per_device()
{
	[ "$devices" -ge 64 ] || return 4
	all_right "$(first 64)" "$1" "$2"
}

# 4 GiB of windows, and as much again where the hand mode gathers to.
one_rank_per_device_large()
{
	[ "$devices" -ge 64 ] && ! has_sanitizer &&
		[ "$(available_kib)" -gt $((12 * 1024 * 1024)) ] || return 4
	for mode in hand builtin; do
		ok -d "$(first 64)" --mode "$mode" --size "$mib_and_3" \
			--dtype int8 --timeout 120 || return 1
	done
}

#
# 2. What the platform cannot start.
#

no_such_device()
{
	refused "device $1 does not exist: platform [a-z]* has devices 0 to $((devices - 1))" \
		-d "0,$1"
}

too_large_to_count()
{
	refused "pld.alloc_window_buffer: shape \[2, 4611686018427387904\] of int64 has more bytes than can be counted" \
		-d 0,1 --size 4611686018427387904 --dtype int64 &&
	refused "pld.alloc_window_buffer: 9223372036854775806 bytes on each of 2 ranks are more than addresses can count" \
		-d 0,1 --size 4611686018427387903 --dtype int8
}

larger_than_memory()
{
	refused "pld.alloc_window_buffer: asked for 16000000000000 bytes on each of 2 ranks, [0-9]* bytes each are available" \
		-d 0,1 --size 1000000000000 --dtype int64
}

interrupted_ranks_join()
{
	[ -e /dev/pld_sim ] && ! has_sanitizer || return 4
	PLD_FAULT=signals LD_PRELOAD=$PWD/faults.so ok -d 0,1 -p kmod
}

# Nobody, without a capability.
memfd_needs_no_privileges()
{
	[ "$PLD_PLATFORM" != kmod ] && [ "$(id -u)" = 0 ] &&
		command -v setpriv >/dev/null || return 4
	# Where nobody can get at it.
	chmod 755 "$tmp" && cp "$tool" "$tmp/tool" || return 1
	[ "$(setpriv --reuid 65534 --regid 65534 --clear-groups \
		--inh-caps=-all --bounding-set=-all "$tmp/tool" -d 0,1,2,3 \
		-p memfd --mode builtin)" = OK ]
}

group_members_may()
{
	[ -e /dev/pld_sim ] && [ "$(id -u)" = 0 ] && id user >/dev/null 2>&1 ||
		return 4
	[ "$(su user -c "'$tool' -d 0,1 -p kmod")" = OK ]
}

#
# 3. Words.
#

# Tool and module come from one tree.
module_has_the_same_version()
{
	[ -e /sys/module/pld_sim/version ] || return 4
	[ "pld-allgather $(cat /sys/module/pld_sim/version)" = \
		"$("$tool" --version)" ]
}

verbose_tells_what_ran()
{
	"$tool" -d 3,1 --mode builtin --size 5 --dtype int16 --iters 2 -v \
		>"$tmp/out" 2>"$tmp/err" && [ ! -s "$tmp/err" ] &&
		grep -q '^allgather builtin on platform [a-z]* (.*): 2 ranks on devices 3,1; slices of 5 int16; 2 calls$' \
			"$tmp/out" && [ "$(tail -n 1 "$tmp/out")" = OK ]
}

a2a3sim_is_auto()
{
	ok -d 0,1 -p a2a3sim && ok -d 0,1 -p auto
}

# Both modes copy a slice of 77 bytes; each copy adds 1 to its byte 5.
wrong_element_is_named()
{
	! has_sanitizer || return 4
	PLD_FAULT=bad-copy LD_PRELOAD=$PWD/faults.so "$tool" -d 0,1 \
		--mode "$1" --size 77 --dtype int8 >"$tmp/out" 2>"$tmp/err"
	# The rank that is first to see it ends the run.
	[ $? = 1 ] && [ "$(cat "$tmp/out")" = FAILED ] &&
		head -n 1 "$tmp/err" |
		grep -qx "pld-allgather: rank [01], call 0, slot 0, element 5: got $2, wanted 6"
}

#
# 4. Ranks that are killed, and ranks that stop.
#

has_children()
{
	[ "$(children "$1" | wc -l)" = "$2" ]
}

kill_all()
{
	[ -z "$launcher" ] || kill -9 "$launcher" 2>/dev/null
}

# run_on MODE TIMEOUT: starts 4 ranks that go on for ever, as $launcher.
run_on()
{
	"$tool" -d "$(first 4)" --mode "$1" --iters 2000000000 --timeout "$2" \
		-v >"$tmp/out" 2>"$tmp/err" &
	launcher=$!
	soon has_children "$launcher" 4
}

# failed_with MESSAGE TOLD RANK: how such a run ended. MESSAGE stands first,
# and each rank but RANK tells TOLD.
failed_with()
{
	wait "$launcher"
	status=$?
	gone=$launcher
	launcher=
	[ "$status" = 1 ] && [ "$(tail -n 1 "$tmp/out")" = FAILED ] &&
		head -n 1 "$tmp/err" | grep -q "$1" && told_by_all "$2" "$3" &&
		has_children "$gone" 0 && return
	echo "# status $status, and:"
	sed 's/^/# /' "$tmp/out" "$tmp/err"
	return 1
}

told_by_all()
{
	for other in 0 1 2 3; do
		[ "$other" = "$2" ] ||
			grep -q "^pld-allgather: rank $other: .*$1" "$tmp/err" ||
			return 1
	done
}

# signal_rank RANK SIGNAL
signal_rank()
{
	kill "-$2" "$(children "$launcher" | sed -n "$(($1 + 1))p")"
}

killed_rank()
{
	for rank in 0 1 2 3; do
		run_on "$1" 60 && sleep "0.$rank" && signal_rank "$rank" KILL &&
			failed_with "^pld-allgather: rank $rank died: killed by signal 9 (Killed)$" \
				"rank $rank died" "$rank" || return 1
	done
}

stopped_rank()
{
	run_on "$1" 1 && signal_rank 2 STOP &&
		failed_with "timed out after 1.000 s: cell .*; rank 2 should have notified it$" \
			"rank 2 " 2
}

# Ranks do not outlive their launcher.
killed_launcher()
{
	run_on hand 60 || return 1
	ranks=$(children "$launcher")
	kill -9 "$launcher"
	wait "$launcher" 2>/dev/null
	launcher=
	for rank in $ranks; do
		soon ended "$rank" || return 1
	done
}

# A process that nobody reaps is a zombie for good.
ended()
{
	[ ! -e "/proc/$1" ] || grep -qs '^State:.Z' "/proc/$1/status" ||
		[ ! -e "/proc/$1" ]
}

launcher=
plan 31
modes="hand builtin"
for nranks in 2 3 4 8; do
	check "right_with_${nranks}_ranks" all_right "$(first $nranks)" \
		"1 63 64 4096" "$few_types" "$modes"
	modes=$(turn "$modes")
done
check right_with_devices_in_any_order all_right 3,1,7,0 "1 64" "$few_types"
check right_for_every_dtype every_type
check right_for_all_values_of_fp16 all_values_of_fp16
check large_slices_of_8_bytes large_slices 2 int64
check large_slices_of_4_bytes large_slices 3 fp32
check large_slices_of_2_bytes large_slices 4 fp16
check large_slices_of_1_byte large_slices 8 int8
if [ "$PLD_PLATFORM" = kmod ]; then
	check right_with_64_ranks one_rank_per_device 64 fp32
else
	check right_with_64_ranks one_rank_per_device "1 63 64 4096" "$few_types"
fi
check large_slices_of_64_ranks one_rank_per_device_large
check right_through_small_tiles small_tiles
check thousand_calls_by_hand many_calls hand
check thousand_calls_of_the_builtin many_calls builtin
check auto_has_another_name a2a3sim_is_auto

check unknown_device_is_refused no_such_device 999
check size_that_overflows_is_refused too_large_to_count
check size_larger_than_memory_is_refused larger_than_memory
check ranks_interrupted_by_signals_join_all_the_same interrupted_ranks_join
check memfd_needs_no_privileges memfd_needs_no_privileges
check members_of_the_group_need_no_root group_members_may

check version_is_the_modules_too module_has_the_same_version
check verbose_says_what_ran verbose_tells_what_ran
check wrong_element_by_hand_is_named wrong_element_is_named hand 10
check wrong_element_of_builtin_is_named wrong_element_is_named builtin 7

check killed_rank_is_named_by_hand killed_rank hand
check killed_rank_is_named_by_builtin killed_rank builtin
check stopped_rank_is_named stopped_rank builtin
check ranks_end_with_their_launcher killed_launcher
exit $failed
