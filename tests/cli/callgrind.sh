#!/bin/sh
# SPDX-License-Identifier: MIT
# --format=callgrind, compared with the recorder's truth, and with valgrind's callgrind where both
# run the same code; read back by callgrind_annotate.
. "$top_srcdir/tests/support/tap.sh"
program=$(realpath "$top_builddir/ptrace2ftf")
ptsim=$(realpath "$top_builddir/tests/ptsim/ptsim")
programs=$(realpath "$top_builddir/tests/programs/static")
source=$(realpath "$top_srcdir/tests/programs/recursion.c")
own_lines=$(realpath "$top_srcdir/tests/cli/own_lines.awk")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$ptsim" record --cyc --interrupts=0 --seed=3 --truth="$work" -o "$work/recursion" -- "$programs/recursion" >/dev/null 2>"$work/messages" ||
	tap_skip_all "programs cannot be traced here: $(cat "$work/messages")"
cd "$work" || exit 1
"$program" -q recursion -o recursion.callgrind

# "own FUNCTION INSNS", "call CALLER CALLEE CALLS INSNS" of the file. The truth has one name for a
# function and its clones (f.part.0).
cat >read.awk <<'END'
function name(text) {
	match(text, /\([0-9]+\)/); id = substr(text, RSTART, RLENGTH)
	if (text ~ /\) /) names[id] = substr(text, RSTART + RLENGTH + 1)
	if (names[id] !~ /^\[/) sub(/\..*/, "", names[id])
	return names[id]
}
/^fn=/ { caller = name($0) }
/^cfn=/ { callee = name($0) }
/^calls=/ { calls[caller " " callee] += substr($1, 7); called = 1 }
/^[0-9]/ && called { costs[caller " " callee] += $2; called = 0; next }
/^[0-9]/ { own[caller] += $2 }
END {
	for (f in own) if (own[f]) print "own", f, own[f]
	for (e in calls) print "call", e, calls[e], costs[e]
}
END
# The truth names all system calls, ptrace2ftf those with only one possible number.
sed -i 's/\[syscall: [^]]*\]/[syscall]/' truth.counts
# The same of the truth: of an edge that is open, only the outermost call has costs.
cat >truth.awk <<'END'
{
	split($0, insns, "insns="); depth = $2
	while (open > depth) opened[edges[--open]]--
	stack[depth] = $5; own[$5] += insns[2]; edges[depth] = ""
	if (depth) {
		own[stack[depth - 1]] -= insns[2]
		edge = edges[depth] = stack[depth - 1] " " $5
		calls[edge]++
		costs[edge] += opened[edge]++ ? 0 : insns[2]
	}
	open = depth + 1
}
END {
	for (f in own) if (own[f]) print "own", f, own[f]
	for (e in calls) print "call", e, calls[e], costs[e]
}
END
# By the truth, a function that jumps to another ends.
as_truth() {
	"$program" -q --stacks=replace recursion -o replaced.callgrind
	sed "s/\[syscall: [^]]*\]/[syscall]/" replaced.callgrind | awk -f read.awk | sort >ours
	awk -f truth.awk truth.counts | sort >expected
	diff expected ours && [ "$(grep -c '^call' ours)" -gt 50 ]
}
tap_check "own costs, calls and their inclusive costs are the true ones" as_truth
totals() {
	expected=$(awk '$2 == 0 { sub("insns=", "", $NF); n += $NF } END { print n }' truth.counts)
	grep -E '^(events|summary|totals)' recursion.callgrind
	grep -q '^# .*by executions of instructions' recursion.callgrind || return 1
	[ "$(sed -nE 's/^(summary|totals): ([0-9]+) .*/\2/p' recursion.callgrind | tr '\n' ' ')" = "$expected $expected " ] &&
		grep -qx 'events: Ir Cycles ns' recursion.callgrind
}
tap_check "the totals are all instructions of calls; cycles and ns are beside them; a comment says what is divided" totals

