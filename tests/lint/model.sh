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
# ".It A , B , \" and the line after it, of all tables.
sed -n '/^.Ss What becomes of each record/,/^.Ss What cannot be known/p' "$top/man/ptrace2ftf.7" |
	sed -e ':more' -e '/\\$/{' -e N -e 's/\\\n//' -e 'b more' -e '}' |
	sed -n 's/^.It //p' | tr -d ' ' | tr , '\n' | sort -u >"$work/named"

every_row_has_a_test() {
	cut -d ' ' -f 1 "$work/table" | sort -u >"$work/tested"
	[ "$(wc -l <"$work/named")" -gt 100 ] && diff "$work/named" "$work/tested"
}
tap_check "every record, feature and packet of the manual has a test, and no other" every_row_has_a_test

features_are_the_programs() {
	sed -n '/^static .* feature_names\[\] = /,/^};/p' "$top/decoder/perf_data/perf_features.c" |
		grep -o '"[^"]*"' | tr -d '"' | awk 'NR > 1 { print NR - 1 ":" $0 }' | sort >"$work/features"
	grep '^[0-9]*:' "$work/named" | diff "$work/features" -
}
tap_check "the manual's features are those that the program names" features_are_the_programs

# Records without an effect ("nothing") are not read.
nothing_is_nothing() {
	sed -n '/^.Ss What becomes of each record/,/^.Ss What cannot be known/p' "$top/man/ptrace2ftf.7" |
		sed -e ':more' -e '/\\$/{' -e N -e 's/\\\n//' -e 'b more' -e '}' |
		grep -B 1 '^nothing$' | sed -n 's/^.It //p' | tr -d ' ' | tr , '\n' |
		sed 's/^/PERF_RECORD_/' >"$work/nothing"
	[ -s "$work/nothing" ] && ! grep -rnwf "$work/nothing" "$top/src/events"
}
tap_check "no record of which the manual says nothing is shown" nothing_is_nothing

# Each kind of CPU event: its packet is in the manual (and so has a test), both engines make it (or the
# decoder that they share), and it is shown.
kinds_are_complete() {
	grep -oE '^\s(/\* [A-Z]+,|CPU_EVENT_[A-Z_]*,( */\* [A-Z.]+:| */\* [A-Z]+,)?)' "$top/decoder/cpu_event.h" | tr -d '/*:,' |
		awk '$1 !~ /^CPU/ { packet = $1; next } { print $1, $2 ? $2 : packet; packet = "" }' |
		grep -vE 'CPU_EVENT_(NONE|KINDS|TX_[A-Z]+) ' >"$work/kinds"
	[ "$(wc -l <"$work/kinds")" -ge 13 ] || { cat "$work/kinds"; return 1; }
	bad=0
	while read -r kind packet; do
		grep -qx "$packet" "$work/named" || { echo "$kind: packet '$packet' is not in the manual"; bad=1; }
		for folder in src/events decoder/engine/fast decoder/engine/libipt; do
			grep -qw "$kind" "$top/$folder"/*.c || { [ "${folder#decoder}" != "$folder" ] &&
				grep -qw "$kind" "$top"/decoder/aux/*.c; } || { echo "$kind: not in $folder"; bad=1; }
		done
	done <"$work/kinds"
	return $bad
}
tap_check "every kind of CPU event has a packet in the manual, both engines and a picture" kinds_are_complete

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

# "LINE FILE TEST" of each test, "BEHAVIOUR FILE TEST" of the same, and "LINE FILE" of each other file
# that the tables of seeds.md name.
seeds() { # tests|asserted|files
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
		what != "files" { n = split($4, one, "; ")
			for (i = 1; i <= n; i++) print what == "asserted" ? $2 : NR,
				gsub(/`/, "", one[i]) ? one[i] : default_file " " one[i] }
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

# "BEHAVIOUR FILE TEST" of each comment "seeds.md: BEHAVIOUR" in a test.  An assertion follows it, in
# a script the test itself.
assertions() { # FILE...: in the source folder
	awk '
		FNR == 1 { test = ""; n = 0; comment = 0 }
		match($0, /^START_TEST[(][a-z0-9_]*/) { test = substr($0, 12, RLENGTH - 11) }
		/^END_TEST/ { test = "" }
		comment { sub(/^[\t ]*([*] )?/, ""); mark[n] = mark[n] " " $0 }
		/(\/[*]|#) seeds.md: / { sub(/.*seeds.md: /, ""); mark[++n] = $0; comment = 1 }
		comment { comment = !sub(/ *[*]\/$/, "", mark[n]) && FILENAME ~ /c$/; next }
		/^[\t ]*(\/[*]|[*]|#)/ || !n { next }
		FILENAME ~ /sh$/ { test = ""
			if (match($0, /tap_check ".*/)) test = substr($0, RSTART + 11) }
		{ sound = test != "" && (FILENAME ~ /sh$/ || /^\t+(ck_|EXPECT|assert_|expect|check_|fill_the_disk|emit_16_args)/)
			for (i = 1; i <= n; i++) {
				if (!sound) print FILENAME ":" FNR ": no assertion after: " mark[i] >"/dev/stderr"
				else print mark[i] "\t" FILENAME "\t" test
			}
			n = 0 }' "$@"
}
# A script has more after the title of its test.
rows_are_asserted() {
	seeds asserted | sed 's|^\(.*\) \(tests/[^ ]*\) |\1\t\2\t|' >"$work/rows" || return 1
	# shellcheck disable=SC2046 # names without blanks
	(cd "$top" && assertions $(grep -rlF 'seeds.md: ' tests --include='*.c' --include='*.sh' --exclude-dir=lint)) \
		>"$work/marks" 2>"$work/unsound"
	awk -F '\t' '
		NR == FNR { key = $1 FS $2; test[key, ++count[key]] = $3; next }
		{ key = $1 FS $2; found = 0; wanted[key] = 1
			for (i = 1; i <= count[key]; i++)
				if ($2 ~ /c$/ ? test[key, i] == $3 : index(test[key, i], $3 "\"") == 1) found = 1
			if (!found) { print $2 ": \"" $3 "\" does not say what it asserts: seeds.md: " $1; bad = 1 } }
		END { for (key in count) if (!(key in wanted)) { print "no row of seeds.md: " key; bad = 1 }
			exit bad }' "$work/marks" "$work/rows" && ! grep . "$work/unsound"
}
tap_check "the tests of each row of doc/seeds.md say what they assert" rows_are_asserted
tap_check "each row of doc/seeds.md has a test that is there, or says why not" seeds_are_complete
tap_done
