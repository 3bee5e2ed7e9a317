#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# check-races.sh
#
# make check-races: the tests in which most happens at once, again and again for
# MINUTES, at least once. KCSAN knows of every access of the module (on a kernel of
# debug-kernel.sh, of which it knows nothing else) and watches one plain one in some
# hundred, for a while: any other that comes by meanwhile, plain or marked, on another
# processor or in an interrupt, is a race if one of the two writes. Some plain ones
# are watched where a missing barrier would let them come late, too. So a race is found
# that happens often enough, not each. Any report fails.

. "$(dirname -- "$0")/common.sh"

unset MAKEFLAGS MFLAGS CFLAGS CPPFLAGS LDFLAGS CC KDIR DESTDIR PREFIX
MINUTES=${MINUTES:-5}
kernel=6.12-races
work=$O/check-races
tests="several poll eventfd events death wait fence dmabuf
	dmabuf_export dmabuf_import debugfs mapping lib_storm lib_threads
	lib_property lib_waiter lib_waiter_end lib_waiter_loops lib_launch
	lib_allgather"

# The kernel does not start KCSAN by itself. It watches one access in so many, each
# for so many microseconds, which emulated ones need many of: a counter that waits
# changed without a lock was found within two minutes with these numbers, and not with
# the kernel's own.
kcsan="kcsan.early_enable=1 kcsan.skip_watch=100 kcsan.udelay_task=1000"

# In the guest, which says how often it has watched. Somebody reads there what the
# module tells of all domains, meanwhile.
# shellcheck disable=SC2016 # that shell expands it
storm='
	status=0 rounds=0
	grep -q "^enabled: 1" /sys/kernel/debug/kcsan ||
		{ echo "not ok - KCSAN is off"; status=1; }
	export PLD_PLATFORM=kmod
	while sleep 0.05; do
		cat /sys/kernel/debug/pld_sim/* > /dev/null
	done &
	end=$(($(date +%s) + $1 * 60))
	shift
	while [ "$(date +%s)" -lt $end ]; do
		for test in "$@"; do
			[ "$(date +%s)" -lt $end ] || break 2
			selftests/kselftest-run "$test" || status=1
		done
		rounds=$((rounds + 1))
	done
	kill $!
	[ $rounds -gt 0 ] || { echo "not ok - not one whole round"; status=1; }
	echo "# $rounds whole rounds; $(grep setup_watchpoints /sys/kernel/debug/kcsan)"
	exit $status'

cd "$PLD_TOP"
"$PLD_TOP/scripts/setup.sh"
"$PLD_TOP/scripts/debug-kernel.sh" 6.12 races
mkdir -p "$work"
make --no-print-directory -j"$(nproc)" O="$work" lib tools selftests_install \
	modules_build test_modules KDIR="$PLD_CACHE/$kernel/build" \
	> "$work/build.log" 2>&1 ||
	{ tail -n 20 "$work/build.log"; die "cannot build for $kernel"; }
status=0
# shellcheck disable=SC2086 # names, one word each
O=$work "$PLD_TOP/scripts/vm-run" --kernel $kernel --memory 4G \
	--insmod "devices=64 gid=990" --timeout $((MINUTES * 60 + 1200)) \
	--append "$kcsan" \
	-- sh -c "$storm" storm "$MINUTES" $tests > "$work/log" 2>&1 < /dev/null ||
	status=$?
read -r passed failed skipped <<< "$("$PLD_TOP/scripts/tap-count" "$work/log")"
[ "$status" = 0 ] || [ "$failed" -gt 0 ] || failed=1
grep -E '^(# )*not ok|^vm-run:|^# [0-9]+ whole rounds' "$work/log" || true
say "$kernel: $passed passed, $failed failed, $skipped skipped; $work/log"
[ "$failed" = 0 ]
