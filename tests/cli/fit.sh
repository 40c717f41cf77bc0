#!/bin/sh
# SPDX-License-Identifier: MIT
# --fit: at most the given number of slices, the same as with --min-duration; all are counted.
. "$top_srcdir/tests/support/tap.sh"
program=$top_builddir/ptrace2ftf
ftfdump=$top_builddir/ftfdump
ptsim=$top_builddir/tests/ptsim/ptsim
programs=$top_builddir/tests/programs/static
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1

"$ptsim" record --cyc --cpus=2 --seed=3 -o threads -- "$programs/threads" >/dev/null 2>messages ||
	tap_skip_all "programs cannot be traced here: $(cat messages)"
"$ptsim" record --per-thread --apart --repeat=150000 -o long -- "$programs/indirect" >/dev/null 2>&1
"$program" -q --no-warn --fit=none -o long.ftf long
"$program" -q --no-warn --fit=none -o threads.ftf threads

slices_of() {
	"$ftfdump" --slices "$1" | wc -l
}

count_in() {
	"$ftfdump" --check "$1" | sed -n 's/.* records, \([0-9]*\) slices.*/\1/p'
}

# Print a line for a trace: the number of its slices, and of folded slices that they count.
all_of() {
	"$ftfdump" --slices "$1" | awk '{ sum++ }
		match($0, / folded=[0-9]+/) { sum += substr($0, RSTART + 8, RLENGTH - 8) }
		END { print sum }'
}

# The duration of the shortest slice within another one.
shortest_of() { # THREAD FILE
	"$ftfdump" --slices "$2" | awk -v thread="$1" '$1 ~ thread && $2 > 0 && (!n++ || $4 - $3 < least) { least = $4 - $3 } END { print least + 0 }'
}

fits() { # INPUT SLICES
	"$program" -q --no-warn --fit="$2" -o fit.ftf "$1" || return 1
	"$ftfdump" --check fit.ftf >/dev/null && [ "$(slices_of fit.ftf)" -le "$2" ] &&
		[ "$(slices_of fit.ftf)" -ge $(($2 / 2)) ] && [ "$(all_of fit.ftf)" -eq "$(slices_of "$1.ftf")" ]
}
total=$(slices_of long.ftf)
tap_check "of many times as many slices some are left, which count all others" fits long $((total / 20))
# An end of its own would need a third more memory in Perfetto.
few_records() {
	"$ftfdump" --check fit.ftf | awk '{ print } $2 == "records," && $4 == "slices," { few = $1 < 1.2 * $3 } END { exit !few }'
}
tap_check "slices that count others are still one record" few_records

# --min-duration holds slices back until they are long enough, and folds nothing that is written.
as_min_duration() { # THREAD INPUT SLICES
	"$program" -q --no-warn --fit="$3" -o fit.ftf "$2"
	"$program" -q --no-warn --fit=none --min-duration="$(shortest_of "$1" fit.ftf)ns" -o least.ftf "$2"
	for file in fit least; do
		"$ftfdump" --slices "$file.ftf" | awk -v thread="$1" '$1 ~ thread' >"$file"
	done
	[ -s fit ] && cmp fit least
}
tap_check "what is left is what --min-duration leaves" as_min_duration / long $((total / 20))
tap_check "also of a few more than fit" as_min_duration / long $((total - total / 10))
tap_check "also if it has been written once when that is known" as_min_duration / long $((total * 2 / 3))

shared() {
	some=$(($(slices_of threads.ftf) * 2 / 3))
	fits threads "$some" && cp fit.ftf shared.ftf || return 1
	for thread in $("$ftfdump" --slices shared.ftf | awk '{ print $1 }' | sort -u); do
		as_min_duration "^$thread\$" threads "$some" || return 1
	done
}
tap_check "each thread has a length of its own" shared

# No thread with folded slices has more than twice as many slices as another one.
few_stay() {
	for file in threads shared; do
		"$ftfdump" --slices $file.ftf | awk '{ n[$1]++ } END { for (thread in n) print thread, n[thread] }' | sort >$file.counts
	done
	join threads.counts shared.counts | awk '$2 == $3 && $2 > most { most = $2 }
		$2 > $3 && (!least || $3 < least) { least = $3 }
		END { exit !(most && least) || most > 2 * least }'
}
tap_check "threads with few slices keep all" few_stay

