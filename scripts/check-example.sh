#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# check-example.sh DEST: builds the complete C programs of README.md and of
# doc/events.md and doc/joining.md with what check-install.sh left in DEST, and
# runs them; the latter's Python program too, where there is a Python.

. "$(dirname -- "$0")/common.sh"

dest=$1
export PKG_CONFIG_LIBDIR=$dest/prefix/lib/pkgconfig
export PLD_PLATFORM=memfd LD_LIBRARY_PATH=$dest/prefix/lib

# program FILE LANGUAGE NUMBER: the whole programs in FILE, counted from 1.
program()
{
	awk -v start="^\`\`\`$2\$" -v number="$3" '
		$0 ~ start { text = ""; inside = 1; next }
		/^```$/ { if (inside && text ~ /int main|import/ && ++n == number)
				printf "%s", text
			  inside = 0 }
		inside { text = text $0 "\n" }' "$PLD_TOP/$1"
}

# build NAME FILE NUMBER
build()
{
	program "$2" c "$3" > "$dest/$1.c"
	[ -s "$dest/$1.c" ] || die "$2 has no complete C program $3"
	# shellcheck disable=SC2046 # flags, one word each
	gcc -Wall -Wextra -Werror "$dest/$1.c" -o "$dest/$1" \
		$(pkg-config --cflags --libs libpld)
}

build example README.md 1
timeout 60 "$dest/example"

build events doc/events.md 1
timeout 60 "$dest/events"

build server doc/joining.md 1
build rank doc/joining.md 2
program doc/joining.md python 1 > "$dest/rank.py"
other=("$dest/rank")
! python3 -c 'import ctypes' 2>/dev/null || other=(python3 "$dest/rank.py")
timeout 60 "$dest/server" "$dest/socket" &
until [ -S "$dest/socket" ]; do
	kill -0 $! || die "the server of doc/joining.md does not serve"
	sleep 0.05
done
timeout 60 "$dest/rank" "$dest/socket" 0 | tee /dev/stderr | grep -qx "rank 0 has 0 10" &
timeout 60 "${other[@]}" "$dest/socket" 1
wait %1
wait %2
