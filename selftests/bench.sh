#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# pld-bench on a platform, which is $PLD_PLATFORM: its columns, formulas and
# check, and what it refuses. No time is looked at but for what is computed of it.

# shellcheck source-path=SCRIPTDIR disable=SC2317,SC2034 # functions are called by way of check, program is tool.inc's
program=pld-bench
. "$(dirname "$0")/tool.inc"

no_usage()
{
	message=$1
	shift
	refused "$message; see --help" "$@"
}

# Few calls: what is measured does not matter here.
bench()
{
	"$tool" -n 2 -w 1 "$@" >"$tmp/out" 2>"$tmp/err"
}

# runs ARG...: does, and says nothing on standard error but about CPUs.
runs()
{
	bench "$@" && ! grep -v 'warning: ' "$tmp/err" && return
	echo "# $* says:"
	sed 's/^/# /' "$tmp/out" "$tmp/err"
	return 1
}

why_not=$("$tool" -d 0,1 -o barrier -n 1 2>&1) || case $why_not in
*"platform kmod: no "*) skip "$why_not" ;;
esac

#
# 1. Results.
#

# field NUMBER: of the results in CSV.
field()
{
	awk -F , -v n="$1" 'NR > 1 { print $n }' "$tmp/out"
}

# Each row has an operation that was asked for, and no wrong element.
none_is_wrong()
{
	[ "$(awk -F , 'NR > 1 && $13 != 0' "$tmp/out" | wc -l)" = 0 ] &&
		[ "$(wc -l < "$tmp/out")" = $(($1 + 1)) ] && return
	sed 's/^/# /' "$tmp/out"
	return 1
}

# Of 18 operations 12 have results that can be checked.
every_operation_is_right()
{
	runs -d 0,1,2 -o all -t "$1" -b 240 -e 240 -n 1 -c 2 --rotate 2 --csv &&
		[ "$(field 13 | tr '\n' ' ')" = "0 0 0 0 0 0 0 0 0 0 0 0       " ] &&
		return
	sed 's/^/# /' "$tmp/out"
	return 1
}

# What is copied is copied by the bytes, what is summed is not.
every_type_is_right()
{
	types="fp64 fp16 bf16 int64 uint16"
	for type in $types; do
		runs -d 0,1 -o allreduce-ring -t "$type" -b 88 -e 88 --csv &&
			none_is_wrong 1 || return 1
	done
}

odd_addresses()
{
	runs -d 0,1 -o allgather-hand,allgather-builtin,put,get -t int8 -b 18 \
		-e 18 --offset 3 --csv && none_is_wrong 4
}

# Slices of 33 bytes in pieces of 8.
hand_through_a_tile()
{
	runs -d 0,1,2 -o allgather-hand -t int8 -b 99 -e 99 --tile 8 --csv &&
		none_is_wrong 1
}

# Of 3 ranks in whole elements of 4 bytes, each once.
sizes_are_of_all_ranks()
{
	runs -d 0,1,2 -o allgather-builtin -b 1 -e 100 -f 2 --csv &&
		[ "$(field 4 | tr '\n' ' ')" = "12 24 60 " ] &&
		[ "$(field 5 | tr '\n' ' ')" = "1 2 5 " ]
}

sizes_of_osu_are_of_one_rank()
{
	runs -d 0,1,2 -o allgather-builtin -b 4 -e 16 -f 2 --osu &&
		[ "$(awk '!/^#/ { print $1 }' "$tmp/out" | tr '\n' ' ')" = \
			"4 8 16 " ] &&
		grep -q '^# Size  *Avg Latency(us)  *Min Latency(us)  *Max Latency(us)  *Iterations$' \
			"$tmp/out"
}

suffixes_are_powers_of_1024()
{
	runs -d 0,1 -o put -t int8 -b 1K -e 3K -i 1K --csv &&
		[ "$(field 4 | tr '\n' ' ')" = "1024 2048 3072 " ]
}

