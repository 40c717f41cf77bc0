#!/bin/sh
# SPDX-License-Identifier: MIT
# Do two builds write the same bytes?  For changes that must not alter any output.
#
#     tests/compare_builds.sh OLD NEW [RECORDINGS]
#
# OLD and NEW are build directories.  Compares each output format on the recordings
# under ../shared (where it is present) and on 20 recordings of OLD's ptsim.  These and
# what OLD wrote stay in the directory RECORDINGS for the next run.  QUICK=1: only --format=ftf and
# --format=slices.  Prints the differences; exit status 1 if there are any.
set -u
[ $# -ge 2 ] || { sed -n '5p' "$0"; exit 64; }
here=$(cd "$(dirname "$0")/.." && pwd)
old=$(cd "$1" && pwd) new=$(cd "$2" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
recordings=${3:-$work/recordings}
mkdir -p "$recordings"
recordings=$(cd "$recordings" && pwd -P)
different=0 compared=0
old_id=$(md5sum <"$old/ptrace2ftf")

output() { # BUILD NAME OPTIONS...: one run's output, messages and exit status
	build=$1 name=$2
	shift 2
	rm -rf "$work/out" && mkdir "$work/out"
	(cd "$work" && timeout 300 "$build/ptrace2ftf" --threads=1 "$@" -o out/file >"$name" 2>"$name.messages")
	echo "exit status $?" >>"$name"
	# The summary says how long the run took, and how much memory.
	(cd "$work/out" && find . -type f | sort | xargs -r md5sum) >>"$name"
	sed -E 's/[0-9.]+ (m?s|MB\/s|MiB\/s|[KM]iB)\b/N \1/g' "$name.messages" >>"$name"
}

compare() { # OPTIONS... FILE
	compared=$((compared + 1))
	known=$recordings/$(echo "$old_id $*" | md5sum | cut -d ' ' -f 1)
	[ -s "$known" ] || { output "$old" "$work/old" "$@" && mv "$work/old" "$known"; }
	output "$new" "$work/new" "$@"
	cmp -s "$known" "$work/new" && return
	different=$((different + 1))
	echo "different: $*"
	diff "$known" "$work/new" | head -n 6
}

all_formats() { # OPTIONS... FILE
	compare "$@"
	compare --format=slices --args=line "$@"
	[ -n "${QUICK:-}" ] && return
	for format in branches calls functions folded speedscope chrome html none; do
		compare --format=$format "$@"
	done
	compare --stacks=magic-trace "$@"
	compare --args=full "$@"
	compare --time=25%,60% "$@"
	compare --min-duration=1us --args=none "$@"
	compare --split=50k "$@"
	compare -j 3 "$@"
	compare --engine=libipt --format=slices --args=line "$@"
}

record() { # NAME OPTIONS... -- PROGRAM...
	name=$1
	shift
	[ -s "$recordings/$name" ] ||
		"$old/tests/ptsim/ptsim" record -o "$recordings/$name" "$@" >/dev/null 2>&1 ||
		{ echo "cannot record $name"; exit 1; }
	all_formats "$recordings/$name"
}

programs=$old/tests/programs
for program in indirect recursion tail longjmp signals except coroutines threads inlined; do
	record $program -- "$programs/$program"
	record $program-cyc --cyc --cpus=2 -- "$programs/$program"
done
record family-lost --lose=20000 --overflows=30000 -- "$programs/family"
record notime --no-tsc --no-mtc -- "$programs/recursion"

shared=$(cd "$here/../shared" 2>/dev/null && pwd -P)
if [ -n "$shared" ]; then
	for file in "$shared"/recordings/*/perf.data "$shared"/recordings/*/*/perf.data \
		"$shared"/more/*/recording "$shared"/more/*/*/recording "$shared"/ocaml/perf/*/perf.data; do
		[ -f "$file" ] || continue
		folder=$(dirname "$file")
		for symfs in "$folder/symfs" "$folder/../symfs" "$folder/binaries" ''; do
			[ -z "$symfs" ] || [ -d "$symfs" ] && break
		done
		all_formats ${symfs:+--symfs="$symfs"} "$file"
	done
	for file in "$shared"/oracles/magic-trace/*/input.perf "$shared"/more/magic-trace/*/input.perf; do
		compare "$file"
		compare --format=calls "$file"
		compare --stacks=precise --format=slices --args=line "$file"
	done
	for file in "$shared"/ocaml/*/*/*.events.gz; do
		ring=$recordings/$(basename "$file" .gz)
		[ -s "$ring" ] || gzip -dc "$file" >"$ring"
		compare --runtime-events="$ring"
	done
	for file in "$shared"/ocaml/memtrace*/*.ctf; do
		compare --memtrace="$file"
	done
fi
echo "$compared runs compared, $different different"
[ $different -eq 0 ]
