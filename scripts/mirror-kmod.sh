#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# mirror-kmod.sh FOLDER: makes FOLDER a mirror of the module's sources out of
# symbolic links, since Kbuild puts its objects beside the sources.

. "$(dirname -- "$0")/common.sh"

mirror=$1
mkdir -p "$mirror"
find "$mirror" -xtype l -delete
cd "$PLD_TOP"
find Kbuild kmod uapi -type f | while IFS= read -r file; do
	[ ! -e "$mirror/$file" ] || continue
	mkdir -p "$mirror/$(dirname -- "$file")"
	ln -s "$PLD_TOP/$file" "$mirror/$file"
done