tap_check "a line names the program" grep -qxF "cmd: $programs/recursion" recursion.callgrind
annotate() { # FILE: "FUNCTION INSNS" of the program's own code
	callgrind_annotate --show=Ir --threshold=100 --auto=no "$1" | tr -d ',' |
		sed -nE "s/^ *([0-9]+) .*:(main|depth|fibonacci)('2)? .*/\2 \1/p" | awk '{ n[$1] += $2 } END { for (f in n) print f, n[f] }' | sort
}
# The rest is start-up code, which depends on the processor (cpuid, auxv) that valgrind simulates.
as_valgrind() {
	valgrind --tool=callgrind --skip-plt=no --callgrind-out-file=callgrind "$programs/recursion" >/dev/null 2>messages
	annotate callgrind >expected
	annotate recursion.callgrind | diff expected - && [ "$(wc -l <expected)" -eq 3 ]
}
lines_as_valgrind() { # RECORDING
	"$program" -q --no-warn "$1" -o "$1.callgrind"
	awk -v source=recursion.c -f "$own_lines" callgrind | sort >expected
	awk -v source=recursion.c -f "$own_lines" "$1.callgrind" | sort | diff expected - && [ "$(wc -l <expected)" -ge 10 ]
}
# Code that both run at the same addresses: each instruction, and the calls by each.
insns_as_valgrind() {
	valgrind --tool=callgrind --skip-plt=no --dump-instr=yes --callgrind-out-file=insns "$programs/recursion" >/dev/null 2>messages
	"$program" -q --args=full recursion -o full.callgrind && grep -qx 'positions: instr line' full.callgrind || return 1
	awk -v source=recursion.c -f "$own_lines" insns | sort >expected
	awk -v source=recursion.c -f "$own_lines" full.callgrind | sort | diff expected - && [ "$(grep -c calls expected)" -ge 8 ] || return 1
	annotate full.callgrind >ours && annotate callgrind | diff - ours
}
if command -v callgrind_annotate >/dev/null && [ "$P2F_SANITIZED" != yes ]; then
	tap_check "callgrind_annotate reads it, and the program's own code has valgrind's instructions" as_valgrind
	"$ptsim" record --interrupts=50 --seed=3 -o interrupted -- "$programs/recursion" >/dev/null 2>&1
	tap_check "each line of the program has valgrind's instructions" lines_as_valgrind recursion
	tap_check "also of a program that is interrupted" lines_as_valgrind interrupted
	tap_check "--args=full: each instruction has valgrind's executions and calls" insns_as_valgrind
else
	tap_skip "callgrind_annotate reads it" "no valgrind, or of no use here"
	tap_skip "each line of the program has valgrind's instructions" "no valgrind, or of no use here"
	tap_skip "also of a program that is interrupted" "no valgrind, or of no use here"
	tap_skip "--args=full: each instruction has valgrind's executions and calls" "no valgrind, or of no use here"
fi

lines() {
	call=$(grep -n 'fibonacci(12)' "$source" | cut -d : -f 1)
	awk '/fn=/ { split($0, part, /[=() ]+/); if (part[3] != "") name[part[2]] = part[3] }
		/^fn=/ { on = name[part[2]] == "main" } on && /^cfn=/ && name[part[2]] == "fibonacci" { getline; getline; print $1 }' recursion.callgrind >ours
	cat ours
	[ "$(cat ours)" = "$call" ] && grep -qE '^(fl|cfi)=.*recursion.c$' recursion.callgrind && grep -qx "ob=(1) $programs/recursion" recursion.callgrind
}
tap_check "a call has its line, a function its files of source and code" lines

names() {
	"$program" -q recursion -o callgrind.out.1 && cmp callgrind.out.1 recursion.callgrind &&
		"$program" -q -f callgrind recursion | cmp - recursion.callgrind && ! "$program" -q -f pprof recursion -o callgrind.out.2 2>messages
}
tap_check "callgrind.out.* and *.callgrind choose the format" names

from_text() {
	"$program" -q -f branches recursion >branches && "$program" -q --input=perf-script branches -o x.callgrind && grep -x 'events: ns' x.callgrind
}
tap_check "without instructions and cycles it has times" from_text
tap_done
