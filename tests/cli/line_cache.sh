#!/bin/sh
# SPDX-License-Identifier: MIT
# Source lines kept for later runs: the output is the same with and without them.
. "$top_srcdir/tests/support/tap.sh"
program=$top_builddir/ptrace2ftf
cpu_time=$top_builddir/tests/bench/cpu-time
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp "$top_builddir/tests/unit/symbols/sample" "$work/sample"
"$top_builddir/tests/ptsim/ptsim" record -o "$work/data" --per-thread -- "$work/sample" >/dev/null 2>&1 ||
	tap_skip_all "ptsim cannot record here"
"$top_builddir/tests/ptsim/ptsim" record --cyc --seed=3 -o "$work/inlined" -- "$top_builddir/tests/programs/inlined" >/dev/null 2>&1
cache=$work/cache/ptrace2ftf
# Files that changed less than two seconds ago are not cached.
sleep 2.1

convert() { # NAME OPTIONS...
	name=$1
	shift
	XDG_CACHE_HOME=$work/cache "$program" -v --no-warn "$@" "$work/data" -o "$work/$name.ftf" 2>"$work/$name.log"
}
has_new() { # NAME: new lines were looked up
	grep -q '^cache of lines: [1-9][0-9]* new$' "$work/$1.log" || { cat "$work/$1.log"; return 1; }
}
same() { # NAME...: of outputs
	for each; do cmp "$work/off.ftf" "$work/$each.ftf" || return 1; done
}

off() {
	convert off --no-cache && strings "$work/off.ftf" | grep -q 'sample\.c' && [ ! -e "$work/cache" ] &&
		convert symfs --symfs=/ && same symfs && [ ! -e "$work/cache" ]
}
tap_check "--no-cache and --symfs leave no cache" off
same_bytes() {
	convert cold && has_new cold && convert warm && grep -q '^cache of lines: 0 new$' "$work/warm.log" &&
		convert threads -j4 && convert outside --sandbox=off && same cold warm threads outside &&
		[ "$(find "$cache" -type f | wc -l)" -gt 0 ]
}
tap_check "outputs are the same without lines of an earlier run and with them" same_bytes
files_of() { # NAME: what the report says of files
	sed -n '/"files": \[/,/^  \]/p' "$work/$1.json"
}
reports() {
	convert off --no-cache --json="$work/off.json" && convert warm --json="$work/warm.json" &&
		files_of off | grep -q '"lines": true' && [ "$(files_of off)" = "$(files_of warm)" ]
}
tap_check "the report of files is the same, too" reports
# OPTIONS...: of an output that counts code, or asks for inlined calls.
all_formats() {
	for format in pprof callgrind lcov annotate "why --symbol=work"; do
		case $format in
		annotate) set -- annotate work ;;
		why*) set -- $format ;;
		*) set -- -f $format ;;
		esac
		XDG_CACHE_HOME=$work/more "$program" "$@" -q --no-warn --no-cache "$work/inlined" -o "$work/off.out" || return 1
		for run in cold warm; do
			XDG_CACHE_HOME=$work/more "$program" "$@" -q --no-warn "$work/inlined" -o "$work/$run.out" &&
				cmp "$work/off.out" "$work/$run.out" || { echo "$format $run"; return 1; }
		done
	done
	[ "$(find "$work/more" -type f | wc -l)" -ge 2 ]
}
tap_check "profiles, coverage, causes and annotated code are the same, too" all_formats
# Damaged files are no answers. The second file has statements.
damaged_formats() {
	for file in "$work/more/ptrace2ftf"/*; do
		printf x | dd of="$file" bs=1 seek=330 conv=notrunc 2>/dev/null
	done
	all_formats
}
tap_check "with damaged files of all contents as well" damaged_formats
# Reads of debug information are page faults.
faults() { # OPTIONS...: page faults of a second run
	XDG_CACHE_HOME=$work/more "$cpu_time" "$work/usage" "$program" -q -j1 --no-warn "$@" "$work/self" -o "$work/self.out" &&
		cut -d ' ' -f 4 "$work/usage"
}
second_runs() {
	"$top_builddir/tests/ptsim/ptsim" record -o "$work/self" --per-thread -- "$program" --version >/dev/null 2>&1 &&
		faults -f ftf >/dev/null && ftf=$(faults -f ftf) || return 1
	for format in pprof callgrind lcov; do
		faults -f $format >/dev/null && warm=$(faults -f $format) && cold=$(faults -f $format --no-cache) || return 1
		echo "$format: $cold page faults without the cache, $warm with it, .ftf $ftf"
		[ $((cold - ftf)) -gt $((3 * (warm - ftf))) ] || return 1
	done
}
if [ "$P2F_SANITIZED" = yes ] || ! readelf -S "$program" | grep -q '\.debug_info'; then
	tap_skip "second runs do not read debug information" "sanitizers, or no debug information"
else
	tap_check "second runs do not read debug information" second_runs
fi
damaged() {
	for file in "$cache"/*; do
		printf x | dd of="$file" bs=1 seek=300 conv=notrunc 2>/dev/null
	done
	convert damaged && has_new damaged && same damaged && convert again && grep -q ': 0 new' "$work/again.log"
}
tap_check "a damaged file is replaced" damaged
# Before the program changes: its lines are then not kept, and no other file may have lines.
refused() {
	rm -r "$work/cache" && : >"$work/cache" && convert refused && same refused &&
		grep -q '^cache of lines: 0 new; cannot write the cache of lines: Not a directory$' "$work/refused.log" &&
		rm "$work/cache" && convert again && has_new again
}
tap_check "a conversion succeeds where nothing can be cached, and -v says so" refused
changed() {
	sed 's/sample\.c/samplf.c/g' "$work/sample" >"$work/other" && chmod +x "$work/other" && mv "$work/other" "$work/sample" &&
		convert changed && strings "$work/changed.ftf" | grep -q 'samplf\.c' &&
		convert off --no-cache && same changed
}
tap_check "another debug information under the same build id is noticed" changed
tap_done
