#!/bin/sh
# SPDX-License-Identifier: MIT
# --slowest and --slow against the truth: of a thousand calls one was made slow, for a
# known cause, and is the first; all others are where they were, for so long.  With LONG=1
# (make check-long) on 20 seeds each.
. "$top_srcdir/tests/support/tap.sh"
ptsim=$top_builddir/tests/ptsim/ptsim
[ -x "$ptsim" ] || tap_skip_all "ptsim is not built: libzydis-dev is not installed"
command -v jq >/dev/null || tap_skip_all "jq is not installed"
program=$top_builddir/ptrace2ftf
ftfdump=$top_builddir/ftfdump
causes=$top_builddir/tests/programs/static/causes
seeds=${LONG:+"$(seq 20)"}
seeds=${seeds:-1}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

record() { # CAUSE SEED OPTIONS...: the number of the slow call is in $work/planted
	cause=$1 seed=$2
	shift 2
	planted=$("$ptsim" record --seed="$seed" --cpus=2 --truth="$work" -o "$work/perf.data" "$@" -- \
		"$causes" "$cause" "$seed" 2>"$work/messages") || { cat "$work/messages"; return 1; }
	echo "$planted" >"$work/planted"
	# BEGIN END INSNS of each true call, in the order of time.
	awk '$5 == "request" { sub("insns=", "", $6); print $3, $4, $6 }' "$work/truth.counts" |
		sort -n >"$work/truth"
}

find_calls() { # OPTIONS...: the table in $work/table, and its JSON in $work/json
	"$program" --json="$work/json" --symbol=request "$@" "$work/perf.data" >"$work/table" 2>"$work/messages"
	status=$?
	[ $status -eq 0 ] || [ $status -eq 2 ] || { cat "$work/messages"; return 1; }
}

calls_of_json() { # the same lines as $work/truth
	jq -r '.answer.list[] | "\(.begin_ns) \(.begin_ns + .duration_ns) \(.insns)"' "$work/json"
}

# Within the time of CYC packets; of 3,000 instructions without branches it is unknown where.
same_times() { # FILE FILE
	[ "$(wc -l <"$1")" -eq "$(wc -l <"$2")" ] || { wc -l "$1" "$2"; return 1; }
	paste -d ' ' "$1" "$2" | awk '
		function far(a, b) { return a - b > 300 || b - a > 300 }
		far($1, $4) || far($2, $5) || $3 != $6 { print "ours, truth: " $0; wrong = 1 }
		END { exit wrong }'
}

planted_is_first() {
	find_calls --slowest=3 && calls_of_json | head -1 >"$work/ours" &&
		sed -n "$((planted + 1))p" "$work/truth" >"$work/true" && same_times "$work/ours" "$work/true"
}

all_are_true() {
	find_calls --slowest=10000 && calls_of_json | sort -n >"$work/ours" &&
		same_times "$work/ours" "$work/truth"
}

is_sorted() {
	jq -e '[.answer.list[].duration_ns] | . == (sort | reverse)' "$work/json" >"$work/out"
}

# The lengths of all calls are in the list of all.
p99_is_true() {
	find_calls --slow=p99 || return 1
	jq -e '.answer | .calls == 1000 and .slower <= 20 and .slower >= 10 and
		(.list | length) == .slower and all(.list[]; .duration_ns > 0)' "$work/json" >"$work/out" ||
		{ jq .answer "$work/json"; return 1; }
	bound=$(jq .answer.bound_ns "$work/json")
	find_calls --slowest=10000 || return 1
	jq -e --argjson bound "$bound" '[.answer.list[].duration_ns] | .[10] as $true |
		$bound <= $true and $bound >= $true * 127 / 128 - 1' "$work/json" >"$work/out" ||
		{ echo "p99 $bound"; jq '.answer.list[10].duration_ns' "$work/json"; return 1; }
}

a_bound_chooses_what_is_longer() {
	find_calls --slow=1us --slowest=10000 &&
		jq '[.answer.list[].duration_ns]' "$work/json" >"$work/some" &&
		jq -e '.answer | .bound_ns == 1000 and .slower == (.list | length)' "$work/json" >"$work/out" &&
		find_calls --slowest=10000 &&
		jq '[.answer.list[].duration_ns | select(. > 1000)]' "$work/json" | cmp - "$work/some"
}

the_same_with_any_threads() {
	for threads in 1 2 8; do
		program=$segments PTRACE2FTF_SEGMENT=1000 find_calls -j "$threads" --slowest=50 || return 1
		[ $threads -eq 1 ] && cp "$work/table" "$work/one"
		cmp "$work/one" "$work/table" || return 1
	done
}

