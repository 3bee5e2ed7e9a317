#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# make check: every test there is. A step is a function below; its output goes
# to $O/check/logs, and is shown where it fails. A step that runs selftests
# counts each of their results, any other counts one. The guests run beside
# the native steps, since they wait more than they compute.

. "$(dirname -- "$0")/common.sh"

unset MAKEFLAGS MFLAGS CFLAGS CPPFLAGS LDFLAGS CC KDIR DESTDIR PREFIX
work=$O/check
logs=$work/logs
source=$PLD_CACHE/source
passed=0 failed=0 skipped=0
declare -A begun=()

#
# 1. The steps.
#

# build NAME ARG...: user space and selftests, in a folder of their own.
build()
{
	local name=$1

	shift
	make --no-print-directory -j"$(nproc)" O="$work/$name" lib tools \
		selftests_install "$@"
}

# With the module's tests for 32 bit, all of them, which the guest of 6.12 runs; the
# one of 6.1 has the few that a kernel's tree builds.
build_gcc()
{
	build gcc CC=gcc CFLAGS="-O2 -g -Werror" ALL_32=y
}

# For its warnings, which do not depend on the optimisation: nothing of it runs.
# Of selftests nothing is kept.
build_clang()
{
	make --no-print-directory -j"$(nproc)" O="$work/clang" CC=clang \
		CFLAGS="-O0 -Werror" lib tools selftests KSFT_CFLAGS="-Werror \
		-fsyntax-only -Wno-unused-command-line-argument"
}

# Of the selftests, those of the library: no others run in this build. They run
# as fast without optimisation, and build in a quarter of the time. What they do
# themselves is not watched, but for the heap.
build_asan()
{
	MODULE_TESTS='' build asan CC=gcc CFLAGS="-O0 -g1 -fno-omit-frame-pointer \
		-fsanitize=address,undefined -fno-sanitize-recover=all" \
		LDFLAGS="-Wl,--no-as-needed -lasan -lubsan" \
		KSFT_CFLAGS="-O0 -g1 -D__SANITIZE_ADDRESS__"
	# All its processes are killed at any moment, which leaves no report.
	sed -i -E '/:lib_storm$/d' \
		"$work/asan/kselftest_install/kselftest-list.txt"
}

# The library, and the tests that have threads: their own, the waiter's and that of
# a rank that came in. ThreadSanitizer does not know fences, which nothing here orders
# plain memory by, and wants its addresses where they always are.
native_tsan()
{
	local flags="-O1 -g -fsanitize=thread -Wno-tsan" folder=$work/tsan/selftests
	local tests=(lib_threads lib_host lib_join lib_signal lib_waiter lib_waiter_end lib_wake)
	local test result number=0 status=0

	make --no-print-directory -j"$(nproc)" O="$work/tsan" CC=gcc \
		CFLAGS="$flags" lib
	make --no-print-directory -C selftests CC=gcc CFLAGS="$flags" \
		KSFT_DIR="$source/tools/testing/selftests" \
		OUTPUT="$folder" PLD_LIB="$work/tsan/libpld.a" \
		PLD_INC="-I$PLD_TOP/lib/include -I$PLD_TOP/uapi" \
		PLD_LIBS="-lhwloc" "${tests[@]/#/$folder/}"
	for test in "${tests[@]}"; do
		result=ok number=$((number + 1))
		PLD_PLATFORM=memfd TSAN_OPTIONS="halt_on_error=1" \
			setarch -R "$folder/$test" > "$folder/$test.out" 2>&1 ||
			result="not ok" status=1
		sed 's/^/# /' "$folder/$test.out"
		echo "$result $number $test"
	done
	return $status
}

# A warning of Kbuild, the compiler or sparse fails the step.
module()
{
	local log=$logs/module-$1.out

	rm -rf "$work/gcc/"{,test-}"modules-$(cat "$PLD_CACHE/$1/release")"
	make --no-print-directory -j"$(nproc)" O="$work/gcc" modules_build \
		test_modules C=2 W=1 KDIR="$PLD_CACHE/$1/build" 2>&1 | tee "$log"
	! grep -qiE 'warning|error:' "$log"
}

sources()
{
	find "$@" -name '*.[ch]' -print0
}

# The layout of tracepoints is no C that checkpatch knows.
checkpatch()
{
	local status=0 check=("$source/scripts/checkpatch.pl" --no-tree
		--strict --terse --no-summary --show-types)

	sources kmod uapi selftests/modules ! -name trace.h ! -name probes.h |
		xargs -0 perl "${check[@]}" -f || status=1
	sources kmod -name trace.h | xargs -0 perl "${check[@]}" \
		--ignore OPEN_ENDED_LINE,PARENTHESIS_ALIGNMENT -f || status=1
	return $status
}

clang_format()
{
	sources lib lib-drm tools selftests models | xargs -0 clang-format --dry-run -Werror
}

shell_scripts()
{
	grep -rlE '^#!/bin/(ba)?sh|^#!/bin/busybox sh|shellcheck shell=' \
		scripts .ci kmod selftests completions | xargs shellcheck -x -P scripts
}

