#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# What pld-allgather says, word by word, when its command line is wrong, when
# there is no platform for it, and when it is only asked for words.

# shellcheck source-path=SCRIPTDIR disable=SC2317 # functions are called by way of check
. "$(dirname "$0")/tool.inc"

#
# 1. The command line.
#

# no_usage MESSAGE ARG...: what is wrong in the command line itself.
no_usage()
{
	message=$1
	shift
	refused "$message; see --help" "$@"
}

not_a_list()
{
	for list in 0,x "," "0," ,0 0,,1 0,-1 "0, 1" 0x1,2 0,1.5 \
		0,01 +0,1 0,99999999999999999999; do
		no_usage "-d: '$list' is not a list of device ids such as 0,1,2,3" \
			-d "$list" || return 1
	done
}

not_a_number()
{
	option=$1
	shift
	for value in "$@"; do
		no_usage "$option: '$value' is not a number .*" \
			-d 0,1 "$option=$value" || return 1
	done
}

unknown_options()
{
	for option in --no-such-option --no-such-option=3 --tiles --d-; do
		no_usage "there is no option '$option'" -d 0,1 "$option" ||
			return 1
	done
	for letters in x xv vx vx1; do
		no_usage "there is no option '-x'" -d 0,1 "-$letters" || return 1
	done
	no_usage "there is no option '-:'" -d 0,1 -:
}

ambiguous_options()
{
	for option in --ti --ti=1 --d --v; do
		no_usage "option '$option' is ambiguous" -d 0,1 "$option" ||
			return 1
	done
}

missing_values()
{
	for option in --devices --platform --mode --size --dtype --iters \
		--timeout --tile --tim; do
		no_usage "option '$option' wants a value" -d 0,1 "$option" ||
			return 1
	done
	for letter in d p; do
		no_usage "option '-$letter' wants a value" -d 0,1 "-$letter" &&
			no_usage "option '-$letter' wants a value" -d 0,1 \
				"-v$letter" || return 1
	done
}

values_too_many()
{
	for option in --verbose=1 --verb= --help=x --version=1; do
		no_usage "option '$option' takes no value" -d 0,1 "$option" ||
			return 1
	done
}

empty_values()
{
	no_usage "-d: the list of device ids is empty" -d "" &&
	no_usage "--mode: '' is not hand or builtin" -d 0,1 --mode "" &&
	no_usage "--dtype: '' is not fp64, .* or uint8" -d 0,1 --dtype= &&
	no_usage "'' is not an option" -d 0,1 "" &&
	refused "platform '' is not known, wanted auto, kmod, memfd or a2a3sim" \
		-d 0,1 -p ""
}

ranks_that_come_in()
{
	no_usage "--rank: 'x' is not a list of ranks such as 0,1,2,3" \
		-d 0,1 --serve s --rank x &&
	no_usage "--rank: rank 1 is named twice" -d 0,1 --serve s --rank 1,1 &&
	no_usage "--rank: 2 is none of the ranks 0 to 1" \
		-d 0,1 --serve s --rank 0,2 &&
	no_usage "--rank goes with --serve or --join" -d 0,1 --rank 1 &&
	no_usage "--join is for one rank: --rank R says which" --join s &&
	no_usage "--join is for one rank: --rank R says which" \
		--join s --rank 0,1 &&
	no_usage "--join goes with --rank and -v only: the server says the rest" \
		--join s --rank 0 -d 0,1 &&
	no_usage "--serve goes with none of --ir, --ir-diff, --cost and --inject" \
		-d 0,1 --serve s --cost
}

options_at_odds()
{
	no_usage "--inject: 'typo' is not wrong-slot, .* or missing-notify" \
		-d 0,1 --inject typo &&
	no_usage "--inject tile-source is not for --mode hand" \
		-d 0,1 --inject tile-source --mode hand &&
	no_usage "--inject no-barrier is not for --mode builtin" \
		-d 0,1 --mode builtin --inject no-barrier &&
	no_usage "--inject is for one call, not for 2" \
		-d 0,1 --iters 2 --inject no-barrier &&
	no_usage "--ir-diff is for one call, not for 2" -d 0,1 --iters 2 --ir-diff &&
	no_usage "--ir-diff goes with none of --ir, --cost and --inject" \
		-d 0,1 --ir-diff --cost
}

