#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# fetch-kernel.sh 6.1|6.12|source...
#
# Fetches Debian's kernel packages and unpacks what is needed of them into the
# cache ($PLD_CACHE). Nothing is installed: a kernel package that is installed
# would put itself into the boot loader of this machine.
#
#   $PLD_CACHE/6.1 -> <release>_<package version>/
#	build		configured headers, a KDIR for building modules
#	vmlinux		the kernel, unpacked so that a guest starts sooner
#	release		what `uname -r` says in it
#	modules/	$PLD_MODULES and what they need
#	takes		$PLD_MODULES, for which it was asked
#   $PLD_CACHE/source -> source_<package version>/
#	tools/testing/selftests, scripts/checkpatch.pl, LICENSES
#
# A folder appears under its final name when it is complete, so an interrupted
# run leaves nothing that looks finished.

. "$(dirname -- "$0")/common.sh"

# candidate PACKAGE: prints the version that apt would install.
candidate()
{
	local v

	v=$(apt-cache policy "$1" | sed -n 's/^  Candidate: //p')
	case $v in
	''|'(none)') die "apt knows no package $1: run apt-get update" ;;
	esac
	echo "$v"
}

# depends PACKAGE PATTERN: the first package that it depends on and that fits.
depends()
{
	local p

	p=$(apt-cache depends "$1" | sed -nE "s/^ [ |]Depends: ($2)\$/\1/p")
	[ -n "$p" ] || die "package $1 depends on nothing like $2"
	echo "${p%%$'\n'*}"
}

# download PACKAGE...: leaves the .deb files in the working folder.
download()
{
	say "  FETCH   $*"
	apt-get -qq -o APT::Sandbox::User="$(id -un)" download "$@" ||
		die "cannot download $*"
}

unpack_headers()
{
	local release=$1 deb

	for deb in linux-headers-*.deb linux-kbuild-*.deb; do
		dpkg-deb -x "$deb" headers
	done
	# Debian's headers find each other by absolute path.
	cat > "headers/usr/src/linux-headers-$release/Makefile" <<'MAKEFILE'
PLD_SRC := $(realpath $(dir $(lastword $(MAKEFILE_LIST)))/..)
include $(wildcard $(PLD_SRC)/linux-headers-*-common)/Makefile
MAKEFILE
	rm -f "headers/usr/src/linux-headers-$release/vmlinux"
	ln -s "headers/usr/src/linux-headers-$release" build
}

# The bzImage's header says where its compressed payload is.
unpack_vmlinux()
{
	local image=$1 setup offset length magic unpack

	setup=$(od -An -tu1 -j $((0x1f1)) -N1 "$image")
	offset=$(od -An -tu4 -j $((0x248)) -N4 "$image")
	length=$(od -An -tu4 -j $((0x24c)) -N4 "$image")
	offset=$(((setup + 1) * 512 + offset))
	magic=$(od -An -tx1 -j $offset -N4 "$image" | tr -d ' ')
	case $magic in
	fd377a58) unpack="xz -dc --single-stream" ;;
	28b52ffd) unpack="zstd -dcq" ;;
	1f8b*) unpack="gzip -dcq" ;;
	02214c18) unpack="lz4 -dcq" ;;
	*) die "unknown compression of $image: $magic" ;;
	esac
	# The payload ends with its size, which no unpacker knows.
	tail -c +$((offset + 1)) "$image" | head -c $((length - 4)) |
		$unpack > vmlinux || true
	[ "$(head -c 4 vmlinux | tr -d '\177')" = ELF ] ||
		die "cannot unpack $image"
}

