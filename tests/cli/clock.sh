#!/bin/sh
# SPDX-License-Identifier: MIT
# --clock: all outputs by instructions and cycles of their thread, the same in each recording of a program.
. "$top_srcdir/tests/support/tap.sh"
program=$top_builddir/ptrace2ftf
ptsim=$top_builddir/tests/ptsim/ptsim
programs=$top_builddir/tests/programs/static
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1

# Other interrupts, and other clocks.
"$ptsim" record --cyc --seed=3 --truth=. -o one -- "$programs/recursion" >/dev/null 2>messages &&
	"$ptsim" record --cyc --seed=9 --interrupts=700 -o two -- "$programs/recursion" >/dev/null 2>messages ||
	tap_skip_all "programs cannot be traced here: $(cat messages)"

the_same() { # FORMAT OPTIONS...
	for recording in one two; do
		"$program" -q --no-warn --clock=insns -f "$@" $recording -o $recording.out || return 1
	done
	[ -s one.out ] && cmp one.out two.out
}
differ_by_time() {
	for recording in one two; do
		"$program" -q -f slices $recording -o $recording.out || return 1
	done
	! cmp -s one.out two.out
}
tap_check "two recordings differ by time" differ_by_time
for format in slices tree ftf functions histogram folded chrome lcov; do
	tap_check "--clock=insns: they have the same $format" the_same $format --symbol='*'
done
tap_check "and the same JSON" the_same functions --json
tap_check "and a part of the axis" the_same slices --time=+5000,+20000

# Times are those of PSBs, so slices of many calls share one; the axis has all instructions.
with_coarse_times() {
	"$ptsim" record --no-mtc --seed=4 --interrupts=100 -o two -- "$programs/unwinding" >/dev/null 2>messages &&
		"$ptsim" record --seed=3 -o one -- "$programs/unwinding" >/dev/null 2>messages && the_same slices
}
# The truth ends a function at its tail call.
true_lengths() {
	"$program" -q --clock=insns --stacks=replace -f slices one | awk '$5 !~ /^\[/ { print $2, $5, $4 - $3 }' | sort >ours
	awk '$5 !~ /^\[/ { sub("insns=", "", $NF); print $2, $5, $NF }' truth.counts | sort >expected
	[ "$(wc -l <ours)" -gt 2000 ] && diff ours expected
}
tap_check "a slice is as long as the program's instructions" true_lengths
other_formats_have_the_unit() {
	"$program" -q --clock=insns -f tree one | awk '/\] \| *\/\* _start\(\) \*\/|\] \| } \/\* _start/ { n++; length_ = $1 } END { print n, length_; exit !(n == 1 && length_ ~ /^[0-9]+$/) }' &&
		"$program" -q --clock=cycles -f chrome one -o - | grep -q '"first_cycles":"0"' &&
		"$program" -q --clock=insns -f speedscope one -o - | grep -q '"unit":"none","startValue":0,'
}
is_cut() {
	"$program" -q --clock=insns -f functions --time=+5000,+1000 one | awk '{ sum += $3 } END { print sum; exit sum != 1000 }' &&
		"$program" -q --clock=insns -f callgrind --time=+5000,+1000 one | grep '^totals: 1000 ' &&
		"$program" -q --clock=insns -f branches --time=+5000,+1000 one | awk '{ bad += $2 + 0 < 5000 || $2 + 0 > 6000 } END { print NR, bad; exit !(NR > 10 && !bad) }' &&
		"$program" -q --clock=insns -f slices --time=+5000,+1000 one |
		awk '{ bad += $3 < 5000 || $4 > 6000 || $3 > $4; old += /inferred_start_time/; n += $2 == 0 && $3 == 5000 && $4 == 6000 }
			END { print NR, bad + 0, old + 0; exit !(NR > 10 && !bad && old && n == 1) }'
}
tap_check "other formats have the unit, or none" other_formats_have_the_unit
tap_check "--time chooses instructions" is_cut
# perf counts each instruction, and cycles in samples that say IPC.
branches_have_perfs_counts() {
	for recording in one two; do
		perf script -i $recording --itrace=bei1i -F event,ip,addr,flags |
			awk '/instructions/ { n++ } /branches/ { print n + 0, $(NF - 2), $NF }' >expected
		"$program" -q --no-warn --clock=insns -f branches $recording |
			awk '{ for (i = 1; $i != "=>"; i++) ip = $(i - 1); print $2 + 0, ip, $(i + 1) }' >ours
		[ "$(wc -l <ours)" -gt 5000 ] && diff ours expected || return 1
	done
	perf script -i one --itrace=be -F ip,ipc | sed -n 's|.*(\(.*\)/\(.*\)).*|\2|p' | awk '{ sum += $1 } END { print sum }' >expected
	"$program" -q --clock=cycles -f branches one | awk 'END { print $2 + 0 }' | diff - expected
}
if command -v perf >/dev/null; then
	tap_check "branches have the instructions and cycles that perf counts" branches_have_perfs_counts
