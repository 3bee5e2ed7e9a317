# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# What every script here starts from: where the tree, the build output and the
# cache of kernel packages are, and how a script says that it cannot go on.

set -euo pipefail

PLD_TOP=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)
O=${O:-build}
case $O in /*) ;; *) O=$PLD_TOP/$O ;; esac
PLD_CACHE=${PLD_CACHE:-${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/pld-sim}

# The kernels that the module is built for and tested on.
PLD_KERNELS="6.1 6.12"

# A line in a kernel log that no test may cause.
PLD_SPLAT='BUG:|WARNING:|Oops|KASAN|UBSAN|kmemleak|general protection|'
PLD_SPLAT+='possible (circular|recursive) locking|inconsistent lock state|'
PLD_SPLAT+='suspicious RCU usage|bad unlock balance|refcount_t:|'
PLD_SPLAT+='blocked for more than|detected stall|self-detected stall|'
PLD_SPLAT+='Kernel panic|unable to handle|DMA-API:|list_(add|del) corruption|'
PLD_SPLAT+='sleeping function called|scheduling while atomic|Bad page state|'
PLD_SPLAT+='page allocation failure|invoked oom-killer: gfp_mask.*order=[1-9]|'
PLD_SPLAT+='swiotlb buffer is full'

say()
{
	printf '%s\n' "$*"
}

die()
{
	printf '%s: %s\n' "${0##*/}" "$*" >&2
	exit 1
}