licence_tags()
{
	local without

	without=$(git ls-files -co --exclude-standard -z -- . ':!LICENSES' \
		':!selftests/fuzz/user/corpus' |
		xargs -0 grep -L -m 1 'SPDX-License-Identifier:' || true)
	[ -z "$without" ] || die "without a licence tag: $without"
}

# native BUILD PATTERN...: selftests that need no module.
native()
{
	local build=$work/$1

	shift
	PLD_PLATFORM=memfd PLD_ALLGATHER=$build/tools/pld-allgather \
		PLD_BENCH=$build/tools/pld-bench \
		PLD_DRM=$build/tools/pld-drm PLD_EXAMPLES=$build/examples \
		"$build/kselftest_install/kselftest-run" "$@"
}

# A few: what it finds beyond the sanitizers is the use of values never written.
native_valgrind()
{
	"$PLD_TOP/scripts/wrap-valgrind.sh" "$work/gcc/kselftest_install" \
		"$work/valgrind"
	PLD_PLATFORM=memfd PLD_VALGRIND=1 \
		"$work/valgrind/kselftest-run" lib_signal lib_window lib_huge \
		lib_event lib_get lib_several lib_waiter lib_waiter_end lib_wake
}

# What libFuzzer has found, each input once.
fuzz_corpora()
{
	O=$work "$PLD_TOP/scripts/fuzz-user.sh" corpora
}

instructions()
{
	"$PLD_TOP/scripts/instructions.sh" "$work/gcc"
}

# guest KERNEL [OPTION...] -- COMMAND...
guest()
{
	local kernel=$1

	shift
	O=$work/gcc "$PLD_TOP/scripts/vm-run" --kernel "$kernel" --memory 3G \
		--insmod "devices=64 gid=990" --timeout 900 "$@"
}

# The folder as part of a kernel's tree, built by that tree's means: the tests
# of the module's interface, which need no libpld and no tools.
drop_in()
{
	local tree=$work/tree/tools/testing/selftests

	rm -rf "$work/tree" "$work/tree-install"
	mkdir -p "$work/tree/usr/include/linux" "$tree/drivers"
	cp -R "$source/tools" "$source/scripts" "$work/tree"
	cp -R selftests "$tree/drivers/pld_sim"
	cp uapi/linux/pld_sim.h "$work/tree/usr/include/linux"
	PKG_CONFIG_LIBDIR=/nonexistent make -C "$tree" install FORCE_TARGETS=1 \
		TARGETS=drivers/pld_sim KSFT_INSTALL_PATH="$work/tree-install"
	cp scripts/kselftest-run scripts/kernel-log-splats "$work/tree-install"
	sed -i -E '/:(cli|usage|seen|usage_drm|drm|join|examples|bench).sh$/d' \
		"$work/tree-install/kselftest-list.txt"
}

# All but what the tools and a server say whatever the platform, and what takes
# long here and is make check-storms'; on memfd what needs a kernel with udmabuf.
guest_6_12()
{
	guest 6.12 -- sh -c "
		sed -i -E '/:(usage.sh|seen.sh|bench.sh|usage_drm.sh|lib_join(_trust|_garbage)?|lib_citizens|lib_litmus)\$/d' \
			selftests/kselftest-list.txt
		status=0
		PLD_PLATFORM=kmod selftests/kselftest-run || status=1
		PLD_PLATFORM=memfd selftests/kselftest-run lib_dmabuf_export \
			lib_dmabuf_import lib_dmabuf_refused lib_drm lib_drm_export ||
			status=1
		exit \$status"
}

# The module's tests as a part of a kernel's tree, the others from this one. What
# moves data in user space, how much memory there is, and rechecks are the same as
# on 6.12.
guest_6_1()
{
	local on_the_kernel="lib_dmabuf_export lib_dmabuf_import \
		lib_dmabuf_refused lib_domain lib_event lib_info lib_info_trust \
		lib_join lib_memcg lib_several lib_waiter lib_waiter_end \
		lib_waiter_loops lib_drm lib_drm_export drm.sh"

	drop_in
	sed -i -E '/:(memory|recheck.sh)$/d' "$work/tree-install/kselftest-list.txt"
	guest 6.1 --add "$work/tree-install:/pld/tree" -- sh -c "
		export PLD_PLATFORM=kmod
		status=0
		tree/kselftest-run || status=1
		selftests/kselftest-run $on_the_kernel || status=1
		exit \$status"
}

# On a kernel that nobody has headers of, nothing is begun.
demo_without_headers()
{
	local fake=$work/no-headers out

	mkdir -p "$fake"
	printf '#!/bin/sh\necho 0.0-none\n' > "$fake/uname"
	chmod +x "$fake/uname"
	if out=$(PATH=$fake:$PATH HOST=1 "$PLD_TOP/scripts/demo.sh" 2>&1); then
		return 1
	fi
	echo "$out"
	[ "$out" = "demo.sh: no headers of this machine's kernel in /lib/modules/0.0-none/build: apt-get install linux-headers-0.0-none" ]
}

