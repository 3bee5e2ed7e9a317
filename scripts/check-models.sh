#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# make check-models: has spin look at every state of the models in models/, and
# find the mistake in those that have one, as models/list says; and runs
# models/fence.c. Installs spin where it is missing.
#
# check-models.sh [MODEL...]: those alone; "fence" is one.

. "$(dirname -- "$0")/common.sh"

list=$PLD_TOP/models/list
# Of a search, for which there is a second one, that takes three times as long.
most_states=3000000
surprises=0

install_spin()
{
	command -v spin > /dev/null && return
	[ "$(id -u)" = 0 ] || die "there is no spin: apt-get install spin"
	say "  INSTALL spin"
	apt-get update -q -o DPkg::Lock::Timeout=300 > "$tmp/apt" 2>&1 || true
	apt-get install -y -q --no-install-recommends \
		-o DPkg::Lock::Timeout=300 spin > "$tmp/apt" 2>&1 ||
		die "cannot install spin: $(tail -n 1 "$tmp/apt")"
}

# search KIND CFLAG...: every state of pan.c, without approximation.
search()
{
	local arguments=(-m2000000)

	[ "$1" = safety ] || arguments+=(-l)
	shift
	{
		time {
			"${CC:-cc}" "$@" -w -DCOLLAPSE -DMEMLIM=3000 -o pan pan.c
			./pan "${arguments[@]}" > out 2>&1 || true
		}
	} 2> spent
}

complete()
{
	grep -q 'errors: 0$' out && ! grep -qE \
		'^error:|Search not completed|max search depth|Bit statespace' out
}

# What spin says that is wrong.
finding()
{
	sed -n 's/^pan:1: *\(.*\) (at depth.*/\1/p; s/^\(error: .*\)/\1/p' out |
		head -n 1
}

# What was found is to be "-", nothing, or to have that name in it.
judge()
{
	local wanted=$1 found

	found=$(finding)
	if [ "$wanted" = - ] && complete; then
		result=proven
	elif [ "$wanted" != - ] && [[ $found == *"assertion violated"*$wanted* ]]
	then
		result="found: $wanted"
	else
		result="WRONG: ${found:-nothing found}, wanted $wanted"
		surprises=$((surprises + 1))
	fi
}

states()
{
	printf '%.0f' "$(sed -n 's/^ *\([0-9.e+]*\) states, stored.*/\1/p' out)"
}

# row WHAT RESULT
row()
{
	printf '%-58s %9d %7s  %s\n' "$1" "$(states)" "$(cat spent)" "$2"
}

# check MODEL RANKS WANTED OPTION...
check()
{
	local model=$1 ranks=$2 wanted=$3 what="$1, $2 ranks" result
	local optimize=-O0

	shift 3
	# A compiler's time is more than that of a small search.
	[ "$wanted" != - ] || [ "$ranks" = 2 ] || optimize=-O1
	what+="${*:+, $*}"
	spin -DRANKS="$ranks" "${@/#/-D}" -a "$PLD_TOP/models/$model.pml" > out ||
		die "$what: $(head -n 1 out)"
	search safety $optimize -DSAFETY
	judge "$wanted"
	row "$what" "$result"
	[ "$result" = proven ] && [ "$(states)" -le $most_states ] || return 0
	search progress $optimize -DNP
	judge -
	row "  ... and it goes on" "$result"
}

check_list()
{
	local model ranks wanted options

	while read -r model ranks wanted options; do
		case $model in '' | '#'*) continue ;; esac
		[ $# = 0 ] || [[ " $* " == *" $model "* ]] || continue
		# shellcheck disable=SC2086 # words
		check "$model" "$ranks" "$wanted" $options
	done < "$list"
}

# As on the machine, so in the models: a fence that is missing is seen.
check_fence()
{
	local status=0

	"${CC:-cc}" -std=gnu11 -O2 -Wall -Wextra -Werror -pthread \
		-I"$PLD_TOP/lib" -I"$PLD_TOP/lib/include" -I"$PLD_TOP/uapi" \
		-o fence "$PLD_TOP/models/fence.c"
	./fence || status=$?
	[ $status = 0 ] || [ $status = 4 ] || surprises=$((surprises + 1))
}

TIMEFORMAT=%U
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
install_spin
cd "$tmp" || exit
printf '%-58s %9s %7s  %s\n' model states 'CPU s' result
check_list "$@"
if [ $# = 0 ] || [[ " $* " == *" fence "* ]]; then
	check_fence
fi
[ "$surprises" = 0 ] || die "surprises: $surprises"
