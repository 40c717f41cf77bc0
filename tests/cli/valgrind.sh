#!/bin/sh
# SPDX-License-Identifier: MIT
# Conversions under valgrind, which finds uses of uninitialised memory, also in libraries.
# Sanitizers find neither.
. "$top_srcdir/tests/support/tap.sh"
[ "$P2F_SANITIZED" != yes ] || tap_skip_all "valgrind does not run programs with sanitizers"
command -v valgrind >/dev/null || tap_skip_all "no valgrind"
program=$top_builddir/ptrace2ftf
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$top_builddir/tests/support/make-sample" "$work"
runs() { # PROGRAM
	valgrind -q --error-exitcode=99 "$1" --version >/dev/null 2>&1
}
# valgrind 3.19 gives up at the debug information of clang 19.
if ! runs "$top_builddir/ftfdump"; then
	strip -g -o "$work/ftfdump" "$top_builddir/ftfdump" && runs "$work/ftfdump" ||
		tap_skip_all "valgrind does not run here"
	strip -g -o "$work/ptrace2ftf" "$program"
	program=$work/ptrace2ftf
fi

# The sandbox refuses calls that are valgrind's own.
is_clean() { # OPTIONS...
	valgrind -q --error-exitcode=99 --leak-check=full --errors-for-leak-kinds=definite,indirect \
		"$program" -q --sandbox=off --symfs="$work" "$@"
	status=$?
	[ $status -eq 0 ] || echo "status $status"
	[ $status -eq 0 ]
}
tap_check "FTF of a compressed recording, decoded by two threads, has no error in valgrind" \
	is_clean --threads=2 --inline "$work/compressed" -o "$work/out.ftf"
tap_check "nor has a traced kernel in a directory, in parts" \
	is_clean --split=4 "$work/kernel.data" -o "$work/parts.ftf"
tap_done
