#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# wrap-valgrind.sh FROM TO: makes of the installed selftests in FROM a folder
# TO in which each program is a script that runs it under valgrind.

. "$(dirname -- "$0")/common.sh"

from=$1 to=$2 folder=drivers/pld_sim
rm -rf "$to"
mkdir -p "$to/$folder"
cp -R "$from/kselftest" "$from/run_kselftest.sh" "$from/kselftest-run" \
	"$from/kernel-log-splats" "$to"
# Not those about processes that end as they should not, which valgrind calls
# leaks, or about limits of memory, which valgrind itself would reach.
grep -vE ':lib_(domain|host|join|join_trust|launch|memcg|subdomain)$' "$from/kselftest-list.txt" \
	> "$to/kselftest-list.txt"
echo "timeout=300" > "$to/$folder/settings"
gcc -O2 -g -Wall -Wextra -Werror -D_GNU_SOURCE -shared -fPIC \
	"$PLD_TOP/scripts/valgrind-pidfd.c" -o "$to/pidfd.so"
for program in "$from/$folder"/lib_*; do
	cat > "$to/$folder/${program##*/}" <<SCRIPT
#!/bin/sh
LD_PRELOAD='$to/pidfd.so' exec valgrind -q --error-exitcode=99 --trace-children=no \\
	--leak-check=full --errors-for-leak-kinds=definite --show-leak-kinds=definite \\
	'$program' "\$@"
SCRIPT
	chmod +x "$to/$folder/${program##*/}"
done