else
	tap_skip "branches have the instructions and cycles that perf counts" "no perf"
fi
calls_are_those_slices() {
	"$program" -q --clock=insns -f calls one | awk '$1 == "->" && $3 == "BEGIN" { print $2, $4 }' | grep -v ' [[]' | sort >calls
	"$program" -q --clock=insns -f slices one | awk '{ print $3, $5 }' | grep -v ' [[]' | sort >slices
	[ "$(wc -l <calls)" -gt 2000 ] && diff calls slices
}
tap_check "calls begin where slices do" calls_are_those_slices
# _start contains all that the program does.
whole=$(sed -n 's/.* _start insns=//p' truth.counts)
page_has_the_unit() {
	"$program" -q --clock=$1 -f html one -o page.html && grep -o "<p>[0-9]* $1 from 0, threads.*" page.html &&
		grep "^{\"axis\":\"$1\",\"unit\":\"$1\",\"ids\":[0-9]*,\"origin\":\"0\"" page.html && ! grep -o '"[a-z]*_ns":' page.html
}
profiles_have_all() {
	"$program" -q --clock=insns -f callgrind one >calls && grep -E '^(events|totals):' calls
	grep -qx 'events: Ir Cycles' calls && grep -q "^totals: $whole [0-9]*\$" calls &&
		grep -q "\"duration\":$whole," page.html || return 1
	"$program" -q --clock=cycles -f pprof one -o one.pb.gz && gzip -dc one.pb.gz >profile &&
		grep -q cycles profile && ! grep -q nanoseconds profile
}
tables_have_all() {
	for unit in insns cycles; do
		"$program" -q --clock=$unit -f sqlite --args=full one -o one.db &&
			sqlite3 one.db "SELECT unit FROM clock; SELECT max(return_time) = max(insn_count), max(return_time) = max(cyc_count) FROM calls;
				SELECT max(time) = (SELECT max(return_time) FROM calls) FROM samples" >"$unit.table"
		rm one.db
	done
	cat insns.table cycles.table && printf 'insns\n1|0\n1\n' | diff insns.table - && printf 'cycles\n0|1\n1\n' | diff cycles.table -
}
for unit in insns cycles; do
	tap_check "a page by $unit" page_has_the_unit $unit
done
"$program" -q --clock=insns -f html one -o page.html
if grep -q 'this build is without lib' "$program"; then
	tap_skip "profiles have all instructions" "no libprotobuf-c or libsqlite3"
	tap_skip "and so has a database" "no libprotobuf-c or libsqlite3"
elif command -v sqlite3 >/dev/null; then
	tap_check "profiles have all instructions" profiles_have_all
	tap_check "and so has a database" tables_have_all
else
	tap_check "profiles have all instructions" profiles_have_all
	tap_skip "and so has a database" "no sqlite3"