# Bandwidths from size and time, as nccl-tests define them.
formulas()
{
	runs -d 0,1,2,3 -o allgather-builtin,reduce-scatter,allreduce-mesh,broadcast,all-to-all,put \
		-b 256K -e 256K --csv || return 1
	awk -F , '
	function differ(a, b) { return a - b > b / 1000 || b - a > b / 1000 }
	BEGIN {
		bus["allgather-builtin"] = 3 / 4; bus["reduce-scatter"] = 3 / 4
		bus["all-to-all"] = 3 / 4; bus["allreduce-mesh"] = 3 / 2
		bus["broadcast"] = 1; bus["put"] = 1
	}
	NR > 1 {
		rows++
		if ($4 != 262144 || differ($11, $4 / $8 / 1000) ||
		    differ($12, $11 * bus[$1]) || $9 > $8 || $8 > $10)
			exit 1
	}
	END { if (rows != 6) exit 1 }' "$tmp/out" && return
	sed 's/^/# /' "$tmp/out"
	return 1
}

# The table has the same, rounded.
columns()
{
	runs -d 0,1 -o allgather-hand -b 4M -e 4M &&
		grep -qE '^# +size +count +type +time +algbw +busbw +#wrong$' \
			"$tmp/out" &&
		grep -qE '^# +\(B\) +\(elements\) +\(us\) +\(GB/s\) +\(GB/s\) *$' \
			"$tmp/out" &&
		awk '!/^#/ {
			rows++
			algbw = $1 / $4 / 1000
			if (NF != 7 || $1 != 4194304 || $2 != 524288 ||
			    $3 != "fp32" || $7 != 0 || $5 - algbw > 0.001 ||
			    algbw - $5 > 0.001 || $6 - algbw / 2 > 0.001 ||
			    algbw / 2 - $6 > 0.001)
				exit 1
		}
		END { if (rows != 1) exit 1 }' "$tmp/out" &&
		[ "$(tail -n 1 "$tmp/out")" = "# wrong elements: 0 OK" ]
}

calls_are_as_many_as_asked_for()
{
	runs -d 0,1 -o put,barrier -b 8 -e 8 -n 7 --csv &&
		[ "$(field 7 | tr '\n' ' ')" = "7 7 " ]
}

json_has_every_result()
{
	runs -d 0,1 -o put,barrier -b 8 -e 16 --json || return 1
	command -v jq >/dev/null || return 4
	[ "$(jq -c '[.ranks, .devices, .wrong, .ok, (.results | length),
		(.results[0] | .operation, .size, .count, .type, .wrong),
		(.results[2] | .operation, .size, .size_per_rank, .count, .type,
		 .busbw_gbs, .wrong)]' \
		"$tmp/out")" = \
		'[2,[0,1],0,true,3,"put",8,2,"fp32",0,"barrier",null,null,null,null,null,null]' ]
}

no_sizes_are_empty()
{
	runs -d 0,1 -o put,barrier -b 8 -e 8 --csv &&
		[ "$(field 4 | tr '\n' ' ')" = "8  " ] &&
		[ "$(field 5 | tr '\n' ' ')" = "2  " ]
}

# Two lines of three points each, and the legend names them.
plot_is_xml()
{
	runs -d 0,1 -o put,get -b 8 -e 32 -f 2 --plot "$tmp/plot.svg" &&
		[ "$(grep -c '<polyline' "$tmp/plot.svg")" = 2 ] &&
		[ "$(grep -cE '^<polyline .* points="([0-9.]+,[0-9.]+ ){3}"/>$' \
			"$tmp/plot.svg")" = 2 ] &&
		grep -q '>put</text>' "$tmp/plot.svg" &&
		grep -q '>get</text>' "$tmp/plot.svg" &&
		grep -q '>32 B</text>' "$tmp/plot.svg" || return 1
	command -v xmllint >/dev/null || return 0
	xmllint --noout "$tmp/plot.svg"
}

