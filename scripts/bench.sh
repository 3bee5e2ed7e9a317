#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# make bench: the same allgather by libpld, OpenMPI, MPICH and OpenSHMEM, by turns,
# and the copies that it takes by themselves; then what else is worth a number.
# Prints Markdown. The raw times, the same as JSON (figures.json has an object a line)
# and as plots (allgather-2.svg is that of 2 ranks) are kept in $O/bench.
#
# Who is root gets the peers that are missing installed; else they are skipped by
# name. From the environment:
#
#	RANKS="2 4"	numbers of ranks
#	ROUNDS=3	how often each size is measured
#	FACTOR=2	from one size to the next, from 8 bytes to 8 MiB per rank, 2 or more

. "$(dirname -- "$0")/common.sh"

RANKS=${RANKS:-2 4}
ROUNDS=${ROUNDS:-3}
FACTOR=${FACTOR:-2}
LEAST=8
MOST=$((8 << 20))
# How often a size of a round is measured at most, where the CPUs move meanwhile.
TRIES=3
# A peer that has failed so often with a number of ranks is not asked again.
MOST_FAILURES=3

out=$O/bench
raw=$out/raw
tool=$O/tools/pld-bench
peers=$PLD_TOP/tools/bench-peers
cpus=$(nproc)

# Both of MPI's launchers ask root whether it is meant.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export PLD_PLATFORM=${PLD_PLATFORM:-memfd}

tell()
{
	say "  $*" >&2
}

#
# 1. What there is to compare with.
#

install_peers()
{
	local missing

	missing=$(not_installed openmpi-bin libopenmpi-dev mpich libmpich-dev |
		tr '\n' ' ')
	[ -n "$missing" ] || return 0
	if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
		tell "SKIP    not installed, and only root can: $missing"
		return 0
	fi
	tell "INSTALL $missing"
	# shellcheck disable=SC2086 # names, one word each
	{
		apt-get update -q -o DPkg::Lock::Timeout=300 &&
			DEBIAN_FRONTEND=noninteractive apt-get install -y -q \
				--no-install-recommends \
				-o DPkg::Lock::Timeout=300 $missing
	} > "$out/install.log" 2>&1 ||
		tell "SKIP    cannot be installed (see $out/install.log): $missing"
}

# build NAME COMPILER SOURCE: a program to compare with, where it can be built.
build()
{
	rm -f "$out/$1"
	if ! command -v "$2" >/dev/null; then
		tell "SKIP    $1: there is no $2"
	elif ! "$2" -O2 -g -Wall -Wextra -Werror -D_GNU_SOURCE "$peers/$3" \
		-o "$out/$1" 2> "$out/$1.log"; then
		tell "SKIP    $1: $2 fails, see $out/$1.log"
	fi
}

#
# 2. The contenders. Each prints lines of bytes per rank and µs, here of one size.
#

devices()
{
	seq -s , 0 $(($1 - 1))
}

# Where there is a core for each rank, libpld and OpenMPI give it one by default.
binding()
{
	if [ "$1" -le "$cpus" ]; then
		echo core
	else
		echo none
	fi
}

run_OpenMPI()
{
	timeout --foreground 300 mpirun.openmpi --oversubscribe --bind-to "$(binding "$1")" -np "$1" \
		"$out/OpenMPI" "$2" "$2" 2
}

run_MPICH()
{
	timeout --foreground 300 mpirun.mpich -bind-to "$(binding "$1")" -np "$1" "$out/MPICH" "$2" "$2" 2
}

# Some versions crash in shmem_finalize(), when all has been measured.
run_OpenSHMEM()
{
	timeout --foreground 300 oshrun --oversubscribe --bind-to "$(binding "$1")" -np "$1" \
		-x SHMEM_SYMMETRIC_SIZE=512M "$out/OpenSHMEM" "$2" "$2" 2 || true
}

run_pull()
{
	timeout --foreground 300 "$out/copy" pull "$1" "$2" "$2" 2
}

run_push()
{
	timeout --foreground 300 "$out/copy" push "$1" "$2" "$2" 2
}

# All three of libpld's, in one run.
run_libpld()
{
	"$tool" -d "$(devices "$1")" -t uint8 --csv -b $(($2 * $1)) -e $(($2 * $1)) \
		-o allgather-hand,allgather-builtin,allgather-reuse |
		awk -F , 'sub(/^allgather-/, "", $1) { print $1, $5, $8 }'
}

# results NAME: of what it printed, contender, bytes and µs. A peer names none.
results()
{
	awk -v name="$1" '
		name != "libpld" { $0 = name " " $0 }
		NF == 3 && $2 ~ /^[0-9]+$/ && $3 ~ /^[0-9.e+-]+$/ && $3 + 0 > 0'
}

