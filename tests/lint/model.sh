#!/bin/sh
# SPDX-License-Identifier: MIT
# Each record, feature and packet in the tables of ptrace2ftf(7) has a test, by model.tests; so
# has each behaviour in doc/seeds.md.
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
tests_are_there() { # <LINES
	bad=0
	while read -r name file test; do
		case $file in
		*.c) [ "$(grep -c "\<$test\>" "$top/$file")" -ge 2 ] ;;
		*) grep -qF "tap_check \"$test\"" "$top/$file" ;;
		esac || { echo "$name: no '$test' in $file"; bad=1; }
	done
	return $bad
}
tables_tests_are_there() { tests_are_there <"$work/table"; }
tap_check "and each of these tests is there and runs" tables_tests_are_there

# "LINE FILE TEST" of each test, and "LINE FILE" of each other file that the tables of seeds.md name.
seeds() { # tests|files
	awk -v what="$1" -F ' *[|] *' '
		function complain(text) { print NR ": " text >"/dev/stderr"; bad = 1 }
		/^Here: `.*`; tests: `.*`/ { split($0, part, "`"); default_file = part[4] }
		what == "files" { for (rest = $0; match(rest, /`[a-z0-9_.]+\/[^` ]*`/); rest = substr(rest, RSTART + RLENGTH))
			print NR, substr(rest, RSTART + 1, RLENGTH - 2) }
		!/^[|]/ || /^[|](--| Behaviour)/ { next }
		NF != 5 || $2 == "" { complain("not three columns"); next }
		{ rows++ }
		$3 ~ /^no: ./ { if ($4 != "-") complain("a test of what is not there"); next }
		$4 !~ /^[a-z`$-]./ { complain("no test") }
		what == "tests" { n = split($4, one, "; ")
			for (i = 1; i <= n; i++) print NR, gsub(/`/, "", one[i]) ? one[i] : default_file " " one[i] }
		END { exit bad || rows < 200 }' "$top/doc/seeds.md"
}
seeds_are_complete() {
	seeds tests >"$work/tests" && seeds files >"$work/files" && tests_are_there <"$work/tests"
	status=$?
	while read -r line file; do
		[ -e "$top/$file" ] || { echo "$line: no $file"; status=1; }
	done <"$work/files"
	return $status
}
tap_check "each row of doc/seeds.md has a test that is there, or says why not" seeds_are_complete
tap_done
