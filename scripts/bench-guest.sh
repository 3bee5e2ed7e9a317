#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# make bench-guest: the module's wait and ring beside FUTEX_WAIT and FUTEX_WAKE
# (tools/bench-guest/wake.c), in a virtual machine of each kernel. Prints
# Markdown; the raw figures are kept in $O/bench-guest.
#
# First by a clock that counts instructions, which other work on the machine does
# not change; then by time, with one processor and with two.
#
#	KERNELS="6.12 6.1"	which
#	ROUNDS=61		how often each measures; by time
#	CALLS=200		in a round

. "$(dirname -- "$0")/common.sh"

KERNELS=${KERNELS:-6.12 6.1}
ROUNDS=${ROUNDS:-61}
CALLS=${CALLS:-200}
# Enough for a round of instructions to have as many timer interrupts as others.
COUNTED_ROUNDS=9
COUNTED_CALLS=1000
TARGET="≤ 1.2"

out=$O/bench-guest

tell()
{
	say "  $*" >&2
}

build()
{
	"${CC:-cc}" -O2 -g -Wall -Wextra -Werror -D_GNU_SOURCE \
		-I"$PLD_TOP/selftests" -I"$PLD_TOP/uapi" \
		"$PLD_TOP/tools/bench-guest/wake.c" -o "$out/wake"
	for kernel in $KERNELS; do
		make --no-print-directory -C "$PLD_TOP" O="$O" modules_build \
			KDIR="$PLD_CACHE/$kernel/build" > "$out/module-$kernel.log" ||
			die "the module cannot be built: $out/module-$kernel.log"
	done
}

# measure NAME KERNEL CPUS ROUNDS CALLS [OPTION...]
measure()
{
	local name=$1 kernel=$2 cpus=$3 rounds=$4 calls=$5

	shift 5
	tell "RUN     Linux $kernel: $name"
	"$PLD_TOP/scripts/vm-run" --kernel "$kernel" --memory 512M --timeout 600 \
		--add "$out/wake" "$@" -- \
		./wake "$cpus" "$rounds" "$calls" > "$out/$kernel-$name"
}

# rows FILE UNIT DIVISOR WHAT TARGET: of what wake has printed, with the median and
# the middle half of the ratios of a round.
rows()
{
	sort -k 1,1 -k 3,3n "$1" | awk -v unit="$2" -v divisor="$3" -v what="$4" -v target="$5" '
	{ time[$1, $2, $3] = $4; slept[$1, $2] += $5; if ($3 > rounds) rounds = $3 }

	# A part, 0.5 for the median, of values[1..rounds], which it sorts.
	function part(share,    i, j, value)
	{
		for (i = 2; i <= rounds; i++) {
			value = values[i]
			for (j = i - 1; j > 0 && values[j] > value; j--)
				values[j + 1] = values[j]
			values[j + 1] = value
		}
		return values[int(share * (rounds - 1) + 1.5)]
	}

	function median(figure, contender,    i)
	{
		for (i = 1; i <= rounds; i++)
			values[i] = time[figure, contender, i] / divisor
		return part(0.5)
	}

	function short(value)
	{
		return sprintf(value < 100 ? "%.3g" : "%.0f", value)
	}

	function row(figure, name, wanted,    i, ours, theirs)
	{
		ours = median(figure, "pld"); theirs = median(figure, "futex")
		for (i = 1; i <= rounds; i++)
			values[i] = time[figure, "pld", i] / time[figure, "futex", i]
		printf "| %s%s | %s %s | %s %s | %.2f (%.2f–%.2f) | %.0f, %.0f %% | %s |\n", \
			name, what, short(ours), unit, short(theirs), unit, part(0.5), \
			part(0.25), part(0.75), \
			100 * slept[figure, "pld"] / rounds, \
			100 * slept[figure, "futex"] / rounds, wanted
	}

	END {
		row("trip", "round trip", target)
		row("wake", "a call that wakes nobody", "–")
		row("look", "a wait for what is there", "–")
	}'
}

table()
{
	local kernel=$1

	printf '\n### Linux %s\n\n' "$(cat "$PLD_CACHE/$kernel/release")"
	printf '| what | pld | futex | ratio (middle half) | waits that slept | target |\n'
	printf '|---|---|---|---|---|---|\n'
	rows "$out/$kernel-counted" instructions 1 ", counted" "$TARGET"
	rows "$out/$kernel-one-cpu" µs 1000 ", one CPU" "$TARGET"
	rows "$out/$kernel-two-cpus" µs 1000 ", two CPUs" "–"
}

mkdir -p "$out"
build
printf '## Wait and ring beside FUTEX_WAIT and FUTEX_WAKE\n\n'
printf 'load %s; medians of %d rounds of %d calls, counted: %d of %d\n' \
	"$(cut -d ' ' -f 1 /proc/loadavg)" "$ROUNDS" "$CALLS" \
	$COUNTED_ROUNDS $COUNTED_CALLS
for kernel in $KERNELS; do
	measure counted "$kernel" 1 $COUNTED_ROUNDS $COUNTED_CALLS --smp 1 --count
	measure one-cpu "$kernel" 1 "$ROUNDS" "$CALLS"
	# Emulated, a halted processor waits for the host to run it again: for
	# milliseconds, whoever woke it.
	measure two-cpus "$kernel" 2 "$ROUNDS" "$CALLS" --append idle=poll
	table "$kernel"
done
tell "DONE    in $SECONDS s; raw figures are in $out"
