#!/bin/sh
# SPDX-License-Identifier: MIT
# Times of branches against the true ones of a program that ptsim records: with each kind of
# timing packet, and a core clock that changes at any place, they are at least as near as perf
# script's.  doc/timing.md has the table.
. "$top_srcdir/tests/support/tap.sh"
. "$top_srcdir/tests/ptsim/time_errors.sh"
ptsim=$top_builddir/tests/ptsim/ptsim
programs=$top_builddir/tests/programs/static
recordings=$top_srcdir/../shared/recordings
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$ptsim" record --truth="$work" -o "$work/perf.data" -- "$programs/tail" >/dev/null 2>"$work/messages" ||
	tap_skip_all "programs cannot be traced here: $(cat "$work/messages")"

record() { # OPTIONS... -- PROGRAM: into $work
	"$ptsim" record --truth="$work" -o "$work/perf.data" "$@" >/dev/null 2>"$work/messages" ||
		{ cat "$work/messages"; return 1; }
}

# In the last interval of an MTC, its time has not come yet.
within() { # NS OPTIONS...
	most=$1
	shift
	record "$@" || return 1
	errors=$(our_time_errors "$work/truth.branches" "$work/perf.data") || return 1
	echo "median, p99, missing: $errors; at most $most ns"
	echo "$errors" | awk -v most="$most" '{ exit !($1 <= most && $2 <= most && $3 == 0) }'
}

# perf's branches were found by the same packets.  2 ns: both round.
as_near_as_perf() { # TRUTH RECORDING SYMFS OPTIONS...
	near_truth=$1
	near_recording=$2
	near_symfs=$3
	shift 3
	ours=$(our_time_errors "$near_truth" "$near_recording" "$@") || return 1
	perfs=$(perf_time_errors "$near_truth" "$near_recording" --symfs "$near_symfs")
	echo "median, p99, missing: $ours; of perf: $perfs"
	echo "$ours $perfs" | awk '{ exit !($3 == 0 && $1 <= $4 + 2 && $2 <= $5 + 2) }'
}

# Where the clock changes is random: in one of six recordings perf's clock happens to be nearer. So the
# errors of eight recordings count together, and a twentieth more is allowed.
near() { # OPTIONS...
	: >"$work/errors"
	for seed in 1 2 3 4 5 6 7 8; do
		record --seed=$seed "$@" && ours=$(our_time_errors "$work/truth.branches" "$work/perf.data") ||
			return 1
		echo "$ours $(perf_time_errors "$work/truth.branches" "$work/perf.data" --symfs /)" |
			tee -a "$work/errors"
	done
	awk '{ median += $1; tail += $2; missing += $3; its_median += $4; its_tail += $5; its_missing += $6 }
		END { exit !(NR == 8 && missing == 0 && median <= 1.05 * its_median + 6 && tail <= 1.05 * its_tail + 6) }' \
		"$work/errors"
}

# Each thread and segment begins with the time that the packets before would give.
threads_agree() { # OPTIONS...
	record "$@" || return 1
	"$top_builddir/ptrace2ftf" -q --no-warn --format=branches -j 1 "$work/perf.data" >"$work/one" &&
		PTRACE2FTF_SEGMENT=2000 "$segments" -q --no-warn --format=branches -j 3 \
			"$work/perf.data" >"$work/three" && cmp "$work/one" "$work/three"
}

# A period has 2^N crystal ticks of 40 ns.
tap_check "MTC: at most a period from the truth" within 320 -- "$programs/recursion"
tap_check "MTC, wide: at most a period from the truth" within 20480 --mtc-period=9 -- "$programs/recursion"
for options in "--cyc" "--cyc --mtc-period=9" "--cyc --no-mtc" "--cyc --no-mtc --cyc-threshold=6" \
	"--cyc --no-mtc --psb-period=16384"; do
	# `make check` takes the packets that differ most.
	case $LONG$options in "--cyc --no-mtc" | "--cyc --mtc-period=9") continue ;; esac
	if command -v perf >/dev/null; then
		tap_check "$options: as near as perf script" near $options --clock-changes=5000 -- "$programs/recursion"
	else
		tap_skip "$options: as near as perf script" "perf is not installed"
	fi
done
tap_check "CYC without MTC: the same times in threads" threads_agree \
	--cyc --no-mtc --clock-changes=5000 -- "$programs/recursion"

# Where the clock does not change, cycles are time.  Threads sleep, and wait for each other.
tap_check "CYC without MTC, several threads: nearly exact" within 100 \
	--cyc --no-mtc --clock-changes=0 -- "$programs/threads"

if [ -d "$recordings" ] && command -v perf >/dev/null; then
	truth=$recordings/truth
	for name in tiny-cyc signals; do
		gzip -dc "$truth/$name/truth.branches.gz" >"$work/truth.branches"
		tap_check "$name: as near as perf script" as_near_as_perf "$work/truth.branches" \
			"$truth/$name/perf.data" "$truth/symfs" --symfs="$truth/symfs" \
			--vdso="$truth/$name/vdso.so"
	done
	# A processor's trace has no truth; with MTCs, perf's times of it are taken for that.
	real=$recordings/dynamorio-cyc
	"$top_builddir/ptrace2ftf" -q --no-warn --format=branches --symfs="$real/symfs" "$real/perf.data" \
		>"$work/ours"
	perf script -i "$real/perf.data" --symfs "$real/symfs" --itrace=b -F pid,tid,time,flags,ip,addr \
		--ns >"$work/perf" 2>/dev/null
	stamps() {
		grep -oE '[0-9]+\.[0-9]{9}:' "$1" | tr -d '.:'
	}
	stamps "$work/ours" >"$work/our.times"
	stamps "$work/perf" >"$work/perf.times"
	near_real() {
		[ "$(wc -l <"$work/perf.times")" -ge 6 ] && paste "$work/our.times" "$work/perf.times" |
			awk '{ d = substr($1, 8) - substr($2, 8) } d < -2 || d > 2 || NF != 2 { print; bad = 1 }
				END { exit bad }'
	}
	# seeds.md: times: TSC, MTC, TMA, CYC
	tap_check "dynamorio-cyc (a real one): perf script's times" near_real
fi
tap_done