# plot_says WHAT OPERATIONS ARG...: what the picture's sizes are.
plot_says()
{
	what=$1
	operations=$2
	shift 2
	runs -d 0,1 -o "$operations" -b 8 -e 8 --plot "$tmp/plot.svg" "$@" &&
		grep -q ">size ($what)</text>" "$tmp/plot.svg" && return
	echo "# not of $operations: $what"
	return 1
}

plot_says_what_sizes_are()
{
	plot_says "bytes of the buffer" put,barrier &&
		plot_says "bytes of the buffer" put --osu &&
		plot_says "bytes of all ranks' slices" allgather-hand &&
		plot_says "bytes of each rank's slice" allgather-hand --osu &&
		plot_says "bytes of all ranks' slices, or of the one buffer" \
			allgather-hand,put
}

# nothing_beside FILE: in a folder of its own.
nothing_beside()
{
	[ "$(ls -A "${1%/*}")" = "${1##*/}" ]
}

# What is there is replaced by a whole picture, or not at all; by nobody who ends.
plot_replaces_a_file()
{
	mkdir "$tmp/replaced"
	file=$tmp/replaced/plot.svg
	echo precious > "$file"
	chmod 640 "$file"
	refused "platform 'cuda' is not known, .*" -d 0,1 -p cuda \
		--plot "$file" || return 1
	timeout -s TERM 1 "$tool" -d 0,1 -o put -n 1000000000 --plot "$file" \
		>"$tmp/out" 2>&1
	[ $? = 124 ] && [ "$(cat "$file")" = precious ] &&
		nothing_beside "$file" || return 1
	runs -d 0,1 -o put -b 8 -e 8 --plot "$file" &&
		[ "$(tail -n 1 "$file")" = "</svg>" ] &&
		! grep -q precious "$file" &&
		[ "$(stat -c %a "$file")" = 640 ] && nothing_beside "$file"
}

# Through a link, to where it leads.
plot_follows_a_link()
{
	mkdir "$tmp/linked" && ln -s linked/plot.svg "$tmp/link.svg"
	for there in no yes; do
		runs -d 0,1 -o put -b 8 -e 8 --plot "$tmp/link.svg" &&
			[ -L "$tmp/link.svg" ] &&
			[ "$(tail -n 1 "$tmp/linked/plot.svg")" = "</svg>" ] &&
			continue
		echo "# a file was there: $there"
		return 1
	done
}

# After what is printed, whatever standard output is.
plot_on_standard_output()
{
	for way in file pipe; do
		case $way in
		file) runs -d 0,1 -o put -b 8 -e 8 --csv --plot /dev/stdout ;;
		pipe) "$tool" -d 0,1 -o put -b 8 -e 8 -n 1 --csv \
			--plot /dev/stdout 2>/dev/null | cat > "$tmp/out" ;;
		esac && [ "$(head -n 1 "$tmp/out" | cut -c 1-10)" = "operation," ] &&
			[ "$(sed -n '3s/ .*//p' "$tmp/out")" = "<?xml" ] &&
			[ "$(tail -n 1 "$tmp/out")" = "</svg>" ] && continue
		sed 's/^/# /' "$tmp/out"
		return 1
	done
}

plot_that_cannot_be_written()
{
	[ -w /dev/full ] || return 4
	bench -d 0,1 -o put -b 8 -e 8 --plot /dev/full
	[ $? = 1 ] && grep -qx \
		"pld-bench: cannot write /dev/full: No space left on device" \
		"$tmp/err"
}