# measure RANKS ROUND SIZE NAME: adds lines of ranks, contender, round, bytes and µs.
measure()
{
	local name=$4 program=$out/${4/pu*/copy} wanted="$4 $3" failed

	if [ "$name" = libpld ]; then
		program=$tool wanted=$(printf "%s $3\n" hand builtin reuse)
	fi
	failed=${failures[$1-$name]:-0}
	[ -x "$program" ] && [ "$failed" -lt $MOST_FAILURES ] || return 0
	if "run_$name" "$1" "$3" > "$out/one" 2> "$out/$name-$1.err" < /dev/null &&
		results "$name" < "$out/one" > "$out/results" &&
		[ "$(cut -d ' ' -f 1-2 "$out/results")" = "$wanted" ]; then
		awk -v p="$1" -v round="$2" '{ print p, $1, round, $2, $3 }' \
			"$out/results" >> "$out/size"
		return
	fi
	[ "$name" != libpld ] || { cat "$out/$name-$1.err" >&2; die "pld-bench fails"; }
	tell "SKIP    $name with $1 ranks: no result at $3 bytes, see $out/$name-$1.err"
	failures[$1-$name]=$((failed + 1))
}

# How long a cache line takes from CPU to CPU now, in ns. Virtual CPUs may be near each
# other for some seconds, and then far.
look()
{
	"$tool" -d 0,1 -o barrier -n 1 -w 0 |
		sed -n 's/^# cache line.*, \([0-9.]*\) ns after/\1/p' >> "$out/looks"
}

# alike: whether the looks of one size are within half of each other.
alike()
{
	sort -g "$out/looks" | awk '{ v[NR] = $1 } END { exit v[NR] > 1.5 * v[1] }'
}

# All contenders one after another, within seconds; once more where the CPUs have moved.
one_size()
{
	local name try

	for ((try = 1; try <= TRIES; try++)); do
		: > "$out/size"
		: > "$out/looks"
		look
		for name in libpld OpenMPI MPICH OpenSHMEM pull push; do
			measure "$1" "$2" "$3" $name
			look
		done
		! alike || break
	done
	[ "$try" -le "$TRIES" ] || moved=$((moved + 1))
	cat "$out/looks" >> "$out/lines"
	cat "$out/size" >> "$raw"
}

one_round()
{
	local size

	for ((size = LEAST; size <= MOST; size *= FACTOR)); do
		tell "RUN     $1 ranks, round $2 of $ROUNDS: $size bytes"
		one_size "$1" "$2" "$size"
	done
}

# How near the CPUs were to each other, over all.
lines()
{
	[ -s "$out/lines" ] || return 0
	sort -g "$out/lines" | awk -v moved="$moved" '
		{ v[NR] = $1 }
		END {
			printf "\nA cache line took %s ns from CPU to CPU (%s–%s) when measured between contenders;", v[int((NR + 1) / 2)], v[1], v[NR]
			printf " %d sizes of a round were measured while it changed by more than half.\n", moved
		}'
}

#
# 3. What else is worth a number.
#

# figure NAME VALUE TARGET: a row of the table, and a member of figures.json.
figure()
{
	printf '| %s | %s | %s |\n' "$1" "$2" "$3"
	printf '{"what": "%s", "measured": "%s", "target": "%s"}\n' "$1" "$2" \
		"$3" >> "$out/figures.json"
}

# column NUMBER ARG...: that column of the results of pld-bench, one each.
column()
{
	local number=$1

	shift
	"$tool" --csv "$@" 2>/dev/null |
		awk -F , -v n="$number" 'NR > 1 { print $n }'
}

# The median of as many runs as there are rounds.
median()
{
	local i

	for ((i = 0; i < ROUNDS; i++)); do
		column "$@"
	done | sort -g | awk '{ v[NR] = $1 } END { printf "%.4g", v[int((NR + 1) / 2)] }'
}

many_ranks()
{
	local p most=(15 30 150) i=0 op

	for p in 8 16 64; do
		for op in hand builtin; do
			figure "allgather-$op, $p ranks, 8 B each" \
				"$(median 8 -d "$(devices $p)" -t uint8 -c 0 \
					-b $((8 * p)) -e $((8 * p)) \
					-o allgather-$op) µs" \
				"≤ ${most[i]} µs"
		done
		i=$((i + 1))
	done
}