costs() {
	"$program" -q --no-warn --args=full --fit=$((total / 20)) -o fit.ftf long
	"$program" -q --no-warn --args=full --fit=none --min-duration="$(shortest_of / fit.ftf)ns" -o least.ftf long
	"$ftfdump" --slices fit.ftf >fit && "$ftfdump" --slices least.ftf | cmp - fit && grep -q 'insns=.* folded=' fit
}
tap_check "with --args=full, too" costs
together() {
	"$program" -q --no-warn --fit=none --min-duration=20ns -o least.ftf long
	"$program" -q --no-warn --fit=$((total / 20)) --min-duration=20ns -o both.ftf long
	"$program" -q --no-warn --fit=$((total / 20)) -o fit.ftf long
	[ "$(all_of least.ftf)" -eq "$total" ] && [ "$(all_of both.ftf)" -eq "$total" ] &&
		"$ftfdump" --slices both.ftf >both && "$ftfdump" --slices fit.ftf | cmp - both
}
tap_check "what --min-duration has folded is counted, too" together

same_for_all() {
	"$program" -q --no-warn --threads=1 --fit=$((total / 20)) -o one.ftf long
	"$program" -q --no-warn --threads=3 --fit=$((total / 20)) -o three.ftf long
	cmp one.ftf three.ftf
}
tap_check "the output is the same for any number of threads" same_for_all
elsewhere() { # SLICES
	"$program" -q --no-warn --fit="$1" -o one.ftf long
	"$program" -q --no-warn --fit="$1" -o - long | cmp - one.ftf &&
		"$program" -q --no-warn --fit="$1" -o one.ftf.gz long && gzip -dc one.ftf.gz | cmp - one.ftf
}
tap_check "standard output and compressed files get the same" elsewhere $((total / 20))
tap_check "also if all fits" elsewhere "$total"
unchanged() {
	"$program" -q --no-warn -o default.ftf long && cmp default.ftf long.ftf &&
		"$program" -q --no-warn --fit="$total" -o fit.ftf long && cmp fit.ftf long.ftf
}
tap_check "what fits is written as ever" unchanged

# More slices than the default are written until too many are expected, or there are: then all begins anew.
by_default() {
	"$top_builddir/tests/scale/make-scale" loop 1 code && "$top_builddir/tests/scale/make-scale" short 1650 many || return 1
	"$program" --symfs=. --args=none many -o fit.ftf 2>messages
	"$program" --symfs=. --args=none many --fit=4M -o one.ftf 2>asked
	for file in messages asked; do
		sed -i '/peak memory/d' $file
	done
	"$program" -q --no-warn --symfs=. --args=none many --fit=none -o all.ftf
	kept=$(count_in fit.ftf) all=$(count_in all.ftf) && echo "$kept of $all"
	[ "$all" -gt 4000000 ] && [ "$kept" -ge 2000000 ] && [ "$kept" -le 4000000 ] && grep -q "of $all slices" messages &&
		cmp fit.ftf one.ftf && diff messages asked
}
tap_check "more slices than the default are folded as with the option" by_default
# A pipe cannot be read again.
once() {
	for most in 100 4M; do
		"$program" -q --no-warn --fit=$most -o one.ftf threads && cat threads | "$program" -q --no-warn --fit=$most -o two.ftf &&
			cmp one.ftf two.ftf || return 1
	done
	cmp two.ftf threads.ftf
}
tap_check "a recording from a pipe gives the same" once

# An overflow ends all slices, so as many slices are outermost.
only_outermost() {
	roots=$("$ftfdump" --slices long.ftf | awk '$2 == 0' | wc -l)
	"$program" --fit=$((roots / 2)) -o fit.ftf long 2>messages
	"$ftfdump" --check fit.ftf >/dev/null && [ "$(slices_of fit.ftf)" -le $((roots / 2)) ] &&
		grep -q "$((roots - $(slices_of fit.ftf))) without an enclosing slice were dropped" messages
}
tap_check "of too many outermost slices the longest are left, and the others are counted" only_outermost

summary() {
	"$program" --json=json --fit=$((total / 20)) -o fit.ftf long 2>messages
	grep -q "of $total slices, $((total - $(slices_of fit.ftf))) short ones, all below .*, were folded" messages &&
		grep -q "\"slices\": $(slices_of fit.ftf)," json &&
		grep -q "\"slices_folded\": $((total - $(slices_of fit.ftf)))," json
}
tap_check "the summary says how many were folded" summary
part() {
	option=$(sed -n 's/.* a part in more detail: //p' messages)
	"$program" --fit=$((total / 20)) "$option" -o fit.ftf long 2>part
	shown=$(slices_of fit.ftf) && all=$(all_of fit.ftf) && echo "$shown of $all of $total" &&
		[ "$shown" -gt 100 ] && [ "$all" -lt $((total / 3)) ] && [ $((all / shown)) -lt 10 ]
}
tap_check "and its option shows a part in more detail" part

