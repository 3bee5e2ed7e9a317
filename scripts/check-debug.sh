#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# check-debug.sh [6.1|6.12...]
#
# make check-debug: the module's and the library's selftests, on kernels whose own
# checkers look on (debug-kernel.sh: KASAN, lockdep, kmemleak, UBSAN, DMA-API
# debugging...), RUNS times each in a guest of its own. Any splat fails, and so does
# memory that nothing points at when the module is gone.
#
#	RUNS=3			how often
#	TESTS="dmabuf* wait"	only these
#	MINUTES=40		a run starts no test program after that many, and says
#				how many it has run; without it, a run that is cut
#				short at 110 has failed

. "$(dirname -- "$0")/common.sh"

unset MAKEFLAGS MFLAGS CFLAGS CPPFLAGS LDFLAGS CC KDIR DESTDIR PREFIX
RUNS=${RUNS:-3}
minutes=${MINUTES:-110}
work=$O/check-debug

# The harness, with eight times the time for each test, of those that set a time of
# their own too: the checkers make the emulated guest some eight times slower (death
# took 75 s for 10, dmabuf 100 s for 10).
slow_harness()
{
	local harness=$work/harness/tools/testing/selftests/kselftest_harness.h

	rm -rf "$work/harness" && mkdir -p "$work/harness" &&
	cp -R "$PLD_CACHE/source/tools" "$work/harness" &&
	sed -i -e 's/^#define TEST_TIMEOUT_DEFAULT 30$/#define TEST_TIMEOUT_DEFAULT 240/' \
		-e 's/^\(\t__TEST_F_IMPL(fixture_name, test_name, -1, \)timeout)$/\18 * (timeout))/' \
		"$harness" || return
	[ "$(grep -cE 'TEST_TIMEOUT_DEFAULT 240$|8 \* \(timeout\)\)$' "$harness")" = 2 ] ||
		die "this harness has other timeouts"
}

# In a condition, where an error does not end it by itself.
build()
{
	local kernel=$1

	"$PLD_TOP/scripts/debug-kernel.sh" "$kernel" debug && slow_harness &&
	make --no-print-directory -j"$(nproc)" O="$work" lib tools \
		selftests_install modules_build test_modules ALL_32=y \
		KSFT_DIR="$work/harness/tools/testing/selftests" \
		KDIR="$PLD_CACHE/$kernel-debug/build"
}

# The names of the tests: all but the benchmark's, since no time means anything here.
# The sweeps of fail-nth come last: a failure of its own allocations switches the
# DMA-API debugging off.
tests()
{
	local list

	list=$(sed 's/.*://' "$work/kselftest_install/kselftest-list.txt")
	set -f # the guest has the files
	# shellcheck disable=SC2086 # words
	set -- ${TESTS:-$(grep -vxE 'bench.sh|.*nth(.sh)?' <<< "$list";
		grep -xE '.*nth(.sh)?' <<< "$list")}
	set +f
	echo "$@"
}

# In the guest. Nothing may be mapped for a device when the tests are through; and
# objects younger than five seconds are not looked at.
# shellcheck disable=SC2016 # that shell expands it
suite='
	status=0 run=0 looked=
	export PLD_PLATFORM=kmod
	look_at_mappings()
	{
		[ -z "$looked" ] || return
		looked=y
		api=/sys/kernel/debug/dma-api
		[ "$(cat $api/disabled)" = N ] ||
			{ echo "not ok - DMA-API debugging is off"; status=1; }
		! grep pld_ $api/dump ||
			{ echo "not ok - memory is still mapped"; status=1; }
	}
	end=$(($(date +%s) + $1 * 60))
	may_be_cut=$2
	shift 2
	for test in "$@"; do
		[ "$(date +%s)" -lt $end ] || break
		case $test in *nth*) look_at_mappings ;; esac
		selftests/kselftest-run "$test" || status=1
		run=$((run + 1))
	done
	look_at_mappings
	echo "# ran $run of $# test programs"
	[ $run = $# ] || [ -n "$may_be_cut" ] ||
		{ echo "not ok - there was no time for all of them"; status=1; }
	rmmod pld_sim || status=1
	for turn in 1 2; do
		sleep 6
		echo scan > /sys/kernel/debug/kmemleak || status=1
	done
	leaks=$(cat /sys/kernel/debug/kmemleak)
	[ -z "$leaks" ] || { echo "$leaks"; status=1; }
	exit $status'

run()
{
	# shellcheck disable=SC2046 # words
	O=$work "$PLD_TOP/scripts/vm-run" --kernel "$1-debug" --memory 4G \
		--insmod "devices=64 gid=990" --timeout $((minutes * 60 + 900)) \
		--append panic_on_warn=1 -- sh -c "$suite" suite \
		"$minutes" "${MINUTES:+cut}" $(tests)
}

# Each sweep of failnth says a line: one for each call of its table, unless it is not
# reached. Says what is amiss.
sweeps()
{
	local log=$1 calls said

	grep -qE '^(not )?ok [0-9]+ selftests: .*: failnth( |$)' "$log" || return 0
	calls=$(grep -cE '^CALL\(' "$PLD_TOP/selftests/failnth_calls.h")
	said=$(grep -cE ': [0-9]+ steps, [0-9]+ failures' "$log" || true)
	[ "$said" = "$calls" ] ||
		echo "not ok - failnth: $said sweeps of $calls"
}

[ $# -gt 0 ] || set -- 6.12 6.1
cd "$PLD_TOP"
"$PLD_TOP/scripts/setup.sh"
mkdir -p "$work"
passed=0 failed=0 skipped=0
for kernel in "$@"; do
	(build "$kernel") > "$work/build-$kernel.log" 2>&1 ||
		{ tail -n 20 "$work/build-$kernel.log"; die "cannot build for $kernel-debug"; }
	for run in $(seq "$RUNS"); do
		log=$work/$kernel-$run.log
		begun=$SECONDS status=0
		run "$kernel" > "$log" 2>&1 < /dev/null || status=$?
		missing=$(sweeps "$log")
		[ -z "$missing" ] || { echo "$missing" >> "$log"; status=1; }
		read -r p f s <<< "$("$PLD_TOP/scripts/tap-count" "$log")"
		[ "$status" = 0 ] || [ "$f" -gt 0 ] || f=1
		passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
		say "$kernel-debug, run $run of $RUNS ($((SECONDS - begun)) s): $p passed, $f failed, $s skipped; $(sed -n 's/^# ran/ran/p' "$log"); $log"
		[ "$f" = 0 ] || grep -E '^(# )*not ok|vm-run:' "$log" || tail -n 20 "$log"
	done
done
say "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]
