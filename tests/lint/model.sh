#!/bin/sh
# SPDX-License-Identifier: MIT
# Each record, feature and packet in the tables of ptrace2ftf(7) has a test, by model.tests.
. "${top_srcdir:-.}/tests/support/tap.sh"
top=${top_srcdir:-.}
table=$top/tests/lint/model.tests
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Lines "NAME FILE TEST..." without comments.
grep -v '^#' "$table" >"$work/table"
# ".It A , B , \" and the line behind, of all tables.
sed -n '/^.Ss What becomes of each record/,/^.Ss What cannot be known/p' "$top/man/ptrace2ftf.7" |
	sed -e ':more' -e '/\\$/{' -e N -e 's/\\\n//' -e 'b more' -e '}' |
	sed -n 's/^.It //p' | tr -d ' ' | tr , '\n' | sort -u >"$work/named"

every_row_has_a_test() {
	cut -d ' ' -f 1 "$work/table" | sort -u >"$work/tested"
	[ "$(wc -l <"$work/named")" -gt 100 ] && diff "$work/named" "$work/tested"
}
tap_check "every record, feature and packet of the manual has a test, and no other" every_row_has_a_test

features_are_the_programs() {
	sed -n 's/^\t\[\([1-9][0-9]*\)\] = "\(.*\)",$/\1:\2/p' "$top/decoder/perf_data/perf_features.c" | sort >"$work/features"
	grep '^[0-9]*:' "$work/named" | diff "$work/features" -
}
tap_check "the manual's features are those that the program names" features_are_the_programs

# A unit test that is not added to its suite does not run.
tests_are_there() {
	bad=0
	while read -r name file test; do
		case $file in
		*.c) [ "$(grep -c "\<$test\>" "$top/$file")" -ge 2 ] ;;
		*) grep -qF "tap_check \"$test\"" "$top/$file" ;;
		esac || { echo "$name: no '$test' in $file"; bad=1; }
	done <"$work/table"
	return $bad
}
tap_check "and each of these tests is there and runs" tests_are_there
tap_done
