#!/bin/sh
# SPDX-License-Identifier: MIT
# ptsim's machine: with several CPUs effects come after their causes, a sleeping thread leaves its CPU, and
# equal seeds give equal recordings.  Packets of erratum BDM70 lose no branches.
. "$top_srcdir/tests/support/tap.sh"
ptsim=$top_builddir/tests/ptsim/ptsim
program=$top_builddir/ptrace2ftf
static=$top_builddir/tests/programs/static
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

record() { # OPTIONS... -- PROGRAM
	"$ptsim" record --cyc --truth="$work" -o "$work/perf.data" "$@" >/dev/null 2>"$work/messages" ||
		{ cat "$work/messages"; return 1; }
}
record -- "$static/tail" >"$work/reason" || tap_skip_all "programs cannot be traced here: $(cat "$work/reason")"

# Fields 3 and 4 are begin and end, ns.  Both threads call inside() 200 times, with the lock.
one_after_the_other() { # SLICES
	awk '$5 == "inside" { print $3, $4, $1 }' "$1" | sort -n |
		awk '$1 < end { print "overlap", $0; bad = 1 } { end = $2; n += $3 != last; last = $3 }
			END { print NR, "calls,", n, "turns"; exit bad || NR != 400 || n < 10 }'
}
in_order() { # OPTIONS...
	for seed in 1 2 3; do
		record --cpus=2 --seed=$seed "$@" -- "$static/exclusive" && one_after_the_other "$work/truth.slices" &&
			"$program" -q --format=slices "$work/perf.data" >"$work/slices" && one_after_the_other "$work/slices" ||
			return 1
	done
}
tap_check "calls that a lock separates do not overlap in time" in_order
tap_check "nor if tasks change often" in_order --quantum=300

# 50 us each, and no more than a switch and a few interrupts longer.
sleeps_are_whole() {
	awk '$5 == "take_nap" { n++; if ($4 - $3 < 50000 || $4 - $3 > 75000) { print; bad = 1 } } END { exit bad || n != 24 }' \
		"$work/truth.slices"
}
tap_check "a sleep takes its time of the clock" sleeps_are_whole
leaves_its_cpu() {
	perf script -f --show-switch-events -i "$work/perf.data" 2>/dev/null | grep -c 'SWITCH_CPU_WIDE OUT.* 0/0' >"$work/idle"
	cat "$work/idle"
	[ "$(cat "$work/idle")" -ge 24 ]
}
if command -v perf >/dev/null; then
	tap_check "a thread that sleeps is switched out" leaves_its_cpu
else
	tap_skip "a thread that sleeps is switched out" "no perf"
fi

are_equal() {
	record --cpus=2 --seed=7 --quantum=300 -- "$static/exclusive" && mv "$work/perf.data" "$work/first" &&
		record --cpus=2 --seed=7 --quantum=300 -- "$static/exclusive" && cmp "$work/first" "$work/perf.data"
}
tap_check "equal seeds give equal recordings" are_equal

same_branches() { # OPTIONS... -- PROGRAM
	record --early-psb --psb-period=64 --interrupts=60 "$@" || return 1
	awk -v truth=1 -f "$top_srcdir/tests/oracle/branches.awk" "$work/truth.branches" >"$work/all"
	for engine in fast libipt; do
		"$program" -q --engine=$engine --format=branches "$work/perf.data" | awk -f "$top_srcdir/tests/oracle/branches.awk" >"$work/mine"
		[ -s "$work/mine" ] && cmp "$work/all" "$work/mine" || { echo $engine; diff "$work/all" "$work/mine" | head; return 1; }
	done
}
for name in recursion signals syscalls; do
	tap_check "$name: a PSB+ that says too early that code runs adds and loses no branch" same_branches -- "$static/$name"
done
tap_done
