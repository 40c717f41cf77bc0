#!/bin/sh
# SPDX-License-Identifier: MIT
# Programs recorded by ptsim: the slices are the true stacks, by the stack
# pointer: nesting, names, begin and end within a timing packet.  The programs
# are static, so that every function has a name.
. "$top_srcdir/tests/support/tap.sh"
ptsim=$top_builddir/tests/ptsim/ptsim
programs=$top_builddir/tests/programs/static
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$ptsim" record -o "$work/perf.data" -- "$programs/tail" >/dev/null 2>"$work/messages" ||
	tap_skip_all "programs cannot be traced here: $(cat "$work/messages")"

same_stacks() { # TOLERANCE OPTIONS... -- PROGRAM
	tolerance=$1
	shift
	"$ptsim" record --truth="$work" -o "$work/perf.data" "$@" >"$work/output" 2>"$work/messages" ||
		{ cat "$work/messages"; return 1; }
	"$top_builddir/ptrace2ftf" -q --format=slices "$work/perf.data" >"$work/slices" || return 1
	awk -v tolerance="$tolerance" -f "$top_srcdir/tests/ptsim/slices.awk" \
		"$work/truth.slices" "$work/slices" >"$work/result"
	status=$?
	tail -n 1 "$work/result" >>"$work/compared"
	cat "$work/result"
	return $status
}

# One MTC period is 320 ns; with CYC a packet holds six decisions.
for name in recursion tail longjmp indirect coroutines threads signals $LONG_PROGRAMS; do
	tap_check "$name: the true stacks, MTC" same_stacks 700 --seed=3 -- "$programs/$name"
	tap_check "$name: the true stacks, CYC" same_stacks 400 --cyc --cpus=2 --seed=4 -- "$programs/$name"
done
echo "# $(awk '{ n += $1; w += $4 } END { print n " frames compared, " w " wrong" }' "$work/compared")"
tap_done
