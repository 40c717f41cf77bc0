#!/bin/sh
# SPDX-License-Identifier: MIT
# --slowest and --slow: the calls that count, other selections, and written files.
# tests/ptsim/slowest.sh compares them with the truth.
. "$top_srcdir/tests/support/tap.sh"
program=$top_builddir/ptrace2ftf
ptsim=$top_builddir/tests/ptsim/ptsim
programs=$top_builddir/tests/programs
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1

"$ptsim" record --cyc --interrupts=0 --seed=3 -o recursion -- "$programs/static/recursion" >/dev/null 2>messages ||
	tap_skip_all "programs cannot be traced here: $(cat messages)"
"$ptsim" record --cyc --interrupts=0 --seed=3 -o plugins -- "$programs/plugins" >/dev/null 2>&1

run() { # STATUS OPTIONS...
	expected=$1
	shift
	"$program" "$@" >shown 2>messages
	status=$?
	[ $status -eq "$expected" ] || { echo "status $status"; cat messages; return 1; }
}

counts() { # CALLS OPTIONS...
	calls=$1
	shift
	run 0 "$@" && grep -q "^$calls calls: median" shown || { cat shown; return 1; }
}

# fibonacci(12) has 465 calls, one of them outermost; depth() has 1633, three of them outermost.
recursions() {
	counts 465 --slowest=5 --symbol=fibonacci recursion && counts 1633 --slowest=5 --symbol=depth recursion &&
		counts 2098 --slowest=9 --symbol=depth --symbol=fibo* recursion
}
tap_check "each call of a recursion counts" recursions

# Calls of equal times among them: _start and its callee.
longer_lists() {
	run 0 --slowest=100 --symbol='*' recursion && mv shown hundred && for most in 1 2 3 5 8; do
		run 0 --slowest=$most --symbol='*' recursion && head -n $((most + 1)) shown >begun &&
			head -n $((most + 1)) hundred | sed 's/  *$//' | diff - begun || return 1
	done && [ "$(awk 'NR == 2 { print $NF }' hundred)" = _start ]
}
tap_check "a longer list begins with the shorter one, and a caller is before its callee" longer_lists

without_outer_calls() {
	run 0 --slowest=5 --json=outer.json recursion && ! grep -E ' (main|_start)$' shown && grep -q '^left out, as they enclose the program: _start, .*, main; ' shown || return 1
	sed -n '/"left_out"/,$p' outer.json | grep -q '"function": "main"' || return 1
	run 0 --slowest=5 --symbol='*' recursion && grep -q ' _start$' shown && ! grep '^left out' shown &&
		run 2 --slowest=1 recursion -o outer/ && grep -q 'index.tsv.*; without [0-9] that enclose the program$' messages
}
tap_check "without --symbol, main() and its callers are left out, and named" without_outer_calls

names_why() {
	run 0 --slowest=3 recursion && tail -1 shown | grep -q '^callers .* --symbol; `ptrace2ftf why` finds' &&
		run 0 --slowest=3 --symbol=depth recursion && ! grep ^callers shown
}
tap_check "a list of all functions leads to --symbol and why" names_why

other_selections() {
	counts 123 --slowest=5 --dso=plugin_a.so --symbol='work*' plugins &&
		counts 123 --slowest=5 --symbol='work_of_plugin_a' plugins &&
		counts 41 --slowest=5 --symbol='work_of_plugin_a' --between=plugin,nowhere --time=0%,50% plugins ||
		run 2 --slowest=5 --symbol='work_of_plugin_a' --between=nowhere,main plugins
}
tap_check "--dso, --between and --time choose among them" other_selections

nothing() {
	run 2 --slowest=3 --symbol=fibonaci recursion && [ "$(wc -l <shown)" -eq 1 ] &&
		grep -q "no function matching 'fibonaci' was called; nearest: fibonacci" messages &&
		run 2 --slowest=3 --symbol=main --dso=nowhere recursion && grep -q 'no call matches' messages &&
		run 2 --slowest=3 --symbol=nowhere recursion -o none/ && [ "$(ls none | wc -l)" -eq 2 ] &&
		[ "$(wc -l <none/index.tsv)" -eq 1 ] && [ ! -s none/index.jsonl ]
}
tap_check "if no call matches it says so" nothing

text() {
	"$program" -q --format=branches recursion >branches
	"$program" -q --input=perf-script --slowest=2 --symbol=depth branches >shown && grep -q '^1633 calls:' shown
}
tap_check "the text of perf script has slow calls, too" text

to_a_file() {
	run 0 --slowest=2 --symbol=depth recursion -o table.txt && [ ! -s shown ] && grep -q '^1633 calls:' table.txt
}
tap_check "the table may be written to a file" to_a_file

# The traces of depth() have a warning each: 1,500 calls are too deep for Perfetto.
# An existing file is replaced, unless it is an input.
inputs_stay() {
	mkdir -p in && for name in index.tsv index.jsonl call-002.ftf; do
		cp recursion in/$name && run 1 --slowest=3 --symbol=depth in/$name -o in/ &&
			cmp recursion in/$name && [ "$(ls in)" = "$name" ] && rm in/$name || { ls in; return 1; }
	done
}
tap_check "no trace and no index replaces the recording" inputs_stay

