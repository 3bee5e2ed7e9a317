#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# check-example.sh DEST: builds the complete C programs of README.md and of
# doc/events.md with what check-install.sh left in DEST, and runs them.

. "$(dirname -- "$0")/common.sh"

dest=$1
export PKG_CONFIG_LIBDIR=$dest/prefix/lib/pkgconfig
for text in README.md doc/events.md; do
	awk '/^```c$/ { text = ""; inside = 1; next }
	     /^```$/ { if (inside && text ~ /int main/) { printf "%s", text; exit }
		       inside = 0 }
	     inside { text = text $0 "\n" }' "$PLD_TOP/$text" > "$dest/example.c"
	[ -s "$dest/example.c" ] || die "$text has no complete C program"
	# shellcheck disable=SC2046 # flags, one word each
	gcc -Wall -Wextra -Werror "$dest/example.c" -o "$dest/example" \
		$(pkg-config --cflags --libs libpld)
	PLD_PLATFORM=memfd LD_LIBRARY_PATH=$dest/prefix/lib timeout 60 "$dest/example"
done