# Nothing is printed into the picture where standard streams are closed.
plot_has_nothing_else()
{
	"$tool" -d 0,1 -o put -b 8 -e 8 -n 1 --csv --plot "$tmp/plot.svg" \
		2>"$tmp/err" >&-
	[ $? = 1 ] && grep -qx \
		"pld-bench: cannot write to standard output: Bad file descriptor" \
		"$tmp/err" &&
		head -n 1 "$tmp/plot.svg" | grep -q '^<?xml' || return 1
	command -v taskset >/dev/null || return 4
	cpu=$(taskset -cp $$ | sed 's/.*: //; s/[-,].*//')
	# A warning of few CPUs is certain.
	taskset -c "$cpu" "$tool" -d 0,1 -o put -b 8 -e 8 -n 1 --csv \
		--plot "$tmp/plot.svg" >"$tmp/out" 2>&- &&
		[ "$(wc -l < "$tmp/out")" = 2 ] &&
		head -n 1 "$tmp/plot.svg" | grep -q '^<?xml'
}

more_ranks_than_cpus()
{
	command -v taskset >/dev/null || return 4
	cpu=$(taskset -cp $$ | sed 's/.*: //; s/[-,].*//')
	taskset -c "$cpu" "$tool" -d 0,1 -o barrier -n 1 >"$tmp/out" 2>&1 &&
		grep -qx '# warning: 2 ranks on 1 CPU take turns: a call takes longer than with a CPU for each' \
			"$tmp/out" &&
		grep -qx '# cache line from CPU to CPU: not measured' "$tmp/out"
}

#
# 2. What is wrong is counted.
#

# Each copy of 77 bytes adds 1 to byte 5: in each of the slices of each rank.
wrong_elements_are_counted()
{
	! has_sanitizer || return 4
	PLD_FAULT=bad-copy LD_PRELOAD=$PWD/faults.so bench -d 0,1,2 \
		-o "$1" -t int8 -b "$2" -e "$2" -c 2 --csv
	[ $? = 1 ] && [ "$(field 13)" = "$3" ] &&
		grep -qx "pld-bench: $1, slices of 77 bytes: $3 wrong elements" \
			"$tmp/err" && return
	sed 's/^/# /' "$tmp/out" "$tmp/err"
	return 1
}

nothing_is_counted_unchecked()
{
	runs -d 0,1 -o put -b 8 -e 8 -c 0 --csv && [ "$(field 13)" = "" ] &&
		runs -d 0,1 -o put -b 8 -e 8 -c 0 &&
		[ "$(tail -n 1 "$tmp/out")" = "# wrong elements: N/A" ] &&
		runs -d 0,1 -o put -b 8 -e 8 -c 0 --json || return 1
	command -v jq >/dev/null || return 4
	[ "$(jq -c '[.wrong, .ok, .results[0].wrong]' "$tmp/out")" = \
		"[null,true,null]" ]
}

dead_rank_is_named()
{
	"$tool" -d 0,1 -o barrier -n 1000000000 >"$tmp/out" 2>"$tmp/err" &
	launcher=$!
	soon has_two_ranks && kill -9 "$(children "$launcher" | tail -n 1)" ||
		return 1
	wait "$launcher"
	[ $? = 1 ] && head -n 1 "$tmp/err" |
		grep -qx 'pld-bench: rank 1 died: killed by signal 9 (Killed)' &&
		[ "$(tail -n 1 "$tmp/out")" = "# wrong elements: N/A FAILED" ]
}

has_two_ranks()
{
	[ "$(children "$launcher" | wc -l)" = 2 ]
}

# no_room STATUS ROWS LEAST: of sizes from LEAST to 64M, which there is no room for.
no_room()
{
	(
		ulimit -f 2048
		"$tool" -p memfd -d 0,1 -o put -b "$3" -e 64M -f 1048576 -n 1 \
			--csv >"$tmp/out" 2>"$tmp/err"
	)
	[ $? = "$1" ] && [ "$(wc -l < "$tmp/out")" = $(($2 + 1)) ] &&
		grep -q "^pld-bench: platform memfd: memory of .* limit on file sizes" \
			"$tmp/err" && return
	sed 's/^/# /' "$tmp/out" "$tmp/err"
	return 1
}

# What has a result did start.
cannot_go_on()
{
	no_room 2 0 64M && no_room 1 1 64
}

#
# 3. The command line.
#

