#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# make coverage [KERNEL=6.12]: which lines of the module the selftests run, by
# gcov (selftests/modules/pld_gcov.c), in a guest.
#
# Fails when less than 90 % of all lines run, or when one that answers an error
# does not and is not in selftests/unreached, with its reason.
# $O/coverage/*.c.gcov have a count for each line.

. "$(dirname -- "$0")/common.sh"

least=90
kernel=${KERNEL:-6.12}
tests=${TESTS:-}
work=$O/coverage
known=$PLD_TOP/selftests/unreached
release=$(cat "$PLD_CACHE/$kernel/release")

# The compiler forgets where a constant came from. So each return, goto and error
# gets something on its line that it has to do.
mark()
{
	local to=$work/modules-$release/kmod file text

	"$PLD_TOP/scripts/mirror-kmod.sh" "$work/modules-$release"
	for file in "$PLD_TOP"/kmod/*.c; do
		text=$(sed -E 's/^(\t+)((return|goto)\>[^;]*;|[a-z_>.-]+ = -E[A-Z]+;)$/\1{ asm volatile(""); \2 }/' "$file")
		if [ -L "$to/${file##*/}" ] ||
			[ "$text" != "$(cat "$to/${file##*/}")" ]; then
			rm "$to/${file##*/}"
			printf '%s\n' "$text" > "$to/${file##*/}"
		fi
	done
}

build()
{
	mark
	make --no-print-directory -s -C "$PLD_TOP" O="$work" GCOV=y \
		KDIR="$PLD_CACHE/$kernel/build" modules_build test_modules
	[ -n "${NO_BUILD:-}" ] || make --no-print-directory -s -C "$PLD_TOP" \
		lib tools selftests_install
}

# What is printed between two marks is an archive of the counts.
run()
{
	local module=$work/modules-$release/pld_sim.ko
	local tests_modules=$work/test-modules-$release

	O=$O "$PLD_TOP/scripts/vm-run" --kernel "$kernel" --memory 3G \
		--timeout "${TIMEOUT:-3000}" --no-insmod \
		--add "$module:/pld/pld_sim.ko" \
		--add "$module:/lib/modules/$release/pld_sim.ko" \
		--add "$tests_modules:/pld/test-modules" -- sh -c "
		insmod test-modules/pld_gcov.ko
		insmod test-modules/pld_test_exporter.ko
		insmod pld_sim.ko devices=64 gid=990
		export PLD_PLATFORM=kmod PLD_MODULE=/pld/pld_sim.ko
		selftests/kselftest-run $tests
		status=\$?
		mkdir /tmp/counts
		cd /sys/kernel/debug/pld_gcov
		for file in *; do cat \$file > /tmp/counts/\$file; done
		echo counts-begin
		tar -C /tmp/counts -czf - . | base64
		echo counts-end
		exit \$status"
}

# Prints "file line count text" of all lines that gcov counts, with the function.
lines()
{
	awk '
		FNR == 1 { file = FILENAME; sub(/.*\//, "", file)
			sub(/\.gcov$/, "", file) }
		{
			count = $0; sub(/:.*/, "", count); gsub(/ |\*/, "", count)
			text = $0; sub(/^[^:]*:[^:]*:/, "", text)
			if (text ~ /^[a-z].*[a-z0-9_]\(/ && text !~ /;$/) {
				fn = text; sub(/\(.*/, "", fn)
				sub(/.*[ *]/, "", fn)
			}
			if (count == "-")
				next
			gsub(/^[ \t]+|[ \t]+$/, "", text)
			if (sub(/^\{ asm volatile\(""\); /, "", text))
				sub(/ \}$/, "", text)
			print file "\t" fn "\t" (count !~ /^[#=]/) "\t" text
		}' "$work"/*.c.gcov
}

# file:function: text of what answers an error and did not run.
unreached()
{
	lines | awk -F '\t' '!$3 && $4 ~ /return .*-E[A-Z]+|ERR_PTR\(-E|= -E[A-Z]+;|goto |VM_FAULT_SIGBUS/ {
		print $1 ":" $2 ": " $4 }' | sort -u
}

report()
{
	lines | awk -F '\t' -v least=$least '
		{ all[$1]++; ran[$1] += $3; n++; r += $3 }
		END {
			for (f in all)
				printf "%-14s %4d of %4d lines, %5.1f %%\n", f,
					ran[f], all[f], 100 * ran[f] / all[f] | "sort"
			close("sort")
			printf "%-14s %4d of %4d lines, %5.1f %%\n", "all", r, n,
				100 * r / n
			exit 100 * r / n < least
		}'
}

build
status=0
run > "$work/run.log" || status=$?
grep -E '^(not )?ok|^#.* passed' "$work/run.log" | grep -E '^not|passed' || true
grep -q '^counts-end' "$work/run.log" || die "no counts: see $work/run.log"
rm -rf "$work/counts" "$work"/*.gcov
mkdir -p "$work/counts"
sed -n '/^counts-begin/,/^counts-end/{/^counts-/d;p}' "$work/run.log" |
	base64 -d | tar -C "$work/counts" -xzf -
cp "$work/modules-$release/kmod/"*.gcno "$work/counts"
(cd "$work/counts" && gcov -r -s "$work/modules-$release" ./*.gcda > gcov.log 2>&1 &&
	mv ./*.c.gcov "$work") || die "gcov: see $work/counts/gcov.log"
report || { status=1; say "less than $least %"; }
unreached > "$work/unreached"
if ! grep -vxFf <(sed -n 's/^\([^#].*\)\t.*/\1/p' "$known") "$work/unreached" \
	> "$work/unlisted"; then
	say "every line that answers an error runs, or is in ${known#"$PLD_TOP"/}"
else
	say "these answer an error, do not run, and are not in ${known#"$PLD_TOP"/}:"
	cat "$work/unlisted"
	status=1
fi
exit $status