# Each file has the call at the same time as the whole trace, and little else.
traces_show_the_calls() {
	rm -rf "$work/dir"
	find_calls --slowest=4 --context=2us && cp "$work/json" "$work/printed" &&
		find_calls --slowest=4 --context=2us -o "$work/dir/" || return 1
	[ ! -s "$work/table" ] || { echo "text on standard output"; return 1; }
	[ "$(ls "$work/dir" | tr '\n' ' ')" = "call-001.ftf call-002.ftf call-003.ftf call-004.ftf index.jsonl index.tsv " ] ||
		{ ls "$work/dir"; return 1; }
	jq '.answer' "$work/printed" >"$work/a" && jq '.answer' "$work/json" | cmp "$work/a" - || return 1
	while read -r line; do
		file=$(echo "$line" | jq -r .file)
		"$ftfdump" --slices "$work/dir/$file" >"$work/slices" &&
			slice=$(echo "$line" | jq -r '"\(.pid)/\(.tid) \(.begin_ns) \(.begin_ns + .duration_ns) request"') &&
			awk '{ print $1, $3, $4, $5 }' "$work/slices" | grep -qxF "$slice" &&
			[ "$(wc -l <"$work/slices")" -lt 300 ] || { echo "$line"; head -20 "$work/slices"; return 1; }
	done <"$work/dir/index.jsonl"
	[ "$(wc -l <"$work/dir/index.jsonl")" -eq 4 ]
}

says_what_perfetto_shows() {
	jq -e '.vis_start == .begin_ns - 2000 and .vis_end == .begin_ns + .duration_ns + 2000 and
		.query == "visStart=\(.vis_start)&visEnd=\(.vis_end)&ts=\(.begin_ns)&dur=\(.duration_ns)&pid=\(.pid)&tid=\(.tid)"' \
		"$work/dir/index.jsonl" >"$work/out" || { cat "$work/dir/index.jsonl"; return 1; }
	# The table has the same, with a line above.
	jq -r '[.rank, .file, .function, .process, .thread, .pid, .tid, .begin_ns, .duration_ns, .insns,
		.untraced_ns, "yes", "yes", .status, .query] | @tsv' "$work/dir/index.jsonl" >"$work/lines" &&
		sed 1d "$work/dir/index.tsv" | cmp - "$work/lines"
}

other_threads_are_in_the_trace() {
	"$ftfdump" --names "$work/dir/call-001.ftf" | sed -n 's/^process \([0-9]*\) CPUs$/\1/p' >"$work/group"
	"$ftfdump" --slices "$work/dir/call-001.ftf" |
		awk 'NR == FNR { group[$1]; next } !(substr($1, 1, index($1, "/") - 1) in group) { print $1 }' \
			"$work/group" - | sort -u >"$work/threads"
	[ "$(wc -l <"$work/threads")" -eq 2 ] || { cat "$work/threads"; return 1; }
}

a_cut_call_is_marked() { # the trace ends, or begins, between two calls in the call
	record cache 1 --cyc --interrupts=0 || return 1
	find_calls --slowest=1 || return 1
	end=$(jq '.answer.list[0] | .begin_ns + .duration_ns / 2 | floor' "$work/json")
	find_calls --slowest=1 --time=,"$(echo "$end" | sed 's/.........$/.&/')" &&
		jq -e '.answer.list[0] | .begin_seen and (.end_seen | not)' "$work/json" >"$work/out" &&
		grep -q '^   1 >' "$work/table" && grep -q '^> the start or the return was not traced' "$work/table" ||
		{ cat "$work/table"; return 1; }
	find_calls --slowest=1 --time="$(echo "$end" | sed 's/.........$/.&/')", &&
		jq -e '.answer.list[0] | (.begin_seen | not) and .end_seen' "$work/json" >"$work/out" ||
		{ cat "$work/table"; return 1; }
}

record loop 1 >/dev/null ||
	tap_skip_all "programs cannot be traced here"
# Of the other causes why.sh has a recording in `make check`.
for cause in ${LONG:+callee loop fault} sleep cache lock; do
	for seed in $seeds; do
		tap_check "$cause, seed $seed: is recorded" record $cause $seed --cyc
		planted=$(cat "$work/planted")
		tap_check "$cause, seed $seed: the planted call is the slowest" planted_is_first
	done
	tap_check "$cause: a thousand calls took as long as they did" all_are_true
	tap_check "$cause: they are in the order of time, slowest first" is_sorted
done
# The last one is that of the lock, with two threads.
tap_check "p99 is that of all calls, to one part in 128" p99_is_true
tap_check "a time chooses what is longer" a_bound_chooses_what_is_longer
tap_check "the table is the same with 1, 2 and 8 threads" the_same_with_any_threads
tap_check "each trace has its call, and the index lists them" traces_show_the_calls
tap_check "the index says how Perfetto shows the call" says_what_perfetto_shows
tap_check "a trace has what other threads did then" other_threads_are_in_the_trace
tap_check "a call that was cut lasted at least so long" a_cut_call_is_marked
tap_done
