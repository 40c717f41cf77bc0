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
# Own instructions of a function, as callgrind has them: times are estimated from a few TSC packets.
ranks_by_insns() { # OPTIONS...
	"$ptsim" record "$@" -o "$work/perf.data" -- "$programs/causes" callee 1 >/dev/null 2>&1 || return 1
	"$program" -q --no-warn --format=functions "$work/perf.data" >"$work/table" &&
		"$program" -q --no-warn --format=callgrind "$work/perf.data" >"$work/costs" || return 1
	head -n 1 "$work/table" | grep -q ' function  (all in instructions)$' || { head -n 3 "$work/table"; return 1; }
	awk '/^c?fn=/ { id = substr($1, index($1, "(")); if (NF > 1) name[id] = substr($0, length($1) + 2); if (/^fn=/) own = id; next }
		/^calls=/ { edge = 1; next } /^[0-9+*-]/ { if (!edge) n[name[own]] += $2; edge = 0 }
		END { for (f in n) print f, n[f] }' "$work/costs" | sort >"$work/expected"
	awk '$4 ~ /%$/ { print $NF, $3 }' "$work/table" | sort >"$work/found"
	[ "$(wc -l <"$work/found")" -gt 5 ] && awk '{ print $2 }' "$work/found" | sort -n >"$work/a" &&
		awk '{ print $NF }' "$work/expected" | sort -n >"$work/b" && cmp "$work/a" "$work/b" || { diff "$work/found" "$work/expected"; return 1; }
	awk '$4 ~ /%$/ { if (n++ && $3 > last) bad = 1; last = $3 } END { exit bad }' "$work/table"
}
tap_check "TSC packets alone: functions are ranked by instructions" ranks_by_insns --no-mtc
tap_check "no timing packets: functions are ranked by instructions" ranks_by_insns --no-tsc --no-mtc
tap_done