bad_values()
{
	for size in 0 -1 x 1x 1KK "" 2000000000000 1025G 17179869185G K +8 " 8" \
		08 0x8; do
		no_usage "-b: '$size' is not a size of 1 byte to 1024G such as 8, 64K or 1M" \
			-d 0,1 -b "$size" || return 1
	done
	no_usage "-e: 'K' is not a size .*" -d 0,1 -e K &&
	no_usage "-f: '1' is not a number from 2 to 1048576" -d 0,1 -f 1 &&
	no_usage "-n: '0' is not a number from 1 to 1000000000" -d 0,1 -n 0 &&
	no_usage "-n: ' 5' is not a number from 1 to 1000000000" -d 0,1 -n " 5" &&
	no_usage "-w: '-1' is not a number from 0 to .*" -d 0,1 -w -1 &&
	no_usage "-c: 'x' is not a number from 0 to .*" -d 0,1 -c x &&
	no_usage "--rotate: '65' is not a number from 1 to 64" \
		-d 0,1 --rotate 65 &&
	no_usage "--offset: '4097' is not a number from 0 to 4096" \
		-d 0,1 --offset 4097 &&
	no_usage "--timeout: '0' is not a number of seconds above 0 and up to 1e+09" \
		-d 0,1 --timeout 0 &&
	no_usage "--dtype: 'fp8' is not fp64, .* or uint8" -d 0,1 -t fp8
}

bad_operations()
{
	no_usage "--op: 'gather' is no operation" -d 0,1 -o put,gather &&
		no_usage "--op: the list of operations is empty" -d 0,1 -o "" ||
		return 1
	for list in "," "put," ,put put,,get; do
		no_usage "--op: '' is no operation" -d 0,1 -o "$list" || return 1
	done
	no_usage "--op: 'x' is no operation" -d 0,1 -o all,x
}

all_in_a_list()
{
	runs -d 0,1 -o put,all -b 8 -e 8 -n 1 --csv &&
		[ "$(field 1 | wc -l)" = 18 ]
}

# Up to what is allowed; a byte each are as many sizes as bytes.
too_much()
{
	no_usage "-i: 1099511627776 sizes from -b to -e are more than 100000" \
		-d 0,1 -o put -b 1 -e 1024G -i 1 &&
	no_usage "-i: 100001 sizes from -b to -e are more than 100000" \
		-d 0,1 -o put -b 1 -e 100001 -i 1 &&
	refused "platform 'cuda' is not known, .*" -p cuda \
		-d 0,1 -o put -b 1 -e 100000 -i 1 &&
	no_usage "-w, -n and -c: 2000000001 calls together are more than 2000000000" \
		-d 0,1 -w 1000000000 -n 999999999 -c 2 &&
	refused "platform 'cuda' is not known, .*" -p cuda \
		-d 0,1 -w 1000000000 -n 999999999 -c 1
}

options_at_odds()
{
	no_usage "-d LIST is missing: it names the devices" &&
	no_usage "-d: one device, wanted at least 2" -d 0 &&
	no_usage "-b: 16 bytes are more than the 8 of -e" -d 0,1 -b 16 -e 8 &&
	no_usage "-f and -i exclude each other" -d 0,1 -f 2 -i 8 &&
	no_usage "--osu, --csv and --json exclude each other" \
		-d 0,1 --csv --json &&
	no_usage "--plot is for operations that have sizes" \
		-d 0,1 -o barrier --plot "$tmp/x" &&
	no_usage "there is no option '--mode'" -d 0,1 --mode hand &&
	no_usage "'x' is not an option" -d 0,1 x &&
	refused "cannot write /nonexistent/x: No such file or directory" \
		-d 0,1 --plot /nonexistent/x
}

