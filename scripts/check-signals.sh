#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# check-signals.sh [6.1|6.12]
#
# make check-signals: the library's tests on memfd with 1,000 signals a second in
# each process, once with signals that system calls are restarted after and once
# with ones that interrupt them, and all tests on the module with as many. The whole
# of a suite passes as it does without, and the signals came.
#
#	GUEST_SIGNALS=1000	fewer, for an emulated machine that does not bear them

. "$(dirname -- "$0")/common.sh"

install=$O/kselftest_install
work=$O/check-signals
kernel=${1:-6.12}
guest_signals=${GUEST_SIGNALS:-1000}
status=0

# came NAME RATE FILTER: whether each of the tests that sed leaves had signals, by
# the lines of signals.so in $work/NAME. The process that waits for its tests has
# them from its beginning to its end: half of that is the least, for each with those
# that came while one was pending, but for its first 50 ms, and for all without, which
# a busy machine may make of some. Says what rate a process had.
came()
{
	sed -E "s/.*://; $3" "$install/kselftest-list.txt" |
		awk -v rate="$2" -v name="$1" '
		NR == FNR { wanted[$1]; next }
		!($1 in wanted) { next }
		{
			seen[$1]
			came += $2
			merged += $3
			least += rate / 2 * $4 / 1000
			if ($2 + $3 < rate / 2 * ($4 - 50) / 1000) {
				printf "%s: %d signals in %d ms, and %d more were due\n",
					$1, $2, $4, $3
				bad = 1
			}
		}
		END {
			for (test in wanted)
				if (!(test in seen)) {
					print test ": no word of its signals"
					bad = 1
				}
			printf "check-signals: %s: %d signals in %d programs, %d a second in a process: %s\n",
				name, came, length(seen), came ? rate * came / (came + merged) : 0,
				bad || !came || came < least ? "FAILED" : "ok"
			exit bad || !came || came < least
		}' - "$work/$1"
}

# here NAME [VARIABLE=VALUE]
here()
{
	local name=$1

	shift
	rm -f "$work/$name"
	env "$@" PLD_SIGNALS=1000 PLD_SIGNALS_LOG="$work/$name" PLD_PLATFORM=memfd \
		PLD_ALLGATHER="$O/tools/pld-allgather" PLD_DRM="$O/tools/pld-drm" \
		PLD_EXAMPLES="$O/examples" "$install/kselftest-run" 'lib_*' || status=1
	came "$name" 1000 '/^lib_/!d' || status=1
}

# What signals.so said in there comes out behind the tests' output.
guest()
{
	"$PLD_TOP/scripts/vm-run" --kernel "$kernel" --memory 3G --timeout 3000 \
		--insmod "devices=64 gid=990" -- env PLD_SIGNALS="$guest_signals" \
		PLD_SIGNALS_LOG=/signals PLD_PLATFORM=kmod \
		sh -c "status=0
			selftests/kselftest-run || status=1
			sed 's/^/signals.so: /' /signals
			exit \$status" |
		tee "$work/guest.out" | grep -v '^signals.so: ' || status=1
	sed -n 's/^signals.so: //p' "$work/guest.out" > "$work/guest"
	# Scripts and what is linked statically have none.
	came guest "$guest_signals" '/(\.sh|_32)$/d' || status=1
}

unset MAKEFLAGS MFLAGS CFLAGS CPPFLAGS LDFLAGS CC KDIR DESTDIR PREFIX
make --no-print-directory -C "$PLD_TOP" -j"$(nproc)" lib tools selftests_install \
	modules_build KDIR="$PLD_CACHE/$kernel/build"
mkdir -p "$work"

here restarted
here interrupted PLD_SIGNALS_BREAK=1
guest
exit $status
