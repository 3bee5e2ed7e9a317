#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# make fuzz [MINUTES=30] [SEED=N]: random programs of calls of the module, on the
# kernel in which the kernel's own checkers look on (scripts/debug-kernel.sh),
# steered by which places of the module they come by (selftests/fuzz).
#
# fuzz.sh FILE...: runs these programs there, and tells what each call answers.
#
# The programs that a run ends with, as few as come by all that it came by, are
# left in $O/fuzz/corpus.

. "$(dirname -- "$0")/common.sh"

kernel=6.12-debug
fuzz=$PLD_TOP/selftests/fuzz
work=$O/fuzz
minutes=${MINUTES:-30}
seed=${SEED:-$(date +%s)}

build()
{
	local kdir=$PLD_CACHE/$kernel/build

	"$PLD_TOP/scripts/debug-kernel.sh" "${kernel%-debug}" debug
	make --no-print-directory -s -C "$PLD_TOP" O="$work" KDIR="$kdir" \
		KCOV=y modules_build
	make --no-print-directory -s -C "$PLD_TOP" O="$work" KDIR="$kdir" \
		test_modules
	make --no-print-directory -s -C "$fuzz" OUTPUT="$work" \
		PLD_INC="-I$PLD_TOP/uapi"
}

# guest COMMAND...: in the guest, with the folder of programs in "programs". Programs map
# buffers twice, which exporters allow and the debugging of the DMA API takes for an
# overlap (doc/reliability.md); the first allocation that fails on purpose ends it anyway.
guest()
{
	O=$work "$PLD_TOP/scripts/vm-run" --kernel $kernel --memory 3G --append "quiet dma_debug=off" \
		--timeout $((minutes * 60 + 900)) --keep-log "$work/kernel.log" \
		--insmod "devices=4 device_memory_mb=64 gid=990" \
		--add "$work/pld-fuzz" --add "$PLD_TOP/scripts/kernel-log-splats" \
		--add "$programs:/pld/programs" -- sh -c "
			modprobe pld_test_exporter
			$*"
}

# Prints what a run prints, as it comes; the corpus goes into files.
take_corpus()
{
	local line file=''

	while IFS= read -r line; do
		case $line in
		'corpus '*)
			file=$work/corpus/${line#* }.prog
			echo "# SPDX-License-Identifier: GPL-2.0" > "$file" ;;
		end) file='' ;;
		*) if [ -n "$file" ]; then
			printf '%s\n' "$line" >> "$file"
		else
			printf '%s\n' "$line"
		fi ;;
		esac
	done
}

build
if [ $# -gt 0 ]; then
	programs=$work/programs
	rm -rf "$programs"
	mkdir -p "$programs"
	cp -- "$@" "$programs"
	guest pld-fuzz replay -p kernel-log-splats 'programs/*'
else
	programs=$fuzz/corpus
	rm -rf "$work/corpus"
	mkdir -p "$work/corpus"
	say "fuzz: $minutes minutes; the kernel's log will be in $work/kernel.log"
	guest pld-fuzz run -m "$minutes" -s "$seed" -c programs \
		-p kernel-log-splats | take_corpus
fi
