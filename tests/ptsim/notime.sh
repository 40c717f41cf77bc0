#!/bin/sh
# SPDX-License-Identifier: MIT
# Without timing packets one instruction counts as one nanosecond.  Jumps within
# functions are left out of all but --format=branches, which must not change times.
. "$top_srcdir/tests/support/tap.sh"
ptsim=$top_builddir/tests/ptsim/ptsim
program=$top_builddir/ptrace2ftf
programs=$top_builddir/tests/programs/static
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# "time address" of each call that is alone at its time: slices of others are put side by side.
calls() {
	"$program" -q --no-warn --format=branches "$work/perf.data" | awk '
		{ f = $5; g = $NF; sub(/\+.*/, "", f); sub(/\+.*/, "", g) }
		$3 == "jcc" || ($3 == "jmp" && f == g) { next }
		{ t = $2; gsub(/[.:]/, "", t); n[t]++; if ($3 == "call") to[t] = $(NF - 1) }
		END { for (t in to) if (n[t] == 1) print t, to[t] }'
}

slices() {
	"$program" -q --no-warn --format=slices "$work/perf.data" |
		sed -n 's/^[^ ]* [^ ]* \([0-9]*\) .* address=0x\([0-9a-f]*\).*/\1 \2/p' | sort -u
}

same_times() { # PROGRAM
	"$ptsim" record --no-tsc --no-mtc -o "$work/perf.data" -- "$programs/$1" >/dev/null 2>&1 || return 1
	calls | sort >"$work/calls"
	slices >"$work/slices"
	# Places without a slice (PLT) are no functions.
	awk 'NR == FNR { begins[$0]; known[$2]; next } $2 in known && !($0 in begins)' \
		"$work/slices" "$work/calls" >"$work/missing"
	[ "$(wc -l <"$work/calls")" -gt 100 ] && [ ! -s "$work/missing" ] || { head "$work/missing"; return 1; }
}

"$ptsim" record --no-tsc -o "$work/perf.data" -- "$programs/tail" >/dev/null 2>"$work/messages" ||
	tap_skip_all "programs cannot be traced here: $(cat "$work/messages")"
for name in recursion tail indirect; do
	tap_check "$name: slices begin when their calls are" same_times "$name"
done
tap_done
