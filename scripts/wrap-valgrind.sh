#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# wrap-valgrind.sh FROM TO: makes of the installed selftests in FROM a folder
# TO in which each program is a script that runs it under valgrind.

. "$(dirname -- "$0")/common.sh"

from=$1 to=$2 folder=drivers/pld_sim
rm -rf "$to"
mkdir -p "$to/$folder"
cp -R "$from/kselftest" "$from"/run_kselftest.sh "$from"/kselftest-* \
	"$from/kernel-log-splats" "$to"
echo "timeout=300" > "$to/$folder/settings"
for program in "$from/$folder"/lib_*; do
	cat > "$to/$folder/${program##*/}" <<SCRIPT
#!/bin/sh
exec valgrind -q --error-exitcode=99 --trace-children=no \\
	--leak-check=full --errors-for-leak-kinds=definite \\
	'$program' "\$@"
SCRIPT
	chmod +x "$to/$folder/${program##*/}"
done
