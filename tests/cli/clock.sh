#!/bin/sh
# SPDX-License-Identifier: MIT
# --clock: slices by instructions and cycles of their thread, the same in each recording of a program.
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
for format in slices tree ftf functions histogram folded chrome; do
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
	"$program" -q --clock=insns --tail-calls=replace -f slices one | awk '$5 !~ /^\[/ { print $2, $5, $4 - $3 }' | sort >ours
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
	"$program" -q --clock=insns -f slices --time=+5000,+1000 one |
		awk '{ bad += $3 < 5000 || $4 > 6000 || $3 > $4; old += /inferred_start_time/; n += $2 == 0 && $3 == 5000 && $4 == 6000 }
			END { print NR, bad + 0, old + 0; exit !(NR > 10 && !bad && old && n == 1) }'
}
tap_check "other formats have the unit, or none" other_formats_have_the_unit
tap_check "--time chooses instructions" is_cut
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
tap_check "no cycles: refused" refused 1 'no CYC packets; record with cyc=1' --clock=cycles untimed
tap_check "nor with libipt" refused 64 'libipt counts no cycles' --clock=cycles --engine=libipt one
tap_check "nor overlays" refused 64 'cannot combine --clock and overlays' --clock=insns --memtrace=x one
tap_check "nor counters of CPUs" refused 64 'CPUs have no such clock' --clock=insns --counters=1us one
tap_check "nor formats with times" refused 64 '--clock needs --format=ftf' --clock=insns -f branches one
tap_check "nor times before an end" refused 64 "expected --time=+FROM,+COUNT" --clock=insns --time=-1ms, one
tap_check "nor traces of slow calls" refused 64 'traces of slow calls' --clock=insns --slowest=1 --symbol=main one -o slow/
tap_check "nor text" refused 64 '--clock needs a perf.data file' --clock=insns --input=perf-script one
tap_check "recordings with and without timing packets have the same slices" with_coarse_times
tap_done
