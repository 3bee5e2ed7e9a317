#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# build-man.sh FOLDER VERSION SOURCE...: makes manual pages of scdoc sources, in
# FOLDER/man1 and so on. Declarations in them are the headers' own. A page is
# also found by the other names in its NAME section. FOLDER/made is there when
# all are.

. "$(dirname -- "$0")/common.sh"

folder=$1 version=$2
shift 2
case $folder in /*) ;; *) folder=$PWD/$folder ;; esac
cd "$PLD_TOP"
rm -rf "$folder"
mkdir -p "$folder"
for source in "$@"; do
	page=$(basename -- "$source" .scd)
	section=${page##*.}
	mkdir -p "$folder/man$section"
	scripts/man-declarations lib*/include/*.h "$source" |
		sed "s/@VERSION@/$version/" | scdoc |
		sed '/^\.TH /a .nh' > "$folder/man$section/$page" || die "$source is not understood"
	for name in $(scripts/man-names "$source"); do
		[ "$name.$section" = "$page" ] ||
			echo ".so man$section/$page" \
				> "$folder/man$section/$name.$section"
	done
done
touch "$folder/made"
