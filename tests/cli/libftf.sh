#!/bin/sh
# SPDX-License-Identifier: MIT
# libftf in another program: installed, found by pkg-config, shared and static.
. "$top_srcdir/tests/support/tap.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
command -v pkg-config >/dev/null || tap_skip_all "no pkg-config"
grep -q '^SANITIZE_CFLAGS = *$' "$top_builddir/Makefile" || tap_skip_all "built with sanitizers"

installs() {
	make -C "$top_builddir" install-libLTLIBRARIES install-includeHEADERS install-pkgconfigDATA \
		prefix="$work" libdir="$work/lib" includedir="$work/include" >"$work/log" 2>&1 ||
		{ tail -5 "$work/log"; return 1; }
	sed -i "s#^prefix=.*#prefix=$work#; s#^libdir=.*#libdir=$work/lib#; s#^includedir=.*#includedir=$work/include#" \
		"$work/lib/pkgconfig/libftf.pc"
}
tap_check "library, header and pkg-config file are installed" installs
PKG_CONFIG_PATH=$work/lib/pkgconfig
export PKG_CONFIG_PATH

# The example of libftf(3), compiled.
{
	printf '#include <ftf.h>\nint main(void)\n{\n'
	sed -n '/^struct ftf_options options;/,/^\.Ed/p' "$top_srcdir/man/libftf.3" | sed '$d; s/out\.ftf\.gz/trace.gz/'
	printf '}\n'
} >"$work/example.c"

works() { # COMPILER OUTPUT FLAGS...
	compiler=$1 program=$2
	shift 2
	rm -f "$work/trace.gz"
	# shellcheck disable=SC2046 # a list of words
	$compiler -Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Werror $(pkg-config --cflags libftf) -o "$work/$program" "$work/example.c" "$@" &&
		(cd "$work" && LD_LIBRARY_PATH="$work/lib" "./$program") &&
		"$top_builddir/ftfdump" --slices "$work/trace.gz" >"$work/slices" &&
		echo '10/11 0 1000 2000 main line=12' | diff - "$work/slices"
}
tap_check "the manual's example works with the shared library" works "cc -std=c99" shared $(pkg-config --libs libftf)
tap_check "the manual's example works with the static library" works cc static "$work/lib/libftf.a" -lz -lzstd -lpthread
tap_check "the manual's example is C++ too" works "c++ -x c++" cxx $(pkg-config --libs libftf)
# gcc gives the macros for the machine that it compiles for.
big_endian() {
	! gcc -I"$work/include" -U__BYTE_ORDER__ -D__BYTE_ORDER__=__ORDER_BIG_ENDIAN__ -fsyntax-only "$work/example.c" 2>"$work/log" &&
		grep -q 'cannot be built for big-endian' "$work/log"
}
tap_check "the header refuses big-endian machines" big_endian

own_names() { # OPTIONS... FILE: prints names that are not the library's
	! nm -g --defined-only "$@" | awk 'NF == 3 && $2 != "A" { print $3 }' | grep -v '^ftf_'
}
tap_check "the shared library has no other names" own_names -D "$work/lib/libftf.so"
tap_check "the static library has no other names" own_names "$work/lib/libftf.a"
only_public() {
	nm -gD --defined-only "$work/lib/libftf.so" | awk '$2 == "T" { print $3 }' | sort >"$work/versions"
	sed 's/@@.*//' "$work/versions" >"$work/exported"
	grep -oE '\bftf_[a-z0-9_]+\(' "$work/include/ftf.h" | tr -d '(' | sort -u >"$work/declared"
	! comm -23 "$work/exported" "$work/declared" | grep .
}
tap_check "the shared library exports what the header declares" only_public
# The list says which version of the package a program needs.
listed() {
	sed -n 's/^ \(ftf_.*\)@\(.*\) .*/\1@@\2/p' "$top_srcdir/debian/libftf1.symbols" | sort | diff - "$work/versions" &&
		! grep -v '@@LIBFTF_1$' "$work/versions"
}
tap_check "the package's list of symbols and their versions is that of the shared library" listed
tap_done
