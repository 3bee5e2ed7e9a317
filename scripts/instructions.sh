#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# instructions.sh BUILD: how many instructions notify, a wait for what is there, a
# put of 8 bytes and, of 2 ranks, a barrier and the allgathers of 8 bytes take (the
# one by hand through a tile, and straight), each more than a tenth above
# instructions.txt being an error. They do not depend on what else the machine does.
# They do on the compiler: the list is of Debian 12's gcc with -O2.

. "$(dirname -- "$0")/common.sh"

build=$1
work=$build/instructions
recorded=$PLD_TOP/scripts/instructions.txt
calls=1000

rm -rf "$work"
mkdir -p "$work"
gcc -O2 -g -Wall -Wextra -Werror -I"$PLD_TOP/lib/include" -I"$PLD_TOP/tools" \
	"$PLD_TOP/scripts/instructions.c" "$PLD_TOP/tools/common/allgather.c" \
	"$build/libpld.a" -lhwloc \
	-o "$work/program"
gcc -O2 -Wall -Wextra -Werror -D_GNU_SOURCE -shared -fPIC \
	"$PLD_TOP/scripts/valgrind-pidfd.c" -o "$work/pidfd.so"
# What hwloc asks the CPU itself is not to be had there.
HWLOC_COMPONENTS=-x86 LD_PRELOAD="$work/pidfd.so" valgrind -q --tool=callgrind \
	--callgrind-out-file="$work/out.%p" "$work/program"

# counted NAME: instructions of a call, from the dump that is named so.
counted()
{
	local dump

	dump=$(grep -lx "desc: Trigger: Client Request: $1" "$work"/out.*) ||
		die "callgrind has not counted $1"
	awk -v calls="$calls" '/^totals:/ { printf "%d\n", $2 / calls + 0.5 }' \
		"$dump"
}

grown=
while read -r name before; do
	[ "$name" != "#" ] || continue
	now=$(counted "$name")
	say "$name: $now instructions, recorded $before"
	[ $((now * 10)) -le $((before * 11)) ] || grown+=" $name"
	[ $((now * 11)) -ge $((before * 10)) ] ||
		say "$name became faster: write $now into ${recorded##*/}"
done < "$recorded"
[ -z "$grown" ] || die "more than a tenth slower:$grown"
