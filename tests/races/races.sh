#!/bin/sh
# SPDX-License-Identifier: MIT
# Threads with random delays (delays.c) write the same bytes as one thread without:
# 4 runs with 2 to 16 threads, 200 with LONG=1.
. "$top_srcdir/tests/support/tap.sh"
program=$segments
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
[ "$P2F_SANITIZED" != yes ] || tap_skip_all "sanitizers want to be loaded first"
runs=4
[ -z "${LONG-}" ] || runs=200
mkdir "$work/sample"
"$top_builddir/tests/support/make-sample" "$work/sample"
"$top_builddir/tests/scale/make-scale" pieces 1500 "$work/pieces"
# Small segments, which threads often hand over.
PTRACE2FTF_SEGMENT=300
export PTRACE2FTF_SEGMENT

convert() { # THREADS PRELOADED OUTPUT OPTIONS...
	threads=$1 preloaded=$2 output=$3
	shift 3
	LD_PRELOAD=$preloaded "$program" -j "$threads" "$@" -o "$output" 2>"$work/text"
	status=$?
	[ $status -eq 0 ] || [ $status -eq 2 ] || { cat "$work/text"; return 1; }
	sed 's/peak memory [^;]*//; s/[^ ]*\(one\|many\).ftf[.gz]* at/it at/' "$work/text" >"$output.text"
}
same() { # SUFFIX OPTIONS...
	suffix=$1 delays=0
	shift
	convert 1 "" "$work/one.$suffix" "$@" || return 1
	run=1
	while [ $run -le $runs ]; do
		export DELAY_SEED=$run DELAY_US=$((run * 37 % 400 + 1)) DELAY_COUNT=$work/count
		convert $((2 + run * 5 % 15)) "$top_builddir/tests/races/delays.so" "$work/many.$suffix" "$@" ||
			return 1
		cmp "$work/one.$suffix" "$work/many.$suffix" && cmp "$work/one.$suffix.text" "$work/many.$suffix.text" ||
			{ echo "run $run"; return 1; }
		delays=$((delays + $(cat "$work/count")))
		run=$((run + 1))
	done
	echo $delays >>"$work/delays"
	[ $delays -gt $((10 * runs)) ]
}
tap_check "pieces of one buffer: $runs runs with delays write the same" \
	same ftf --symfs="$work/sample" "$work/pieces"
tap_check "compressed in a thread: $runs runs with delays write the same" \
	same ftf.gz --symfs="$work/sample" "$work/pieces"
record() {
	"$top_builddir/tests/ptsim/ptsim" record -o "$work/perf.data" --cpus=2 --quantum=2000 --cyc --psb-period=512 -- \
		"$top_builddir/tests/programs/threads" >/dev/null 2>&1
}
if record; then
	tap_check "threads on 2 CPUs: $runs runs with delays write the same" same ftf --args=full "$work/perf.data"
else
	tap_skip "threads on 2 CPUs" "programs cannot be traced here"
fi
echo "# $(awk '{ sum += $1 } END { print sum }' "$work/delays") delays"
tap_done
