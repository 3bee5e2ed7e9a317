#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# check-man.sh BUILD: the manual pages are true to what they describe. Each
# function of the headers has a page, and each name of a page is one; each option
# that a tool tells of is in its page, and no other; so are the module's
# parameters and ioctls. All pages are made, and man has nothing to say of them.

. "$(dirname -- "$0")/common.sh"

build=$1
cd "$PLD_TOP"

# same WHAT: the lists in $build/man/want and .../got have the same lines.
same()
{
	diff "$build/man/want" "$build/man/got" > "$build/man/diff" || {
		cat "$build/man/diff"
		die "$1 differ: < is not described, > is not there"
	}
}

functions()
{
	tr '\n' ' ' < <(cat lib*/include/*.h) | grep -oE 'PLD_API [^;(]*\(' |
		sed -nE 's/.*[ *](pld_[a-z0-9_]+)\($/\1/p' | sort \
		> "$build/man/want"
	scripts/man-names man/*.3.scd | sort > "$build/man/names"
	[ -z "$(uniq -d "$build/man/names")" ] ||
		die "in two pages: $(uniq -d "$build/man/names")"
	# A page may be named by what it is about.
	grep -vxE 'pld|pld_tile|pld_drm' "$build/man/names" > "$build/man/got"
	same "functions and names of man/*.3.scd"
}

# A page has "*--option*" where an option is described, at the line's beginning.
options()
{
	local tool=$1

	"$build/tools/$tool" --help | grep -oE '^ {2,6}-[a-zA-Z-]+(, --[a-z-]+)?' |
		grep -oE -- '-[a-zA-Z-]+' | sort -u > "$build/man/want"
	grep -E '^\*-' "man/$tool.1.scd" | grep -oE '\*-[a-zA-Z-]+' | tr -d '*' |
		sort -u > "$build/man/got"
	[ -s "$build/man/want" ] || die "$tool --help names no option"
	same "options of $tool and of its page"
}

module()
{
	sed -nE 's/^module_param\(([a-z_]+),.*/\1/p' kmod/*.c | sort > "$build/man/want"
	sed -n '/^# MODULE PARAMETERS/,/^# FILES/s/^\*\([a-z_]*\)\*$/\1/p' \
		man/pld_sim.4.scd | sort > "$build/man/got"
	same "parameters of the module and of its page"
	sed -nE 's/^#define (PLD_IOC_[A-Z_]+).*/\1/p' uapi/linux/pld_sim.h | sort \
		> "$build/man/want"
	grep -oE 'PLD_IOC_[A-Z_]+' man/pld_sim.4.scd | sort -u > "$build/man/got"
	same "ioctls of the module and of its page"
}

warnings()
{
	local source page said

	for source in man/*.scd; do
		page=$(basename -- "$source" .scd)
		said=$(MANWIDTH=80 man -l --warnings -E UTF-8 \
			"$build/man/man${page##*.}/$page" 2>&1 > /dev/null)
		[ -z "$said" ] || die "$source: $said"
	done
	# Found by any of its names.
	MANPATH=$build/man man -w 3 pld_tensor_get > /dev/null
}

make --no-print-directory O="$build" man
functions
for tool in tools/*/main.c; do
	tool=${tool#tools/}
	options "${tool%/main.c}"
done
module
warnings
