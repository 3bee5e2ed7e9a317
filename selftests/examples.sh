#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# The tutorial's programs, each in each of its modes, with several numbers of
# ranks on devices in odd orders. They are in the folder $PLD_EXAMPLES; the
# platform is $PLD_PLATFORM. On kmod, which the emulated guest runs, each mode
# runs once.

# shellcheck source-path=SCRIPTDIR disable=SC2317 # functions are called by way of check
. "$(dirname "$0")/tap.inc"

[ -d "$PLD_EXAMPLES" ] || skip "there are no examples: set PLD_EXAMPLES to their folder"
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
why_not=$("$PLD_EXAMPLES/03_window_buffer" -d 0,1 2>&1) || case $why_not in
*"platform kmod: no "*) skip "$why_not" ;;
esac

# Each program with its modes, the default first.
programs="03_window_buffer:hand
04_barrier:hand,builtin
05_remote_load_store:load,store
06_put_get:put,get
07_dynamic_rank_count:put,get
08_allreduce_mesh:hand
09_allreduce_two_phase:hand
10_allreduce_ring:hand
11_allreduce_reveal:mesh,two-phase,ring
12_broadcast:hand,builtin
13_allgather:hand,builtin
14_reduce_scatter:hand,builtin
15_all_to_all:hand,builtin
16_putting_it_together:hand,builtin"

lists="3,1 5,0,2 3,1,7,0"
[ "$PLD_PLATFORM" != kmod ] || lists=5,0,2

# modes PROGRAM:MODE,...
modes()
{
	echo "${1#*:}" | tr , ' '
}

show()
{
	echo "# status $status, and:"
	sed 's/^/# /' "$tmp/out" "$tmp/err"
	return 1
}

# run PROGRAM ARG...
run()
{
	program=$1
	shift
	"$PLD_EXAMPLES/$program" "$@" >"$tmp/out" 2>"$tmp/err"
	status=$?
}

# ok PROGRAM ARG...: it prints OK and nothing else.
ok()
{
	run "$@"
	[ "$status" = 0 ] && [ "$(cat "$tmp/out")" = OK ] &&
		[ ! -s "$tmp/err" ] && return
	show
}

right()
{
	for mode in $(modes "$1"); do
		for list in $lists; do
			ok "${1%:*}" -d "$list" --mode "$mode" || return 1
		done
	done
}

# The largest step is right with as many ranks as there are devices, too.
right_with_64_ranks()
{
	[ "$PLD_PLATFORM" != kmod ] || return 4
	for mode in hand builtin; do
		ok 16_putting_it_together -d "$(seq -s , 0 63)" \
			--mode "$mode" || return 1
	done
}

defaults_are_4_ranks()
{
	run 13_allgather --ir
	[ "$status" = 0 ] &&
		[ "$(grep -c '^rank [0-3], hand:$' "$tmp/out")" = 4 ] && return
	show
}

#
# What is refused: status 2, one line, nothing on standard output.
#

# refused MESSAGE PROGRAM ARG...
refused()
{
	message=$1
	shift
	run "$@"
	[ "$status" = 2 ] && [ ! -s "$tmp/out" ] &&
		[ "$(cat "$tmp/err")" = "$program: $message" ] && return
	show
}

wrong_modes()
{
	refused "--mode: 'builtin' is not hand, this step's only mode; see --help" \
		03_window_buffer --mode builtin &&
	refused "--mode: 'push' is not hand or builtin; see --help" \
		12_broadcast --mode push &&
	refused "--mode: 'hand' is not mesh, two-phase or ring; see --help" \
		11_allreduce_reveal --mode hand
}

wrong_arguments()
{
	refused "-d: one device, wanted at least 2; see --help" \
		04_barrier -d 0 &&
	refused "-d: '0,x' is not a list of device ids such as 0,1,2,3; see --help" \
		04_barrier -d 0,x &&
	refused "there is no option '--size=3'; see --help" 04_barrier --size=3 &&
	refused "option '--mode' wants a value; see --help" 04_barrier --mode &&
	refused "'now' is not an option; see --help" 04_barrier now &&
	refused "platform 'cuda' is not known, wanted auto, kmod, memfd or a2a3sim" \
		04_barrier -p cuda
}

