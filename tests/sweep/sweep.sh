#!/bin/sh
# SPDX-License-Identifier: MIT
# Damaged versions of recordings (sweep.c).  LONG=1 takes every one where
# `make check` takes samples.
. "$top_srcdir/tests/support/tap.sh"
sweep=$top_builddir/tests/sweep/sweep
shared=$top_srcdir/../shared/recordings
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# STEP-LONG STEP-SHORT: the step to take.
step() {
	if [ -n "$LONG" ]; then echo "$1"; else echo "$2"; fi
}

holds() { # MODE STEP SYMFS FILE [TARGET]
	"$sweep" "$@" >"$work/result" || { cat "$work/result"; return 1; }
	sed 's/^/# /' "$work/result" >>"$work/figures"
}

mkdir "$work/sample" "$work/seeds"
"$top_builddir/tests/support/make-sample" "$work/sample"
"$top_builddir/tests/fuzz/make_seeds" "$work/seeds"
for name in perf.data stream compressed2; do
	tap_check "$name: every prefix gives the first slices" \
		holds prefixes "$(step 1 13)" "$work/sample" "$work/sample/$name"
done
for name in file records stream compressed; do
	recording=$work/seeds/perf_data/$name
	tap_check "$name: any byte may be wrong" holds bytes "$(step 1 61)" "$work/sample" "$recording"
	tap_check "$name: records may be missing, doubled, and change places" \
		holds records "$(step 1 11)" "$work/sample" "$recording"
done

# One CPU: with two, events that are cut off one trace are concurrent with those left in the other.
if "$top_builddir/tests/ptsim/ptsim" record --cpus=1 --cyc --seed=5 -o "$work/perf.data" -- \
	"$top_builddir/tests/programs/static/threads" >/dev/null 2>"$work/messages"; then
	size=$(wc -c <"$work/perf.data")
	tap_check "threads: prefixes give the first slices" \
		holds prefixes "$(step 64 $((size / 20 + 1)))" / "$work/perf.data"
	tap_check "threads: any byte may be wrong" \
		holds bytes "$(step 61 $((size / 20 + 1)))" / "$work/perf.data"
	tap_check "threads: records may be missing, doubled, and change places" \
		holds records "$(step 1 97)" / "$work/perf.data"
else
	tap_skip "threads: prefixes give the first slices" "$(head -1 "$work/messages")"
fi

real() { # NAME SYMFS FILE
	if [ ! -e "$3" ]; then
		tap_skip "$1: any damage" "no recordings here"
		return
	fi
	size=$(wc -c <"$3")
	tap_check "$1: any byte may be wrong" holds bytes "$(step 61 $((size / 70 + 1)))" "$2" "$3"
	tap_check "$1: records may be missing, doubled, and change places" \
		holds records "$(step 1 $((size / 1300 + 1)))" "$2" "$3"
}
real dynamorio-cyc "$shared/dynamorio-cyc/symfs" "$shared/dynamorio-cyc/perf.data"
real lldb-multicore "$shared/lldb-multicore/symfs" "$shared/lldb-multicore/perf.data"
real quipper "$work" "$shared/quipper-4.14/perf.data"
# Other input files: programs with debug information, lists of names, code of a JIT compiler;
# damaged, and made to exhaust time and memory.
hostile() { # KIND [PROGRAM]
	rm -rf "$work/set"
	"$top_builddir/tests/sweep/make-hostile" "$1" "$work/set" $2
}
set_holds() { # KIND
	hostile "$1" || return 1
	[ "$(cat $(find "$work/set" -type f) | wc -c)" -lt 1048576 ] || { echo "too large"; return 1; }
	few=6
	holds set "$(step 1 $few)" "$work/set" "$work/set/perf.data"
}
# Where two kinds exhaust the same limit, `make check` takes one.
for kind in names ${LONG:+texts packed_calls} symbols rows files folders paths calls functions units programs overlaps \
	abbreviated headers shared split package call_names map jitdump moves packed_rows packed_files packed_folders \
	packed_functions packed_units packed_overlaps packed_headers; do
	tap_check "$kind: a small set takes little memory and time" set_holds $kind
done
# Sets above 1 MiB, where the part of the limit that all files have does not matter.
big_holds() { # KIND
	hostile "big_$1" && holds set "$(step 1 3)" "$work/set" "$work/set/perf.data"
}
# Of call_names, which has 4 MiB in each of its names, the small set is enough for `make check`.
for kind in units files programs shared ${LONG:+call_names map} jitdump moves packed_rows; do
	tap_check "$kind: a set of 8 MiB takes little memory and time" big_holds $kind
done
# The large files are repetitive, so a few changes are enough.
target_holds() { # LONG-STEP TARGET KIND [PROGRAM]
	target=$work/set/$2 long=$1
	hostile "$3" "$4" || return 1
	size=$(wc -c <"$target")
	changes=15
	[ "$size" -lt 262144 ] || changes=3
	holds target "$(step "$long" $((size / changes + 1)))" "$work/set" "$work/set/perf.data" "$target"
}
for name in sample sample_gz; do
	tap_check "$name: any byte of a program with debug information may be wrong" \
		target_holds 1 sample visit "$top_builddir/tests/unit/symbols/$name"
done
tap_check "split: any byte of a file of split debug information may be wrong" \
	target_holds 997 other.dwo split
tap_check "symbols: any byte of a symbol table may be wrong" target_holds 997 sample symbols
# Otherwise the set would not test maps.
names_come_from_the_map() {
	hostile map && "$top_builddir/ptrace2ftf" -q --symfs="$work/set" -f functions -o - "$work/set/perf.data" >"$work/result"
	[ $? = 2 ] && grep -q '  f (perf-' "$work/result" # a mapping replaces another, and times are coarse
}
tap_check "map: the names of the set come from the map" names_come_from_the_map
tap_check "map: any byte of a perf-PID.map may be wrong" target_holds 997 tmp/perf-1234.map map
tap_check "jitdump: any byte of a jitdump may be wrong" target_holds 997 jit-1234.dump jitdump
cat "$work/figures"
tap_done
