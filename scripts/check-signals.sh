#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# check-signals.sh [6.1|6.12]
#
# make check-signals: the library's tests on memfd with 1,000 signals a second in
# each process, and all tests on the module with as many. The whole of a suite passes
# as it does without.
#
#	GUEST_SIGNALS=1000	fewer, for an emulated machine that does not bear them

. "$(dirname -- "$0")/common.sh"

install=$O/kselftest_install
kernel=${1:-6.12}
status=0

unset MAKEFLAGS MFLAGS CFLAGS CPPFLAGS LDFLAGS CC KDIR DESTDIR PREFIX
make --no-print-directory -C "$PLD_TOP" -j"$(nproc)" lib tools selftests_install \
	modules_build KDIR="$PLD_CACHE/$kernel/build"

PLD_SIGNALS=1000 PLD_PLATFORM=memfd PLD_ALLGATHER=$O/tools/pld-allgather \
	PLD_DRM=$O/tools/pld-drm PLD_EXAMPLES=$O/examples \
	"$install/kselftest-run" 'lib_*' || status=1
"$PLD_TOP/scripts/vm-run" --kernel "$kernel" --memory 3G --timeout 3000 \
	--insmod "devices=64 gid=990" -- env PLD_SIGNALS="${GUEST_SIGNALS:-1000}" PLD_PLATFORM=kmod \
	selftests/kselftest-run || status=1
exit $status
