#!/bin/sh
# SPDX-License-Identifier: MIT
# OCaml's overlays in traces: slices against the begins and ends that OCaml's own
# reader saw, and clocks against what the recorded programs printed of theirs.
. "${top_srcdir:-.}/tests/support/tap.sh"
shared=${top_srcdir:-.}/../shared/ocaml
program=${top_builddir:-.}/ptrace2ftf
ftfdump=${top_builddir:-.}/ftfdump
[ -d "$shared/events" ] || tap_skip_all "no ../shared/ocaml"
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

unpack() { # RING.gz: prints where it is now
	gzip -dc "$1" >"$work/$(basename "$1" .gz)"
	echo "$work/$(basename "$1" .gz)"
}

# RING BEGIN END NAME of each phase that began and ended, by a stack per ring.
phases() {
	awk '$3 == "begin" { name[$1, ++depth[$1]] = $4; begin[$1, depth[$1]] = $2 }
		$3 == "end" && depth[$1] && name[$1, depth[$1]] == $4 {
			print $1, begin[$1, depth[$1]--], $2, $4
		}' "$1" | sort
}

# The same of a trace; tracks are known by their names.
slices() {
	"$ftfdump" --names "$1" | sed -n 's/^thread \([0-9]*\) domain \([0-9]*\) GC.*/\1 \2/p' >"$work/tracks"
	"$ftfdump" --slices "$1" | awk 'NR == FNR { ring[$1] = $2; next }
		{ split($1, id, "/") }
		id[2] in ring && !/unfinished|begin_lost/ && $3 != $4 { print ring[id[2]], $3, $4, $5 }' \
		"$work/tracks" - | sort
}

phases_are_slices() { # RING.gz DUMP
	ring=$(unpack "$1")
	"$program" -q --no-warn --runtime-events="$ring" -o "$work/x.ftf" || return 1
	rm -f "$ring"
	"$ftfdump" --check "$work/x.ftf" || return 1
	phases "$2" | awk '$2 != $3' >"$work/expected"
	slices "$work/x.ftf" >"$work/got"
	[ -s "$work/expected" ] && cmp "$work/expected" "$work/got" || return 1
	# Spans of the program are slices, too.
	"$ftfdump" "$work/x.ftf" | awk '{ kinds[$2]++ } END { print kinds["begin"] + 0, kinds["counter"] + 0 }' >"$work/kinds"
	awk '$3 ~ /^(user_span_)?begin$/ { begins++ } $3 == "counter" { counters++ } END { print begins + 0, counters + 0 }' "$2" |
		paste -d ' ' "$work/kinds" - | awk '{ exit !($1 >= $3 && ($2 > 0) == ($4 > 0)) }'
}