install()
{
	"$PLD_TOP/scripts/check-install.sh" "$work/gcc" "$work/install"
}

example()
{
	"$PLD_TOP/scripts/check-example.sh" "$work/install"
}

man_pages()
{
	"$PLD_TOP/scripts/check-man.sh" "$work/gcc"
}

completion()
{
	"$PLD_TOP/scripts/check-completion.sh" "$work/gcc"
}

# dpkg-gensymbols refuses a symbol that is lost; this tells of a new one.
debian_symbols()
{
	local map library

	for map in lib*/*.map; do
		library=$(basename -- "$map" .map)
		diff <(sed -n 's/^\t\t\(pld_.*\);/\1/p' "$map" | sort) \
			<(sed -n 's/^ \(pld_.*\)@.*/\1/p' "debian/${library}0.symbols" |
				sort)
	done
}

#
# 2. Running and counting them.
#

progress()
{
	printf '[%3d s] %-8s %s\n' $SECONDS "$1" "$2"
}

# start NAME COMMAND...: runs a step in the background.
start()
{
	local name=$1

	shift
	begun[$name]=$SECONDS
	# With a process group of its own, it ends as a whole.
	set -m
	(
		set +e
		(set -e; "$@") > "$logs/$name.log" 2>&1 < /dev/null
		echo $? > "$logs/$name.status"
		echo $SECONDS > "$logs/$name.end"
	) &
	set +m
	eval "pid_${name//[-.]/_}=$!"
}

# count_taps NAME STATUS: prints passed, failed and skipped of such a step.
count_taps()
{
	local p f s

	read -r p f s <<< "$("$PLD_TOP/scripts/tap-count" "$logs/$1.log")"
	[ $((p + f + s)) -gt 0 ] || f=1
	[ "$2" = 0 ] || [ "$f" -gt 0 ] || f=1
	echo "$p $f $s"
}

show_failure()
{
	local log=$logs/$1.log

	if grep -qE '^(# )?not ok' "$log"; then
		grep -B 12 -E '^(# )?not ok' "$log" | tail -n 100
	fi
	tail -n 30 "$log"
	echo "(all of it: $log)"
}

# finish NAME [tap]: waits for a step and counts it.
finish()
{
	local name=$1 kind=${2:-} status p=0 f=0 s=0 pid took

	pid=pid_${name//[-.]/_}
	wait "${!pid}" || true
	status=$(cat "$logs/$name.status")
	took=$(($(cat "$logs/$name.end") - begun[$name]))
	if [ "$kind" = tap ]; then
		read -r p f s <<< "$(count_taps "$name" "$status")"
	elif [ "$status" = 0 ]; then
		p=1
	else
		f=1
	fi
	passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
	if [ "$f" -gt 0 ]; then
		progress FAILED "$name ($took s): $p passed, $f failed, $s skipped"
		show_failure "$name" | sed 's/^/    /'
	else
		progress ok "$name ($took s)${kind:+: $p passed, $s skipped}"
	fi
}

# step NAME KIND COMMAND...: runs one and waits for it.
step()
{
	local name=$1 kind=$2

	shift 2
	start "$name" "$@"
	finish "$name" "$kind"
}

cleanup()
{
	local job

	for job in $(jobs -p); do
		kill -TERM -- "-$job" 2>/dev/null || true
	done
	wait
}

# A function, so that all of this file has been read before a step starts.
main()
{
	case $O in
	*[[:space:]]*) die "kselftest and Kbuild cannot build in a path with spaces: $O" ;;
	esac
	cd "$PLD_TOP"
	"$PLD_TOP/scripts/setup.sh"
	rm -rf "$logs"
	mkdir -p "$logs"
	trap cleanup EXIT
	trap 'exit 130' INT
	trap 'exit 143' TERM HUP
	progress begin "make check; logs are in $logs"

	step build-gcc '' build_gcc
	step module-6.12 '' module 6.12
	start guest-6.12 guest_6_12
	step module-6.1 '' module 6.1
	start guest-6.1 guest_6_1
	step build-clang '' build_clang
	step build-asan '' build_asan
	step checkpatch '' checkpatch
	step clang-format '' clang_format
	step shell-scripts '' shell_scripts
	step licence-tags '' licence_tags
	step install '' install
	step example '' example
	step man-pages '' man_pages
	step completion '' completion
	step debian-symbols '' debian_symbols
	step demo-without-headers '' demo_without_headers
	step native tap native gcc 'lib_*' cli.sh usage.sh seen.sh bench.sh \
		usage_drm.sh join.sh examples.sh
	start native-tsan native_tsan
	start native-valgrind native_valgrind
	start instructions instructions
	start fuzz-corpora fuzz_corpora
	step native-asan tap native asan 'lib_*' usage.sh examples.sh
	finish native-tsan tap
	finish native-valgrind tap
	finish instructions
	finish fuzz-corpora tap
	finish guest-6.1 tap
	finish guest-6.12 tap

	progress end "make check"
	echo "$passed passed, $failed failed, $skipped skipped"
	[ "$failed" = 0 ]
}

main
