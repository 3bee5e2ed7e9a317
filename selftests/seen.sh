#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# What pld-allgather shows of a run, and of the usual mistakes: --ir, --ir-diff,
# --cost and --inject. None of it depends on the platform.

# shellcheck source-path=SCRIPTDIR disable=SC2317 # functions are called by way of check
. "$(dirname "$0")/tool.inc"

# counted MODE COUNTS: by every rank.
counted()
{
	"$tool" -d 0,1,2,3 --mode "$1" --size 3 --ir >"$tmp/out" || return 1
	[ "$(grep -cx "  # $2" "$tmp/out")" = 4 ] &&
		[ "$(tail -n 1 "$tmp/out")" = OK ]
}

# Rank 1's lines of an allgather of two.
hand_ir="rank 1, hand:
  tile = pl.tile.load(x, [0, 0], [1, 3])
  pl.tile.store(tile, [1, 0], data)
  pld.system.notify(signal, 0, [1, 0], 1, op=AtomicAdd)
  pld.system.wait(signal, [0, 0], 1, cmp=Ge)
  tile = pld.tile.remote_load(data, 0, [0, 0], [1, 3])
  pl.tile.store(tile, [0, 0], y)
  tile = pld.tile.remote_load(data, 1, [1, 0], [1, 3])
  pl.tile.store(tile, [0, 3], y)
  # 1 load, 3 store, 2 remote_load, 1 notify, 1 wait
OK"
builtin_ir="rank 1, builtin:
  pld.tile.put(data, 0, x, stage, [1, 0], [0, 0], [1, 3], atomic=None_)
  pld.tile.put(data, 1, x, stage, [1, 0], [0, 0], [1, 3], atomic=None_)
  pld.system.notify(signal, 0, [1, 0], 1, op=AtomicAdd)
  pld.system.wait(signal, [0, 0], 1, cmp=Ge)
  pld.system.notify(signal, 1, [0, 0], -1, op=AtomicAdd)
  # 2 put, 2 notify, 1 wait
OK"

ir_is_what_ran()
{
	[ "$("$tool" -d 0,1 --size 3 --ir | sed -n '/^rank 1/,$p')" = "$hand_ir" ] &&
		[ "$("$tool" -d 0,1 --size 3 --ir --mode builtin |
			sed -n '/^rank 1/,$p')" = "$builtin_ir" ]
}

# The barrier stands between, on one line in both.
ir_diff_has_both()
{
	"$tool" -d 0,1 --size 3 --ir-diff >"$tmp/out" || return 1
	sed -n '/^rank 1:/,/^OK/s/  */ /gp' "$tmp/out" >"$tmp/rank1"
	cat >"$tmp/want" <<-'END'
	rank 1:
	 hand builtin
	 tile = pl.tile.load(x, [0, 0], [1, 3]) | pld.tile.put(data, 0, x, stage, [1, 0], [0, 0], [1, 3], atomic=None_)
	 pl.tile.store(tile, [1, 0], data) | pld.tile.put(data, 1, x, stage, [1, 0], [0, 0], [1, 3], atomic=None_)
	 pld.system.notify(signal, 0, [1, 0], 1, op=AtomicAdd) pld.system.notify(signal, 0, [1, 0], 1, op=AtomicAdd)
	 pld.system.wait(signal, [0, 0], 1, cmp=Ge) pld.system.wait(signal, [0, 0], 1, cmp=Ge)
	 tile = pld.tile.remote_load(data, 0, [0, 0], [1, 3]) | pld.system.notify(signal, 1, [0, 0], -1, op=AtomicAdd)
	 pl.tile.store(tile, [0, 0], y) <
	 tile = pld.tile.remote_load(data, 1, [1, 0], [1, 3]) <
	 pl.tile.store(tile, [0, 3], y) <
	 # hand: 1 load, 3 store, 2 remote_load, 1 notify, 1 wait
	 # builtin: 2 put, 2 notify, 1 wait
	END
	# Lines without a special meaning to sed lose their runs of blanks only.
	sed -n '/^rank 1:/,/^OK/p' "$tmp/out" | grep -v '^OK' |
		sed 's/  */ /g' | diff "$tmp/want" - >"$tmp/err" && return
	sed 's/^/# /' "$tmp/err"
	return 1
}

# 3 ranks, 10 elements of 4 bytes, 2 calls: 2 * 2 * 40 bytes either way, $3
# messages, and notifies of $2 own cells.
cost_is_by_the_formula()
{
	"$tool" -d 0,1,2 --size 10 --iters 2 --cost --mode "$1" --tile 16 \
		>"$tmp/out" && [ "$(tail -n 1 "$tmp/out")" = OK ] || return 1
	for who in 0 1 2 formula; do
		grep -qx "$who  *160  *160  *$3  *$3  *4  *$2  *4" "$tmp/out" ||
			return 1
	done
}

cost_that_differs_fails()
{
	"$tool" -d 0,1,2 --size 10 --cost --inject own-window \
		>"$tmp/out" 2>"$tmp/err"
	[ $? = 1 ] && [ "$(tail -n 1 "$tmp/out")" = FAILED ] &&
		grep -qx "pld-allgather: cost of rank 2: 0 bytes received, by the formula 80" \
			"$tmp/err"
}

# mistake NAME AGREE MESSAGE: what 4 ranks show. AGREE is 1 when all have the
# same result; MESSAGE is a line of the errors.
mistake()
{
	seconds=1
	[ -z "$PLD_GUEST" ] || seconds=4
	"$tool" -d 0,1,2,3 --inject "$1" --timeout "$seconds" \
		>"$tmp/out" 2>"$tmp/err"
	[ $? = 1 ] && [ "$(tail -n 1 "$tmp/out")" = FAILED ] &&
		[ "$(grep -cx "all 4 ranks have the same result" "$tmp/out")" = "$2" ] &&
		grep -qx "pld-allgather: $3" "$tmp/err" && return
	echo "# and this:"
	sed 's/^/# /' "$tmp/out" "$tmp/err"
	return 1
}

# The last rank's slot always, the others' now and then.
stale_data()
{
	wrong="call 0, slot 3, element 0: got 0 (0x0), wanted 193 (0x43410000)"
	mistake no-barrier 0 "rank 0, $wrong" &&
		grep -qx "pld-allgather: rank 1, $wrong" "$tmp/err" &&
		grep -qx "pld-allgather: rank 2, $wrong" "$tmp/err"
}

# Slices as long as their type has values, and a few of them: none are alike.
mistake_where_values_repeat()
{
	for run in "int8 256" "int8 64" "int16 65536" "fp16 63488"; do
		"$tool" -d 0,1 --inject wrong-slot --dtype "${run% *}" \
			--size "${run#* }" >"$tmp/out" 2>"$tmp/err"
		[ $? = 1 ] && [ "$(grep -c "element 0: " "$tmp/err")" = 4 ] ||
			return 1
	done
}

# The mistake, and nothing that arranges it.
trace_of_a_mistake()
{
	"$tool" -d 0,1,2,3 --inject missing-notify --ir \
		>"$tmp/out" 2>/dev/null
	sed -n '/^rank 3/,$p' "$tmp/out" >"$tmp/rank3"
	grep -qx "  # 1 load, 5 store, 4 remote_load, 2 notify, 3 wait" "$tmp/rank3" &&
		! grep -q "notify(signal, 0," "$tmp/rank3" &&
		! grep -qi moment "$tmp/out"
}

plan 17
check ir_of_every_rank_has_the_counts_of_hand counted hand \
	"1 load, 5 store, 4 remote_load, 3 notify, 3 wait"
check ir_of_every_rank_has_the_counts_of_builtin counted builtin \
	"4 put, 6 notify, 3 wait"
check ir_is_what_ran ir_is_what_ran
check ir_of_both_modes_side_by_side ir_diff_has_both
check cost_of_hand_is_by_the_formula cost_is_by_the_formula hand 0 12
check cost_of_builtin_is_by_the_formula cost_is_by_the_formula builtin 4 4
check cost_that_differs_fails cost_that_differs_fails
check mistake_wrong_slot mistake wrong-slot 1 \
	"rank 3, call 0, slot 0, element 0: got 193 (0x43410000), wanted 1 (0x3f800000)"
check mistake_is_seen_where_values_repeat mistake_where_values_repeat
check mistake_own_window mistake own-window 0 \
	"rank 3, call 0, slot 0, element 0: got 0 (0x0), wanted 1 (0x3f800000)"
check mistake_no_barrier stale_data
check mistake_is_traced_alone trace_of_a_mistake
check mistake_stage_offset mistake stage-offset 1 \
	"rank 3, call 0, slot 1, element 0: got 0 (0x0), wanted 65 (0x42820000)"
check mistake_tile_source mistake tile-source 0 \
	"rank [0-3]: pld.tensor.allgather input must be a Tensor or DistributedTensor, got Tile"
check mistake_window_source mistake window-source 0 \
	"rank [0-3]: pld.tensor.allgather local_data must be a plain Tensor, got DistributedTensor"
check mistake_dead_rank mistake dead-rank 0 \
	"rank 3 died: killed by signal 9 (Killed)"
check mistake_missing_notify mistake missing-notify 0 \
	"rank 0: pld.system.wait: timed out after [0-9]*.000 s: cell \\[3, 0\\] of rank 0 is 0, expected >= 1; rank 3 should have notified it"
exit $failed
