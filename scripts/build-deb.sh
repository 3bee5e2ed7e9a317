#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# build-deb.sh: make deb. Builds the Debian packages from the checkout as it is,
# in a copy of it, $O/deb/source, and leaves them in $O/deb. Their version is
# that of kmod/version.mk: the changelog is written here.

. "$(dirname -- "$0")/common.sh"

unset MAKEFLAGS MFLAGS MAKEOVERRIDES CFLAGS CPPFLAGS LDFLAGS CC KDIR V
deb=$O/deb
source=$deb/source

# What git would have: its files and those that it does not know yet.
files()
{
	if [ -e .git ]; then
		git ls-files -z -co --exclude-standard
	else
		find . \( -path "./${O#"$PLD_TOP/"}" -o -name '*.o' -o -name '*.ko' \) \
			-prune -o -type f -print0
	fi
}

# One that is deleted but not yet from git's index is none.
existing()
{
	local file

	while IFS= read -r -d '' file; do
		[ ! -e "$file" ] || printf '%s\0' "$file"
	done
}

# Two builds of one commit have the same date, and so the same bytes.
changelog()
{
	local version date

	version=$(sed -n 's/^PLD_VERSION := //p' kmod/version.mk)
	date=$(git log -1 --format=%aD 2>/dev/null || date -R)
	cat <<CHANGELOG
pld-sim ($version) unstable; urgency=medium

  * Built from the sources of version $version.

 -- $(sed -n 's/^Maintainer: //p' debian/control)  $date
CHANGELOG
}

cd "$PLD_TOP"
command -v dh_dkms >/dev/null ||
	die "dh_dkms is missing: run 'make setup'"
rm -rf "$deb"
mkdir -p "$source"
files | existing | tar -c --null --no-recursion -T - | tar -x -C "$source"
changelog > "$source/debian/changelog"
cd "$source"
export -n O
DEB_BUILD_OPTIONS="parallel=$(nproc)" dpkg-buildpackage -us -uc -b
ls "$deb"/*.deb