# The collector's phases, of 100 ns to 10 us, in one that is open.
overlay() {
	awk 'BEGIN { print "0 1000 begin 0 0"
		for (i = 1; i <= 100; i++) print "0 " i * 100000 " begin 1 0\n0 " i * 100100 " end 1 0"
		print "0 20000000 end 0 0" }' | "$top_builddir/tests/support/make-ring" 1 1024 1234.events
	"$program" -q --no-warn --fit=none --runtime-events=1234.events,ocaml=5.1 -o phases.ftf &&
		"$program" --no-warn --fit=50 --runtime-events=1234.events,ocaml=5.1 -o fit.ftf 2>messages &&
		"$ftfdump" --check fit.ftf >/dev/null && [ "$(slices_of fit.ftf)" -le 50 ] &&
		[ "$(all_of fit.ftf)" -eq "$(slices_of phases.ftf)" ] && grep -q "of 101 slices, $((101 - $(slices_of fit.ftf))) short ones" messages
}
tap_check "overlays fit, too, and say so" overlay
# Outermost phases of one duration: the remaining slices are spread, and the summary counts the others.
equal() { # SLICES
	awk 'BEGIN { for (i = 1; i <= 400; i++) print "0 " i * 100000 " begin 1 0\n0 " i * 100000 + 100 " end 1 0" }' |
		"$top_builddir/tests/support/make-ring" 1 4096 1234.events
	"$program" --no-warn --json=json --fit="$1" --runtime-events=1234.events,ocaml=5.1 -o fit.ftf 2>messages
	"$ftfdump" --check fit.ftf >/dev/null && shown=$(slices_of fit.ftf) &&
		[ "$shown" -le "$1" ] && [ $((2 * shown)) -ge "$1" ] &&
		grep -q "of 400 slices, $((400 - shown)) without an enclosing slice were dropped" messages &&
		grep -q "\"slices\": $shown," json &&
		"$ftfdump" --slices fit.ftf | awk -v most=$((2 * 400 / $1 + 2)) '
			NR == 1 { first = $3 } { if ($3 - last > gap && NR > 1) gap = $3 - last; last = $3 }
			END { exit NR > 1 && gap > most * (last - first) / 400 * 1.2 }'
}
tap_check "of slices of one length at least half as many stay as may" equal 399
tap_check "also if few may" equal 10
tap_check "also if one may" equal 1
# CPU events of a kernel: sleeps and other marks of the CPUs are slices, too.
recording=$top_srcdir/../shared/recordings/quipper-4.14/perf.data
cpu_events() {
	[ -e "$recording" ] || return 0
	"$program" -q --no-warn --fit=none -o all.ftf "$recording"
	"$program" --no-warn --json=json --fit=10 -o fit.ftf "$recording" 2>messages
	shown=$(slices_of fit.ftf) && [ "$shown" -ge 5 ] && [ "$shown" -le 10 ] &&
		grep -q " $shown slices on" messages && grep -q "of $(slices_of all.ftf) slices" messages &&
		grep -q "\"slices_folded\": $(($(slices_of all.ftf) - shown))," json
}
tap_check "slices of CPU events are counted" cpu_events

# A sixteenth of the trace has half of its 1.1 million slices. As many in each would be twice the limit of 4 million.
decoded_once() {
	"$top_builddir/tests/scale/make-scale" fewer 2752 fewer &&
		strace -f -e trace=openat -o calls "$program" -q --no-warn -j1 --symfs=. -o fewer.ftf fewer
	slices=$(count_in fewer.ftf) && echo "$slices slices, code opened $(grep -c '/code"' calls) times" &&
		[ "$slices" -gt 1000000 ] && [ "$(grep -c '/code"' calls)" -eq 1 ]
}
name="by default a trace with most slices at its begin is decoded once"
if strace -o /dev/null true 2>/dev/null; then
	tap_check "$name" decoded_once
else
	tap_skip "$name" "strace does not run here"
fi
no_room() {
	"$program" -q --no-warn --args=line --fit=none -o line.ftf long && [ "$(wc -c <line.ftf)" -gt 1048576 ] &&
		"$program" -q --no-warn --args=line --fit=$((total / 20)) -o one.ftf long &&
		TMPDIR=$work/none "$program" -q --no-warn --sandbox=off --args=line --fit=$((total / 20)) -o - long | cmp - one.ftf
}
tap_check "without room for temporary files it takes memory" no_room
wrong() { # OPTIONS
	"$program" "$@" threads >/dev/null 2>messages
	[ $? -eq 64 ]
}
tap_check "--fit=0 is wrong usage" wrong --fit=0
tap_check "--fit of time is wrong usage" wrong --fit=1ms
tap_check "--fit of text is wrong usage" wrong --fit=1M --format=slices
tap_check "--fit together with --split is wrong usage" wrong --fit=1M --split=1M -o x.ftf
tap_done