only_words()
{
	"$tool" --version | grep -qx 'pld-bench [0-9]*\.[0-9]*\.[0-9]*' || return 1
	"$tool" --help >"$tmp/out"
	for option in --devices= --platform= --op= --dtype= --minbytes= \
		--maxbytes= --stepfactor= --stepbytes= --iters= --warmup= \
		--check= --rotate= --offset= --timeout= --tile= --verbose --osu \
		--csv --json --plot= --help --version; do
		grep -q -e "$option" "$tmp/out" || return 1
	done
}

# on_a_terminal TERM: standard error; two sizes of all, each timed for 50 ms. The
# carriage returns of a line drawn anew end lines here.
on_a_terminal()
{
	command -v script >/dev/null || return 4
	TERM=$1 script -qec \
		"$tool -d 0,1 -o all -b 64 -e 64K -f 1024 >$tmp/results" \
		/dev/null </dev/null | tr '\r' '\n' >"$tmp/out"
}

# From a second on, with what is being done, and erased at the end.
progress_on_a_terminal()
{
	erase=$(printf '\033\\[K')
	on_a_terminal xterm || return
	grep -E "^$erase\[#* *\] [0-9]+ of [0-9]+, [a-z-]+, [0-9]+ s$" "$tmp/out" |
		sed 's/.*\] //' >"$tmp/bars"
	[ -s "$tmp/bars" ] && tail -n 1 "$tmp/out" | grep -qx "$erase" &&
		awk '$1 < done || $1 >= $3 + 0 { exit 1 } { done = $1 }' "$tmp/bars" &&
		! grep -q "$erase" "$tmp/results" && return
	cat -v "$tmp/out" | awk '{ print "# " $0 }'
	return 1
}

no_progress_on_a_dumb_one()
{
	on_a_terminal dumb || return
	! grep -q "$(printf '\033')" "$tmp/out"
}

# What depends on the platform; the rest is the same on all, and slow in a guest.
if [ "$PLD_PLATFORM" = kmod ]; then plan 5; else plan 33; fi
check every_operation_is_right every_operation_is_right int8
check sizes_are_of_all_ranks_in_whole_elements sizes_are_of_all_ranks
check table_has_the_columns_of_nccl_tests columns
check wrong_elements_of_put_are_counted wrong_elements_are_counted put 77 2
check dead_rank_is_named dead_rank_is_named
[ "$PLD_PLATFORM" != kmod ] || exit $failed

check wrong_elements_of_hand_are_counted wrong_elements_are_counted \
	allgather-hand 231 18
check without_a_check_nothing_is_counted nothing_is_counted_unchecked
check every_type_is_right every_type_is_right
check odd_addresses_are_right odd_addresses
check hand_through_a_tile_is_right hand_through_a_tile
check sizes_of_osu_are_of_one_rank sizes_of_osu_are_of_one_rank
check suffixes_are_powers_of_1024 suffixes_are_powers_of_1024
check bandwidths_follow_from_size_and_time formulas
check calls_are_as_many_as_asked_for calls_are_as_many_as_asked_for
check what_has_no_sizes_says_none no_sizes_are_empty
check json_has_every_result json_has_every_result
check plot_has_a_line_for_each_operation plot_is_xml
check plot_says_what_sizes_are plot_says_what_sizes_are
check plot_replaces_a_file_at_the_end plot_replaces_a_file
check plot_follows_a_link plot_follows_a_link
check plot_on_standard_output_comes_last plot_on_standard_output
check plot_that_cannot_be_written_is_told plot_that_cannot_be_written
check plot_has_nothing_else plot_has_nothing_else
check more_ranks_than_cpus_are_told more_ranks_than_cpus
check what_has_a_result_did_start cannot_go_on
check bad_values_are_refused bad_values
check unknown_operations_are_refused bad_operations
check all_is_an_operation_in_a_list all_in_a_list
check more_than_is_allowed_is_refused too_much
check options_at_odds_are_refused options_at_odds
check progress_is_shown_on_a_terminal progress_on_a_terminal
check no_progress_on_a_dumb_terminal no_progress_on_a_dumb_one
check words_are_complete only_words
exit $failed
