#!/bin/sh
# SPDX-License-Identifier: MIT
# Every byte of trace is decoded, skipped or lost: of each buffer, in all formats
# and with all options that choose or divide the trace, over all recordings.
. "$top_srcdir/tests/support/tap.sh"
program=$top_builddir/ptrace2ftf
ptsim=$top_builddir/tests/ptsim/ptsim
shared=$top_srcdir/../shared/recordings
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Lines "stream of cpu 0: 9 bytes of trace, 5 decoded, 3 skipped, 1 lost, ..." of -v.
adds_up() { # OPTIONS... FILE
	"$program" -v "$@" -o "$work/out" 2>"$work/messages"
	status=$?
	[ $status -eq 0 ] || [ $status -eq 2 ] || { echo "$*: status $status"; cat "$work/messages"; return 1; }
	sed -n 's/^stream of [^:]*: \([0-9]*\) bytes of trace, \([0-9]*\) decoded, \([0-9]*\) skipped, \([0-9]*\) lost.*/\1 \2 \3 \4/p' \
		"$work/messages" >"$work/streams"
	! awk '$1 != $2 + $3 + $4' "$work/streams" | grep . && ! grep 'do not add up' "$work/messages" &&
		{ [ -s "$work/streams" ] || grep -q 'excluded by the selection' "$work/messages"; } && return 0
	echo "with $*"
	return 1
}

# What perf's own list of the buffers has, or was outside of the selection or twice there.
all_buffers() { # OPTIONS... FILE, whose name is the last word
	for file in "$@"; do :; done
	sum=0
	for size in $(perf report -D -i "$file" 2>/dev/null | sed -n 's/.*PERF_RECORD_AUXTRACE size: \(0x[0-9a-f]*\) .*/\1/p'); do
		sum=$((sum + size))
	done
	"$program" --no-warn --format=none "$@" 2>"$work/messages" || return 1
	ours=$(sed -n 's/.*, \([0-9]*\) bytes of trace.*/\1/p' "$work/messages")
	twice=$(sed -n 's/.*, \([0-9]*\) more that were recorded twice.*/\1/p' "$work/messages")
	left=$(sed -n 's/.*, \([0-9]*\) bytes excluded by the selection.*/\1/p' "$work/messages")
	[ "$sum" -gt 0 ] && [ $((${ours:-0} + ${twice:-0} + ${left:-0})) -eq "$sum" ] && return 0
	echo "$sum bytes in the file, ${ours:-0} + ${twice:-0} + ${left:-0} here: $*"
	return 1
}

# A build may be without protobuf-c or capstone.
pprof=pprof insns=insns
! grep -q 'this build is without protobuf-c' "$program" || pprof=
! grep -q 'this build is without capstone' "$program" || insns=

formats() { # OPTIONS... FILE
	for format in ftf slices tree branches lines $insns calls functions folded speedscope chrome $pprof callgrind lcov bolt llvm-profile html none; do
		adds_up --format=$format "$@" || return 1
	done
}

choices() { # OPTIONS... FILE
	adds_up --time=25%,60% "$@" && adds_up --time=50%, "$@" && adds_up --time=,1% "$@" &&
		adds_up --cpu=0 "$@" && adds_up --engine=libipt "$@" &&
		adds_up --verify=2 "$@" && adds_up --stacks=magic-trace "$@" || return 1
	for threads in 1 3; do
		program=$segments PTRACE2FTF_SEGMENT=300 adds_up -j $threads --format=none "$@" || return 1
		program=$segments PTRACE2FTF_SEGMENT=300 adds_up -j $threads --time=30%,70% --format=none "$@" || return 1
	done
}

check() { # TITLE OPTIONS... FILE
	title=$1
	shift
	tap_check "$title: in all formats" formats "$@"
	tap_check "$title: whatever is chosen, with any engine and number of threads" choices "$@"
	perf_knows "$title" "$@"
}

perf_knows() { # TITLE OPTIONS... FILE
	title=$1
	shift
	command -v perf >/dev/null || return 0
	tap_check "$title: they are those of all buffers in the file" all_buffers "$@"
	case $title in *notime) ;; *)
		tap_check "$title: also with a time chosen" all_buffers --time=25%,60% "$@" ;;
	esac
}

mkdir "$work/sample"
"$top_builddir/tests/support/make-sample" "$work/sample"
for name in perf.data stream compressed compressed2 threads.data unfinished; do
	tap_check "the sample as $name" adds_up --symfs="$work/sample" "$work/sample/$name"
done
tap_check "the sample as a series" adds_up --symfs="$work/sample" "$work/sample/series.1" "$work/sample/series.2"

record() { # NAME OPTIONS...
	name=$1
	shift
	"$ptsim" record -o "$work/$name" --psb-period=512 "$@" -- "$top_builddir/tests/programs/tail" \
		>/dev/null 2>"$work/messages"
}
if record full; then
	record snapshot --snapshot=4096
	record losses --lose=3000 --cyc
	record overflows --overflows=1000 --per-thread
	for name in ${LONG:+full snapshot overflows} losses; do
		check "ptsim, $name" "$work/$name"
	done
	[ "$LONG" ] || tap_check "ptsim, overflows: whatever is chosen" choices "$work/overflows"
else
	tap_skip "ptsim's recordings" "programs cannot be traced here"
fi

# Recordings that take long, or lack timing packets, are not converted in each way.
if [ -d "$shared" ]; then
	for name in hase-2018-04/loopy hase-2018-04/control_flow lldb-multicore dynamorio-cyc quipper-4.14 \
		truth/tiny-cyc truth/tiny-ovf truth/tiny-snapshot truth/tiny-noretcomp truth/threads-2cpu \
		truth/threads-perthread truth/signals; do
		symfs=$shared/$name/symfs
		[ -d "$symfs" ] || symfs=$shared/$(dirname "$name")/symfs
		[ -d "$symfs" ] || symfs=$shared/truth/symfs
		check "$name" --symfs="$symfs" "$shared/$name/perf.data"
	done
	tap_check "quipper-4.14, a stream" adds_up --symfs="$shared/truth/symfs" "$shared/quipper-4.14/perf.data.pipe"
	tap_check "truth/tiny-notime: in all formats" formats --symfs="$shared/truth/symfs" \
		"$shared/truth/tiny-notime/perf.data"
	for name in truth/tiny-default truth/dlopen truth/except truth/jit truth/ls-l truth/pipeline-2cpu \
		truth/tiny-notime truth/big-sqlite; do
		tap_check "$name" adds_up -j 2 --format=none --symfs="$shared/truth/symfs" "$shared/$name/perf.data"
		[ "$name$LONG" = truth/big-sqlite ] || # perf takes 12 s
			perf_knows "$name" --symfs="$shared/truth/symfs" "$shared/$name/perf.data"
	done
	tap_check "rr-alderlake" adds_up -j 2 --format=none --symfs="$shared/rr-alderlake/symfs" \
		"$shared/rr-alderlake/perf.data"
else
	tap_skip "recordings of ../shared" "not there"
fi
tap_done
