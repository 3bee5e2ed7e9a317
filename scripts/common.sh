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

# What of Debian's modules the guests have: two DRM drivers, of which one has nothing
# but memory and the other syncobj, and its bus, which is a module in 6.1.
PLD_MODULES="vgem virtio_pci virtio-gpu"

# cached 6.1|6.12|source: is it there, with all modules?
cached()
{
	[ -d "$PLD_CACHE/$1/." ] || return 1
	[ "$1" = source ] || [ "$(cat "$PLD_CACHE/$1/takes" 2>/dev/null)" = "$PLD_MODULES" ]
}

# not_installed PACKAGE...: those that are not, one a line. Debian also knows packages
# that are not there, by name; and one may be there for two architectures.
not_installed()
{
	local package

	for package; do
		dpkg-query -W -f '${db:Status-Status}\n' "$package" 2>/dev/null |
			grep -qx installed || echo "$package"
	done
}

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
