#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# make fuzz-user [SECONDS=60]: libFuzzer on what reads bytes of somebody else in
# user space (selftests/fuzz/user), so long on each, from the inputs in corpus/.
#
# New inputs are left in $O/fuzz-user/corpus-NAME. What is found is told, and its
# input left as $O/fuzz-user/NAME-...; `fuzz_NAME FILE` runs it again.

. "$(dirname -- "$0")/common.sh"

targets=$PLD_TOP/selftests/fuzz/user
work=$O/fuzz-user
seconds=${SECONDS_EACH:-60}
failed=0

# Leaks are looked for but where exit() is cut short, by longjmp().
run()
{
	local name=$1 leaks=1

	case $name in options*) leaks=0 ;; esac
	export ASAN_OPTIONS=detect_leaks=$leaks
	mkdir -p "$work/corpus-$name"
	"$work/fuzz_$name" -max_total_time="$seconds" -detect_leaks=$leaks \
		-close_fd_mask=3 -max_len=4096 -rss_limit_mb=4096 \
		-artifact_prefix="$work/$name-" "$work/corpus-$name" \
		"$targets/corpus/$name" > "$work/$name.log" 2>&1
}

command -v clang > /dev/null || die "clang is missing: run 'make setup'"
flags=$(make --no-print-directory -s -C "$targets" flags)
make --no-print-directory -s -C "$PLD_TOP" O="$work" CC=clang CFLAGS="$flags" \
	"${work#"$PLD_TOP"/}/libpld.a"
make --no-print-directory -s -C "$targets" OUTPUT="$work" \
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
exit $failed
