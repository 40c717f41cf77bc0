#!/bin/sh
# SPDX-License-Identifier: MIT
# libptflow in another program: installed, found by pkg-config; the manual's example finds the branches
# that a program executed.
. "$top_srcdir/tests/support/tap.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
command -v pkg-config >/dev/null || tap_skip_all "no pkg-config"
grep -q '^SANITIZE_CFLAGS = *$' "$top_builddir/Makefile" || tap_skip_all "built with sanitizers"

installs() {
	make -C "$top_builddir" install-libLTLIBRARIES install-includeHEADERS install-pkgconfigDATA \
		prefix="$work" libdir="$work/lib" includedir="$work/include" >"$work/log" 2>&1 ||
		{ tail -5 "$work/log"; return 1; }
	sed -i "s#^Libs: -L[^ ]*#Libs: -L$work/lib#; s#^Cflags: .*#Cflags: -I$work/include#" \
		"$work/lib/pkgconfig/libptflow.pc"
}
tap_check "library, header and pkg-config file are installed" installs
export PKG_CONFIG_PATH="$work/lib/pkgconfig" LD_LIBRARY_PATH="$work/lib"

sed -n '/^#include <inttypes.h>/,/^\.Ed/p' "$top_srcdir/man/libptflow.3" | sed '$d; s/\\en/\\n/g' >"$work/example.c"
compiles() { # COMPILER PROGRAM
	# shellcheck disable=SC2046 # a list of words
	$1 -D_DEFAULT_SOURCE -Wall -Wextra -Wconversion -Wno-missing-field-initializers -Werror $(pkg-config --cflags libptflow) \
		-o "$work/$2" "$work/example.c" $(pkg-config --libs libptflow)
}
tap_check "the manual's example is C99" compiles "cc -std=c99 -Wpedantic" example
tap_check "the manual's example is C++ too" compiles "c++ -x c++" example_cxx

exported() {
	nm -gD --defined-only "$work/lib/libptflow.so" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' | sort
}
only_public() {
	grep -oE '\bptflow_[a-z_]+\(' "$work/include/ptflow.h" | tr -d '(' | sort -u >"$work/declared"
	[ -s "$work/declared" ] && exported | diff "$work/declared" -
}
tap_check "the library exports what the header declares" only_public
listed() {
	sed -n 's/^ \(ptflow_.*\)@PTFLOW_1 .*/\1/p' "$top_srcdir/debian/libptflow1.symbols" | sort >"$work/listed"
	exported | diff "$work/listed" -
}
tap_check "the package's list of symbols is that of the library" listed

"$top_builddir/tests/ptsim/ptsim" record --truth="$work" -o "$work/perf.data" -- "$top_builddir/tests/programs/static/tail" \
	>/dev/null 2>"$work/messages" || {
	tap_skip "the example finds the branches that ran" "programs cannot be traced here"
	tap_done
	exit
}
"$top_builddir/tests/ptsim/libipt_branches" "$work/perf.data" "$work/trace" >"$work/arguments"

# Kinds have the numbers of enum ptflow_kind.
finds_all() {
	awk '{ print $6, $7, $8 }' "$work/truth.branches" |
		sed 's/^resume/0/; s/^async/0/; s/^i*call/1/; s/^ret/2/; s/^i*jmp/3/; s/^jcc/4/; s/^syscall/5/' >"$work/truth"
	# shellcheck disable=SC2046 # a list of words
	"$work/example" $(cat "$work/arguments") >"$work/found" && [ "$(wc -l <"$work/truth")" -gt 2000 ] &&
		diff "$work/truth" "$work/found" | head -20 >"$work/differ" && [ ! -s "$work/differ" ] && return 0
	cat "$work/differ"
	return 1
}
tap_check "the example finds the branches that ran" finds_all

# Each allocation fails in turn: a prefix of the branches, and the last gap; never a message of the library.
lacks_memory() {
	shim=$(realpath "$top_builddir")/tests/faults/shim.so
	number=0 lacked=0
	while :; do
		number=$((number + 1))
		# shellcheck disable=SC2046
		LD_PRELOAD=$shim FAULT=malloc:$number+ "$work/example" $(cat "$work/arguments") >"$work/part" 2>"$work/messages"
		status=$?
		[ $status -ne 0 ] || break
		[ $status -ne 2 ] || [ ! -s "$work/messages" ] || return 1
		[ $status -ne 1 ] || { [ "$(sed 's/.*: //' "$work/messages")" = "Out of memory" ] && lacked=$((lacked + 1)); } || return 1
		[ $status -le 2 ] && head -c "$(wc -c <"$work/part")" "$work/found" | cmp - "$work/part" || return 1
	done
	[ $lacked -gt 20 ] || { echo "only $lacked"; return 1; }
}
tap_check "without memory the events end with a gap" lacks_memory
tap_done
