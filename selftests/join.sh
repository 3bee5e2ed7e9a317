#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# pld-allgather whose ranks are started by themselves: what the server prints,
# who comes in, under what, and how it ends. The platform is $PLD_PLATFORM.

# shellcheck source-path=SCRIPTDIR disable=SC2317 # functions are called by way of check
. "$(dirname "$0")/tool.inc"

why_not=$("$tool" -d 0,1 2>&1) || case $why_not in
*"platform kmod: no "*) skip "$why_not" ;;
esac
path=$tmp/s

says()
{
	grep -q "$1" "$tmp/server"
}

# serve ARG...: in the background; returns when it listens.
serve()
{
	: >"$tmp/server"
	"$tool" -d 3,1,0 --serve "$path" "$@" >"$tmp/server" 2>&1 &
	server=$!
	soon says '^rank'
}

# comes_in RANK: the command that the server has printed, in the background.
comes_in()
{
	command=$(sed -n "s/^rank $1: pld-allgather //p" "$tmp/server")
	eval "set -- $command"
	exec "$tool" "$@" >"$tmp/joined" 2>&1
}

# ends STATUS LAST: the server's end, and its last line.
ends()
{
	wait "$server"
	status=$?
	[ "$status" = "$1" ] && [ "$(tail -n 1 "$tmp/server")" = "$2" ] &&
		[ ! -e "$path" ] && return
	echo "# status $status, and:"
	sed 's/^/# /' "$tmp/server"
	return 1
}

# all_come_in ARG...
all_come_in()
{
	serve "$@" || return 1
	pids=
	for rank in 0 1 2; do
		(comes_in "$rank") &
		pids="$pids $!"
	done
	for pid in $pids; do
		wait "$pid" || return 1
	done
	ends 0 OK && says "^rank 1 has come: process" && says "^all ranks are here"
}

one_comes_in()
{
	serve --rank 1 --mode builtin --iters 3 --size 1000 --dtype int16 &&
		! says "^rank 0" && (comes_in 1) &&
		[ "$(cat "$tmp/joined")" = OK ] && ends 0 OK
}

path_with_a_quote()
{
	path="$tmp/it's a \$path"
	one_comes_in
	status=$?
	path=$tmp/s
	return "$status"
}

has_gdb()
{
	gdb -batch -ex run --args true >"$tmp/gdb" 2>&1 &&
		grep -q "exited normally" "$tmp/gdb"
}

under_gdb()
{
	has_gdb || return 4
	serve --rank 2 || return 1
	gdb -batch -ex "break allgather_hand" -ex run -ex "print my_rank" \
		-ex continue --args "$tool" --join "$path" --rank 2 \
		>"$tmp/gdb" 2>&1 </dev/null
	# gdb's own words may stand before it on the line.
	ends 0 OK && grep -q "OK$" "$tmp/gdb" && return
	sed 's/^/# gdb: /' "$tmp/gdb"
	return 1
}

killed_rank_is_told()
{
	serve --rank 0,2 || return 1
	(comes_in 2) &
	rank=$!
	soon says "^rank 2 has come" || return 1
	kill -KILL "$rank"
	wait "$rank" 2>/dev/null
	soon says "^rank 2 has gone: process $rank" || return 1
	(comes_in 0) &
	(comes_in 2) && ends 0 OK
}

interrupted()
{
	serve || return 1
	(comes_in 0) &
	rank=$!
	soon says "^rank 0 has come" || return 1
	kill -TERM "$server"
	ends 2 "pld-allgather: pld_domain_serve: stopped before all ranks had come" &&
		! wait "$rank"
}

nobody_comes()
{
	serve --rank 1,2 --timeout 0.2 &&
		ends 2 "pld-allgather: pld_domain_serve: timed out: ranks 1, 2 never came"
}

nobody_serves()
{
	refused "pld_domain_connect: nobody serves at $tmp/none" \
		--join "$tmp/none" --rank 1
}

# One that may open the device, where there is one.
stranger()
{
	[ "$(id -u)" = 0 ] && su user -c true 2>/dev/null || return 4
	chmod 755 "$tmp"
	serve --rank 1 || return 1
	su user -c "$tool --join $path --rank 1" >"$tmp/out" 2>&1
	[ $? = 2 ] && grep -q "no permission to connect to $path" "$tmp/out" &&
		chmod 666 "$path" || return 1
	su user -c "$tool --join $path --rank 1" >"$tmp/out" 2>&1
	[ $? = 2 ] && grep -q "the server does not admit user" "$tmp/out" &&
		(comes_in 1) && ends 0 OK
}

plan 9
check all_ranks_come_in all_come_in
check one_rank_comes_in one_comes_in
check path_that_needs_quotes path_with_a_quote
check rank_under_gdb under_gdb
check rank_that_goes_before_the_start killed_rank_is_told
check interrupted_server_leaves_nothing interrupted
check ranks_that_never_come_are_named nobody_comes
check path_without_a_server_is_refused nobody_serves
check stranger_is_not_let_in stranger
exit $failed