# Nothing relates the clocks: both files are written up to the process's end, whose
# last events lie some milliseconds apart.  The program printed the truth.
ends_are_taken_for_the_same() {
	ring=$(unpack "$shared"/combined/single/*.events.gz)
	offset=$(sed -n 's/.*clocks tracing.*real-mono=//p' "$shared/combined/single/stdout.txt")
	"$program" --no-warn --runtime-events="$ring" --memtrace="$shared/combined/single/out.ctf" \
		-o "$work/x.ftf" 2>"$work/err" || return 1
	cat "$work/err"
	grep -q "assuming that both end together" "$work/err" || return 1
	found=$(sed -n 's/.*clock: assumed, offset -\([0-9]*\) ns.*/\1/p' "$work/err")
	[ $((found - offset)) -lt 50000000 ] && [ $((offset - found)) -lt 50000000 ]
}

# Two lines whose offsets differ by 2000 ns; reading a line takes less than 1000 ns.
lines_bound_the_clocks() {
	ring=$(unpack "$shared"/combined/single/*.events.gz)
	printf '%s\n' 'tsc=0 mono=1000000 real=5000000' 'tsc=0 mono=2000000 real=6002000' >"$work/sync"
	"$program" --no-warn --runtime-events="$ring" --memtrace="$shared/combined/single/out.ctf" \
		--clock-sync="$work/sync" -o "$work/x.ftf" 2>"$work/err" || return 1
	cat "$work/err"
	grep -q 'clock: --clock-sync, offset -4001000 ns +- 2000 ns' "$work/err"
}

memtrace_is_outside_minor() {
	ring=$(unpack "$shared"/combined/single/*.events.gz)
	offset=$(sed -n 's/.*clocks tracing.*real-mono=//p' "$shared/combined/single/stdout.txt")
	"$program" -q --runtime-events="$ring" --memtrace="$shared/combined/single/out.ctf" \
		--clock-sync=real=-"$offset" -o "$work/x.ftf" || return 1
	"$ftfdump" --names "$work/x.ftf" | sed -n 's/^thread \([0-9]*\) memtrace .*/\1/p' >"$work/tracks"
	"$ftfdump" --slices "$work/x.ftf" | awk 'NR == FNR { memtrace[$1] = 1; next }
		{ split($1, id, "/") }
		id[2] in memtrace { time[++events] = $3 }
		$5 == "minor" { begin[++minors] = $3; end[minors] = $4 }
		END {
			for (i = 1; i <= events; i++)
				for (j = 1; j <= minors; j++)
					inside += begin[j] < time[i] && time[i] < end[j]
			print events, "events,", minors, "minor collections,", inside, "inside"
			exit !(events == 7561 && minors > 20 && !inside)
		}' "$work/tracks" -
}

# perf's clock was 537957 ns behind the monotonic one, by the kernel's own report.
bounds_contain() { # FOLDER AHEAD
	ring=$(unpack "$shared"/perf/"$1"/*.events.gz)
	"$program" --no-warn "$shared/perf/$1/perf.data" --runtime-events="$ring" -o "$work/x.ftf" \
		2>"$work/err" || { cat "$work/err"; return 1; }
	cat "$work/err"
	sed -n 's/.*order of forks and exits, offset \(-*[0-9]*\) ns +- \([0-9]*\) ns/\1 \2/p' "$work/err" |
		awk -v ahead="$2" '{ off = $1 + ahead; exit !(off <= $2 && -off <= $2 && $2 < 100000) }
			END { if (!NR) exit 1 }'
}

# perf record -k CLOCK_MONOTONIC: the clocks are one.
mono_bounds_contain_0() {
	ring=$(unpack "$shared"/perf/mono/*.events.gz)
	"${top_builddir:-.}/tests/oracle/overlay_bounds" "$shared/perf/mono/perf.data" events "$ring" |
		awk '{ print; exit !($1 <= 0 && 0 <= $2 && $2 - $1 < 200000) } END { if (!NR) exit 1 }'
}

mono_is_as_recorded() {
	"$program" --no-warn "$shared/perf/mono/perf.data" --runtime-events="$work/32430.events" \
		-o "$work/x.ftf" 2>&1 | grep 'clock: recorded by perf, offset 0 ns'
}

# Memtrace's wall clock: what the program printed, and the same 537957 ns.
wall_bounds_contain() {
	"$program" --no-warn "$shared/perf/default/perf.data" \
		--memtrace="$shared/perf/default/out.ctf" -o "$work/x.ftf" 2>"$work/err" || return 1
	cat "$work/err"
	sed -n 's/.*offset -\([0-9]*\) ns +- \([0-9]*\) ns/\1 \2/p' "$work/err" | {
		read -r offset uncertainty
		difference=$((1795226248432292977 + 537957 - offset))
		[ ${difference#-} -le "$uncertainty" ] && [ "$uncertainty" -lt 50000000 ]
	}
}

rings_know_their_threads() {
	"$ftfdump" --names "$work/x.ftf" | grep -q 'domain 1 GC (thread 32368)' &&
		"$ftfdump" --names "$work/x.ftf" | grep -q 'domain 2 GC (thread 32371)'
}

all_have_slices() { # every sampled event is one slice
	for trace in "$shared"/memtrace/[!b]*.ctf; do
		"$program" -q --no-warn --format=events --memtrace="$trace" -o "$work/lines" || return 1
		"$program" -q --no-warn --memtrace="$trace",lives -o "$work/x.ftf" || return 1
		"$ftfdump" --check "$work/x.ftf" || return 1
		[ "$("$ftfdump" --slices "$work/x.ftf" | wc -l)" -eq "$(grep -vc '^#' "$work/lines")" ] || return 1
		for source in minor:alloc major:alloc_major external:alloc_ext; do
			[ "$("$ftfdump" "$work/x.ftf" | grep -c " source=${source%:*} ")" -eq \
				"$(grep -cE "^[0-9]+ [0-9]+ ${source#*:} " "$work/lines")" ] || return 1
		done
	done
}

# The name of an allocation's slice is the innermost function of its stack.
lives_have_names() {
	"$program" -q --no-warn --memtrace="$shared/combined/single/out.ctf,lives" -o "$work/x.ftf" &&
		"$ftfdump" "$work/x.ftf" >"$work/records" || return 1
	awk '$2 == "begin" && / source=/ { print $4, $5 }' "$work/records" >"$work/allocated"
	awk '$2 == "async-begin" { print $4, $5 }' "$work/records" | sed 's/"block"/"alloc"/' | cmp - "$work/allocated" || return 1
	awk '{ id = "" } / id [0-9]+$/ { id = $NF } $2 == "async-begin" { name[id] = $5 } $2 == "async-end" { n++; bad += name[id] != $5 }
		END { exit bad || n < 1000 }' "$work/records" && [ "$(cut -d ' ' -f 2 "$work/allocated" | sort -u | wc -l)" -gt 5 ]
}

# Both have the events in order of time; sizes by which nothing was allocated are left out.
block_sizes() {
	ring=$(unpack "$shared"/events/5.3-instr/*.events.gz)
	"$program" -q --no-warn --runtime-events="$ring" -o "$work/x.ftf" && "$ftfdump" "$work/x.ftf" |
		sed -n 's/.*"major heap blocks by size".*words: blocks[^=]*=\(.*\)/\1/p' | tr -d '"' | sort >"$work/got"
	awk '$3 == "alloc" { n = split($5, count, ","); text = ""
		for (i = 1; i <= n; i++) {
			size = i <= 10 ? i - 1 : i < 20 ? (i - 10) * 10 "-" (i - 10) * 10 + 9 : "100+"
			if (count[i] > 0) text = text (text == "" ? "" : ", ") size ": " count[i]
		}
		print text }' "$shared"/events/5.3-instr/*.dump.txt | sort >"$work/expected"
	[ "$(grep -c '100+: 18$' "$work/expected")" -ge 1 ] && diff "$work/expected" "$work/got"
}

for folder in "$shared"/events/*; do
	for ring in "$folder"/*.events.gz; do
		# seeds.md: begins and ends may lack each other after a wrap
		# seeds.md: olly trace writes FTF: phases, counters, user spans
		tap_check "$(basename "$folder")/$(basename "$ring" .gz): phases are slices" \
			phases_are_slices "$ring" "${ring%.events.gz}.dump.txt"
	done
done
# seeds.md: the sizes of allocated blocks (instrumented runtime): up to 9, by tens up to 99, and others
tap_check "major-heap blocks are shown by their words" block_sizes
# seeds.md: minor, major and external blocks
tap_check "each event of memtrace is a slice" all_have_slices
tap_check "a block's life has the name of the function that allocated it" lives_have_names
tap_check "no event of memtrace lies in a minor collection" memtrace_is_outside_minor
tap_check "without a word on clocks the ends are taken for the same" ends_are_taken_for_the_same
tap_check "lines of clock-sync bound the offset of two overlays" lines_bound_the_clocks
# seeds.md: times are of the monotonic clock
tap_check "forks and exits bound the monotonic clock around the truth" bounds_contain default 537957
# seeds.md: lifecycle: starts, stops, forks, domains
tap_check "rings are named after the threads that forked their backups" rings_know_their_threads
tap_check "forks and exits bound perf's monotonic clock around 0" mono_bounds_contain_0
tap_check "a clock that perf was set to use is believed" mono_is_as_recorded
# seeds.md: times are of the wall clock
tap_check "execs and exits bound the wall clock around the truth" wall_bounds_contain
tap_done
