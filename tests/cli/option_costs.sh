#!/bin/sh
# SPDX-License-Identifier: MIT
# Limits on the costs of options, as a ratio of a plain conversion's instructions by callgrind.
. "$top_srcdir/tests/support/tap.sh"
[ "$P2F_SANITIZED" != yes ] || tap_skip_all "valgrind does not run programs with sanitizers"
command -v valgrind >/dev/null || tap_skip_all "no valgrind"
program=$(realpath "$top_builddir/ptrace2ftf")
ptsim=$(realpath "$top_builddir/tests/ptsim/ptsim")
programs=$(realpath "$top_builddir/tests/programs")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1

# Repeat the trace, so that start-up takes only a third of the instructions.
record() { # NAME PROGRAM
	"$ptsim" record --cyc --per-thread --interrupts=0 --repeat=100000 -o "$1" -- "$2" \
		>/dev/null 2>messages
}
record named "$programs/static/recursion" || tap_skip_all "programs cannot be traced here: $(cat messages)"
[ -z "$LONG" ] || { strip -o stripped "$programs/static/recursion" && record nameless "$work/stripped"; }

# The sandbox would refuse valgrind's own calls.
cost() { # OPTION... : prints instructions
	valgrind --tool=callgrind --callgrind-out-file=/dev/null "$program" -q --no-warn -j1 \
		--sandbox=off "$@" -o out.ftf 2>&1 | sed -n 's/.*Collected *: *//p'
}
plain_named=$(cost named)
[ -z "$LONG" ] || plain_nameless=$(cost nameless)
[ "${plain_named:-0}" -gt 0 ] || tap_skip_all "valgrind does not run here"

costs_at_most() { # HUNDREDTHS RECORDING PLAIN OPTION...
	most=$1 recording=$2 plain=$3
	shift 3
	rm -f out.ftf
	with=$(cost "$@" "$recording")
	echo "# $recording $*: $((with * 100 / plain)) hundredths of $plain instructions"
	[ -s out.ftf ] && [ "${with:-0}" -gt 0 ] && [ $((with * 100 / plain)) -le "$most" ]
}
held() { # OPTION HUNDREDTHS [HUNDREDTHS-WITHOUT-NAMES, with LONG=1: where the names are the cost]
	tap_check "$1 costs $2 hundredths at most" costs_at_most "$2" named "$plain_named" "$1"
	[ -z "$3" ] || [ -z "$LONG" ] || tap_check "$1 costs $3 hundredths at most without debug information" \
		costs_at_most "$3" nameless "$plain_nameless" "$1"
}
held --inline 180 115
held --args=full 200
# shellcheck disable=SC2046 # a word for each pattern
tap_check "1,000 names of --symbol cost 1000 hundredths at most" \
	costs_at_most 1000 named "$plain_named" --symbol='*' $(seq -f --symbol=name%g 1000)
# Code is looked up by its range, names only for what is shown.
demangled() { # FORMAT: prints the instructions of demangling
	valgrind --tool=callgrind --callgrind-out-file=/dev/null --toggle-collect=demangler_demangle \
		"$program" -q --no-warn -j1 --sandbox=off --args=none --format="$1" cxx -o out.ftf 2>&1 | sed -n 's/.*Collected *: *//p'
}
demangles_nothing() {
	"$ptsim" record --cyc --per-thread -o cxx -- "$programs/except" >/dev/null 2>&1
	shown=$(demangled ftf) none=$(demangled none)
	echo ".ftf: $shown instructions of demangling, none: $none"
	[ "${shown:-0}" -gt 0 ] && [ "$none" = 0 ]
}
tap_check "--format=none demangles no name" demangles_nothing
if [ -n "$LONG" ]; then
	held --counters=100us 150
	decoding=$(cost --format=none named)
	tap_check "counts of lines cost 150 hundredths of decoding at most" costs_at_most 150 named "$decoding" --format=lcov
	tap_check "counts of branches cost 200 hundredths of decoding at most" costs_at_most 200 named "$decoding" --format=bolt
	thread=$("$program" list named | sed -n 's,.* \([0-9]*\)/\([0-9]*\)$,\2,p' | head -1)
	tap_check "the recording names its thread" test -n "$thread"
	tap_check "one thread costs 115 hundredths of all at most" \
		costs_at_most 115 named "$plain_named" --tid="$thread"
fi
tap_done
