#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# What pld-drm says, word by word, when its command line is wrong, and when it is
# only asked for words.

# shellcheck source-path=SCRIPTDIR disable=SC2317,SC2034 # functions are called by way of check, program is tool.inc's
program=pld-drm
. "$(dirname "$0")/tool.inc"

no_usage()
{
	message=$1
	shift
	refused "$message; see --help" "$@"
}

not_a_list_of_ranks()
{
	for list in 0,x "," "1," -1 "0, 1"; do
		no_usage "--import: '$list' is not a list of ranks such as 0,1,2,3" \
			-d 0,1 --import="$list" || return 1
	done
	no_usage "--import: the list of ranks is empty" -d 0,1 --import=
}

ranks_that_are_none()
{
	no_usage "--import: rank is 2, wanted 0 to 1" --import 2 -d 0,1 &&
		no_usage "--import: rank 1 is named twice" -d 0,1 --import 1,1
}

wrong_values()
{
	no_usage "-d LIST is missing: it names the devices" &&
		no_usage "-d: one device, wanted at least 2" -d 3 &&
		no_usage "--size: '0' is not a number from 1 to .*" \
			-d 0,1 --size 0 &&
		no_usage "--dtype: 'fp8' is not fp64, .*" -d 0,1 --dtype fp8 &&
		no_usage "there is no option '--mode'" -d 0,1 --mode hand &&
		no_usage "'x' is not an option" -d 0,1 x
}

only_words()
{
	"$tool" --version | grep -qx 'pld-drm [0-9.]*' &&
		"$tool" --help | grep -q -- --import=RANKS
}

no_drm_device()
{
	refused "cannot open /nonexistent: No such file or directory" \
		-d 0,1 --drm /nonexistent &&
		refused "/dev/null is no DRM device" -d 0,1 --drm /dev/null
}

plan 5
check ranks_that_make_no_list not_a_list_of_ranks
check ranks_that_are_none ranks_that_are_none
check wrong_values wrong_values
check no_drm_device no_drm_device
check only_words only_words
exit $failed