fi
any_threads() {
	for threads in 1 2 3; do
		"$program" -q -j$threads --clock=cycles -f ftf one -o - | cksum
	done | sort -u | wc -l | grep -qx 1
}
tap_check "threads change nothing" any_threads
names_units() { # UNIT
	"$program" -q --clock=$1 -f functions --json one >functions
	"$program" -q --clock=$1 -f histogram --symbol='depth*' --json one >histogram
	"$program" why -q --no-warn --clock=$1 --symbol='*' --json one >why
	"$program" -q --clock=$1 --symbol='*' --slowest=2 --json one >slowest
	"$program" -q --clock=$1 -f slices -o x --json=summary one
	! grep -nE '"(ns|[a-z0-9.]*_ns)"' functions histogram why slowest || return 1
	sed -n '/"functions"/,$p' summary | grep -E '"(self|total|begin|duration)_ns"' && return 1
	grep -q "\"total_$1\"" functions && grep -q "\"from_$1\"" histogram &&
		grep -q "\"unit\": \"$1\"" why && grep -q "\"duration_$1\"" slowest && grep -q "\"self_$1\"" summary
}
for unit in insns cycles; do
	tap_check "JSON names $unit" names_units $unit
done
of_cycles() {
	"$program" -q --clock=cycles --args=full -f slices one |
		awk '$2 == 0 { sub(/.* cycles=/, ""); print $1 }' >root
	"$program" -q --clock=cycles -f slices one | awk '$2 == 0 { print $4 - $3 }' | diff root -
}
tap_check "--clock=cycles: the root has all cycles" of_cycles
refused() { # STATUS TEXT OPTIONS...
	status=$1 text=$2
	shift 2
	"$program" -o refused "$@" 2>messages
	[ $? -eq "$status" ] && grep -F -- "$text" messages && [ ! -e refused ]
}
"$ptsim" record -o untimed -- "$programs/recursion" >/dev/null 2>&1
slow_traces() {
	"$program" -q --no-warn --clock=insns --slowest=2 --symbol=depth one -o slow/ && cat slow/index.tsv
	read -r begin longest <<END
$(awk '$5 == "depth" { print $4 - $3, $3 }' slices.whole | sort -rn | awk 'NR == 1 { print $2, $1 }')
END
	awk -F '\t' -v begin=$begin -v longest=$longest 'NR == 1 { head = $8 " " $9 } NR == 2 { found = $8 == begin && $9 == longest }
		END { exit !(head == "begin_insns duration_insns" && found) }' slow/index.tsv && [ -s slow/call-002.ftf ]
}
"$program" -q --clock=insns -f slices one >slices.whole
tap_check "traces of slow calls" slow_traces
differences() { # UNIT
	"$program" diff -q --clock=$1 one two >table && grep "$1 A" table &&
		"$program" diff -q --clock=$1 --json one two | grep "\"total_$1\"" | head -n 1 &&
		"$program" annotate -q --clock=$1 depth one | head -n 1 | grep 'instructions, [0-9]* cycles, of'
}
# Its calls differ in nothing but their depth, so --slow chooses some.
advice_works() {
	"$program" why -q --no-warn --clock=cycles --symbol='depth*' one >why && sed -n 's/^.*ptrace2ftf \(.*--clock=cycles.*\)/\1/p' why >commands
	cat commands
	[ "$(wc -l <commands)" -ge 2 ] || return 1
	while read -r command; do
		eval '"$program"' "$command" -q --no-warn >answer || return 1
	done <commands
	grep -q '^depth: .* cycles, of ' answer
}
tap_check "commands that why names have the unit, too" advice_works
for unit in insns cycles; do
	tap_check "diff and annotate by $unit" differences $unit
done
tap_check "no cycles: refused" refused 1 'no CYC packets; record with cyc=1' --clock=cycles untimed
tap_check "nor with libipt" refused 64 'libipt counts no cycles' --clock=cycles --engine=libipt one
tap_check "nor overlays" refused 64 'cannot combine --clock and events or overlays' --clock=insns --memtrace=x one
tap_check "nor counters of CPUs" refused 64 'CPUs have no such clock' --clock=insns --counters=1us one
tap_check "nor events, which have times only" refused 64 'cannot combine --clock and events or overlays' --clock=insns -f events one
tap_check "nor times before an end" refused 64 "expected --time=+FROM,+COUNT" --clock=insns --time=-1ms, one
tap_check "nor text" refused 64 '--clock needs a perf.data file' --clock=insns --input=perf-script one
tap_check "recordings with and without timing packets have the same slices" with_coarse_times
tap_done
