# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034
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

# What no test may make the kernel say.
PLD_SPLATS=$PLD_TOP/scripts/kernel-log-splats

say()
{
	printf '%s\n' "$*"
}

die()
{
	printf '%s: %s\n' "${0##*/}" "$*" >&2
	exit 1
}