#
# Words.
#

# help_of PROGRAM:MODE,...: the options, and the modes one by one.
help_of()
{
	run "${1%:*}" --help
	[ "$status" = 0 ] && [ ! -s "$tmp/err" ] &&
		grep -q "^Usage: ${1%:*} " "$tmp/out" || return 1
	for option in --devices= --platform= --mode= --ir --help --version; do
		grep -q -e "$option" "$tmp/out" || return 1
	done
	for mode in $(modes "$1"); do
		grep -q "^  $mode  " "$tmp/out" || return 1
	done
}

help_is_complete()
{
	for entry in $programs; do
		help_of "$entry" && continue
		show
		return 1
	done
}

version_is_told()
{
	for entry in $programs; do
		run "${entry%:*}" --version
		[ "$status" = 0 ] && grep -qx "${entry%:*} [0-9]*\.[0-9]*\.[0-9]*" \
			"$tmp/out" && continue
		show
		return 1
	done
}

# What step 03 does is known line by line.
ir_is_what_ran()
{
	for rank in 0 1; do
		cat <<-IR
		rank $rank, hand:
		  local = pl.tile.load(x, [0, 0], [1, 256])
		  pl.tile.store(local, [0, 0], data)
		  back = pl.tile.load(data, [0, 0], [1, 256])
		  pl.tile.store(back, [0, 0], y)
		  # 2 load, 2 store
		IR
	done >"$tmp/want"
	echo OK >>"$tmp/want"
	run 03_window_buffer -d 4,2 --ir
	[ "$status" = 0 ] && cmp -s "$tmp/want" "$tmp/out" && return
	show
}

#
# Wrong results.
#

# Each copy of a slice, 1024 bytes, adds 1 to byte 5, which is in element 1.
wrong_element_is_named()
{
	! grep -q __asan_init "$PLD_EXAMPLES/03_window_buffer" || return 4
	PLD_FAULT=bad-copy PLD_FAULT_BYTES=1024 LD_PRELOAD=$PWD/faults.so \
		"$PLD_EXAMPLES/03_window_buffer" -d 0,1 >"$tmp/out" 2>"$tmp/err"
	status=$?
	[ "$status" = 1 ] && [ "$(cat "$tmp/out")" = FAILED ] &&
		[ "$(wc -l <"$tmp/err")" = 2 ] &&
		head -n 1 "$tmp/err" | grep -qx \
			'03_window_buffer: rank 0, y\[0, 1\]: got 101\.[0-9]*, wanted 101' &&
		tail -n 1 "$tmp/err" | grep -qx \
			'03_window_buffer: 2 of 512 elements of y are wrong' && return
	show
}

no_result_without_output()
{
	[ -w /dev/full ] || return 4
	"$PLD_EXAMPLES/03_window_buffer" -d 0,1 >/dev/full 2>"$tmp/err"
	[ $? = 1 ] && grep -q "^03_window_buffer: cannot write to standard output" \
		"$tmp/err"
}

# words FUNCTION: what programs say on any platform, which is seen on memfd.
words()
{
	[ "$PLD_PLATFORM" != kmod ] || return 4
	"$@"
}

plan 23
for entry in $programs; do
	check "right_${entry%:*}" right "$entry"
done
check right_with_64_ranks right_with_64_ranks
check defaults_are_4_ranks defaults_are_4_ranks
check wrong_modes_are_refused words wrong_modes
check wrong_arguments_are_refused words wrong_arguments
check help_names_options_and_modes words help_is_complete
check version_has_three_numbers words version_is_told
check ir_is_what_ran ir_is_what_ran
check wrong_element_is_named wrong_element_is_named
check no_result_without_output no_result_without_output
exit $failed
