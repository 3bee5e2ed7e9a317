#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# check-install.sh BUILD DEST: installs what was built in BUILD below DEST, and
# uses it as a stranger would: headers alone, a C and a C++ program that find
# libpld by pkg-config, shared and static, and the names that it exports.

. "$(dirname -- "$0")/common.sh"

build=$1 dest=$2
CFLAGS=(-Wall -Wextra -Werror)

# Each header must be enough by itself, in both languages and word sizes.
headers_alone()
{
	local header

	for header in $(cd "$dest/prefix/include" && echo *.h) linux/pld_sim.h; do
		echo "#include <$header>" > "$dest/alone.c"
		gcc "${CFLAGS[@]}" -std=c11 "${flags[@]}" -fsyntax-only \
			"$dest/alone.c"
		gcc "${CFLAGS[@]}" -m32 "${flags[@]}" -fsyntax-only "$dest/alone.c"
		g++ "${CFLAGS[@]}" -std=c++11 "${flags[@]}" -fsyntax-only \
			-x c++ "$dest/alone.c"
	done
}

program()
{
	cat > "$dest/$1" <<PROGRAM
#include <pld.h>
#include <stdio.h>
#include <string.h>

static int kernel(pld_domain *domain, void *arg)
{
	return arg && pld_nranks(domain) == 2 ? 0 : -1;
}

int main(void)
{
	const int devices[] = { 3, 1 };
	pld_domain *domain;
	int given = 0;

	if (strcmp(pld_version(), "$version"))
		return 1;
	if (pld_domain_create(devices, 2, NULL, &domain) ||
	    pld_launch(domain, kernel, &given, NULL)) {
		puts(pld_last_error());
		return 1;
	}
	pld_domain_destroy(domain);
	return 0;
}
PROGRAM
}

# runs COMPILER SOURCE FLAG...: builds an outside program and runs it.
runs()
{
	local compiler=$1 source=$2

	shift 2
	echo "$compiler $source $*"
	"$compiler" "${CFLAGS[@]}" "$dest/$source" -o "$dest/program" \
		"${flags[@]}" "$@"
	PLD_PLATFORM=memfd LD_LIBRARY_PATH=$(pkg-config --variable=libdir libpld) \
		timeout 60 "$dest/program"
}

# Some of the installed sources, by the command that their README has.
tutorial_builds()
{
	local examples=$dest/prefix/share/doc/pld-sim/examples program

	for program in "$examples"/{03,11,16}_*.c; do
		gcc "${CFLAGS[@]}" -I"$examples" "$program" \
			"$examples"/{example,options}.c "$examples"/common/*.c \
			"${flags[@]}" "${shared[@]}" -o "$dest/program"
		PLD_PLATFORM=memfd LD_LIBRARY_PATH=$dest/prefix/lib \
			timeout 60 "$dest/program" | grep -x OK
	done
}

# only_exported LIBRARY PREFIX
only_exported()
{
	local others

	others=$(nm -D --defined-only "$(pkg-config --variable=libdir libpld)/$1" |
		awk '$2 != "A" { print $3 }' | grep -v "^$2" || true)
	[ -z "$others" ] || die "$1 exports: $others"
}

# A program with both libraries: its errors are one library's sentence.
drm_program()
{
	cat > "$dest/drm.c" <<'PROGRAM'
#include <pld_drm.h>
#include <stdio.h>
#include <string.h>
#include <xf86drm.h>

int main(void)
{
	pld_window_buffer *buffer = NULL;
	int fd = drmOpen("no such driver", NULL);

	return fd >= 0 || pld_drm_export(buffer, 0, 0, 0, fd, NULL) != -22 ||
	       strcmp(pld_last_error(), "pld_drm_export: handle must not be NULL");
}
PROGRAM
	cp "$dest/drm.c" "$dest/drm.cc"
}

# Links between the installed documents, and to the header.
links_lead_somewhere()
{
	local doc link

	find "$dest/prefix/share/doc" -name '*.md' | while IFS= read -r doc; do
		for link in $(grep -o '](\.*[^):#]*)' "$doc" | tr -d '()]'); do
			[ -e "${doc%/*}/$link" ] || die "$doc: no $link"
		done
	done
}

cd "$PLD_TOP"
rm -rf "$dest"
mkdir -p "$dest"
make --no-print-directory O="$build" CC=gcc CFLAGS="-O2 -g -Werror" install \
	DESTDIR="$dest/root" PREFIX=/opt/pld
cp -R "$dest/root/opt/pld" "$dest/prefix"
make --no-print-directory O="$build" CC=gcc CFLAGS="-O2 -g -Werror" uninstall \
	DESTDIR="$dest/root" PREFIX=/opt/pld
left=$(find "$dest/root" ! -type d)
[ -z "$left" ] || die "uninstall leaves $left"

# What was installed for /opt/pld lies elsewhere now; pkg-config is told so.
pc=$dest/prefix/lib/pkgconfig
sed -i "s|^prefix=.*|prefix=$dest/prefix|; s|/opt/pld|\${prefix}|" \
	"$pc"/libpld*.pc
PKG_CONFIG_LIBDIR=$pc:$(pkg-config --variable=pc_path pkg-config)
export PKG_CONFIG_LIBDIR
read -r -a flags <<< "$(pkg-config --cflags libpld)"
read -r -a shared <<< "$(pkg-config --libs libpld)"
# A folder with libpld.a alone; hwloc is shared all the same.
mkdir "$dest/static"
cp "$dest/prefix/lib/libpld.a" "$dest/static"
read -r -a static <<< "$(pkg-config --static --libs \
	--define-variable=libdir="$dest/static" libpld)"
version=$(pkg-config --modversion libpld)
headers_alone
links_lead_somewhere
program program.c
program program.cc
runs gcc program.c "${shared[@]}"
runs g++ program.cc "${shared[@]}"
runs clang program.c "${shared[@]}"
runs gcc program.c "${static[@]}"
runs g++ program.cc "${static[@]}"
tutorial_builds
only_exported libpld.so pld_
read -r -a flags <<< "$(pkg-config --cflags libpld-drm)"
read -r -a shared <<< "$(pkg-config --libs libpld-drm)"
cp "$dest/prefix/lib/libpld-drm.a" "$dest/static"
read -r -a static <<< "$(pkg-config --static --libs \
	--define-variable=libdir="$dest/static" libpld-drm)"
drm_program
runs gcc drm.c "${shared[@]}"
runs g++ drm.cc "${shared[@]}"
runs gcc drm.c "${static[@]}"
only_exported libpld-drm.so pld_drm_
if ldd "$dest/prefix/lib/libpld.so" | grep -F libdrm; then
	die "libpld.so needs libdrm"
fi
"$dest/prefix/bin/pld-drm" --version | grep -F "$version"
"$dest/prefix/bin/pld-allgather" --version | grep -F "$version"