#
# 2. The platform.
#

# refused_by_fault FAULT MESSAGE
refused_by_fault()
{
	! has_sanitizer || return 4
	PLD_FAULT=$1 LD_PRELOAD=$PWD/faults.so refused "$2" -d 0,1 -p kmod
}

no_module()
{
	[ ! -e /dev/pld_sim ] || return 4
	refused "platform kmod: no module: there is no /dev/pld_sim; load pld_sim.ko, or use platform memfd" \
		-d 0,1 -p kmod
}

#
# 3. Words.
#

help_is_complete()
{
	"$tool" --help >"$tmp/out" || return 1
	for option in --devices= --platform= --mode= --size= --dtype= --iters= \
		--timeout= --tile= --verbose --ir --ir-diff --cost --inject= \
		--serve= --join= --rank= \
		--help --version; do
		grep -q -e "$option" "$tmp/out" || return 1
	done
}

version_is_told()
{
	"$tool" --version | grep -qx 'pld-allgather [0-9]*\.[0-9]*\.[0-9]*'
}

# output_fails WHY STATUS: what the last run said and returned.
output_fails()
{
	[ "$2" = 1 ] && grep -qx \
		"$program: cannot write to standard output: $1" "$tmp/err"
}

no_standard_output()
{
	"$tool" --help 2>"$tmp/err" >&-
	output_fails "Bad file descriptor" $?
}

# A file that is as large as it may be: an error, no signal.
no_room_for_output()
{
	truncate -s 2M "$tmp/large"
	(
		ulimit -f 2048
		"$tool" --help >>"$tmp/large" 2>"$tmp/err"
	)
	output_fails "File too large" $?
}

plan 26
check one_device_is_refused no_usage "-d: one device, wanted at least 2" -d 0
check device_named_twice_is_refused no_usage "-d: device 0 is named twice" -d 0,0
check what_is_no_list_is_refused not_a_list
check missing_list_is_refused no_usage "-d LIST is missing: it names the devices"
check unknown_mode_is_refused no_usage "--mode: 'push' is not hand or builtin" \
	-d 0,1 --mode push
check unknown_platform_is_refused refused \
	"platform 'cuda' is not known, wanted auto, kmod, memfd or a2a3sim" \
	-d 0,1 -p cuda
check unknown_dtype_is_refused no_usage "--dtype: 'fp8' is not fp64, .* or uint8" \
	-d 0,1 --dtype fp8
check bad_size_is_refused not_a_number --size 0 -1 x 1x "" 9223372036854775808 \
	" 8" +8 08 0x8
check bad_iters_are_refused not_a_number --iters 0 -1 x 2147483648
check bad_timeout_is_refused not_a_number --timeout 0 -1 x nan inf 1e10 1e-12 \
	" 1" +1 .5 0x10 1e 1s ""
check bad_tile_is_refused not_a_number --tile 0 7 -8 x
check empty_values_are_refused empty_values
check argument_is_refused no_usage "'0,1' is not an option" 0,1
check unknown_options_are_refused unknown_options
check ambiguous_options_are_refused ambiguous_options
check options_without_their_value_are_refused missing_values
check values_that_no_option_takes_are_refused values_too_many
check ranks_that_come_in_are_named ranks_that_come_in
check options_that_are_at_odds_are_refused options_at_odds

check no_module_is_told no_module
check no_permission_is_told refused_by_fault no-permission \
	"platform kmod: no permission to open /dev/pld_sim; join the group that owns it"
check other_version_is_told refused_by_fault other-version \
	"platform kmod: version mismatch: the loaded module has ABI version 4, this libpld 3; load the pld_sim.ko of pld [0-9.]*"

check help_has_every_option help_is_complete
check version_has_three_numbers version_is_told
check closed_standard_output_is_told no_standard_output
check full_standard_output_is_told no_room_for_output
exit $failed
