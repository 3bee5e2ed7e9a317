#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# debug-kernel.sh 6.1|6.12 debug|races [--is-cached]
#
# Builds, from Debian's source of a kernel, a small one in which the kernel's own
# checkers look on, for the virtual machine. The configuration is allnoconfig
# with kernels/base.config and kernels/debug.config (KASAN, lockdep, kmemleak,
# DMA-API debugging, fault injection, KCOV...) or kernels/races.config (KCSAN).
#
#   $PLD_CACHE/6.12-debug -> 6.12-debug_<package version>_<sum of the config>/
#	build, vmlinux, release, modules/	as fetch-kernel.sh leaves them
#
# Takes 25 minutes of CPU, once; nothing when it is there already. Exit status 3: its
# source or the packages to build it with cannot be had. With --is-cached, whether it is
# there is all that is looked at: 0 or 1.

. "$(dirname -- "$0")/common.sh"

packages="bc bison flex libelf-dev libssl-dev"

APT="-q -o DPkg::Lock::Timeout=300"

not_to_be_had()
{
	say "${0##*/}: $*" >&2
	exit 3
}

# Prints the version of the source that apt would install, "(none)" when it knows none.
candidate()
{
	apt-cache policy "$package" | sed -n 's/^  Candidate: //p' | grep . ||
		echo "(none)"
}

fetch_source()
{
	say "  FETCH   $package"
	apt-get -qq -o APT::Sandbox::User="$(id -un)" download "$package" ||
		not_to_be_had "cannot download $package"
	say "  UNPACK  $package"
	dpkg-deb --fsys-tarfile "$package"_*.deb |
		tar -xOf - "./usr/src/$package.tar.xz" | xz -dc -T0 |
		tar -xf - --transform "s|^$package|build|"
	rm "$package"_*.deb
}

# Every line of the configuration must have survived what the others depend on.
configure()
{
	local lost

	make -s -C build KCONFIG_ALLCONFIG="$work/config" allnoconfig
	lost=$(grep '^CONFIG_.*=[^n]' config | grep -vxFf build/.config || true)
	[ -z "$lost" ] || die "this kernel does not have: $lost"
}

# What KCSAN would say of the rest of the kernel is not for us to mend, so it watches
# none of it; but where it models weak memory, it must be told of the barriers in
# what a module calls, or takes what comes before a mutex_unlock() for late. mm and
# kernel/sched tell it by themselves.
tell_barriers()
{
	local folder

	for folder in drivers/dma-buf fs kernel kernel/locking kernel/rcu lib; do
		echo 'KCSAN_INSTRUMENT_BARRIERS := y' >> "build/$folder/Makefile"
	done
}

# Objects are not needed to build a module against it; the tools are. The image is one
# that the emulator starts as a boot loader would: where it starts an ELF file, 6.1 runs
# code that KASAN instruments before KASAN is there, and dies without a word.
build()
{
	say "  BUILD   kernel $name (25 minutes of CPU)"
	tell_barriers
	make -s -C build -j"$(nproc)" KCSAN_SANITIZE=n bzImage modules > log 2>&1 ||
		{ tail -n 20 log >&2; die "cannot build the kernel"; }
	make -s -C build kernelrelease > release
	cp build/arch/x86/boot/bzImage vmlinux
	find build -name '*.o' ! -path 'build/scripts/*' ! -path 'build/tools/*' \
		-delete
	rm -rf build/vmlinux build/vmlinux.a build/.tmp_vmlinux* modules log config
	mkdir modules
	cp build/modules.builtin modules
}

install_packages()
{
	local missing

	# shellcheck disable=SC2086 # names, one word each
	missing=$(not_installed $packages | tr '\n' ' ')
	[ -n "$missing" ] || return 0
	[ "$(id -u)" = 0 ] || not_to_be_had "missing: apt-get install $missing"
	say "  INSTALL $missing"
	# shellcheck disable=SC2086 # words
	{
		apt-get $APT update &&
			DEBIAN_FRONTEND=noninteractive apt-get $APT install -y \
				--no-install-recommends $missing
	} > /dev/null || not_to_be_had "cannot install $missing"
}

wanted=$*
wanted=${wanted% --is-cached}
case $wanted in
'6.1 debug'|'6.12 debug'|'6.1 races'|'6.12 races') ;;
*) die "usage: $0 6.1|6.12 debug|races [--is-cached]" ;;
esac
package=linux-source-$1
name=$1-$2
config=$(grep -h '^CONFIG_' "$PLD_TOP/scripts/kernels/base.config" \
	"$PLD_TOP/scripts/kernels/$2.config")
sum=$(echo "$config" | sha256sum)
if [ "$(candidate)" = "(none)" ] && [ "$(id -u)" = 0 ]; then
	# shellcheck disable=SC2086 # words
	apt-get $APT update > /dev/null ||
		say "apt-get has no lists of packages" >&2
fi
version=${name}_$(candidate)_${sum:0:12}
if [ "$*" != "$wanted" ]; then
	[ -e "$PLD_CACHE/$version/vmlinux" ]
	exit
fi
if [ ! -e "$PLD_CACHE/$version/vmlinux" ]; then
	install_packages
	mkdir -p "$PLD_CACHE"
	work=$(mktemp -d "$PLD_CACHE/debug.XXXXXX")
	trap 'if [ -n "$work" ]; then cd /; rm -rf "$work"; fi' EXIT
	chmod 755 "$work"
	cd "$work"
	echo "$config" > config
	fetch_source
	configure
	build
	rm -rf "${PLD_CACHE:?}/$version"
	mv "$work" "$PLD_CACHE/$version"
	work=
fi
ln -sfn "$version" "$PLD_CACHE/$name.new"
mv -T "$PLD_CACHE/$name.new" "$PLD_CACHE/$name"
