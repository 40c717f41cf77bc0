#!/bin/sh
# SPDX-License-Identifier: MIT
# --format=histogram: how long a thousand requests take, against the slices of the same calls, and
# the true number of calls.
. "$top_srcdir/tests/support/tap.sh"
ptsim=$top_builddir/tests/ptsim/ptsim
program=$top_builddir/ptrace2ftf
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$ptsim" record --cyc --interrupts=0 --cpus=2 --seed=3 --truth="$work" -o "$work/perf.data" -- \
	"$top_builddir/tests/programs/static/causes" callee 3 >/dev/null 2>"$work/messages" ||
	tap_skip_all "programs cannot be traced here: $(cat "$work/messages")"
"$program" -q --format=slices "$work/perf.data" >"$work/slices"
histogram() { # OPTIONS...
	"$program" -q --format=histogram --symbol=request "$@" "$work/perf.data" >"$work/out" 2>"$work/messages" ||
		{ cat "$work/messages"; return 1; }
}
histogram
cp "$work/out" "$work/all"
awk '$5 == "request" { print $4 - $3 }' "$work/slices" | sort -n >"$work/times"

# "calls N, total T, min T, median T, ..." in ns, each on a line.
summary() {
	sed -n 's/^calls //p' "$1" | tr ',' '\n' | awk '
		{ text = $NF; unit = text; sub(/^[0-9.]+/, "", unit); factor = 1
		  if (unit == "us") factor = 1e3; else if (unit == "ms") factor = 1e6; else if (unit == "s") factor = 1e9
		  printf "%.0f\n", text * factor }'
}
# The nearest rank of the sorted times; ours are lower by at most one part in 128.
quantiles_are_those_of_the_slices() {
	summary "$work/all" >"$work/ours"
	awk '{ t[NR] = $1; sum += $1 }
		function rank(p) { r = int(NR * p / 1000); return t[r < NR * p / 1000 ? r + 1 : r] }
		END { print NR; print sum; print t[1]; print rank(500); print rank(900); print rank(990); print rank(999); print t[NR] }' \
		"$work/times" >"$work/expected"
	paste "$work/ours" "$work/expected"
	# The total is printed with three decimals.
	paste "$work/ours" "$work/expected" | awk '
		$1 > $2 * 1.001 || $1 < $2 * 127 / 128 - 1 { wrong = 1 } END { exit wrong || NR != 8 }'
}
tap_check "count, total and quantiles are those of the slices" quantiles_are_those_of_the_slices

all_calls() {
	[ "$(grep -c ' request$' "$work/truth.slices")" -eq 1000 ] && [ "$(wc -l <"$work/times")" -eq 1000 ] &&
		[ "$(awk '/^calls/ { exit } $3 ~ /%$/ { n += $2 } END { print n }' "$work/all")" -eq 1000 ]
}
tap_check "the buckets have all calls of the truth" all_calls

buckets_hold_what_they_say() {
	grep '%.*--time=' "$work/all" | awk '
		{ text = $1; unit = text; sub(/^[0-9.]+/, "", unit); factor = unit == "us" ? 1e3 : unit == "ms" ? 1e6 : 1
		  print text * factor, $2 }' >"$work/buckets"
	awk 'NR == FNR { from[++n] = $1; want[n] = $2; next }
		{ for (i = n; i > 1 && $1 < from[i] - 0.5; i--); got[i]++ }
		END { for (i = 1; i <= n; i++) if (got[i] != want[i]) { print from[i], want[i], got[i]; bad = 1 } exit bad || n < 3 }' \
		"$work/buckets" "$work/times" || { cat "$work/buckets"; return 1; }
}
tap_check "each bucket has the calls from its time up to the next one's" buckets_hold_what_they_say

# Each example is a call, and a conversion of its window contains the whole slice.
examples() {
	tail -n +3 "$work/all" | sed -n 's/.*\(--time=.*\)$/\1/p' | tail -n 2 >"$work/windows"
	while read -r window; do
		# shellcheck disable=SC2086 # options
		"$program" -q --no-warn --format=slices $window "$work/perf.data" | grep -q ' request' || { echo "$window"; return 1; }
	done <"$work/windows"
	[ "$(wc -l <"$work/windows")" -eq 2 ]
}
tap_check "examples are ready for --time and --tid" examples

is_the_same() {
	for jobs in 1 2 8; do
		program=$segments PTRACE2FTF_SEGMENT=3000 histogram -j $jobs || return 1
		[ $jobs -ne 1 ] || cp "$work/out" "$work/one"
		cmp "$work/one" "$work/out" || return 1
	done
}
tap_check "it is the same by any number of threads" is_the_same

blocks() {
	"$program" -q --format=histogram --symbol=request --symbol=work --symbol=main "$work/perf.data" >"$work/out"
	[ "$(grep -B 1 '^ *from' "$work/out" | grep -E '^[a-z]' | tr '\n' ' ')" = "main request work " ] ||
		{ grep -E '^[a-z]' "$work/out"; return 1; }
	"$program" -q --format=histogram "$work/perf.data" >"$work/all" &&
		grep -q '^request$' "$work/all" && grep -q '^random_below$\|^use_lock$\|^main$' "$work/all"
}
tap_check "a block for each function, by total time" blocks

# The call that ends a part is not in it, but was called.
between() {
	histogram && "$program" --format=histogram --symbol=request --between=main,exit "$work/perf.data" \
		>"$work/between" 2>"$work/messages" && cmp "$work/out" "$work/between" || { cat "$work/messages"; return 1; }
}
tap_check "--between to a call after all of these: the same, and no warning" between

nothing_selected() {
	"$program" --format=histogram --tid=99999 "$work/perf.data" >"$work/out" 2>"$work/messages"
	[ $? -eq 2 ] && [ ! -s "$work/out" ] && grep -q 'no recorded data matches' "$work/messages" ||
		{ cat "$work/out" "$work/messages"; return 1; }
}
tap_check "no calls at all: a warning, and nothing is printed" nothing_selected
tap_done