# odd OP BYTES: time of one byte more at odd addresses to that of aligned ones. Thrice
# as often: runs differ by more than these two do.
odd()
{
	local i aligned odd

	for ((i = 0; i < 3 * ROUNDS; i++)); do
		aligned=$(column 8 -d 0,1 -t uint8 -o "$1" -b $((2 * $2)) -e $((2 * $2)))
		odd=$(column 8 -d 0,1 -t uint8 -o "$1" -b $((2 * $2 + 2)) \
			-e $((2 * $2 + 2)) --offset 1)
		awk "BEGIN { print $odd / $aligned }"
	done | sort -g | awk '{ v[NR] = $1 } END { printf "%.2f", v[int((NR + 1) / 2)] }'
}

# Every size from 1 to 257 bytes at odd addresses, each element checked.
small_sizes()
{
	if "$tool" -d 0,1 --osu -t uint8 -b 1 -e 257 -i 1 -n 1 -w 0 --offset 1 \
		-o allgather-hand,allgather-builtin,put,get \
		> "$out/small" 2>&1; then
		echo right
	else
		echo "wrong: see $out/small"
	fi
}

figures()
{
	local op

	printf '\n### Single figures\n\n| what | measured | target |\n|---|---|---|\n'
	for op in ping-pong barrier "put 8 B" "get 8 B"; do
		figure "$op, 2 ranks" "$(median 8 -d 0,1 -t uint8 -b 8 -e 8 \
			-o "${op%% *}") µs" –
	done
	many_ranks
	figure "CPU of a blocked wait from 1 ms on" \
		"$(median 14 -d 0,1 -o blocked-wait) %" "< 2 %"
	figure "sizes of 1 to 257 bytes at odd addresses" "$(small_sizes)" right
	for op in allgather-hand allgather-builtin; do
		figure "$op, 64 KiB + 1 at odd offsets : aligned 64 KiB" \
			"$(odd $op 65536)" "< 1.15"
		figure "$op, 1 MiB + 1 at odd offsets : aligned 1 MiB" \
			"$(odd $op 1048576)" "< 1.15"
	done
}

# Counted, not measured; the target is what is on record.
instructions()
{
	command -v valgrind >/dev/null || {
		tell "SKIP    instructions: there is no valgrind"
		return
	}
	"$PLD_TOP/scripts/instructions.sh" "$O" 2> "$out/instructions.err" |
		sed -n 's/: \([0-9]*\) instructions, recorded/ \1/p' |
		while read -r name count recorded; do
			figure "instructions of $name" "$count" "$recorded"
		done || true
}

processors()
{
	printf '%s, %d CPUs' \
		"$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)" \
		"$cpus"
}

machine()
{
	printf '%s, Linux %s, platform %s; load %s\n' "$(processors)" \
		"$(uname -r)" "$PLD_PLATFORM" "$(cut -d ' ' -f 1 /proc/loadavg)"
	"$tool" -d 0,1 -o barrier | sed -n 's/^# \(cache line.*\)/\1/p'
}

plots()
{
	local p

	command -v gnuplot >/dev/null || {
		tell "SKIP    plots: there is no gnuplot"
		return
	}
	for p in $RANKS; do
		if "$PLD_TOP/scripts/bench-plot" "$p" \
			"$(processors), platform $PLD_PLATFORM" "$raw" \
			> "$out/one" 2> "$out/gnuplot.log"; then
			mv "$out/one" "$out/allgather-$p.svg"
		else
			tell "SKIP    plot of $p ranks: see $out/gnuplot.log"
		fi
	done
}

[ -x "$tool" ] || die "there is no $tool (make tools)"
[ "$FACTOR" -ge 2 ] || die "FACTOR is $FACTOR, wanted 2 or more"
# A launcher that is interrupted ends as if nothing were, and this would go on.
trap 'exit 130' INT
trap 'exit 143' TERM
mkdir -p "$out"
: > "$raw"
: > "$out/figures.json"
: > "$out/lines"
declare -A failures
moved=0
install_peers
build OpenMPI mpicc.openmpi mpi.c
build MPICH mpicc.mpich mpi.c
build OpenSHMEM oshcc shmem.c
build copy cc copy.c
printf '## allgather\n\n'
machine
for p in $RANKS; do
	for ((round = 1; round <= ROUNDS; round++)); do
		one_round "$p" "$round"
	done
done
"$PLD_TOP/scripts/bench-table" -v json=1 "$raw" > "$out/allgather.json"
"$PLD_TOP/scripts/bench-table" "$raw"
lines
figures
instructions
plots
rm -f "$out/one" "$out/results" "$out/size" "$out/looks"
tell "DONE    in $SECONDS s; raw times, JSON and plots are in $out"
