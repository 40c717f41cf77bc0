#!/bin/sh
# SPDX-License-Identifier: MIT
# Without timing packets, one instruction counts as one nanosecond. Only --format=branches
# has jumps within functions, which must not change times.
. "$top_srcdir/tests/support/tap.sh"
ptsim=$top_builddir/tests/ptsim/ptsim
program=$top_builddir/ptrace2ftf
programs=$top_builddir/tests/programs/static
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Print "time address" of each call that is alone at its time; other slices are put side by side.
calls() {
	"$program" -q --no-warn --format=branches "$work/perf.data" | awk '
		{ f = $5; g = $NF; sub(/\+.*/, "", f); sub(/\+.*/, "", g) }
		$3 == "jcc" || ($3 == "jmp" && f == g) { next }
		{ t = $2; gsub(/[.:]/, "", t); n[t]++; if ($3 == "call") to[t] = $(NF - 1) }
		END { for (t in to) if (n[t] == 1) print t, to[t] }'
}

slices() {
	"$program" -q --no-warn --format=slices --args=line "$work/perf.data" |
		sed -n 's/^[^ ]* [^ ]* \([0-9]*\) .* address=0x\([0-9a-f]*\).*/\1 \2/p' | sort -u
}

same_times() { # PROGRAM
	"$ptsim" record --no-tsc --no-mtc -o "$work/perf.data" -- "$programs/$1" >/dev/null 2>&1 || return 1
	calls | sort >"$work/calls"
	slices >"$work/slices"
	# Code without a slice (PLT) is not a function.
	awk 'NR == FNR { begins[$0]; known[$2]; next } $2 in known && !($0 in begins)' \
		"$work/slices" "$work/calls" >"$work/missing"
	[ "$(wc -l <"$work/calls")" -gt 100 ] && [ ! -s "$work/missing" ] || { head "$work/missing"; return 1; }
}

same_by_libipt() { # PROGRAM
	for clock in "--no-tsc --no-mtc" --no-clock; do
		# shellcheck disable=SC2086 # several options
		"$ptsim" record $clock --cpus=2 -o "$work/perf.data" -- "$programs/$1" >/dev/null 2>&1 || return 1
		for engine in fast libipt; do
			"$program" -q --no-warn --engine=$engine --format=branches "$work/perf.data" >"$work/$engine"
		done
		[ "$(wc -l <"$work/fast")" -gt 100 ] && cmp "$work/fast" "$work/libipt" || { echo "$clock"; return 1; }
	done
}

"$ptsim" record --no-tsc -o "$work/perf.data" -- "$programs/tail" >/dev/null 2>"$work/messages" ||
	tap_skip_all "programs cannot be traced here: $(cat "$work/messages")"
for name in recursion tail indirect; do
	tap_check "$name: slices begin when their calls are" same_times "$name"
	tap_check "$name: libipt finds the same branches at the same times" same_by_libipt "$name"
done
# Two libraries at one address, in turn: their calls have the right names, or a warning.
says_what_is_unsure() { # OPTIONS...
	mkdir -p "$work/libraries"
	"$ptsim" record "$@" --truth="$work/libraries" -o "$work/libraries/data" -- "$top_builddir/tests/programs/plugins" >/dev/null 2>&1 || return 1
	"$program" --args=none --format=slices "$work/libraries/data" >"$work/slices" 2>"$work/messages"
	status=$?
	for file in "$work/slices" "$work/libraries/truth.slices"; do
		sort -s -k 3,3n -k 2,2n "$file" | awk '$5 ~ /^work_of_plugin/ { print $5 }' >"$file.names"
	done
	[ -s "$work/slices.names" ] || return 1
	# Coarse times may be right by chance.
	if [ $status -eq 0 ]; then
		cmp "$work/slices.names" "$work/libraries/truth.slices.names" && ! grep 'replaced other code' "$work/messages"
	else
		[ $status -eq 2 ] && [ "$1" != --cyc ] && grep -q ': 5 mappings replaced other code, and times are coarse; record with cyc=1' "$work/messages"
	fi
}
for options in --cyc --mtc-period=9 "--no-mtc --no-tsc --per-thread" ${LONG:+--mtc-period=3 --no-mtc}; do
	tap_check "libraries at one address, $options: right names, or a warning" says_what_is_unsure $options
