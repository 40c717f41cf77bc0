#!/bin/sh
# SPDX-License-Identifier: MIT
# The clock of each core in the recordings of ../shared, against perf script's
# (--itrace=p).  Values, waking and events of recordings made for the purpose are
# compared in tests/unit/src/cpu_events.c and tests/ptsim/ptwrite.sh.
. "$top_srcdir/tests/support/tap.sh"
program=$top_builddir/ptrace2ftf
ftfdump=$top_builddir/ftfdump
shared=$top_srcdir/../shared/recordings
[ -d "$shared" ] || tap_skip_all "no shared recordings"
command -v perf >/dev/null || tap_skip_all "no perf"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# "CPU MHz ns", by CPU; ours has GHz with two decimals.
by_perf() { # SYMFS FILE
	perf script -i "$2" --symfs "$1" --itrace=p --ns -F cpu,time,event,synth 2>/dev/null |
		sed -n 's/^ *\[0*\([0-9]\{1,\}\)\] *\([0-9]*\)\.\([0-9]*\): *cbr: .* freq: *\([0-9]*\) MHz.*/\1 \4 \2\3/p' |
		sort -s -k1,1n
}

by_us() { # SYMFS FILE
	"$program" -q --no-warn --symfs="$1" "$2" -o "$work/out.ftf" || return 1
	"$ftfdump" "$work/out.ftf" |
		sed -n 's/.* counter [^ ]* \([0-9]*\) "CPU \([0-9]*\) GHz".* value=\([0-9.]*\)$/\2 \3 \1/p' |
		sort -s -k1,1n
}

# perf reports a change with its next sample: a little later, and the last change perhaps never.
same_clocks() { # SYMFS FILE
	by_perf "$@" >"$work/perf" && by_us "$@" >"$work/ours" && [ -s "$work/perf" ] || return 1
	awk 'NR == FNR { n[$1]++; ghz[$1, n[$1]] = $2; at[$1, n[$1]] = $3; next }
		{ k = ++seen[$1]; late = $3 - at[$1, k]
		  if (sprintf("%.0f", ghz[$1, k] * 100) != int(($2 + 5) / 10) || late < 0 || late > 20000) { print "perf: " $0; bad = 1 } }
		END { for (cpu in n) if (n[cpu] > seen[cpu] + 1) { print "cpu " cpu ": " n[cpu]; bad = 1 }
		      exit bad }' "$work/ours" "$work/perf"
}

for name in hase-2018-04/loopy hase-2018-04/control_flow lldb-multicore quipper-4.14 dynamorio-cyc \
	rr-alderlake truth/tiny-default truth/tiny-cyc truth/threads-2cpu truth/pipeline-2cpu truth/signals; do
	symfs=$shared/$name/symfs
	[ -d "$symfs" ] || symfs=$shared/$(dirname "$name")/symfs
	[ -d "$symfs" ] || symfs=$shared/truth/symfs
	# seeds.md: core clocks and power events (p)
	tap_check "$name: the clocks of the cores are perf script's" same_clocks "$symfs" "$shared/$name/perf.data"
done
tap_done
