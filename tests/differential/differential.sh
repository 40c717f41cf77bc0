#!/bin/sh
# SPDX-License-Identifier: MIT
# Runs that must agree, by random options, formats and selections, on recordings made by ptsim and
# on damaged copies (differential.py): each with any number of threads, from a file and a pipe, and
# their sums.  A fixed few; thousands with LONG=1, also of the recordings in ../shared.
# By hand: SEED=7 COUNT=1000 ONLY=threads,stacks KEEP=1.
. "$top_srcdir/tests/support/tap.sh"
command -v python3 >/dev/null || tap_skip_all "no python3"
ptsim=$top_builddir/tests/ptsim/ptsim
programs=$top_builddir/tests/programs
shared=$top_srcdir/../shared
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tab=$(printf '\t')
: >"$work/list"

add() { # NAME FILE OPTIONS...
	name=$1 file=$2
	shift 2
	[ -f "$file" ] || return 0
	(IFS=$tab && echo "$name$tab$file$tab$*") >>"$work/list"
}

record() { # NAME OPTIONS... -- PROGRAM
	name=$1
	shift
	"$ptsim" record -o "$work/$name" --psb-period=512 "$@" >/dev/null 2>"$work/messages" &&
		add "$name" "$work/$name"
}

record threads --cpus=2 --quantum=2000 -- "$programs/static/threads" ||
	tap_skip_all "programs cannot be traced here: $(cat "$work/messages")"
record cyc --cyc --cpus=2 --quantum=2000 --seed=2 -- "$programs/static/threads"
record overflows --cyc --overflows=3000 -- "$programs/static/recursion"
record signals -- "$programs/static/signals"
record lost --lose=5000 --per-thread -- "$programs/static/indirect"
record snapshot --snapshot=8192 -- "$programs/static/recursion"
record untimed --no-tsc -- "$programs/static/tail"
record version_a -- "$programs/static/version_a"
record version_b -- "$programs/static/version_b"

count=${COUNT-24}
if [ -n "${LONG-}" ]; then
	count=${COUNT-3000}
	record family --cpus=2 -- "$programs/family"
	record jit --cyc -- "$programs/jit"
	for name in coroutines except longjmp syscalls switches; do
		record "$name" --cyc -- "$programs/static/$name"
	done
	for folder in "$shared"/recordings/truth/*/ "$shared"/cases/stacks/*/rec/; do
		name=$(basename "${folder%/rec/}")
		symfs=$shared/recordings/truth/symfs
		[ ! -d "$folder/../symfs" ] || symfs=$folder/../symfs
		[ "$name" = big-sqlite ] || add "$name" "$folder/perf.data" --symfs="$symfs" --vdso="$folder/vdso.so"
	done
	for name in lldb-multicore dynamorio-cyc rr-alderlake; do
		add "$name" "$shared/recordings/$name/perf.data" --symfs="$shared/recordings/$name/symfs"
	done
	add quipper "$shared/recordings/quipper-4.14/perf.data"
	add uncoded "$shared/recordings/truth/threads-2cpu/perf.data" --symfs="$work"
	for name in lru lru-tsc retry plt falseshare; do
		add "$name" "$shared/cases/answers/$name/perf.data" --symfs="$shared/cases/answers/symfs"
	done
fi

agree() {
	python3 "$top_srcdir/tests/differential/differential.py" "$work/list" "${SEED-1}" "$count"
}
tap_check "$count comparisons of runs that must agree: threads, inputs, sums, parts, quantiles" agree
tap_done
