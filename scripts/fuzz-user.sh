#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# fuzz-user.sh [corpora]
#
# make fuzz-user [SECONDS=60]: libFuzzer on what reads bytes of somebody else in
# user space (selftests/fuzz/user), so long on each, from the inputs in corpus/.
# With "corpora", a step of make check, these inputs alone, each once.
#
# New inputs are left in $O/fuzz-user/corpus-NAME. What is found is told, and its
# input left as $O/fuzz-user/NAME-...; `fuzz_NAME FILE` runs it again.

. "$(dirname -- "$0")/common.sh"

targets=$PLD_TOP/selftests/fuzz/user
work=$O/fuzz-user
mode=${1:-}
seconds=${SECONDS_EACH:-60}
failed=0

# fuzz NAME OPTION|FOLDER...
fuzz()
{
	local name=$1

	shift
	"$work/fuzz_$name" -close_fd_mask=3 -max_len=4096 \
		-rss_limit_mb=4096 -artifact_prefix="$work/$name-" "$@" \
		"$targets/corpus/$name" > "$work/$name.log" 2>&1
}

run()
{
	[ -n "$(ls "$targets/corpus/$1")" ] || return 1
	if [ "$mode" = corpora ]; then
		fuzz "$1" -runs=0
	else
		mkdir -p "$work/corpus-$1"
		fuzz "$1" -max_total_time="$seconds" "$work/corpus-$1"
	fi
}

# Debian has it in a package that clang only recommends.
has_libfuzzer()
{
	echo 'int LLVMFuzzerTestOneInput(void) { return 0; }' |
		clang -fsanitize=fuzzer -x c - -o /dev/null 2> /dev/null
}

command -v clang > /dev/null || die "clang is missing: run 'make setup'"
if [ "$mode" = corpora ] && ! has_libfuzzer; then
	say "ok 1 fuzz-corpora # SKIP clang has no libFuzzer"
	exit 0
fi
flags=$(make --no-print-directory -s -C "$targets" flags)
make --no-print-directory -s -j"$(nproc)" -C "$PLD_TOP" O="$work" CC=clang CFLAGS="$flags" \
	"${work#"$PLD_TOP"/}/libpld.a"
make --no-print-directory -s -j"$(nproc)" -C "$targets" OUTPUT="$work" \
	PLD_LIB="$work/libpld.a"
for target in "$work"/fuzz_*; do
	name=${target##*/fuzz_}
	if run "$name"; then
		say "fuzz-user: $name: $(sed -n 's/^#\([0-9]*\).*DONE *\(cov: [0-9]*\).*/\1 runs, \2/p' "$work/$name.log")"
	else
		failed=1
		say "fuzz-user: $name: FAILED, see $work/$name.log"
		grep -E 'ERROR|runtime error|    #[0-9] ' "$work/$name.log" | head -n 12
	fi
done
[ "$mode" != corpora ] || [ "$failed" = 1 ] || say "ok 1 fuzz-corpora"
exit $failed
