#!/bin/sh
# SPDX-License-Identifier: MIT
# Values written by perf's emulated PTWRITE: the values that the program prints are those
# among its calls, and those of perf script.
. "$top_srcdir/tests/support/tap.sh"
ptsim=$top_builddir/tests/ptsim/ptsim
program=$top_builddir/ptrace2ftf
ptwrite=$top_builddir/tests/programs/ptwrite
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

record() { # OPTIONS...
	"$ptsim" record -o "$work/perf.data" "$@" -- "$ptwrite" >"$work/written" 2>"$work/messages"
}
record || tap_skip_all "programs cannot be traced here: $(cat "$work/messages")"

shown() { # OPTIONS...: into $work/slices and $work/shown; the status may be 2
	"$program" --format=slices "$@" "$work/perf.data" >"$work/slices" 2>"$work/messages"
	status=$?
	grep -o ' ptwrite value=.*' "$work/slices" | cut -d ' ' -f 3 >"$work/shown"
	[ $status -eq 0 ] || [ $status -eq 2 ]
}

all_are_shown() { # RECORDER'S OPTIONS...
	record "$@" && shown && [ $status -eq 0 ] && [ "$(wc -l <"$work/written")" -gt 20 ] &&
		diff "$work/written" "$work/shown"
}

are_in_their_function() {
	awk '/ ptwrite value=/ { depth = $2 - 1; found = 0
		for (i = NR - 1; i && !found; i--)
			if (split(line[i], f, " ") && f[2] == depth) { found = 1; name = f[5] }
		if (name != "perf_emulate_ptwrite") { print line[i + 1]; bad = 1 } }
		{ line[NR] = $0 } END { exit bad }' "$work/slices"
}

# perf drops a value if another packet comes between its bits; the values that it has are right.
perf_agrees() { # MISSING: as many at most
	perf script -i "$work/perf.data" --itrace=ew -F synth 2>/dev/null |
		sed -n 's/.*payload: \(0x\)\{0,1\}\([0-9a-f]*\).*/value=0x\2/p' >"$work/perf"
	! diff "$work/written" "$work/perf" | grep '^>' &&
		[ "$(($(wc -l <"$work/written") - $(wc -l <"$work/perf")))" -le "$1" ]
}

tap_check "each value that was written is shown" all_are_shown
tap_check "in the function that writes it" are_in_their_function
if command -v perf >/dev/null; then
	# seeds.md: values of ptwrite (w)
	tap_check "perf script finds the same, but for one that was interrupted" perf_agrees 3
else
	tap_skip "perf script finds the same" "no perf"
fi
tap_check "each value, in long TNTs" all_are_shown --long-tnt --psb-period=2048
tap_check "each value, with CYC and a buffer per thread" all_are_shown --cyc --per-thread
tap_check "each value, interrupted between bits again and again" all_are_shown --interrupts=100
tap_check "each value, over PSBs between bits" all_are_shown --psb-period=64 --interrupts=300

same_with_threads() {
	for threads in 1 3; do
		PTRACE2FTF_SEGMENT=100 "$segments" -q --no-warn -j $threads --format=slices \
			"$work/perf.data" >"$work/$threads" || return 1
	done
	grep -o ' ptwrite value=.*' "$work/1" | cut -d ' ' -f 3 >"$work/shown"
	diff "$work/written" "$work/shown" && cmp "$work/1" "$work/3"
}
tap_check "the same for any number of threads, cut between bits" same_with_threads

# Each value that is shown was written, whatever was lost; values without all bits are counted.
none_is_wrong() {
	record --overflows=700 --overflow-length=60 && shown || return 1
	[ -s "$work/shown" ] && ! diff "$work/written" "$work/shown" | grep '^>' &&
		grep -q 'values written by emulated ptwrite are incomplete' "$work/messages" ||
		{ cat "$work/messages"; return 1; }
}
tap_check "a value that lacks bits is not shown, but counted" none_is_wrong
tap_done
