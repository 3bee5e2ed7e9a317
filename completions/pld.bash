# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# Completion of the tools' command lines in bash. Installed once for each tool,
# under its name; the options are those that the tool's --help tells.

# The words of $1 that continue the word at the cursor.
_pld_words()
{
	mapfile -t COMPREPLY < <(compgen -W "$1" -- "$cur")
}

# A list of these numbers, of which it is offered what it does not have yet.
_pld_list()
{
	local number begun='' others=()

	[[ $cur != *,* ]] || begun=${cur%,*},
	for number; do
		[[ ,$begun == *,$number,* ]] || others+=("$number")
	done
	mapfile -t COMPREPLY < <(compgen -P "$begun" -W "${others[*]}" -- "${cur##*,}")
	compopt -o nospace -o nosort
}

# The devices of the module, else those of memfd.
_pld_devices()
{
	local device ids=()

	for device in /sys/bus/platform/devices/pld_sim.*; do
		[[ ! -e $device ]] || ids+=("${device##*.}")
	done
	[[ ${#ids[@]} -gt 0 ]] || ids=({0..63})
	_pld_list "${ids[@]}"
}

# A list of operations that pld-bench measures.
_pld_operations()
{
	_pld_list allgather-hand allgather-builtin allgather-reuse broadcast \
		reduce-scatter allreduce-mesh allreduce-two-phase allreduce-ring \
		all-to-all all-to-all-v put get ping-pong barrier blocked-wait \
		window-alloc window-map domain-start
}

# What the same letter or word means to one tool only.
_pld_bench_value()
{
	case $1 in
	-o|--op) _pld_operations ;;
	-t) _pld_value --dtype ;;
	--plot) _filedir svg ;;
	-b|--minbytes|-e|--maxbytes|-f|--stepfactor|-i|--stepbytes|-n|--iters|\
	-w|--warmup|-c|--check|--rotate|--offset) COMPREPLY=() ;;
	*) return 1 ;;
	esac
}

# _pld_value OPTION: completes its value; fails for an option without one.
_pld_value()
{
	case $1 in
	-d|--devices) _pld_devices ;;
	-p|--platform) _pld_words "auto kmod memfd a2a3sim" ;;
	--mode) _pld_words "hand builtin" ;;
	--dtype) _pld_words "fp64 fp32 fp16 bf16 int64 int32 int16 int8
		uint64 uint32 uint16 uint8" ;;
	--inject) _pld_words "wrong-slot own-window no-barrier stage-offset
		tile-source window-source dead-rank missing-notify" ;;
	--import|--rank) _pld_list {0..63} ;;
	--drm|--serve|--join) _filedir ;;
	# Numbers.
	--size|--iters|--timeout|--tile) COMPREPLY=() ;;
	*) return 1 ;;
	esac
}

_pld_tool()
{
	# shellcheck disable=SC2034 # set by _init_completion
	local cur prev words cword split

	_init_completion -s || return
	[[ ${1##*/} != pld-bench ]] || ! _pld_bench_value "$prev" || return 0
	_pld_value "$prev" && return
	# "--option=" was the word before, and takes no value.
	! $split || return
	_pld_words "$(_parse_help "$1")"
	[[ ${COMPREPLY[*]} != *= ]] || compopt -o nospace
}

complete -F _pld_tool pld-allgather pld-bench pld-drm pld-info
