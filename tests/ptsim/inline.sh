#!/bin/sh
# SPDX-License-Identifier: MIT
# Inlined functions as slices (--inline), of programs that ptsim records.
. "$top_srcdir/tests/support/tap.sh"
ptsim=$top_builddir/tests/ptsim/ptsim
program=$top_builddir/ptrace2ftf
programs=$top_builddir/tests/programs
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$ptsim" record -o "$work/perf.data" -- "$programs/tail" >/dev/null 2>"$work/messages" ||
	tap_skip_all "programs cannot be traced here: $(cat "$work/messages")"

# Behind an interrupt many calls share one nanosecond, and slices of one time are ordered by depth.
# By the source: work() has twice() with two add(), then early(), which calls or does not.
nests_as_in_the_source() {
	"$ptsim" record --cyc --interrupts=0 -o "$work/perf.data" -- "$programs/inlined" \
		>/dev/null 2>&1 || return 1
	"$program" -q --inline --format=slices "$work/perf.data" >"$work/slices" || return 1
	awk '
	$5 == "work" { base = $2 }
	$5 ~ /^(work|twice|add|early|count)$/ {
		text = text substr($5, 1, 1) ($2 - base)
		bad += /inlined=true/ != ($5 ~ /^(twice|add|early)$/)
	}
	END {
		for (n = 0; n < 10; n++)
			expected = expected "w0t1a2c3a2c3e1" (n % 2 ? "" : "c2")
		print text
		exit bad || text != expected
	}' "$work/slices"
}

# What is not inlined is there as often, and as often on top of each other.
functions() {
	awk '{
		parent[$1, $2] = $0 ~ /inlined=true/ ? parent[$1, $2 - 1] : $5
		if ($0 !~ /inlined=true/)
			print parent[$1, $2 - 1], $5
	}' "$1" | sort | uniq -c
}

keeps_functions() { # PROGRAM
	"$ptsim" record --cyc -o "$work/perf.data" -- "$programs/$1" >/dev/null 2>&1 || return 1
	"$program" -q --no-warn --format=slices "$work/perf.data" >"$work/plain" || return 1
	"$program" -q --no-warn --inline --format=slices "$work/perf.data" >"$work/slices" || return 1
	functions "$work/plain" >"$work/expected"
	functions "$work/slices" | diff "$work/expected" -
}

tap_check "inlined calls nest as in the source" nests_as_in_the_source
for name in static/tail static/longjmp static/signals; do
	tap_check "$name: the functions and their callers stay the same" keeps_functions "$name"
done
tap_done
