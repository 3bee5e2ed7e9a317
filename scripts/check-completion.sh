#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# check-completion.sh BUILD: asks bash what it would complete on the tools'
# command lines, and compares it with what the tools say of themselves.

. "$(dirname -- "$0")/common.sh"

set +u		# bash-completion's own code
export PATH=$1/tools:$PATH
. /usr/share/bash-completion/bash_completion
. "$PLD_TOP/completions/pld.bash"
set +e

# completed WORD...: what the last word may become, in one line.
completed()
{
	local COMP_WORDS=() COMP_CWORD COMP_LINE COMP_POINT COMP_TYPE=9 COMP_KEY=9
	local COMPREPLY=() word

	# readline splits words at "=" too.
	for word in "$@"; do
		case $word in
		--*=*) COMP_WORDS+=("${word%%=*}" "=")
			[ -z "${word#*=}" ] || COMP_WORDS+=("${word#*=}") ;;
		*) COMP_WORDS+=("$word") ;;
		esac
	done
	COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
	COMP_LINE="$*"
	COMP_POINT=${#COMP_LINE}
	_pld_tool "$1"
	echo "${COMPREPLY[*]}"
}

# compopt is for a completion that bash itself has begun.
compopt() { :; }

# is WANTED WORD...
is()
{
	local wanted=$1 got

	shift
	got=$(completed "$@")
	[ "$got" = "$wanted" ] || die "$* becomes '$got', wanted '$wanted'"
}

# takes TOOL OPTION: completes to all that the tool names when it refuses a value.
takes()
{
	local said

	said=$("$1" -d 0,1 "$2=" 2>&1)
	said=$(sed -E "s/.* (is not|wanted) //; s/; see --help//; s/,? or / /; s/,//g" \
		<<< "$said")
	is "$said" "$1" "$2" ""
	is "$said" "$1" "$2="
}

has_sys()
{
	[ -e /sys/bus/platform/devices/pld_sim.0 ]
}

for tool in "$PLD_TOP"/tools/*/main.c; do
	tool=$(basename -- "${tool%/main.c}")
	complete -p "$tool" > /dev/null || die "$tool is not completed"
	is --help "$tool" --he
	is "" "$tool" --no-such-option
	is "" "$tool" --help=
done
takes pld-allgather --mode
takes pld-allgather --dtype
takes pld-allgather --inject
takes pld-allgather --platform
takes pld-drm --dtype
takes pld-bench --dtype
is "broadcast barrier blocked-wait" pld-bench -o b
is "put,get" pld-bench --op=put,g
is "fp64 fp32 fp16" pld-bench -t fp
is "" pld-bench -n ""
is "builtin" pld-allgather --mode b
is "builtin" pld-allgather --mode=b
is "--mode=" pld-allgather --m
is "--ir --ir-diff" pld-allgather --ir
is "" pld-allgather --size ""
is "memfd" pld-allgather -d 0,1 -p m
is "/dev/null" pld-drm --drm=/dev/nul
is "1,6 1,60 1,61 1,62 1,63" pld-drm --import 1,6
is "--json" pld-info --j
if ! has_sys; then
	is "6 60 61 62 63" pld-allgather -d 6
	is "5,6,60 5,6,61 5,6,62 5,6,63" pld-allgather -d 5,6,6
	is "63" pld-allgather --devices=63
	is "" pld-allgather -d 64
fi
