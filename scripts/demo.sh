#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# make demo: the allgather of four ranks in both modes, on memfd, then on the
# module in a virtual machine, or with HOST=1 in this machine's own kernel.

. "$(dirname -- "$0")/common.sh"

unset MAKEFLAGS MFLAGS
MAKE="make --no-print-directory -j$(nproc)"
DEVICES=0,1,2,3
RELEASE=$(uname -r)
HEADERS=/lib/modules/$RELEASE/build
# Not whatever the environment has by that name.
[ "${HOST:-}" = 1 ] || HOST=

# Both modes; also run in the guest, whose shell is busybox.
both_modes()
{
	local mode

	for mode in hand builtin; do
		echo "\$ ./pld-allgather -d $2 -p $1 --mode $mode"
		./pld-allgather -d "$2" -p "$1" --mode $mode || return
	done
}

# What can be known to be missing before anything is built or loaded.
can_use_this_kernel()
{
	[ -e "$HEADERS/include/generated/utsrelease.h" ] ||
		die "no headers of this machine's kernel in $HEADERS: apt-get install linux-headers-$RELEASE"
	[ ! -e /sys/module/pld_sim ] ||
		die "the module is loaded already: rmmod pld_sim"
}

on_this_kernel()
{
	local root='' status=0

	[ "$(id -u)" = 0 ] || root=sudo
	$MAKE modules "KDIR=$HEADERS"
	say "on the module, in this machine's kernel $RELEASE:"
	say "\$ insmod pld_sim.ko"
	$root insmod pld_sim.ko
	$root bash -c "$(declare -f both_modes)
		both_modes kmod $DEVICES" || status=$?
	$root rmmod pld_sim
	return $status
}

in_guest()
{
	$MAKE modules_build "KDIR=$PLD_CACHE/6.1/build"
	say "on the module, in a virtual machine:"
	scripts/vm-run --timeout 120 -- sh -c "$(declare -f both_modes)
		echo '\$ insmod pld_sim.ko'
		both_modes kmod $DEVICES"
}

cd "$PLD_TOP"
[ -z "$HOST" ] || can_use_this_kernel
scripts/setup.sh 6.1
$MAKE all
say "embedded, on memfd:"
both_modes memfd $DEVICES
if [ -n "$HOST" ]; then
	on_this_kernel
else
	in_guest
fi
say "demo: all runs are OK"
