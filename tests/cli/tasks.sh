#!/bin/sh
# SPDX-License-Identifier: MIT
# The everyday tasks of doc/answers.md: each command works as users of perf type it, or is an error of
# one line that gives the right command. Other tests check the outputs.
. "$top_srcdir/tests/support/tap.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/bin"
ln -s "$top_builddir/ptrace2ftf" "$work/bin"
PATH=$work/bin:$PATH
cd "$work" || exit 1
# Made here, so that its source is where its debug information says: a build by ccache may have it elsewhere.
gcc -g -O2 -static -pthread -o causes "$top_srcdir/tests/programs/causes.c" 2>messages || tap_skip_all "no compiler: $(cat messages)"
"$top_builddir/tests/ptsim/ptsim" record --cpus=2 --cyc -o perf.data -- ./causes lock 7 >/dev/null 2>messages || tap_skip_all "programs cannot be traced here: $(cat messages)"
cp perf.data old.data
cp perf.data new.data

gives() { # STATUS PATTERN WORDS...: PATTERN is in what the command prints
	wanted=$1 pattern=$2
	shift 2
	ptrace2ftf "$@" >out 2>messages </dev/null
	status=$?
	[ $status -eq "$wanted" ] && grep -q -e "$pattern" out messages && return 0
	echo "status $status"
	cat out messages
	return 1
}
# One line on standard error, and no output.
refuses() { # STATUS PATTERN WORDS...
	gives "$@" && [ ! -s out ] && [ "$(wc -l <messages)" -eq 1 ]
}