# take_module NAME TAR: copies a module and what it depends on.
take_module()
{
	local name=$1 tar=$2 path dep

	path=$(grep -E "/${name//[-_]/[-_]}\.ko(\.xz|\.zst|\.gz)?\$" files) ||
		return 0
	[ ! -e "modules/$name.ko" ] || return 0
	case $path in
	*.xz) tar -xOf "$tar" "$path" | xz -dc ;;
	*.zst) tar -xOf "$tar" "$path" | zstd -dcq ;;
	*.gz) tar -xOf "$tar" "$path" | gzip -dc ;;
	*) tar -xOf "$tar" "$path" ;;
	esac > "modules/$name.ko"
	for dep in $(/sbin/modinfo -F depends "modules/$name.ko" | tr , ' '); do
		take_module "$dep" "$tar"
	done
}

unpack_image()
{
	local release=$1 name

	dpkg-deb --fsys-tarfile linux-image-*.deb > image.tar
	tar -tf image.tar > files
	tar -xOf image.tar "./boot/vmlinuz-$release" > vmlinuz
	unpack_vmlinux vmlinuz
	mkdir modules
	for name in $PLD_MODULES; do
		take_module "$name" image.tar
	done
	rm image.tar files vmlinuz
}

# publish NAME VERSION: the working folder becomes $PLD_CACHE/NAME.
publish()
{
	rm -f ./*.deb
	rm -rf "${PLD_CACHE:?}/$2"
	mv "$work" "$PLD_CACHE/$2"
	ln -sfn "$2" "$PLD_CACHE/$1.new"
	mv -T "$PLD_CACHE/$1.new" "$PLD_CACHE/$1"
}

fetch_kernel()
{
	local series=$1 meta image headers release

	case $series in
	6.1) meta=linux-image-amd64 ;;
	*) meta=linux-image-$series-amd64 ;;
	esac
	image=$(depends "$meta" 'linux-image-[^<>]*')
	release=${image#linux-image-}
	headers=linux-headers-$release
	case $release in
	"$series".*) ;;
	*) die "$meta is kernel $release here, not $series: this needs Debian 12" ;;
	esac
	download "$image" "$headers" \
		"$(depends "$headers" 'linux-headers-.*-common')" \
		"$(depends "$headers" 'linux-kbuild-.*')"
	say "  UNPACK  kernel $release"
	unpack_headers "$release"
	unpack_image "$release"
	echo "$release" > release
	echo "$PLD_MODULES" > takes
	publish "$series" "${release}_$(candidate "$image")"
}

fetch_source()
{
	local package=linux-source-6.1 t=tools/testing/selftests

	download "$package"
	say "  UNPACK  kselftest and checkpatch of $package"
	dpkg-deb --fsys-tarfile "$package"_*.deb |
		tar -xOf - "./usr/src/$package.tar.xz" | xz -dc -T0 |
		tar -xf - --strip-components=1 \
			"$package/$t/Makefile" "$package/$t/lib.mk" \
			"$package/$t/kselftest" "$package/$t/kselftest.h" \
			"$package/$t/kselftest_harness.h" \
			"$package/$t/kselftest_install.sh" \
			"$package/$t/kselftest_deps.sh" \
			"$package/$t/run_kselftest.sh" \
			"$package/scripts/checkpatch.pl" \
			"$package/scripts/spelling.txt" \
			"$package/scripts/const_structs.checkpatch" \
			"$package/scripts/subarch.include" \
			"$package/LICENSES"
	publish source "source_$(candidate "$package")"
}

[ $# -gt 0 ] || die "usage: $0 6.1|6.12|source..."
mkdir -p "$PLD_CACHE"
exec 9> "$PLD_CACHE/lock"
flock 9
rm -rf "$PLD_CACHE"/unpack.*
work=
trap 'if [ -n "$work" ]; then cd /; rm -rf "$work"; fi' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
for what in "$@"; do
	! cached "$what" || continue
	work=$(mktemp -d "$PLD_CACHE/unpack.XXXXXX")
	chmod 755 "$work"
	cd "$work"
	case $what in
	6.1|6.12) fetch_kernel "$what" ;;
	source) fetch_source ;;
	*) die "unknown: $what" ;;
	esac
	work=
done
