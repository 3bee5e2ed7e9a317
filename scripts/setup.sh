#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# setup.sh [6.1|6.12|source...]
#
# Installs Debian packages that are missing, and fetches the kernels into the
# cache (see fetch-kernel.sh); all of them if none is named. With --packages it
# only names the packages. Says one line for
# each thing it does, and nothing where nothing is missing.

. "$(dirname -- "$0")/common.sh"

packages()
{
	sed 's/[ \t]*#.*//; /^$/d' <<LIST
build-essential		# gcc, make, libc
bash			# the scripts
clang			# the second compiler of make check
libclang-rt-dev		# libFuzzer
clang-format		# style of lib/, tools/ and selftests/
sparse			# static checks of the module
shellcheck		# static checks of the scripts
gcc-multilib		# 32-bit programs against the 64-bit kernel
valgrind		# memory errors of the library
libelf1			# the kernel's objtool
kmod			# depmod, modinfo
perl			# checkpatch, kselftest's output filter
pkg-config		# an outside program that finds libpld
rsync			# kselftest's install rule
xz-utils		# unpacking kernels and their sources
zstd			# the same
qemu-system-x86		# the virtual machine
busybox-static		# the guest's commands
cpio			# the guest's file system
libhwloc-dev		# places ranks on cores
libdrm-dev		# windows as buffers of DRM devices
libjansson-dev		# what pld-info and pld-bench print as JSON
scdoc			# man pages
man-db			# checks them
bash-completion		# what completions are tested with
dpkg-dev		# make deb
debhelper		# the same
dh-dkms			# the same
lintian			# checks the packages
debootstrap		# the clean Debian of make check-deb
libglib2.0-dev		# an event loop that a selftest waits in
LIST
}

as_root()
{
	if [ "$(id -u)" = 0 ]; then
		"$@"
	elif command -v sudo >/dev/null; then
		sudo "$@"
	else
		die "this needs root, and there is no sudo: $*"
	fi
}

# quiet COMMAND...: shows what it printed only if it fails.
quiet()
{
	local out

	if ! out=$("$@" 2>&1); then
		printf '%s\n' "$out" | tail -n 20 >&2
		die "failed: $*"
	fi
}

install_packages()
{
	say "  INSTALL $*"
	quiet as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q \
		--no-install-recommends -o DPkg::Lock::Timeout=300 "$@"
}

[ "${1:-}" != --packages ] || { packages; exit; }
# shellcheck disable=SC2086 # names, one word each
[ $# -gt 0 ] || set -- $PLD_KERNELS source
command -v apt-get >/dev/null ||
	die "this needs Debian's apt-get; install by hand: $(packages | tr '\n' ' ')"
# shellcheck disable=SC2046 # names, one word each
missing=$(not_installed $(packages))
wanted=
for what in "$@"; do
	cached "$what" || wanted+=" $what"
done
if [ -n "$missing$wanted" ]; then
	say "  UPDATE  package lists"
	quiet as_root apt-get update -q -o DPkg::Lock::Timeout=300
fi
if [ -n "$missing" ]; then
	# shellcheck disable=SC2086 # package names, one word each
	install_packages $missing
fi
if [ -n "$wanted" ]; then
	# shellcheck disable=SC2086 # names, one word each
	"$PLD_TOP/scripts/fetch-kernel.sh" $wanted
fi