convert() {
	gives 0 'open perf.ftf at https://ui.perfetto.dev' && [ "$(od -An -tx1 -N8 perf.ftf)" = " 10 00 04 46 78 54 16 00" ]
}
tap_check "convert: ptrace2ftf" convert
tap_check "what is in it: ptrace2ftf list" gives 0 'causes' list perf.data
slowest() {
	gives 0 'left out, as they enclose the program: .* main[,;]' --slowest=9 && ! grep -E ' (main|_start)$' out && gives 0 '^ *1 .* request$' --slowest=3 --symbol=request
}
tap_check "the slowest call: ptrace2ftf --slowest=3" slowest
why() {
	refuses 64 "did you mean '--symbol=request'" why request && refuses 64 "did you mean '--symbol=request'" why perf.data request &&
		refuses 1 'no.data: cannot open' why no.data && refuses 1 'is not JSON: .*; write lines with' why --merge perf.data && gives 0 'of the extra time' why --symbol=request && gives 0 '^main: 1 call, of .*; there is no other one to compare it with' why --symbol=main && gives 2 "no call of '_start' is whole in the trace" why --symbol=_start
}
tap_check "why it is slow: ptrace2ftf why" why
lines() {
	gives 0 '^request: 1000 calls' annotate request && gives 0 '^request: 1000 calls' annotate --symbol=request perf.data &&
		refuses 64 'name it first, as in .* main perf.data' annotate perf.data && gives 0 '^main: 1 call, ' annotate main && refuses 64 'name it first' annotate perf.data request
}
tap_check "which lines cost: ptrace2ftf annotate" lines
zoom() {
	gives 0 'excluded by the selection' --time=10%,20% perf.data -o zoom.ftf && refuses 64 '+1ms,+500us (begin, length)' --time=1ms,2ms
}
tap_check "zoom: ptrace2ftf --time=10%,20%" zoom
flame_graph() {
	gives 0 '^causes;.*;main;.* [0-9]*$' -f folded perf.data &&
		gives 64 "did you mean 'folded'" -f flamegraph perf.data && refuses 64 "did you mean 'ptrace2ftf -f folded'" --flamegraph && gives 0 . perf.data -o flame.html && grep -q '<canvas' flame.html
}
tap_check "flame graph: ptrace2ftf -f folded" flame_graph
coverage() {
	gives 0 . perf.data -o coverage.info && grep -q '^DA:' coverage.info && gives 64 "did you mean 'lcov'" -f coverage perf.data
}
tap_check "coverage: ptrace2ftf -o coverage.info" coverage
ten_files() {
	mkdir ten && for i in 0 1 2 3 4 5 6 7 8 9; do cp perf.data ten/run$i.data; done &&
		gives 0 '10 files: 10 whole' ten/*.data && [ "$(ls ten/*.ftf | wc -l)" -eq 10 ] &&
		[ "$(grep -c '^ptrace2ftf: ten/run[0-9].data: .* slices .*, in ten/run[0-9].ftf$' messages)" -eq 10 ] &&
		[ "$(wc -l <messages)" -eq 12 ] && ! grep -e --join messages &&
		gives 0 '^ten/run9.data: ' list ten/*.data && [ "$(grep -c 'causes lock 7$' out)" -eq 10 ]
}
tap_check "ten files, a line or a list of each: ptrace2ftf *.data" ten_files
compare() {
	gives 0 'functions have the same calls and instructions$' diff old.data new.data &&
		refuses 64 'no perf.data.old in this directory' diff && cp perf.data perf.data.old &&
		gives 0 '^A: perf.data.old$' diff && ptrace2ftf diff -o changes.txt && grep -q '^A: perf.data.old$' changes.txt && refuses 64 "did you mean 'ptrace2ftf diff'" compare old.data new.data
}
tap_check "compare two builds: ptrace2ftf diff" compare
answers() {
	ptrace2ftf -f functions --json | jq -e '[.functions[] | select(.function == "request")][0].calls == 1000' &&
		ptrace2ftf list --json perf.data | jq -e '.threads | length >= 2' &&
		ptrace2ftf --slowest=3 --json | jq -e '.list[0].duration_ns >= .list[2].duration_ns' &&
		ptrace2ftf diff --json old.data new.data | jq -e .functions >/dev/null
}
if command -v jq >/dev/null; then
	tap_check "an answer for a program: ptrace2ftf -f functions --json | jq" answers
else
	tap_skip "an answer for a program: ptrace2ftf -f functions --json | jq" "no jq"
fi
# An option, and what the output then has; on its standard output or in its messages.
one_option() {
	gives 0 '^ *1000 .* request$' -f functions --sort=calls && gives 0 ' causes/[0-9]*$' -f functions --by=thread &&
		gives 0 '/causes$' -f functions --by=dso && gives 0 '^ *calls *p99  function$' -f functions --columns=calls,p99 && gives 0 '^ *[0-9.]*[mu]s  _start$' -f functions --columns=cpu --sort=cpu
}
tap_check "functions by calls, thread, library and column: ptrace2ftf -f functions --by=thread" one_option
spreadsheets() {
	gives 0 'wrote calls.jsonl' -o calls.jsonl && gives 0 'wrote functions.jsonl' -f functions -o functions.jsonl && gives 0 'wrote calls.csv' -o calls.csv && gives 0 'wrote functions.csv' -f functions -o functions.csv && python3 - <<'END'
import csv, json
for name in "calls", "functions":
    rows = [{key: "" if value is None else str(value) for key, value in json.loads(line).items()} for line in open(name + ".jsonl")]
    assert rows == list(csv.DictReader(open(name + ".csv")))
calls = [row for row in csv.DictReader(open("calls.csv")) if row["name"] == "request"]
row, = [row for row in csv.DictReader(open("functions.csv")) if row["function"] == "request"]
assert len(calls) == int(row["calls"]) == 1000
assert sum(int(call["duration_ns"]) for call in calls) == int(row["total_ns"])
END
}
tap_check "a table for pandas: ptrace2ftf -o calls.csv" spreadsheets
one_thread() {
	gives 0 'on 1 thread,' --tid="$(($(ptrace2ftf list --json perf.data | sed -n 's/.*"tid": \([0-9]*\).*/\1/p' | head -1) + 0))" &&
		gives 0 'on 2 threads,' --comm=causes && gives 0 'slices on' --cpu=0 && refuses 64 "did you mean '--comm' (names), '--tid' (numbers)" --thread=causes && refuses 64 "did you mean '--pid'" --process=1
}
tap_check "one thread: ptrace2ftf --tid=N" one_thread
several_functions() {
	gives 0 ' request\( \|$\)' --symbol=request --symbol=hold_lock -f slices && grep -q ' hold_lock\( \|$\)' out &&
		gives 2 'repeat the option for each of several patterns' --symbol='request,hold_lock'
}
tap_check "several functions: ptrace2ftf --symbol=F --symbol=G" several_functions
less() {
	gives 0 ' main\( \|$\)' -f slices --depth=4 && ! grep ' request\( \|$\)' out && gives 0 ' main\( \|$\)' -f slices --min-duration=1us &&
		awk '$4 - $3 < 1000 { print; bad = 1 } END { exit bad }' out
}
tap_check "less: ptrace2ftf --depth=4, --min-duration=1us" less
from_to() {
	gives 0 ' request\( \|$\)' -f slices --between=request,work
}
tap_check "from one call to another: ptrace2ftf --between=F,G" from_to
slow_calls() {
	gives 0 '^1000 calls: median ' --symbol=request --slow=10us && gives 0 '1 slow call: a trace of each' --slowest=1 --symbol=request -o slow/ && [ -s slow/call-001.ftf ] && gives 0 '#' -f histogram --symbol=request
}
tap_check "the distribution and a trace of each slow call: ptrace2ftf --slowest=1 -o slow/" slow_calls
database() {
	gives 0 'wrote calls.db' -o calls.db && python3 - <<'END'
import csv, sqlite3
wanted = sum(row["name"] == "work" for row in csv.DictReader(open("calls.csv")))
got, = sqlite3.connect("calls.db").execute("select count(*) from calls_view where symbol = 'work'").fetchone()
assert wanted == got > 1000, (wanted, got)
END
}
if ptrace2ftf -q -o calls.db perf.data 2>&1 | grep -q 'this build is without'; then
	tap_skip "a database: ptrace2ftf -o calls.db" "no libsqlite3"
