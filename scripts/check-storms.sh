#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# make check-storms: the tests that need their time, in full: kill storms, bad
# citizens, crashes, windows that are notified at once, and the litmus. On memfd
# here, and on the module in a guest: there with fewer storms and messages, since
# it is slow.
#
#	KERNEL=6.1|6.12|none	the guest's kernel (6.12), or no guest
#	PLD_BASE_SEED=N		other rounds
#
# The same programs run in short among the selftests.

. "$(dirname -- "$0")/common.sh"

programs=(lib_storm lib_citizens lib_remains lib_litmus)
kernel=${KERNEL:-6.12}
install=$O/kselftest_install
status=0

cd "$PLD_TOP"
make --no-print-directory O="$O" lib tools selftests_install > /dev/null

# part NAME COMMAND...: says how long it took.
part()
{
	local name=$1 begun=$SECONDS

	shift
	if "$@"; then
		say "check-storms: $name: ok, $((SECONDS - begun)) s"
	else
		say "check-storms: $name: FAILED, $((SECONDS - begun)) s"
		status=1
	fi
}

on_memfd()
{
	PLD_PLATFORM=memfd PLD_STORM_ROUNDS=1000 PLD_CITIZENS=3 \
		PLD_CRASHES=500 PLD_CREATES=100000 \
		PLD_LITMUS_ITERATIONS=100000000 \
		"$install/kselftest-run" "${programs[@]}"
}

# The module must be free to go in the end.
in_guest()
{
	make --no-print-directory O="$O" modules_build \
		KDIR="$PLD_CACHE/$kernel/build" > /dev/null
	scripts/vm-run --kernel "$kernel" --memory 3G --timeout 3600 \
		--insmod "devices=64 gid=990" -- env PLD_PLATFORM=kmod \
		${PLD_BASE_SEED:+"PLD_BASE_SEED=$PLD_BASE_SEED"} \
		PLD_STORM_ROUNDS=200 \
		PLD_CITIZENS=1 PLD_CRASHES=500 PLD_CREATES=100000 \
		PLD_LITMUS_ITERATIONS=2000000 \
		sh -c "selftests/kselftest-run ${programs[*]} early &&
			rmmod pld_sim"
}

part memfd on_memfd
[ "$kernel" = none ] || part "module on $kernel" in_guest
[ $status = 0 ]