# Other processes than the one that writes the index read the program's code.
program_stays() {
	for name in index.tsv index.jsonl call-002.ftf; do
		mkdir -p code && cp "$programs/static/recursion" code/$name &&
			"$ptsim" record --cyc --interrupts=0 --seed=3 -o copied -- "$work/code/$name" >/dev/null 2>&1 &&
			run 1 --slowest=3 --symbol=depth copied -o code/ && grep -q "cannot write to code/$name: it is the input" messages &&
			cmp "$programs/static/recursion" code/$name || { cat messages; ls -l code; return 1; }
		rm -r code
	done
}
tap_check "no trace and no index replaces the program that was recorded" program_stays

replaces() {
	run 2 --slowest=3 --symbol=depth recursion -o out/ && ! grep -q earlier messages &&
		grep -q '3 slow calls: a trace of each, listed in out/index.tsv; 3 with gaps or warnings' messages &&
		run 2 --slowest=1 --symbol=depth recursion -o out && [ "$(wc -l <out/index.jsonl)" -eq 1 ] &&
		grep -q 'out/call-002.ftf and later calls are from an earlier run' messages
}
tap_check "an earlier index is replaced, and what is left of its traces named" replaces

one_fails() {
	mkdir -p blocked/call-002.ftf
	run 1 --slowest=3 --symbol=depth recursion -o blocked/ || return 1
	"$top_builddir/ftfdump" --check blocked/call-001.ftf >/dev/null &&
		"$top_builddir/ftfdump" --check blocked/call-003.ftf >/dev/null &&
		[ "$(cut -f 14 blocked/index.tsv | tr '\n' ' ')" = "status 2 1 2 " ] &&
		sed -n 2p blocked/index.jsonl | grep -q '"error":"cannot write to blocked/call-002.ftf' || { cat blocked/index.*; return 1; }
}
tap_check "a trace that cannot be written fails alone, and the index says why" one_fails

limited() {
	run 2 --args=line --slowest=1 --symbol=depth recursion -o whole/ || return 1
	run 2 --slowest=1 --symbol=depth --max-output=20kB recursion -o short/ &&
		[ "$(stat -c %s short/call-001.ftf)" -lt "$(stat -c %s whole/call-001.ftf)" ] &&
		"$top_builddir/ftfdump" --check short/call-001.ftf >/dev/null || { ls -l whole short; cat messages; return 1; }
	run 1 --slowest=1 --symbol=depth --timeout=1ns recursion -o late/ && [ ! -e late/index.tsv ] &&
		grep -q 'took longer than --timeout allows' messages
}
tap_check "--max-output and --timeout hold for each conversion" limited

side_by_side() {
	run 2 --slowest=3 --symbol=depth recursion -o one/ && run 2 --slowest=3 --symbol=depth --jobs=3 recursion -o three/ &&
		diff -r one three
}
tap_check "the traces are the same side by side" side_by_side

wrong() { # OPTIONS...
	"$program" "$@" >shown 2>messages
	status=$?
	[ $status -eq 64 ] || { echo "status $status"; cat messages; return 1; }
}
wrong_usage() {
	wrong --slowest=0 --symbol=main recursion &&
		wrong --context=1us --symbol=main recursion && wrong --slowest=3 --symbol=main --format=functions recursion &&
		wrong --slowest=3 --symbol=main recursion -o x.ftf && wrong --slowest=3 --symbol=main --fit=3 recursion &&
		wrong --slowest=3 --symbol=main --output='{name}' recursion &&
		wrong --slowest=3 --symbol=main --split=3 recursion -o x/ &&
		wrong --slowest=3 --symbol=main --json-lines recursion -o x/ &&
		wrong --slowest=3 --symbol=main --skip-existing recursion -o x/ &&
		wrong --slowest=3 --symbol=main --input=perf-script branches -o x/ &&
		wrong --slowest=3 --symbol=main --open recursion && wrong --slowest=3 --symbol=main - -o x/ <recursion &&
		for bound in p p0 p100 p101 p-1 p99x p1.2.3 p. 1h x; do
			wrong --slow=$bound --symbol=main recursion || { echo "$bound"; return 1; }
		done && [ ! -e x ] && [ ! -e x.ftf ]
}
tap_check "what has no meaning is wrong usage" wrong_usage

percentiles() {
	for bound in p1 p99 p99.9 p99.99 p99.9999 p0.1; do
		"$program" -q --slow=$bound --symbol=main recursion >shown || { echo "$bound"; return 1; }
	done
}
tap_check "percentiles may have a fraction" percentiles

# The rank is that of the slices by time; the tree begins with the call.
one_call() {
	"$program" -q --args=none --format=slices --symbol=depth recursion | awk '$5 == "depth" { print $4 - $3, $3 }' |
		sort -k 1,1nr -k 2,2n >ranks
	for rank in 1 2 7 1000; do
		"$program" -q --args=none --format=slices --from=depth --within="depth>#$rank" recursion >ranked || return 1
		awk '$2 == 0 { print $4 - $3, $3 }' ranked >ours
		sed -n ${rank}p ranks | diff - ours || return 1
	done
	"$program" -q --format=tree --from=depth '--within=depth>#3' recursion >tree
	[ "$(sed -n '/| [^ ]/p' tree | wc -l)" -eq 2 ] && run 2 --format=tree '--within=depth>#5000' recursion
}
tap_check "--within='F>#N' shows the call of that rank, as a tree too" one_call
tap_done
