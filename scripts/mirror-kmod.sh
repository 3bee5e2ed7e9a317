#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# mirror-kmod.sh FOLDER: makes FOLDER a mirror of the module's sources out of
# symbolic links, since Kbuild puts its objects beside the sources. Kbuild may
# have been called directly: what it made has a .cmd file beside it.

. "$(dirname -- "$0")/common.sh"

mirror=$1
mkdir -p "$mirror"
find "$mirror" -xtype l -delete
cd "$PLD_TOP"
find Kbuild kmod uapi -type f ! -name '.*' ! -name '*.mod*' ! -name '*.order' |
while IFS= read -r file; do
	folder=$(dirname -- "$file")
	[ ! -e "$mirror/$file" ] || continue
	[ ! -e "$folder/.${file##*/}.cmd" ] || continue
	mkdir -p "$mirror/$folder"
	ln -s "$PLD_TOP/$file" "$mirror/$file"
done
