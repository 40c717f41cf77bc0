#!/bin/sh
# SPDX-License-Identifier: MIT
# --format=lcov of programs that gcov counts, too: the same lines, as often.
. "$top_srcdir/tests/support/tap.sh"
program=$(realpath "$top_builddir/ptrace2ftf")
segments=$(realpath "$segments")
ptsim=$(realpath "$top_builddir/tests/ptsim/ptsim")
sources=$(realpath "$top_srcdir/tests/programs")
for tool in gcc g++ gcov; do
	command -v $tool >/dev/null || tap_skip_all "no $tool"
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1

# Leaves "LINE COUNT" of gcov in "expected" and ours in "lines".
both() { # COMPILER SOURCE FLAGS
	mkdir "$2$3" && cd "$2$3" && cp "$sources/$2" . && "$1" $3 -g -static -o plain $2 2>&1 && "$1" $3 -g --coverage -o counted $2 && ./counted >/dev/null &&
		gcov -t ./*.gcda >text 2>/dev/null && "$ptsim" record --cyc --seed=3 -o data -- ./plain >/dev/null 2>&1 && "$program" -q data -o x.info
	[ -s x.info ] || { echo "no tracefile"; cd ..; return 1; }
	awk -v s="$2" -F: '$3 == "Source" { on = $4 == s }
		on && $2 > 0 { gsub(/[ *]/, "", $1); if ($1 ~ /[#=]/) $1 = 0
			if ($1 != "-" && $2 + 0 > last) { last = $2 + 0; print last, $1 } }' text >all
	awk -v s="$2" -F'[:,]' '$1 == "SF" { on = $2 ~ s "$" } on && $1 == "DA" { print $2, $3 }' x.info >lines
	sort -n all >expected
	# gcov counts labels, and neither the ends of functions nor what a compiler makes, nor a
	# second return of setjmp(); where it has inlined a function, not its brace.
	awk 'FILENAME == "expected" { count[$1] = $2; next } FILENAME == "lines" { ours[$1] = $2; next }
		/^\t*(case .*|default):$/ || /setjmp\(/ { delete ours[FNR]; delete count[FNR] }
		/^\t*[{}]/ || /^class|= default/ { if (!(FNR in count)) delete ours[FNR] }
		END { for (l in count) print l, count[l] >"expected.lines"; for (l in ours) print l, ours[l] >"our.lines" }' expected lines $2
	sort expected.lines >expected
	sort our.lines >lines
	cd ..
}
both gcc coverage.c -O0 >messages || tap_skip_all "programs cannot be made or traced here: $(cat messages)"
both g++ coverage.cc -O0 >messages || tap_skip_all "programs cannot be made or traced here: $(cat messages)"

same() { # DIRECTORY LINES
	diff $1/expected $1/lines && [ "$(wc -l <$1/lines)" -ge $2 ]
}
tap_check "each line has gcov's count: C" same coverage.c-O0 70
tap_check "C++, with templates and inline functions" same coverage.cc-O0 25

# Optimised code lacks the statements of some lines; of the other lines the same ones ran.
ran() { # COMPILER SOURCE
	both $1 $2 -O2 && join $2-O2/expected $2-O2/lines >joined && awk '($2 > 0) != ($3 > 0) { print; wrong = 1 } $2 > 0 { n++ } END { exit wrong || n < 15 }' joined &&
		! join -v 2 $2-O2/expected $2-O2/lines | awk 'NR == FNR { head[FNR - 1] = /^{/; next } $2 > 0 && !head[$1]' "$sources/$2" - | grep .
}
tap_check "of optimised code the same lines ran: C" ran gcc coverage.c
tap_check "C++" ran g++ coverage.cc

functions() {
	line=$(grep -n 'if (x % 4 == 3)' "$sources/coverage.cc" | cut -d : -f 1)
	awk -F: -v l="$line" '$0 ~ "^BRDA:" l ","' coverage.cc-O0/x.info >branches
	cat branches
	[ "$(cut -d , -f 4 branches | sort -n | tr '\n' ' ')" = "1 4 " ] &&
		grep -x -e 'FNDA:0,never' -e 'FNDA:10,leave' -e 'FNDA:1,main' coverage.c-O0/x.info | wc -l | grep -qx 3
}
tap_check "branches are counted both ways, functions by their calls" functions

sums() {
	awk -F'[:,]' '$1 == "DA" { n++; hit += $3 > 0 } $1 == "BRDA" { b++; taken += $5 > 0 } $1 == "FNDA" { f++; called += $2 > 0 }
		$1 == "LF" { if ($2 != n) exit wrong = 1 } $1 == "LH" { if ($2 != hit) exit wrong = 1 }
		$1 == "BRF" { if ($2 != b) exit wrong = 1 } $1 == "BRH" { if ($2 != taken) exit wrong = 1 }
		$1 == "FNF" { if ($2 != f) exit wrong = 1 } $1 == "FNH" { if ($2 != called) exit wrong = 1 }
		/^end_of_record/ { n = hit = b = taken = f = called = 0; records++ } END { exit wrong || records < 2 }' coverage.cc-O0/x.info
}
tap_check "the sums of each file are those of its lines" sums

without_lines() {
	mkdir stripped && strip -o stripped/plain coverage.c-O0/plain &&
		(cd stripped && "$ptsim" record -o data -- ./plain >/dev/null 2>&1; "$program" data -o x.info 2>messages)
	[ $? -eq 2 ] && grep -q 'the code that ran has no source lines; build it with -g' stripped/messages && [ ! -s stripped/x.info ]
}
tap_check "code without lines is a warning" without_lines

any_threads() {
	for jobs in 1 3; do
		PTRACE2FTF_SEGMENT=300 "$segments" -q -j $jobs coverage.cc-O0/data -o $jobs.info || return 1
	done
	cmp 1.info 3.info && cmp 1.info coverage.cc-O0/x.info
}
tap_check "the file does not depend on the number of threads" any_threads
# libipt's engine counts block by block, the fast one in its caches.
any_engine() {
	for options in --cyc "--no-tsc --no-mtc"; do
		"$ptsim" record $options --seed=5 -o jumps -- coverage.cc-O0/plain >/dev/null 2>&1 || return 1
		for engine in fast libipt; do # without times is a warning, status 2
			"$program" -q --engine=$engine jumps -o $engine.info
		done
		cmp fast.info libipt.info && [ -s fast.info ] || return 1
	done
}
tap_check "nor on the engine, with timing packets or without" any_engine
chosen() {
	"$program" -q --symbol=leave coverage.c-O0/data -o chosen.info && "$program" -q --dso='no*' coverage.c-O0/data -o none.info
	[ $? -eq 2 ] && [ ! -s none.info ] && "$program" -q --dso=plain coverage.c-O0/data -o dso.info && cmp dso.info coverage.c-O0/x.info || return 1
	grep ^FN: chosen.info
	first=$(sed -n 's/^FN:\([0-9]*\),leave$/\1/p' chosen.info)
	last=$(sed -n "$first,\$p" "$sources/coverage.c" | grep -n '^}' | head -n 1 | cut -d : -f 1)
	awk -F'[:,]' -v f="$first" -v l=$((first + last - 1)) '$1 == "DA" && $2 >= f && $2 <= l' coverage.c-O0/x.info >expected
	grep ^DA: chosen.info | diff expected - && [ "$(grep -c ^FN: chosen.info)" -eq 1 ] && [ -s expected ]
}
tap_check "functions and files can be chosen" chosen

two_files() {
	mkdir -p two/in && printf '%s\n' 'static int twice(int x)' '{' '	return x > 3 ? 2 * x : x;' '}' >two/two.h &&
		printf '%s\n' '#include "in/../two.h"' 'int main(void)' '{' '	return twice(2) + twice(4) - 10;' '}' >two/two.c && (cd two && gcc -g -static -o plain two.c && "$ptsim" record -o data -- ./plain >/dev/null 2>&1)
}
plain_paths() {
	two_files && "$program" -q two/data -o two.info && grep ^SF two.info | sort >ours
	cat ours
	[ "$(cat ours)" = "SF:$work/two/two.c
SF:$work/two/two.h" ]
}
tap_check "a file of source has one path, without .." plain_paths
missing() {
	rm two/two.h && "$program" two/data -o two.info 2>messages
	[ $? -eq 2 ] && grep -q 'two.h: the source is not here, so its lines are left out' messages && [ "$(grep ^SF two.info)" = "SF:$work/two/two.c" ] &&
		rm two/two.c && "$program" -q two/data -o two.info && [ "$(grep -c ^SF two.info)" -eq 2 ]
}
tap_check "a file of source that is missing is left out, unless all are" missing
# A library's sources are seldom here.
library() (
	mkdir -p library/sources && cd library &&
		printf '%s\n' 'int thrice(int x)' '{' '	return 3 * x;' '}' >sources/thrice.c &&
		printf '%s\n' 'int four(void)' '{' '	return 4;' '}' >sources/four.c &&
		printf '%s\n' 'int thrice(int), four(void);' 'int main(void)' '{' '	return thrice(2) - four() - 2;' '}' >main.c &&
		gcc -g -shared -fPIC -o libthrice.so sources/*.c && gcc -g -o plain main.c -L. -lthrice -Wl,-rpath,"$PWD" && "$ptsim" record -o data -- ./plain >/dev/null 2>&1 &&
		mv sources/thrice.c . && "$program" --dso=plain --dso='libthrice*' data -o some.info 2>some.messages
	# One of two is missing.
	[ $? -eq 2 ] && grep -q 'thrice.c: the source is not here, so its lines are left out' some.messages && grep -q 'four.c$' some.info || { cat some.messages; return 1; }
	rm -r sources
	"$program" --dso=plain --dso='libthrice*' --json=report data -o none.info 2>messages &&
		[ "$(grep -c 'not here' messages)" -eq 1 ] && grep -q '^  source files of libraries that are not here, and are left out: 2$' messages &&
		[ "$(grep ^SF none.info)" = "SF:$PWD/main.c" ] && grep -q '"sources_left_out": *2,' report || { cat messages; return 1; }
	# A library alone may have its sources elsewhere.
	"$program" -q --dso='libthrice*' data -o library.info && [ "$(grep -c ^SF library.info)" -eq 2 ] || return 1
	mv main.c elsewhere.c && mkdir sources && mv thrice.c sources && "$program" --dso=plain --dso='libthrice*' data -o library.info 2>messages
	[ $? -eq 2 ] && grep -q 'main.c: the source is not here' messages
)
tap_check "libraries without sources are left out with one line and no warning; the program's own get one" library

by_lcov() {
	lcov --summary coverage.cc-O0/x.info >summary 2>&1
	cat summary
	grep -q 'lines.*[0-9]%' summary || return 1
	genhtml -o html coverage.cc-O0/x.info >pages 2>&1 && find html -name 'coverage.cc.gcov.html' | grep -q .
	[ $? -eq 0 ] || { cat pages; return 1; }
}
# lcov warns of differences; the heads of functions are the same.
# lcov 2 has lines and names of functions apart, FNL and FNA, and counts with the names.
names() {
	sed -n -e 's/^\(FNA:[0-9]*\),[0-9]*/\1/p' -e '/^\(SF\|FNL\{0,1\}\):/p' "$1" | sort
}
merged() {
	lcov -q -c -d coverage.c-O0 --rc lcov_branch_coverage=1 -o gcov.info >messages 2>&1
	lcov -q --rc lcov_branch_coverage=1 -a gcov.info -a coverage.c-O0/x.info -o merged.info >messages 2>&1 && ! grep mismatch messages || return 1
	names gcov.info >expected && names merged.info | diff expected - && [ "$(grep -c '^FNL\{0,1\}:' expected)" -gt 5 ]
}
# In each run, another of the line's three conditions is not evaluated.
recordings() {
	mkdir runs && printf '%s\n' '#include <stdlib.h>' 'int main(int argc, char **argv)' '{' '	int y = atoi(argv[1]);' \
		'	int r = argc > 2 ? (y ? 8 : 4) : (y ? 2 : 1);' '	return r / 9;' '}' >runs/choice.c &&
		(cd runs && gcc -g -O0 -static -o plain choice.c && gcc -O0 --coverage -o counted choice.c && ./counted 1 1 && ./counted 0 &&
			"$ptsim" record -o one -- ./plain 1 1 && "$ptsim" record -o two -- ./plain 0) >messages 2>&1 || { cat messages; return 1; }
	lcov -q -c -d runs --rc lcov_branch_coverage=1 -o runs/gcov.info >messages 2>&1
	for data in one two; do
		"$program" -q runs/$data -o runs/$data.info && [ "$(grep -c '^BRDA:5,' runs/$data.info)" -eq 6 ] || return 1
	done
	lcov -q --rc lcov_branch_coverage=1 -a runs/one.info -a runs/two.info -o runs/both.info >messages 2>&1
	grep -E '^(DA|BRDA):' runs/gcov.info | sort >expected
	cat expected
	[ "$(grep -c BRDA expected)" -eq 6 ] && grep -E '^(DA|BRDA):' runs/both.info | sort | grep -vx 'DA:[37],.*' >ours
	grep -vx 'DA:[37],.*' expected | diff - ours
}
if command -v genhtml >/dev/null; then
	tap_check "lcov adds two recordings up to what gcov counts in two runs" recordings
	tap_check "gcov's data of the same program merges with it: no function and file is there twice" merged
	tap_check "lcov reads it, and genhtml shows it" by_lcov
else
	tap_skip "lcov adds two recordings up to what gcov counts in two runs" "no lcov"
	tap_skip "gcov's data of the same program merges with it: no function and file is there twice" "no lcov"
	tap_skip "lcov reads it, and genhtml shows it" "no lcov"
fi
tap_done