done
# Own instructions of a function, by --format=callgrind: times are estimated from a few TSC packets.
# "INSNS FUNCTION", most first.
ranked() { awk '{ n[$2] += $1 } END { for (f in n) if (n[f]) print n[f], f }' | LC_ALL=C sort -k1,1nr -k2,2; }
recorded() { # OPTIONS...
	"$ptsim" record "$@" -o "$work/perf.data" -- "$programs/causes" callee 1 >/dev/null 2>&1 &&
		convert callgrind >"$work/costs" || return 1
	awk '/^c?fn=/ { id = substr($1, index($1, "(")); if (NF > 1) name[id] = substr($0, length($1) + 2); if (/^fn=/) own = id; next }
		/^calls=/ { edge = 1; next } /^[0-9+*-]/ { if (!edge) n[name[own]] += $2; edge = 0 }
		END { for (f in n) print n[f], f }' "$work/costs" | tr ' ' '\t' | sed 's/\t/ /; s/\t/_/g' | ranked >"$work/expected"
	[ "$(wc -l <"$work/expected")" -gt 5 ]
}
convert() { # FORMAT OPTIONS...
	format=$1
	shift
	"$program" -q --no-warn --format="$format" "$@" "$work/perf.data" -o -
}
expect() { # FILE
	diff "$work/expected" "$work/$1"
}
in_table() {
	convert functions >"$work/table" &&
		head -n 1 "$work/table" | grep -q ' function  (all in instructions)$' || { head -n 3 "$work/table"; return 1; }
	awk '$4 ~ /%$/ { n = $3; f = $9; for (i = 10; i <= NF; i++) f = f "_" $i; if (n) print n, f }' "$work/table" >"$work/found"
	expect found
}
in_stacks() {
	convert folded --max-stack=none | awk '{ n = $NF; sub(/ [0-9]*$/, ""); sub(/.*;/, ""); gsub(/ /, "_"); print n, $0 }' |
		ranked >"$work/found"
	expect found
}
in_summary() {
	"$program" --format=slices --args=full "$work/perf.data" -o "$work/slices" 2>&1 | sed -n '/^ *self .*(self and longest call in instructions)$/,$p' |
		awk 'NR > 1 && /^ / { print $1, $6 }' >"$work/found"
	grep -v ' \[' "$work/expected" | head -n 5 >"$work/first"
	diff "$work/first" "$work/found"
}
# Counting instructions would make a conversion take half as long again.
as_estimates() {
	"$program" "$work/perf.data" -o "$work/x.ftf" 2>&1 | grep -q '^ *self .*  (times are estimates)$' &&
		"$program" -q --no-warn "$work/perf.data" -o "$work/y.ftf" && cmp "$work/x.ftf" "$work/y.ftf"
}
# Functions of one name have separate rows, some of which the report's limit may leave out.
in_report() {
	convert slices --args=full --json="$work/json" >"$work/slices" &&
		grep -q '"ranked_by": "instructions"' "$work/json" || return 1
	awk '/"by_self"/ { on = 1 } /"by_total"/ { exit }
		on && /"name"/ { f = $0; sub(/.*: "/, "", f); sub(/",*$/, "", f); gsub(/ /, "_", f) }
		on && /"self_insns"/ { gsub(/[^0-9]/, ""); if ($0 + 0) print $0, f }' "$work/json" >"$work/all"
	awk '/^c?fn=/ { id = substr($1, index($1, "(")); if (NF > 1) name[id] = $2 } /^fn=/ && ++n[id] == 2 { print name[id] }' "$work/costs" >"$work/several"
	awk 'FILENAME == ARGV[1] { several[$1]; next } !($2 in several)' "$work/several" "$work/all" >"$work/found"
	[ "$(wc -l <"$work/found")" -gt 5 ] && LC_ALL=C sort -c -s -k1,1nr "$work/found" || return 1
	ranked <"$work/found" >"$work/sorted"
	grep -Fxvf "$work/expected" "$work/sorted"
	[ "$(wc -l <"$work/sorted")" -eq "$(grep -Fxcf "$work/expected" "$work/sorted")" ]
}
# The calls of the chosen functions, with callees.
in_histogram() {
	convert histogram --symbol=main --symbol=request --json="$work/json" >"$work/blocks"
	awk '/^c?fn=/ { split($1, id, /[()]/); if ($2 == "main") main = id[2] } /^fn=/ { at = id[2] }
		/^[0-9+*-]/ { n[at] += $2 } END { print n[main] }' "$work/costs" >"$work/first"
	sed -n '/^main  (in instructions)$/,/^$/s/^calls 1, total \([0-9]*\), .*/\1/p' "$work/blocks" >"$work/found"
	diff "$work/first" "$work/found" && sed -n 's/^\([a-z]*\)  (in instructions)$/\1/p' "$work/blocks" | head -n 1 | grep -qx main
}
in_slowest() {
	"$program" -q --no-warn --slowest=3 --symbol='*' --json="$work/json" "$work/perf.data" -o "$work/list" &&
		grep -q '"ranked_by": "instructions"' "$work/json" &&
		sed -n 's/^ *"insns": \([0-9]*\),*$/\1/p' "$work/json" >"$work/found" &&
		[ "$(wc -l <"$work/found")" -eq 3 ] && sort -c -nr "$work/found"
}
for options in --no-mtc "--no-tsc --no-mtc" --no-clock; do
	tap_check "$options: a recording" recorded $options
	tap_check "the table of functions counts instructions" in_table
	tap_check "folded stacks weigh instructions" in_stacks
	tap_check "the summary shows functions with most instructions" in_summary
	tap_check "or estimated times, if no instructions are counted: a summary changes no output" as_estimates
	tap_check "so does --json" in_report
	tap_check "the slowest calls are those with most instructions, as --json says" in_slowest
	tap_check "histograms count instructions" in_histogram
