#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# make check-deb: builds the Debian packages, installs them in a clean Debian 12
# that has headers of both kernels but runs on neither, boots that Debian, uses
# the module and the tools as a user would, and purges them again. As root.

. "$(dirname -- "$0")/common.sh"
. "$PLD_TOP/scripts/debian.inc"

unset MAKEFLAGS MFLAGS
deb=$O/deb
root=$deb/root
booted=6.12

step()
{
	printf '[%3d s] %s\n' $SECONDS "$*"
}

chrooted()
{
	in_root "$root" "$@"
}

# What the packages need of Debian, but each other.
dependencies()
{
	local package

	for package in "$deb"/*.deb; do
		case $package in
		*-dbgsym_*) ;;
		*) dpkg-deb -f "$package" Depends | tr ',' '\n' ;;
		esac
	done | sed 's/^ *//; s/[ (].*//' | sort -u | grep -vE '^(lib)?pld-|^libpld'
}

make_root()
{
	local packages

	mapfile -t packages < <(dependencies)
	copy_root "$root" "${packages[@]}"
	# There is one already, of udev.
	chrooted groupmems -g render -l > /dev/null
	chrooted useradd -m -G render member
	chrooted useradd -m stranger
}

install_packages()
{
	mkdir "$root/deb"
	cp "$deb"/*.deb "$root/deb"
	rm "$root/deb"/*-dbgsym_*
	chrooted sh -c 'apt-get install -y -q -o Dpkg::Use-Pty=0 \
		--no-install-recommends /deb/*.deb'
	rm -r "$root/deb"
}

# module_is_for KERNEL: of that kernel, and not of the one that runs here.
module_is_for()
{
	local release module

	release=$(cat "$PLD_CACHE/$1/release")
	chrooted dkms status -m pld-sim -k "$release" | grep ': installed' ||
		die "dkms has no pld-sim installed for $release"
	module=$(chrooted modinfo -k "$release" -n pld_sim)
	case $(chrooted modinfo -F vermagic "$module") in
	"$release "*) say "$module is for $release, and $(uname -r) runs here" ;;
	*) die "$module is for $(chrooted modinfo -F vermagic "$module")" ;;
	esac
}

# The program of README.md, by a user who has libpld-dev and a compiler.
build_example()
{
	awk '/^```c$/ { inside = 1; next } /^```$/ { if (inside) exit }
	     inside' "$PLD_TOP/README.md" > "$root/tmp/example.c"
	chrooted sh -c 'cd /tmp && gcc -Wall -Werror example.c -lpld -o example &&
		PLD_PLATFORM=memfd ./example'
	rm "$root"/tmp/example*
}

# It is a lot of memory, and of no use to who runs the packages.
thin()
{
	rm -rf "$root"/headers "$root"/usr/lib/gcc "$root"/usr/include \
		"$root"/usr/share/{locale,i18n,zoneinfo} "$root"/tmp/*
	find "$root/usr/lib/x86_64-linux-gnu" -name '*.a' -delete
}

cleanup()
{
	local status=$?

	if [ "$status" != 0 ]; then
		cat "$root"/var/lib/dkms/pld-sim/*/build/make.log || true
		tail -n 40 "$log" >&3
	fi
	rm -rf "$root"
	exit "$status"
}

[ "$(id -u)" = 0 ] || die "this makes a Debian root and must be root for it"
cd "$PLD_TOP"
"$PLD_TOP/scripts/setup.sh" 6.1 6.12
mkdir -p "$deb"
log=$O/check-deb.log
step "make check-deb; its log is $log"
exec 3>&1 > "$log" 2>&1
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

step "building the packages" >&3
scripts/build-deb.sh
# Machine code is not text, whose spelling could be wrong.
lintian --allow-root --fail-on error,warning,info --tag-display-limit 0 -I \
	--suppress-tags spelling-error-in-binary "$deb"/*.changes
step "installing them in a clean Debian" >&3
make_root
add_headers "$root" "$booted"
install_packages
module_is_for "$booted"
step "building the module for another kernel" >&3
add_headers "$root" 6.1
chrooted dkms install pld-sim/"$(sed -n 's/^PLD_VERSION := //p' kmod/version.mk)" \
	-k "$(cat "$PLD_CACHE/6.1/release")"
module_is_for 6.1
module_is_for "$booted"
build_example
step "booting it with $booted" >&3
thin
scripts/vm-run --kernel "$booted" --root "$root" --timeout 900 \
	--add "$PLD_TOP/scripts/check-deb-guest:/check-deb-guest" -- /check-deb-guest
step "the packages do what they should" >&3
