#!/bin/sh
# SPDX-License-Identifier: MIT
# ptsim computes branches from registers.  Where it steps each instruction the processor
# itself executes them: the truth must be the same.
. "$top_srcdir/tests/support/tap.sh"
ptsim=$top_builddir/tests/ptsim/ptsim
[ -x "$ptsim" ] || tap_skip_all "ptsim is not built: libzydis-dev is not installed"
programs=$top_builddir/tests/programs/static
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Programs have other process ids in each run; the stack has no random place.
record() { # DIRECTORY PROGRAM OPTIONS...
	directory=$work/$1 one=$2
	shift 2
	mkdir -p "$directory" && setarch -R "$ptsim" record --truth="$directory" "$@" -o "$work/perf.data" -- \
		"$programs/$one" >/dev/null 2>"$work/messages" || { cat "$work/messages"; return 1; }
	awk '{ $4 = $5 = ""; print }' "$directory/truth.branches" >"$directory/branches"
}

same_truth() { # PROGRAM OPTIONS...
	rm -rf "$work/steps" "$work/blocks"
	record steps "$@" --single-step && record blocks "$@" &&
		[ "$(wc -l <"$work/steps/branches")" -gt 1000 ] && diff "$work/steps/branches" "$work/blocks/branches" >"$work/difference" && return 0
	head -n 5 "$work/difference"
	return 1
}

if setarch -R true 2>/dev/null; then
	for one in recursion except; do
		tap_check "$one: computed branches are those that the processor takes" same_truth $one --instructions=20000
	done
	tap_check "also with lost trace and interrupts" same_truth indirect --instructions=20000 --lose=4000 --overflows=3000 --interrupts=700
else
	tap_skip "computed branches are those that the processor takes" "setarch -R is not allowed"
fi
tap_done
