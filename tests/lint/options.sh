#!/bin/sh
# SPDX-License-Identifier: MIT
# Every option that --help lists is used by a test of the command line.
. "${top_srcdir:-.}/tests/support/tap.sh"
program=${top_builddir:-$PWD}/ptrace2ftf
cd "${top_srcdir:-.}" || exit 1
tests=$(find tests/cli tests/oracle tests/ptsim tests/sandbox tests/unit -name '*.sh')

is_used() { # OPTION
	# shellcheck disable=SC2086 # a list of files without blanks
	grep -qE -- "(^|[ \"'=(])$1([ =\"')]|\$)" $tests
}
unused() {
	for option in $(for command in "" record diff; do "$program" $command --help=all; done | grep -oE -- '--[a-z][a-z0-9-]+' | sort -u); do
		is_used "$option" || echo "$option"
	done
}
every_option_is_used() {
	[ -n "$tests" ] && missing=$(unused) && [ -z "$missing" ] && return 0
	echo "$missing"
	return 1
}
tap_check "every option is used by a test" every_option_is_used
tap_done