else
	tap_check "a database: ptrace2ftf -o calls.db" database
fi
other_tools() {
	gives 0 'wrote x.callgrind' -o x.callgrind && grep -q '^c*fn=.*request' x.callgrind && gives 0 . -f chrome -o x.json && python3 -m json.tool x.json >/dev/null &&
		gives 0 . -o x.speedscope.json && gives 0 . why --symbol=request -o why.html && grep -q '<canvas\|<html' why.html && gives 0 '^Usage: ptrace2ftf why' help why
}
tap_check "files for other tools: ptrace2ftf -o x.callgrind" other_tools
callers() {
	gives 0 '^ *1000 .* request+0x[0-9a-f]* (.*causes.c:[0-9]*)$' -f functions --by=caller --symbol=work &&
		refuses 64 "did you mean 'ptrace2ftf -f functions --by=caller --symbol=F'" callers
}
tap_check "who calls it, how often and how long: ptrace2ftf -f functions --by=caller --symbol=F" callers
order() {
	gives 0 'request (.*causes.c:[0-9]*)$' -f lines --symbol=request && refuses 64 "did you mean 'ptrace2ftf -f lines'" lines || return 1
	ptrace2ftf -f insns --symbol=request 2>&1 | grep -q 'this build is without' || gives 0 'request+0x0' -f insns --symbol=request
}
tap_check "what exactly happened before: ptrace2ftf -f lines, -f insns" order
one_call() {
	refuses 64 "show one call with --within=" --slowest=1 --symbol=request -f tree && refuses 64 "did you mean '--within=F>#N'" --call=3 -f tree && gives 0 ' request()' -f tree --within='request>#1' &&
		[ "$(grep -c ' request()' out)" -eq 1 ]
}
tap_check "the tree of the slowest call: ptrace2ftf -f tree --within='F>#1'" one_call
without_callers() {
	refuses 64 "did you mean '--from'" --symbol=main --no-callers && refuses 64 "did you mean '--hide=LIBRARY:\*'" --hide-dso=libc.so.6 &&
		gives 0 '^causes;main;.* [0-9]*$' -f folded --from=main && ! grep -q '_start' out && gives 0 . --hide='causes:*' -f folded && ! grep request out
}
tap_check "without the callers, without a library: ptrace2ftf --from=F, --hide='LIB:*'" without_callers
mail() {
	gives 0 'wrote part.packed' pack --time=10%,60% -o part.packed && gives 0 ' work\( \|$\)' -f slices --symfs=bin part.packed &&
		gives 0 'wrote masked.packed' pack --mask perf.data -o masked.packed && ! gzip -dc masked.packed | grep -qa request
}
tap_check "one file to mail: ptrace2ftf pack" mail
tap_check "help: ptrace2ftf help why" gives 0 '^Usage: ptrace2ftf why' help why
first_difference() {
	gives 0 . diff --first old.data new.data && refuses 64 "did you mean 'ptrace2ftf diff'" compare old.data new.data
}
tap_check "where two runs part: ptrace2ftf diff --first" first_difference
tap_check "what several incidents have in common: ptrace2ftf why *.data" gives 0 '^ *2 .* request: use_lock; worst at' why --symbol=request old.data new.data
lines_of_batch() {
	gives 0 '2 files: 2 whole' --json-lines=lines.json old.data new.data && [ "$(grep -c '"status": *0' lines.json)" -eq 2 ]
}
tap_check "a result for each file: ptrace2ftf --json-lines=FILE *.data" lines_of_batch
wrong_options() {
	refuses 64 "did you mean '--symbol'" --symbl=main && gives 0 'open perf.ftf' -i perf.data &&
		refuses 64 "'list' is a command; write it before its options" -q list perf.data &&
		refuses 64 'suffix of recordings; choose a name in .ftf' record -o x.data true &&
		refuses 64 "did you mean 'ptrace2ftf -f functions'" report && refuses 64 'choose it with -f' perf.data -o x.txt
}
tap_check "a wrong option" wrong_options
# As for cp.
output_without_option() {
	refuses 64 "did you mean '-o out.ftf'" perf.data out.ftf && refuses 64 "did you mean '-o out/'" perf.data out/ &&
		refuses 1 'name the files in it$' ten
}
tap_check "an output without -o, or a directory as input" output_without_option
tap_check "a misspelt function" gives 2 "no function matching 'reqest' was called; nearest: request" --slowest=3 --symbol=reqest
tap_check "a missing file" refuses 1 'nothing.data: cannot open: No such file' nothing.data
empty() {
	: >empty.data
	refuses 1 'empty.data: is empty' empty.data
}
tap_check "an empty file" empty
truncated() {
	# How much of the recording comes before the first request is the loader's and libc's.
	for eighths in 4 5 6 7; do
		head -c "$(($(wc -c <perf.data) * eighths / 8))" perf.data >half.data
		! ptrace2ftf -q -f slices half.data 2>messages | grep -q ' request\( \|$\)' || break
	done
	gives 2 'the file is too short: the last [0-9]* bytes of its data are missing' half.data && [ -s half.ftf ] || return 1
	# The buffer of one CPU is cut: no call lasts until its thread comes to the other one.
	for name in perf half; do
		ptrace2ftf -q -f slices $name.data 2>messages | awk '$5 == "request" && $4 - $3 > most { most = $4 - $3 } END { print most }'
	done >longest
	[ "$(sort -n longest | head -1)" -gt 0 ] && [ "$(tail -1 longest)" -le "$(head -1 longest)" ] || { cat longest; return 1; }
}
tap_check "a truncated file" truncated
# An event of another kind instead of AUXTRACE_INFO (type 70).
without_pt() {
	offset=$(LC_ALL=C grep -obUaP '\x46\x00\x00\x00\x00\x00' perf.data | head -1 | cut -d: -f1)
	cp perf.data other.data && printf '\104' | dd of=other.data bs=1 seek="$offset" conv=notrunc 2>dd.log &&
		refuses 1 'no Intel PT; record with: perf record -e intel_pt//u' other.data
}
tap_check "a recording without Intel PT" without_pt
no_perf() {
	env PATH="$work/bin" "$work/bin/ptrace2ftf" record true >out 2>messages
	[ $? -eq 1 ] && [ ! -s out ] && ! grep -v 'cannot record: .*; ' messages && [ -s messages ]
}
tap_check "record where there is no perf or no PT: ptrace2ftf record true" no_perf
standard_output() {
	ptrace2ftf -q -o - | cmp - perf.ftf && ptrace2ftf -q - -o piped.ftf <perf.data && cmp piped.ftf perf.ftf &&
		mkdir bare && cd bare && cat ../perf.data | ptrace2ftf -q -o piped.ftf && cmp piped.ftf ../perf.ftf &&
		! cat ../perf.data | ptrace2ftf 2>messages && grep -q 'name it with -o, or write to `-o -`' messages && cd ..
}
tap_check "standard output and input: ptrace2ftf -o -" standard_output
compressed() {
	gives 0 . perf.data -o x.ftf.gz && gzip -dc x.ftf.gz | cmp - perf.ftf && gzip -c perf.data >packed.data.gz &&
		gives 0 . packed.data.gz -o packed.ftf && cmp packed.ftf perf.ftf
}
tap_check "compressed: ptrace2ftf -o x.ftf.gz" compressed
if ptrace2ftf open nothing 2>&1 | grep -q 'this build has no server'; then
	tap_skip "open without a browser and without internet" "no libmicrohttpd"
else
	alone() { # Only 127.0.0.0/8 is there.
		env -u DISPLAY -u WAYLAND_DISPLAY -u BROWSER -u SSH_CONNECTION "$top_builddir/tests/support/private-network" \
			timeout -s INT 5 "$work/bin/ptrace2ftf" open perf.data >out 2>messages </dev/null
		grep '^1\.\.0 # SKIP' out && return 0
		grep -q '^https://ui.perfetto.dev/#!/?url=http' out && grep -qi 'browser' messages
	}
	tap_check "open without a browser and without internet: ptrace2ftf open" alone
fi
tap_done
