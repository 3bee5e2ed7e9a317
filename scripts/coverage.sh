#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# make coverage [KERNEL=6.12]: which lines of the module the selftests run, by
# gcov (selftests/modules/pld_gcov.c), in a guest.
#
# Fails when less than 90 % of all lines run, when one that answers an error does
# not and is not in selftests/unreached, with its reason, or when that names a
# line that is not there, or that runs and whose reason is not "at times: ...".
# $O/coverage/*.c.gcov have a count for each line; $O/coverage/errors names, for
# each line that answers an error, the test that reached it first, or the reason.

. "$(dirname -- "$0")/common.sh"

least=90
kernel=${KERNEL:-6.12}
tests=${TESTS:-}
work=$O/coverage
known=$PLD_TOP/selftests/unreached
# What tells a line that answers an error.
answers='-E[A-Z]+|goto |VM_FAULT_SIGBUS'
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

# In place of kselftest's runner of one test: the same, and the counts after it.
counting_runner()
{
	cat <<-'END'
	#!/bin/sh
	"${0%/*}/run_test.sh" "$@"
	status=$?
	number=$((1000 + $(ls /tmp/counts | wc -l)))
	cp -R /sys/kernel/debug/pld_gcov "/tmp/counts/$number-${2#*:}"
	exit $status
	END
}

# What is printed between two marks is an archive of the counts.
run()
{
	local module=$work/modules-$release/pld_sim.ko
	local tests_modules=$work/test-modules-$release
	local runner=$O/kselftest_install/run_kselftest.sh

	counting_runner > "$work/run_kselftest.sh"
	chmod 755 "$work/run_kselftest.sh"
	O=$O "$PLD_TOP/scripts/vm-run" --kernel "$kernel" --memory 3G \
		--timeout "${TIMEOUT:-3000}" --no-insmod \
		--add "$module:/pld/pld_sim.ko" \
		--add "$module:/lib/modules/$release/pld_sim.ko" \
		--add "$runner:/pld/selftests/run_test.sh" \
		--add "$work/run_kselftest.sh:/pld/selftests/run_kselftest.sh" \
		--add "$tests_modules:/pld/test-modules" -- sh -c "
		insmod test-modules/pld_gcov.ko
		insmod test-modules/pld_test_exporter.ko
		insmod pld_sim.ko devices=64 gid=990
		export PLD_PLATFORM=kmod PLD_MODULE=/pld/pld_sim.ko
		mkdir /tmp/counts
		selftests/kselftest-run $tests
		status=\$?
		cp -R /sys/kernel/debug/pld_gcov /tmp/counts/all
		echo counts-begin
		tar -C /tmp/counts -czf - . | base64
		echo counts-end
		exit \$status"
}

# gcov_of FOLDER: makes *.c.gcov in the folder, which has counts.
gcov_of()
{
	cp "$work/modules-$release/kmod/"*.gcno "$1"
	(cd "$1" && gcov -r -s "$work/modules-$release" ./*.gcda > gcov.log 2>&1) ||
		die "gcov: see $1/gcov.log"
	rm "$1"/*.gcno
}

# lines FOLDER: prints "file function ran text number" of all lines that gcov
# counts.
lines()
{
	awk '
		FNR == 1 { file = FILENAME; sub(/.*\//, "", file)
			sub(/\.gcov$/, "", file) }
		{
			count = $0; sub(/:.*/, "", count); gsub(/ |\*/, "", count)
			number = $0; sub(/^[^:]*: */, "", number)
			sub(/:.*/, "", number)
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
			print file "\t" fn "\t" (count !~ /^[#=]/) "\t" text \
				"\t" number
		}' "$1"/*.c.gcov
}

# error_lines FOLDER RAN: file:function: text, and file:number, of what answers an
# error and ran, 1, or did not, 0.
error_lines()
{
	lines "$1" | awk -F '\t' -v ran="$2" -v answers="$answers" '
		$3 == ran && $4 ~ answers && $4 !~ /^(if|case) / {
			print $1 ":" $2 ": " $4 "\t" $1 ":" $5 }'
}

# What does not run, and why.
listed()
{
	grep -v '^#' "$known"
}

# What is listed, but runs, or answers no error, or is gone.
stale()
{
	{
		cat "$work/unreached"
		error_lines "$work" 1 | cut -f 1 | grep -xFf \
			<(listed | sed -n 's/\tat times: .*//p') || true
	} | sort -u | comm -13 - "$work/listed"
}

# Each line that answers an error, a tab, and the test that reached it first, which
# is the first whose counts have it: they are never taken back.
errors()
{
	local folder name

	for folder in "$work"/counts/1*; do
		name=${folder##*/}
		gcov_of "$folder"
		error_lines "$folder" 1 | sed "s/$/\t${name#*-}/"
	done | awk -F '\t' '!seen[$2]++ { print $2 " " $1 "\t" $3 }'
	error_lines "$work/counts/all" 0 |
		awk -F '\t' 'NR == FNR { why[$1] = $2; next }
			{ print $2 " " $1 "\tnone: " why[$1] }' <(listed) -
}

report()
{
	lines "$work" | awk -F '\t' -v least=$least '
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
gcov_of "$work/counts/all"
cp "$work/counts/all/"*.c.gcov "$work"
report || { status=1; say "less than $least %"; }
errors | sort -V | sed 's/ [^:]*:/ /' > "$work/errors"
say "which test reached each line that answers an error: $work/errors"
error_lines "$work" 0 | cut -f 1 | sort -u > "$work/unreached"
listed | cut -f 1 | sort -u > "$work/listed"
comm -23 "$work/unreached" "$work/listed" > "$work/unlisted"
stale > "$work/stale"
if [ ! -s "$work/unlisted" ]; then
	say "every line that answers an error runs, or is in ${known#"$PLD_TOP"/}"
else
	say "these answer an error, do not run, and are not in ${known#"$PLD_TOP"/}:"
	cat "$work/unlisted"
	status=1
fi
if [ -s "$work/stale" ]; then
	say "these are in ${known#"$PLD_TOP"/}, but run, or answer no error, or are gone:"
	cat "$work/stale"
	status=1
fi
exit $status