done
# An unstable TSC: packets have times, but not of the clock of the context switches.
untimed() { awk '{ print $1, $2, $5 }' "$work/slices" | sort -s -k1,1; }
without_clock() { # OPTIONS...
	"$ptsim" record --no-tsc --no-mtc --cpus=2 "$@" -o "$work/perf.data" -- "$programs/threads" >/dev/null 2>&1 || return 1
	"$program" -q --no-warn --format=slices "$work/perf.data" -o "$work/slices" && untimed >"$work/expected"
	"$ptsim" record --no-clock --cpus=2 "$@" -o "$work/perf.data" -- "$programs/threads" >/dev/null 2>&1 || return 1
	"$program" --format=slices "$work/perf.data" 2>"$work/messages" >"$work/slices"
	[ $? -eq 2 ] && [ -s "$work/slices" ] && untimed >"$work/found" && expect found
}
one_thread_each() {
	without_clock --per-thread && grep -q 'the times are invented' "$work/messages" &&
		[ "$(sed 's/ .*//' "$work/found" | sort -u | wc -l)" -eq 5 ]
}
tap_check "no clock: the same as without timing packets" without_clock
tap_check "the threads are not certain" grep -q 'no times on cpu .: which thread ran is a guess' "$work/messages"
tap_check "no clock, a buffer per thread: the threads are right" one_thread_each
# magic-trace's machine counts none.
has_times() {
	convert functions --stacks=magic-trace | awk '$4 ~ /%$/ && $3 ~ /[1-9].*s$/ { n++ } END { exit n < 3 }'
}
tap_check "magic-trace's machine has times" has_times
by_time() {
	"$ptsim" record -o "$work/timed" -- "$top_builddir/tests/programs/static/recursion" >/dev/null 2>&1
	for options in "-f slices" "--slowest=3 --symbol=*"; do
		"$program" -q --no-warn $options --json="$work/json" "$work/timed" -o "$work/list" &&
			grep -q '"ranked_by": "time"' "$work/json" || return 1
	done
}
tap_check "with MTC packets --json ranks by time" by_time
tap_done
